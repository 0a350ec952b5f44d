// The configuration: all errors at once, no value in a message, no secret in the first log line.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { inspect } from 'node:util'
import {
  ConfigError,
  readDatabaseConfig,
  readOperatorConfig,
  readServiceConfig,
  redactConfig,
  secretValues,
} from '../../src/config.ts'
import { parseRedisUrl } from '../../src/platform/redis/redis-url.ts'

const CANARY = 'canary0value'
const valid = {
  DATABASE_URL: `postgres://user:${CANARY}@db.test:5432/outbreaks?password=${CANARY}`,
  OUTBREAKS_SECRET: randomBytes(32).toString('base64url'),
  OUTBREAKS_BASE_URL: 'https://api.test',
}
const oidc = {
  OUTBREAKS_OIDC_ISSUER: 'https://login.test/',
  OUTBREAKS_OIDC_CLIENT_ID: 'explorer',
  OUTBREAKS_OIDC_CLIENT_SECRET: CANARY,
  OUTBREAKS_OIDC_READER: 'people',
}
type Environment = Record<string, string | undefined>

/** The names of the variables with errors, in order. */
function readErrors(read: (environment: Environment) => unknown, environment: Environment): string[] {
  try {
    read(environment)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    const [, ...lines] = error.message.split('\n')
    return lines.map((line) => line.trim().split(' ')[0] ?? '')
  }
}

test('three variables are required; the others have defaults', () => {
  const { secret, ...config } = readServiceConfig(valid)
  assert.equal(secret.toString('base64url'), valid.OUTBREAKS_SECRET)
  assert.deepEqual(config, {
    databaseUrl: valid.DATABASE_URL,
    fallbackSecrets: [],
    baseUrl: 'https://api.test',
    authUrl: 'https://api.test',
    host: '127.0.0.1',
    port: 8080,
    trustedProxies: [],
    securityContact: null,
    population: null,
    metricsAddress: null,
    logLevel: 'info',
    drainSeconds: 5,
    cacheMegabytes: 64,
    maxStalenessSeconds: 60,
    rateLimit: 6000,
    failedAttempts: 60,
    clientConcurrency: 8,
    redisUrl: null,
    externalIssuer: null,
    filesLocation: null,
    redirectDownloads: false,
    indexDirectory: null,
    publicClientId: null,
    mcp: true,
    delivery: { trustedOrigins: [], proxyUrl: null, mail: null },
    embedOrigins: [],
    notifierUrl: null,
    oidc: null,
  })
})

