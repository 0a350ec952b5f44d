// Reads the configuration from environment variables. Reports all errors at once and never prints a secret.
import { accessSync, constants, opendirSync, readFileSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { parseTrustedProxies } from './platform/http/client-address.ts'
import { splitServers } from './platform/postgres/server-list.ts'
import { parseRedisUrl } from './platform/redis/redis.ts'
import { isBucketUrl } from './storage/files/open-store.ts'

export interface DatabaseConfig {
  databaseUrl: string
}

export interface OperatorConfig extends DatabaseConfig {
  /** Encrypts and signs. */
  secret: Buffer
  /** Accepted while the secret changes: the one before and the next one. */
  furtherSecrets: Buffer[]
}

export interface ServiceConfig extends OperatorConfig {
  baseUrl: string
  authUrl: string
  host: string
  port: number
  /** Whether other processes may listen on the same port; each of them needs this setting too. */
  sharePort: boolean
  /** Maximum number of open client connections. */
  maxConnections: number
  /** Addresses and networks of proxies whose X-Forwarded-For is believed. */
  trustedProxies: readonly string[]
  /** Where to report a vulnerability: a mailto: or https: URL; null if there is no security.txt. */
  securityContact: string | null
  /** Where Prometheus reads the metrics; null if they are not served. */
  metricsAddress: { host: string; port: number } | null
  logLevel: string
  /** How long the node continues to serve after SIGTERM, while /ready gives 503. */
  drainSeconds: number
  /** Size of the response cache; 0 for none. */
  cacheMegabytes: number
  /** Maximum age of the loaded clients and keys; beyond it every token is rejected. */
  maxStalenessSeconds: number
  /** Requests of a client in `rateSeconds`; 0 for no limit. */
  rateLimit: number
  rateSeconds: number
  /** Attempts to authenticate that may fail in a minute from one address. */
  failedAttempts: number
  /** Concurrent requests of a client on one node; 0 for no limit. */
  clientConcurrency: number
  /** The Redis in which all nodes count requests; null if each node counts alone. */
  redisUrl: string | null
  /** Set if the service verifies tokens of an external issuer and issues none. */
  externalIssuer: { jwksUrl: string; tokenType: string } | null
  /** The directory or the bucket with the files of releases; null if there is none. */
  filesLocation: string | null
  /** Whether a download is redirected to the bucket, so that the bucket sends the bytes. */
  redirectDownloads: boolean
  /** The directory in which this node keeps its column index; null for a temporary file. */
  indexDirectory: string | null
  /** The client as which people may use the explorer without a credential; null if nobody may. */
  publicClientId: string | null
  /** The OpenID Connect provider with which people sign in to the explorer; null if there is none. */
  oidc: OidcConfig | null
}

interface OidcConfig {
  issuer: string
  clientId: string
  clientSecret: string
  /** The client as which people read who signed in with the provider. */
  readerClientId: string
  /** The claim `groups` must contain it; null if everybody with an account may sign in. */
  group: string | null
  /** The name of the provider for people. */
  name: string
}

export class ConfigError extends Error {
  constructor(messages: string[]) {
    super(
      `The configuration has ${messages.length === 1 ? 'an error' : 'errors'}:\n${messages.map((message) => `  ${message}`).join('\n')}`,
    )
    this.name = 'ConfigError'
  }
}

type Environment = Record<string, string | undefined>

export const readDatabaseConfig = (environment: Environment): DatabaseConfig =>
  readAll(environment, (read) => ({ databaseUrl: read('DATABASE_URL', parseDatabaseUrl) }))

export const readOperatorConfig = (environment: Environment): OperatorConfig =>
  readAll(environment, (read) => ({
    databaseUrl: read('DATABASE_URL', parseDatabaseUrl),
    ...readSecrets(read),
  }))

function readSecrets(read: ReadVariable) {
  const none = Buffer.alloc(0)
  const [before, next] = [
    read('OUTBREAKS_SECRET_BEFORE', parseSecret, none),
    read('OUTBREAKS_SECRET_NEXT', parseSecret, none),
  ]
  return {
    secret: read('OUTBREAKS_SECRET', parseSecret),
    furtherSecrets: [before, next].filter((secret) => secret.length > 0),
  }
}

export const readServiceConfig = (environment: Environment): ServiceConfig =>
  readAll(environment, (read) => {
    const baseUrl = read('OUTBREAKS_BASE_URL', parseUrl)
    const jwksUrl = read('OUTBREAKS_JWKS_URL', parseKeySetUrl, '')
    const metricsPort = read('OUTBREAKS_METRICS_PORT', parseInteger(0, 65_535), -1)
    const metricsHost = read('OUTBREAKS_METRICS_HOST', (value) => value, '127.0.0.1')
    const tokenType = read('OUTBREAKS_TOKEN_TYPE', parseChoice('at+jwt', 'JWT'), 'at+jwt')
    return {
      databaseUrl: read('DATABASE_URL', parseDatabaseUrl),
      ...readSecrets(read),
      baseUrl,
      authUrl: read('OUTBREAKS_AUTH_URL', parseUrl, '') || baseUrl,
      host: read('OUTBREAKS_HOST', (value) => value, '127.0.0.1'),
      port: read('OUTBREAKS_PORT', parseInteger(0, 65_535), 8080),
      sharePort: read('OUTBREAKS_SHARE_PORT', parseBoolean, false),
      maxConnections: read('OUTBREAKS_MAX_CONNECTIONS', parseInteger(1, 1_000_000), 1024),
      trustedProxies: read('OUTBREAKS_TRUSTED_PROXIES', parseTrustedProxies, []),
      securityContact: read('OUTBREAKS_SECURITY_CONTACT', parseContact, '') || null,
      metricsAddress: metricsPort === -1 ? null : { host: metricsHost, port: metricsPort },
      logLevel: read('OUTBREAKS_LOG_LEVEL', parseChoice('fatal', 'error', 'warn', 'info', 'debug', 'silent'), 'info'),
      drainSeconds: read('OUTBREAKS_DRAIN_SECONDS', parseInteger(0, 600), 5),
      cacheMegabytes: read('OUTBREAKS_CACHE_MB', parseInteger(0, 65_536), 64),
      maxStalenessSeconds: read('OUTBREAKS_MAX_STALENESS_SECONDS', parseInteger(5, 600), 60),
      rateLimit: read('OUTBREAKS_RATE_LIMIT', parseInteger(0, 1_000_000_000), 6000),
      rateSeconds: read('OUTBREAKS_RATE_SECONDS', parseInteger(1, 86_400), 60),
      failedAttempts: read('OUTBREAKS_FAILED_ATTEMPTS', parseInteger(0, 1_000_000), 60),
      clientConcurrency: read('OUTBREAKS_CLIENT_CONCURRENCY', parseInteger(0, 10_000), 8),
      redisUrl: read('OUTBREAKS_REDIS_URL', checkRedisUrl, '') || null,
      externalIssuer: jwksUrl === '' ? null : { jwksUrl, tokenType },
      filesLocation: read('OUTBREAKS_FILES', parseFilesLocation(parseReadableDirectory), '') || null,
      redirectDownloads: read('OUTBREAKS_FILES_REDIRECT', parseBoolean, false),
      indexDirectory: read('OUTBREAKS_INDEX', parseWritableDirectory, '') || null,
      publicClientId: read('OUTBREAKS_PUBLIC_CLIENT', (value) => value, '') || null,
      oidc: OIDC_VARIABLES.some((name) => environment[name] || environment[`${name}_FILE`]) ? readOidc(read) : null,
    }
  })

const OIDC_VARIABLES = ['ISSUER', 'CLIENT_ID', 'CLIENT_SECRET', 'READER', 'GROUP', 'NAME'].map(
  (name) => `OUTBREAKS_OIDC_${name}`,
)

/** If one variable is set, the first four are required. */
const readOidc = (read: ReadVariable): OidcConfig => ({
  issuer: read('OUTBREAKS_OIDC_ISSUER', parseProviderUrl),
  clientId: read('OUTBREAKS_OIDC_CLIENT_ID', (value) => value),
  clientSecret: read('OUTBREAKS_OIDC_CLIENT_SECRET', (value) => value),
  readerClientId: read('OUTBREAKS_OIDC_READER', (value) => value),
  group: read('OUTBREAKS_OIDC_GROUP', (value) => value, '') || null,
  name: read('OUTBREAKS_OIDC_NAME', (value) => value, 'your organisation'),
})

export type FileAccess = 'read' | 'write'

/** The directory or the bucket with the files of releases, for the operator; null if there is none. */
export function readFilesLocation(environment: Environment, access: FileAccess): string | null {
  const parseDirectory = access === 'write' ? parseWritableDirectory : parseReadableDirectory
  return readAll(environment, (read) => read('OUTBREAKS_FILES', parseFilesLocation(parseDirectory), '') || null)
}

/** The secrets that are configured, so that they can be removed from texts. Empty where one cannot be read. */
export function secretValues(environment: Environment): string[] {
  const values = ['OUTBREAKS_SECRET', 'OUTBREAKS_OIDC_CLIENT_SECRET', 'AWS_SECRET_ACCESS_KEY', 'PGPASSWORD'].map(
    (name) => attempt(() => findText(environment, name)),
  )
  const passwords = splitServers(attempt(() => findText(environment, 'DATABASE_URL'))).map(
    (url) => URL.parse(url)?.password ?? '',
  )
  return [...values, ...passwords, ...passwords.map((password) => attempt(() => decodeURIComponent(password)))].filter(
    (value) => value.length >= MIN_SECRET_LENGTH,
  )
}

/** A shorter one would also be found inside of other words. */
const MIN_SECRET_LENGTH = 6

function attempt(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

/** For the first log line: the configuration without passwords and keys. */
export function redactConfig(config: ServiceConfig): Record<string, unknown> {
  return {
    ...config,
    databaseUrl: removeLogin(config.databaseUrl),
    redisUrl: config.redisUrl === null ? null : removeLogin(config.redisUrl),
    secret: '[redacted]',
    furtherSecrets: config.furtherSecrets.map(() => '[redacted]'),
    oidc: config.oidc === null ? null : { ...config.oidc, clientSecret: '[redacted]' },
  }
}

/** Also of an address with several hosts, which is not a URL for the parser. */
const removeLogin = (text: string): string => text.replace(/^([a-z+]+:\/\/).*@/, '$1').replace(/\?.*$/, '')

type ReadVariable = <Value>(name: string, parse: (text: string) => Value, fallback?: Value) => Value

function readAll<Config>(environment: Environment, build: (read: ReadVariable) => Config): Config {
  const errors: string[] = []
  const read: ReadVariable = (name, parse, fallback) => {
    try {
      const text = findText(environment, name)
      if (text !== '') return parse(text)
      if (fallback === undefined) errors.push(`${name} is missing`)
    } catch (error) {
      errors.push(`${name} ${(error as Error).message}`)
    }
    // After an error the configuration is not returned, so the missing value is never used.
    return fallback as never
  }
  const config = build(read)
  if (errors.length > 0) throw new ConfigError(errors)
  return config
}

/** With `NAME_FILE` the value is in that file, as orchestrators provide secrets. Empty if there is none. */
function findText(environment: Environment, name: string): string {
  const [text = '', file = ''] = [environment[name], environment[`${name}_FILE`]]
  if (file === '') return text
  if (text !== '') throw new Error(`and ${name}_FILE must not both be set`)
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(`cannot be read from the file that ${name}_FILE names (${code})`, { cause: error })
  }
}

// No message contains the value: it may be a secret in the wrong variable.
function parseDatabaseUrl(text: string): string {
  const servers = splitServers(text)
  const isValid =
    /^postgres(ql)?:\/\//.test(text) &&
    servers.every((server) => URL.canParse(server) && (servers.length === 1 || new URL(server).hostname !== ''))
  if (!isValid)
    throw new Error('must be a postgres:// URL, optionally with several hosts: postgres://user@one:5432,two:5432/name')
  return text
}

function checkRedisUrl(text: string): string {
  parseRedisUrl(text)
  return text
}

function parseUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) throw new Error('must be an http(s) URL')
  if (/[?#@]|\/$/.test(text)) throw new Error('must have no user, no query, no fragment and no slash at the end')
  return text
}

/** Without TLS, anybody between could answer for the provider. */
function parseProviderUrl(text: string): string {
  const { protocol, hostname } = URL.parse(text) ?? {}
  const isLocal = protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname ?? '')
  if (protocol !== 'https:' && !isLocal) throw new Error('must be an https URL, or an http URL on this machine')
  if (/[?#@]/.test(text)) throw new Error('must have no user, no query and no fragment')
  return text
}

/** Whoever answers for the issuer can sign any token. */
const parseKeySetUrl = (text: string): string => parseProviderUrl(parseUrl(text))

/** RFC 9116 section 2.5.3. */
function parseContact(text: string): string {
  if (!/^(mailto:[^\s@]+@[^\s@]+|https:\/\/[^\s]+|tel:\+[\d-]+)$/.test(text) || !URL.canParse(text))
    throw new Error('must be a mailto:, https: or tel: URL')
  return text
}

function parseSecret(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length < 32 || bytes.toString('base64url') !== text) {
    throw new Error('must be at least 32 random bytes in base64url')
  }
  return bytes
}

function parseFilesLocation(parseDirectory: (text: string) => string) {
  return (text: string): string => {
    if (!text.startsWith('s3:')) return parseDirectory(text)
    if (!isBucketUrl(text)) throw new Error('must be the absolute path of a directory, or s3://bucket/folder')
    return text
  }
}

function parseReadableDirectory(text: string): string {
  if (!isAbsolute(text)) throw new Error('must be the absolute path of a directory')
  try {
    opendirSync(text).closeSync()
    accessSync(text, constants.X_OK)
  } catch {
    throw new Error('must be a directory that exists and that this process may read')
  }
  return text
}

function parseWritableDirectory(text: string): string {
  const directory = parseReadableDirectory(text)
  try {
    accessSync(directory, constants.W_OK)
  } catch {
    throw new Error('must be a directory that this process may write to')
  }
  return directory
}

const parseChoice =
  (...choices: string[]) =>
  (text: string) => {
    if (!choices.includes(text)) throw new Error(`must be one of ${choices.join(', ')}`)
    return text
  }

const parseBoolean = (text: string): boolean => parseChoice('true', 'false')(text) === 'true'

const parseInteger = (minimum: number, maximum: number) => (text: string) => {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < minimum || value > maximum) {
    throw new Error(`must be a whole number from ${minimum} to ${maximum}`)
  }
  return value
}
