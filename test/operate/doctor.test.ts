// outbreakctl doctor: a sound node has no error, and each planted fault is named with what to do.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { createCluster } from '../../dev/postgres.ts'
import { createReplica } from '../../dev/replica.ts'
import { newSettings, outbreakctl, prepareDatabase, startService } from '../../dev/service.ts'
import { createDirectory, writeIn } from '../fixtures/operate/program.ts'
import { startRedis, withoutRedis } from '../fixtures/redis-server.ts'

interface Finding {
  status: 'ok' | 'warning' | 'error'
  check: string
  message: string
  remedy: string
}

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../..')
const cluster = await createCluster({ durable: true })
after(() => cluster.stop())
const replica = await createReplica(cluster)
after(() => replica.stop())
const superuser = new pg.Client(cluster.url)
await superuser.connect()
// The server is stopped first.
superuser.on('error', () => {})
after(() => superuser.end())

const files = createDirectory()
process.env['OUTBREAKS_FILES'] = files
const settings = newSettings(cluster.url)
await prepareDatabase(settings, path.join(root, 'sample/releases/1'))
await superuser.query('create role outbreaks_service login in role outbreaks_api')
const redis = withoutRedis === false ? await startRedis() : null
const indexDirectory = createDirectory()
const service = await startService(settings, { OUTBREAKS_INDEX: indexDirectory })
after(service.stop)
const withLogin = (url: string) => url.replace('postgres@', 'outbreaks_service@')

const SOUND: Record<string, string> = {
  DATABASE_URL: withLogin(cluster.url),
  OUTBREAKS_SECRET: settings.secret,
  OUTBREAKS_BASE_URL: service.baseUrl,
  OUTBREAKS_PORT: new URL(service.baseUrl).port,
  OUTBREAKS_FILES: files,
  OUTBREAKS_INDEX: indexDirectory,
  ...(redis === null ? {} : { OUTBREAKS_REDIS_URL: redis.url }),
}

async function diagnose(
  overrides: Record<string, string> = {},
  openFiles = 4096,
): Promise<{ code: number; findings: Finding[] }> {
  const env = { PATH: process.env['PATH'], TMPDIR: process.env['TMPDIR'], ...SOUND, ...overrides }
  const limited = ['-c', `ulimit -n ${openFiles} && exec "$@"`, '-']
  try {
    const { stdout } = await run('sh', [...limited, process.execPath, path.join(root, 'src/cli.ts'), 'doctor'], { env })
    return { code: 0, findings: JSON.parse(stdout) as Finding[] }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    const findings = JSON.parse(stdout) as Finding[]
    assert.match(stderr, /^\d+ errors?, \d+ warnings?\. Do this first: .+\.\n$/)
    return { code, findings }
  }
}

/** The finding that names the fault. No other check may report an error because of it. */
async function expectFinding(
  status: Finding['status'],
  check: string,
  message: RegExp,
  overrides: Record<string, string> = {},
  openFiles?: number,
): Promise<void> {
  const { code, findings } = await diagnose(overrides, openFiles)
  const found = findings.find((finding) => finding.check === check && finding.status === status)
  assert.ok(found, `no ${status} of ${check} in ${JSON.stringify(findings, null, 1)}`)
  assert.match(found.message, message)
  assert.equal(code, findings.some((finding) => finding.status === 'error') ? 1 : 0)
  assert.notEqual(found.remedy, '')
  for (const secret of [settings.secret, 'wrong-password'])
    assert.ok(!JSON.stringify(findings).includes(secret), 'a secret is shown')
}

/** Changes the database, asks the doctor, and changes it back. */
const whileChanged = async (change: string, undo: string, ask: () => Promise<void>) => {
  await superuser.query(change)
  try {
    await ask()
  } finally {
    await superuser.query(undo)
  }
}

test('a sound node has no error and no warning', async () => {
  const { code, findings } = await diagnose()
  const bad = findings.filter(({ status, check }) => status !== 'ok' && !['disk', 'database version'].includes(check))
  assert.deepEqual(bad, redis === null ? bad.filter(({ check }) => check === 'Redis') : [])
  assert.equal(code, 0)
  assert.ok(findings.length >= 12)
})