test('every variable can be set', () => {
  const config = readServiceConfig({
    ...valid,
    OUTBREAKS_AUTH_URL: 'https://auth.test/tenant',
    OUTBREAKS_JWKS_URL: 'https://auth.test/keys.json',
    OUTBREAKS_TOKEN_TYPE: 'JWT',
    OUTBREAKS_HOST: '0.0.0.0',
    OUTBREAKS_PORT: '0',
    OUTBREAKS_TRUSTED_PROXIES: '10.0.0.5, fd00::/8',
    OUTBREAKS_SECURITY_CONTACT: 'mailto:security@api.test',
    OUTBREAKS_METRICS_PORT: '9464',
    OUTBREAKS_METRICS_HOST: '0.0.0.0',
    OUTBREAKS_LOG_LEVEL: 'silent',
    OUTBREAKS_DRAIN_SECONDS: '600',
    OUTBREAKS_CACHE_MB: '0',
    OUTBREAKS_MAX_STALENESS_SECONDS: '600',
    OUTBREAKS_RATE_LIMIT: '0',
    OUTBREAKS_CLIENT_CONCURRENCY: '0',
    OUTBREAKS_FILES: os.tmpdir(),
    OUTBREAKS_REDIS_URL: 'rediss://redis.test:6380/2',
    OUTBREAKS_PUBLIC_CLIENT: 'visitor',
    OUTBREAKS_MCP: 'false',
    OUTBREAKS_EMBED_ORIGINS: 'https://www.example.org, http://localhost:8000',
    ...oidc,
    OUTBREAKS_OIDC_GROUP: 'epidemiology',
    OUTBREAKS_OIDC_NAME: 'the institute',
  })
  assert.deepEqual(config.externalIssuer, { jwksUrl: 'https://auth.test/keys.json', tokenType: 'JWT' })
  assert.deepEqual([config.authUrl, config.host, config.port], ['https://auth.test/tenant', '0.0.0.0', 0])
  assert.equal(config.securityContact, 'mailto:security@api.test')
  assert.deepEqual(config.trustedProxies, ['10.0.0.5', 'fd00::/8'])
  assert.deepEqual([config.logLevel, config.drainSeconds, config.cacheMegabytes], ['silent', 600, 0])
  assert.deepEqual([config.maxStalenessSeconds, config.rateLimit], [600, 0])
  assert.equal(config.clientConcurrency, 0)
  assert.equal(config.filesLocation, os.tmpdir())
  assert.deepEqual(config.metricsAddress, { host: '0.0.0.0', port: 9464 })
  assert.equal(config.redisUrl, 'rediss://redis.test:6380/2')
  assert.equal(config.publicClientId, 'visitor')
  assert.equal(config.mcp, false)
  assert.deepEqual(config.embedOrigins, ['https://www.example.org', 'http://localhost:8000'])
  assert.deepEqual(config.oidc, {
    issuer: 'https://login.test/',
    clientId: 'explorer',
    clientSecret: CANARY,
    readerClientId: 'people',
    group: 'epidemiology',
    name: 'the institute',
  })
})

test('one variable of the provider requires all four', () => {
  const { oidc: config } = readServiceConfig({ ...valid, ...oidc })
  assert.deepEqual([config?.group, config?.name], [null, 'your organisation'])
  for (const name of Object.keys(oidc)) {
    assert.deepEqual(readErrors(readServiceConfig, { ...valid, ...oidc, [name]: undefined }), [name])
    assert.deepEqual(readErrors(readServiceConfig, { ...valid, ...oidc, [name]: '' }), [name])
  }
  for (const name of ['OUTBREAKS_OIDC_GROUP', 'OUTBREAKS_OIDC_NAME'])
    assert.deepEqual(readErrors(readServiceConfig, { ...valid, [name]: 'x' }), Object.keys(oidc))
})

test('the key set of an external issuer needs TLS, except on this machine', () => {
  const read = (url: string) => readErrors(readServiceConfig, { ...valid, OUTBREAKS_JWKS_URL: url })
  for (const url of [
    'https://login.test/keys',
    'http://localhost:8081/keys',
    'http://127.0.0.1/keys',
    'http://[::1]:1/a',
  ])
    assert.deepEqual(read(url), [])
  for (const url of ['http://login.test/keys', 'http://127.0.0.1.login.test/keys', 'http://10.0.0.1/keys', CANARY])
    assert.deepEqual(read(url), ['OUTBREAKS_JWKS_URL'])
})

test('the contact for vulnerabilities is a URL', () => {
  const read = (contact: string) => readErrors(readServiceConfig, { ...valid, OUTBREAKS_SECURITY_CONTACT: contact })
  for (const contact of ['mailto:a@b.test', 'https://b.test/report', 'tel:+1-201-555-0123'])
    assert.deepEqual(read(contact), [])
  for (const contact of ['a@b.test', 'http://b.test', 'mailto:a@b.test\nContact: x', 'javascript:1'])
    assert.deepEqual(read(contact), ['OUTBREAKS_SECURITY_CONTACT'])
})