describe('the doctor names', () => {
  test('a missing variable', () =>
    expectFinding('error', 'configuration', /OUTBREAKS_BASE_URL is not set/, { OUTBREAKS_BASE_URL: '' }))
  test('a secret that is too short', () =>
    expectFinding('error', 'configuration', /OUTBREAKS_SECRET must be at least 32/, { OUTBREAKS_SECRET: 'c2hvcnQ' }))
  test('a file of a secret that does not exist', () =>
    expectFinding('error', 'configuration', /OUTBREAKS_SECRET cannot be read from the file/, {
      ...{ OUTBREAKS_SECRET: '', OUTBREAKS_SECRET_FILE: path.join(files, 'none') },
    }))
  test('a notifier that does not run', () =>
    expectFinding('error', 'notifier', /127\.0\.0\.1:1 does not respond/, {
      OUTBREAKS_NOTIFIER_URL: 'http://127.0.0.1:1',
    }))
  test('files that could not be checked, because the database does not listen', () =>
    expectFinding('warning', 'files', /could not be checked without the database/, {
      DATABASE_URL: 'postgres://outbreaks_service:wrong-password@127.0.0.1:1/postgres',
    }))
  test('a database that does not listen', () =>
    expectFinding('error', 'database 127.0.0.1:1', /Nothing listens/, {
      DATABASE_URL: 'postgres://outbreaks_service:wrong-password@127.0.0.1:1/postgres',
    }))
  test('a login that does not exist', () => {
    const { host } = new URL(cluster.url)
    return expectFinding('error', `database ${host}`, /role "nobody_here" does not exist/, {
      DATABASE_URL: cluster.url.replace('postgres@', 'nobody_here@'),
    })
  })
  test('a login that is a superuser', () =>
    expectFinding('error', 'privileges', /postgres is a superuser/, { DATABASE_URL: cluster.url }))
  test('a database in which anyone can create objects', () =>
    whileChanged('grant create on database postgres to public', 'revoke create on database postgres from public', () =>
      expectFinding('error', 'privileges', /anyone can create/),
    ))
  test('a role that may write', () =>
    whileChanged('grant insert on client to outbreaks_api', 'revoke insert on client from outbreaks_api', () =>
      expectFinding('error', 'privileges', /can write to client/),
    ))
  test('a schema that is newer than the program', () =>
    whileChanged(
      `insert into migration (name, run_on) values ('9999_from_the_future', now())`,
      `delete from migration where name = '9999_from_the_future'`,
      () => expectFinding('error', 'schema', /newer than this version/),
    ))
  test('a secret that is not the one of the other nodes', () =>
    expectFinding('error', 'signing keys', /no signing key can be decrypted/, {
      OUTBREAKS_SECRET: randomBytes(32).toString('base64url'),
    }))
  test('that no key signs', () =>
    whileChanged(
      'create table saved_key as table signing_key; delete from signing_key',
      'insert into signing_key select * from saved_key; drop table saved_key',
      () => expectFinding('error', 'signing keys', /no key to sign tokens/),
    ))
  test('a key that is too old', () =>
    whileChanged(
      `update signing_key set signs_from = signs_from - interval '200 days'`,
      `update signing_key set signs_from = signs_from + interval '200 days'`,
      () => expectFinding('warning', 'signing keys', /has been signing for (199|200) days/),
    ))
  test('that nobody can read', () =>
    whileChanged('update client set disabled_at = now()', 'update client set disabled_at = null', () =>
      expectFinding('warning', 'clients', /no client is enabled/),
    ))
  test('a release without its index', () =>
    whileChanged(
      'create table saved_part as table index_part; delete from index_part',
      'insert into index_part select * from saved_part; drop table saved_part',
      () => expectFinding('error', 'releases', /release 1 has no column index/),
    ))
  test('a damaged part of the index, as release verify does', () =>
    whileChanged(
      `update index_part set content = set_byte(content, 9, get_byte(content, 9) # 1) where kind = 'added'`,
      `update index_part set content = set_byte(content, 9, get_byte(content, 9) # 1) where kind = 'added'`,
      async () => {
        await expectFinding('error', 'releases', /part added 1 of the column index of release 1 is damaged/)
        await assert.rejects(outbreakctl(settings, 'release', 'verify'), (error: Error) =>
          JSON.stringify(error.cause ?? '').includes('part added 1'),
        )
        // Another node is ready, but cannot build its index.
        const { baseUrl, stop } = await startService(settings)
        const { port } = new URL(baseUrl)
        await expectFinding('error', 'this node', /is ready, but its column index of hed-outbreaks failed/, {
          OUTBREAKS_PORT: port,
        }).finally(stop)
      },
    ))
  test('a damaged file of the index, as release verify does', async () => {
    const [name = ''] = readdirSync(indexDirectory).filter((file) => file.endsWith('.duckdb'))
    const copy = createDirectory()
    const damaged = readFileSync(path.join(indexDirectory, name))
    // In a header: the rows of a few records are in the log of the file until the node ends.
    damaged[5000] = (damaged[5000] as number) ^ 1
    writeFileSync(path.join(copy, name), damaged)
    await expectFinding('error', 'index file', /cannot be read: .*checksum/, { OUTBREAKS_INDEX: copy })
    await assert.rejects(
      outbreakctl({ ...settings, variables: { OUTBREAKS_INDEX: copy } }, 'release', 'verify'),
      (error: Error) => JSON.stringify(error.cause ?? '').includes('cannot be read'),
    )
  })
  test('a file of the index that it could not copy, and does not advise to delete it', async () => {
    const directory = createDirectory()
    const [name = ''] = readdirSync(indexDirectory).filter((file) => file.endsWith('.duckdb'))
    symlinkSync(path.join(directory, 'none'), path.join(directory, name))
    await expectFinding('warning', 'index file', /could not be checked: ENOENT/, { OUTBREAKS_INDEX: directory })
    const { findings } = await diagnose({ OUTBREAKS_INDEX: directory })
    assert.ok(findings.every(({ remedy }) => !/\brm\b/.test(remedy ?? '')))
  })
  test('a directory for temporary files that does not exist, and the other checks still run', async () => {
    const TMPDIR = path.join(files, 'none')
    await expectFinding('error', 'disk', /cannot be used/, { TMPDIR, OUTBREAKS_INDEX: '' })
    await expectFinding('error', 'index file', /No temporary file can be written to .*ENOENT/, { TMPDIR })
    const { findings } = await diagnose({ TMPDIR })
    assert.ok(findings.some(({ check, status }) => check === 'public address' && status === 'ok'))
    assert.ok(!JSON.stringify(findings).includes('The database cannot be reached'))
  })
  test('a node that does not run', () =>
    expectFinding('error', 'this node', /127\.0\.0\.1:1 does not respond/, { OUTBREAKS_PORT: '1' }))
  test('a replica that stands still', async () => {
    await replica.catchUp()
    await replica.pause()
    await superuser.query('create table something as select 1')
    await expectFinding('error', 'replica', /does not replay/, { DATABASE_URL: withLogin(replica.url) })
    await replica.resume()
    await superuser.query('drop table something')
  })
  test('a Redis that does not answer', () =>
    expectFinding('error', 'Redis', /^No Redis listens at this address\. \(.*ECONNREFUSED/, {
      OUTBREAKS_REDIS_URL: 'redis://:wrong-password@127.0.0.1:1',
    }))
  test('a file that is missing, and one that is too short', async () => {
    rmSync(path.join(files, 'hed-outbreaks-1.csv.gz'))
    await expectFinding('error', 'files', /hed-outbreaks-1.csv.gz is missing/)
    writeFileSync(path.join(files, 'hed-outbreaks-1.csv.gz'), 'short')
    await expectFinding('error', 'files', /hed-outbreaks-1.csv.gz has 5 bytes instead of/)
    rmSync(path.join(files, 'hed-outbreaks-1.csv.gz'))
    await outbreakctl(settings, 'release', 'export')
    assert.equal((await diagnose()).code, 0)
  })
  test('too few file descriptors for the connections', () =>
    expectFinding('warning', 'file descriptors', /can open 600 files, too few for 1024 connections/, {}, 600))
  test('a public address at which nobody answers', () =>
    expectFinding('error', 'public address', /does not respond/, { OUTBREAKS_BASE_URL: 'http://127.0.0.1:1' }))
  test('a public address without TLS', () =>
    expectFinding('error', 'public address', /without TLS/, { OUTBREAKS_BASE_URL: 'http://outbreaks.invalid' }))
  test('a certificate that clients do not trust, and one that has expired', async () => {
    for (const [isExpired, message] of [
      [false, /do not trust the certificate \(DEPTH_ZERO_SELF_SIGNED_CERT\)/],
      [true, /the certificate expired on/],
    ] as const) {
      const certificate = createCertificate(createDirectory(), isExpired)
      const server = createServer(certificate, (_request, response) => response.end('{}'))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      await expectFinding('error', 'certificate', message, { OUTBREAKS_BASE_URL: `https://localhost:${port}` })
      server.close()
    }
  })
  test('an external issuer without keys', () =>
    expectFinding('error', 'issuer of tokens', /without keys/, { OUTBREAKS_JWKS_URL: `${service.baseUrl}/live` }))
  test('a clock that is wrong', () =>
    expectFinding('error', 'clock', /differ by/, {
      NODE_OPTIONS: `--import=${writeIn(createDirectory(), 'clock.mjs', 'const now = Date.now; Date.now = () => now() + 90_000')}`,
    }))
})

/** Signed by its own key, and valid for these days of the year 2020, or for a month from now on. */
function createCertificate(directory: string, isExpired: boolean): { key: string; cert: string } {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' })
  openssl(
    'req',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    '/CN=localhost',
    '-keyout',
    'key',
    '-out',
    'csr',
  )
  writeIn(directory, 'index', '')
  writeIn(directory, 'serial', '01')
  writeIn(
    directory,
    'ca.cnf',
    `[ca]
default_ca = own
[own]
database = index
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
[any]
commonName = supplied
`,
  )
  const period = isExpired ? ['-startdate', '20200101000000Z', '-enddate', '20200201000000Z'] : ['-days', '30']
  openssl(
    'ca',
    '-batch',
    '-notext',
    '-selfsign',
    '-config',
    'ca.cnf',
    '-keyfile',
    'key',
    '-in',
    'csr',
    '-out',
    'crt',
    ...period,
  )
  return {
    key: readFileSync(path.join(directory, 'key'), 'utf8'),
    cert: readFileSync(path.join(directory, 'crt'), 'utf8'),
  }
}