test('the provider needs TLS, except on this machine', () => {
  const read = (issuer: string) => readErrors(readServiceConfig, { ...valid, ...oidc, OUTBREAKS_OIDC_ISSUER: issuer })
  for (const issuer of ['https://login.test/realms/a', 'http://localhost:8081', 'http://127.0.0.1', 'http://[::1]:1/a'])
    assert.deepEqual(read(issuer), [])
  for (const issuer of [
    CANARY,
    'http://login.test',
    'http://localhost.test',
    'ftp://localhost',
    'https://a@login.test',
    'https://login.test?a',
    'https://login.test#a',
  ])
    assert.deepEqual(read(issuer), ['OUTBREAKS_OIDC_ISSUER'], issuer)
})

test('an empty variable is the same as a missing one', () => {
  const empty = { OUTBREAKS_AUTH_URL: '', OUTBREAKS_PORT: '', OUTBREAKS_JWKS_URL: '', OUTBREAKS_TOKEN_TYPE: '' }
  assert.deepEqual(readServiceConfig({ ...valid, ...empty }), readServiceConfig(valid))
  assert.deepEqual(readErrors(readDatabaseConfig, { DATABASE_URL: '' }), ['DATABASE_URL'])
})

test('each entry point requires only the variables that it needs', () => {
  assert.deepEqual(readErrors(readDatabaseConfig, {}), ['DATABASE_URL'])
  assert.deepEqual(readErrors(readOperatorConfig, {}), ['DATABASE_URL', 'OUTBREAKS_SECRET'])
  assert.deepEqual(readErrors(readServiceConfig, {}).sort(), ['DATABASE_URL', 'OUTBREAKS_BASE_URL', 'OUTBREAKS_SECRET'])
})

const invalid: Record<string, string[]> = {
  DATABASE_URL: [
    `postgres://user:${CANARY}@one:x,two/outbreaks`,
    'postgres://one,/outbreaks',
    CANARY,
    'http://db.test',
    'postgres',
    'mysql://db.test/x',
    `postgres:user:${CANARY}@db.test/x`,
  ],
  OUTBREAKS_SECRET: [CANARY, randomBytes(31).toString('base64url'), `${valid.OUTBREAKS_SECRET}=`, 'é'.repeat(60)],
  OUTBREAKS_BASE_URL: [
    CANARY,
    'ftp://api.test',
    'https://api.test/',
    'https://api.test?a',
    'https://api.test/#',
    '//api.test',
    `https://user:${CANARY}@api.test`,
  ],
  OUTBREAKS_AUTH_URL: [CANARY, 'https://auth.test/'],
  OUTBREAKS_JWKS_URL: [CANARY, 'file:///keys.json'],
  OUTBREAKS_TOKEN_TYPE: [CANARY, 'jwt', 'at+JWT'],
  OUTBREAKS_PORT: [CANARY, '-1', '65536', '80.5', '0x50', '1e3', ' 80', '८०'],
  OUTBREAKS_LOG_LEVEL: [CANARY, 'INFO', 'trace '],
  OUTBREAKS_DRAIN_SECONDS: [CANARY, '-1', '601', '1s'],
  OUTBREAKS_CACHE_MB: [CANARY, '-1', '65537', '64M'],
  OUTBREAKS_MAX_STALENESS_SECONDS: [CANARY, '0', '4', '601', '1m'],
  OUTBREAKS_RATE_LIMIT: [CANARY, '-1', '1000000001', '60/s'],
  OUTBREAKS_FAILED_ATTEMPTS: [CANARY, '-1', '1000001'],
  OUTBREAKS_CLIENT_CONCURRENCY: [CANARY, '-1', '10001', '8x'],
  OUTBREAKS_METRICS_PORT: [CANARY, '-1', '65536'],
  OUTBREAKS_FILES: [
    CANARY,
    './files',
    '~/files',
    `/nowhere/${CANARY}`,
    import.meta.filename,
    's3://',
    's3://a',
    `s3://${CANARY}:x@bucket`,
    's3://bucket/',
    's3://bucket/a?b',
    's3:bucket',
    'S3://bucket',
  ],
  OUTBREAKS_FILES_REDIRECT: [CANARY, '1'],
  OUTBREAKS_MCP: [CANARY, 'off', '0'],
  OUTBREAKS_REDIS_URL: [
    CANARY,
    'http://redis.test',
    'redis:',
    'redis://',
    'redis:///0',
    `redis:user:${CANARY}@redis.test`,
    `redis://:${CANARY}@redis.test:port`,
    `redis://:${CANARY}@redis.test/name`,
    `redis://redis.test?password=${CANARY}`,
    'redis://redis.test/0?connectTimeout=0',
    'redis+sentinel://one:26379,two:26379',
    'redis+cluster://one:6379/name',
    `redis+sentinel://:${CANARY}@one/name?x=1`,
    'redis+other://one/name',
  ],
}

for (const [name, values] of Object.entries(invalid)) {
  test(`an invalid ${name} gives an error with its name and without its value`, () => {
    for (const value of values) {
      assert.deepEqual(readErrors(readServiceConfig, { ...valid, [name]: value }), [name], value)
      assert.throws(
        () => readServiceConfig({ ...valid, [name]: value }),
        (error: Error) => !inspect(error).includes(CANARY),
      )
    }
  })
}

/** Reads the configuration as an unprivileged user, because root may read and write everything. */
function checkDirectory(read: 'readServiceConfig' | 'readFilesLocation', directory: string, access = 'write'): string {
  const source = path.resolve(import.meta.dirname, '../../src/config.ts')
  const environment = JSON.stringify({ ...valid, OUTBREAKS_FILES: directory })
  const script = `import { ${read} } from ${JSON.stringify(source)}
    try { ${read}(${environment}, '${access}'); console.log('good') } catch (error) { console.log(error.message) }`
  const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const options = { ...unprivileged, cwd: '/', encoding: 'utf8', env: {} } as const
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], { ...options, stdio: 'pipe' })
}

test('the files directory must be readable for a node, and writable for a command that writes', (t) => {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-config-'))
  after(() => rmSync(directory, { recursive: true, force: true }))
  chmodSync(directory, 0o777)
  try {
    for (const read of ['readServiceConfig', 'readFilesLocation'] as const)
      assert.equal(checkDirectory(read, directory), 'good\n')
  } catch (error) {
    return t.skip(`only root can read this checkout: ${(error as Error).message}`)
  }
  chmodSync(directory, 0o555)
  for (const read of ['readServiceConfig', 'readFilesLocation'] as const)
    assert.equal(checkDirectory(read, directory, 'read'), 'good\n')
  assert.match(checkDirectory('readFilesLocation', directory), /OUTBREAKS_FILES must be a directory .* can write to/)
  for (const mode of [0o111, 0o444]) {
    chmodSync(directory, mode)
    for (const read of ['readServiceConfig', 'readFilesLocation'] as const)
      assert.match(checkDirectory(read, directory), /OUTBREAKS_FILES must be an existing directory .* can read/)
  }
})

test('a value can be in a file, with or without an end of line', () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-config-'))
  after(() => rmSync(directory, { recursive: true, force: true }))
  const file = path.join(directory, 'secret')
  const { OUTBREAKS_SECRET, ...rest } = valid
  for (const end of ['', '\n', '\r\n']) {
    writeFileSync(file, OUTBREAKS_SECRET + end)
    const read = readServiceConfig({ ...rest, OUTBREAKS_SECRET_FILE: file })
    assert.equal(read.secret.toString('base64url'), OUTBREAKS_SECRET)
  }
  assert.throws(() => readServiceConfig({ ...valid, OUTBREAKS_SECRET_FILE: file }), /are both set: keep one/)
  const missing = { ...rest, OUTBREAKS_SECRET_FILE: path.join(directory, 'none') }
  assert.throws(() => readServiceConfig(missing), /OUTBREAKS_SECRET cannot be read from the file .* \(ENOENT\)/)
  writeFileSync(file, CANARY)
  const { OUTBREAKS_OIDC_CLIENT_SECRET: _, ...provider } = oidc
  const config = readServiceConfig({ ...valid, ...provider, OUTBREAKS_OIDC_CLIENT_SECRET_FILE: file })
  assert.equal(config.oidc?.clientSecret, CANARY)
})

test('the files can be in a bucket', () => {
  for (const location of ['s3://bucket', 's3://bucket.test/folder', 's3://a-b-c/one/two'])
    assert.equal(readServiceConfig({ ...valid, OUTBREAKS_FILES: location }).filesLocation, location)
})

test('Redis can have a Sentinel or a cluster', () => {
  const config = readServiceConfig({
    ...valid,
    OUTBREAKS_REDIS_URL: `redis+sentinel://user:${CANARY}@one:26379,two/group`,
  })
  assert.equal(redactConfig(config)['redisUrl'], 'redis+sentinel://one:26379,two/group')
  assert.deepEqual(parseRedisUrl('redis+cluster://one,two:7000'), {
    kind: 'cluster',
    name: '',
    login: {},
    hosts: [
      { host: 'one', port: 6379 },
      { host: 'two', port: 7000 },
    ],
  })
})

test('all errors are listed at once, one for each variable', () => {
  const environment = Object.fromEntries(Object.keys(invalid).map((name) => [name, CANARY]))
  assert.deepEqual(readErrors(readServiceConfig, environment).sort(), Object.keys(invalid).sort())
  assert.throws(
    () => readServiceConfig(environment),
    (error: Error) => !inspect(error).includes(CANARY),
  )
})

test('the previous and the next secret are optional and read like the secret', () => {
  const other = Buffer.alloc(32, 9).toString('base64url')
  for (const name of ['OUTBREAKS_SECRET_PREVIOUS', 'OUTBREAKS_SECRET_NEXT']) {
    const config = readServiceConfig({ ...valid, [name]: other })
    assert.deepEqual(config.fallbackSecrets, [Buffer.alloc(32, 9)])
    assert.deepEqual(redactConfig(config)['fallbackSecrets'], ['[redacted]'])
    assert.deepEqual(readErrors(readServiceConfig, { ...valid, [name]: 'short' }), [name])
  }
})

test('the redacted configuration has no secret and no password, but names the database', () => {
  const redis = { OUTBREAKS_REDIS_URL: `redis://user:${CANARY}@redis.test:6379/2` }
  const printed = redactConfig(readServiceConfig({ ...valid, ...redis, ...oidc }))
  const text = JSON.stringify(printed) + inspect(printed, { depth: null })
  assert.ok(!text.includes(CANARY))
  assert.ok(!text.includes(valid.OUTBREAKS_SECRET))
  assert.equal(printed['secret'], '[redacted]')
  assert.equal(printed['databaseUrl'], 'postgres://db.test:5432/outbreaks')
  assert.equal(printed['redisUrl'], 'redis://redis.test:6379/2')
  assert.equal(redactConfig(readServiceConfig(valid))['redisUrl'], null)
  assert.equal(printed['baseUrl'], 'https://api.test')
  assert.deepEqual(printed['oidc'], {
    issuer: 'https://login.test/',
    clientId: 'explorer',
    clientSecret: '[redacted]',
    readerClientId: 'people',
    group: null,
    name: 'your organisation',
  })
})

test('the values to remove from texts have every secret, also the previous and the next one', () => {
  const names = [
    'OUTBREAKS_SECRET',
    'OUTBREAKS_SECRET_NEXT',
    'OUTBREAKS_SECRET_PREVIOUS',
    'OUTBREAKS_OIDC_CLIENT_SECRET',
  ]
  const secrets = Object.fromEntries(names.map((name) => [name, randomBytes(32).toString('base64url')]))
  assert.deepEqual(secretValues(secrets).toSorted(), Object.values(secrets).toSorted())
})
