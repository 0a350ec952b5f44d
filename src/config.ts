// The only reader of the environment. Lists every fault at once, and prints itself without its secrets.
import { accessSync, constants, opendirSync } from 'node:fs'
import { isAbsolute } from 'node:path'

export interface DatabaseConfig {
  databaseUrl: string
}

export interface OperatorConfig extends DatabaseConfig {
  secret: Buffer
}

export interface ServiceConfig extends OperatorConfig {
  baseUrl: string
  authUrl: string
  host: string
  port: number
  /** Whether other processes may listen on the same port, each of which must say so too. */
  sharePort: boolean
  /** Connections that clients may have open at a time. */
  maxConnections: number
  logLevel: string
  /** How long the node goes on serving after it has said that it is leaving. */
  drainSeconds: number
  /** How many megabytes of answers the node keeps to send them again; 0 for none. */
  cacheMegabytes: number
  /** How old what the node knows of clients and keys may be before it lets nobody in. */
  maxStalenessSeconds: number
  /** Requests a client may make in `rateSeconds`; 0 where there is no limit. */
  rateLimit: number
  rateSeconds: number
  /** Requests of a client that a node processes at a time; 0 where there is no limit. */
  clientConcurrency: number
  /** Where the nodes count requests together; null where each counts alone. */
  redisUrl: string | null
  /** Set where another issuer's tokens are trusted instead of our own. */
  externalIssuer: { jwksUrl: string; tokenType: string } | null
  /** Where the files of releases are; null where there are none. */
  filesDirectory: string | null
}

export class ConfigError extends Error {
  constructor(faults: string[]) {
    super(
      `The configuration has ${faults.length === 1 ? 'a fault' : 'faults'}:\n${faults.map((f) => `  ${f}`).join('\n')}`,
    )
    this.name = 'ConfigError'
  }
}

type Environment = Record<string, string | undefined>

export const readDatabaseConfig = (environment: Environment): DatabaseConfig =>
  readAll(environment, (read) => ({ databaseUrl: read('DATABASE_URL', databaseUrl) }))

export const readOperatorConfig = (environment: Environment): OperatorConfig =>
  readAll(environment, (read) => ({
    databaseUrl: read('DATABASE_URL', databaseUrl),
    secret: read('OUTBREAKS_SECRET', secret),
  }))

export const readServiceConfig = (environment: Environment): ServiceConfig =>
  readAll(environment, (read) => {
    const baseUrl = read('OUTBREAKS_BASE_URL', address)
    const jwksUrl = read('OUTBREAKS_JWKS_URL', address, '')
    const tokenType = read('OUTBREAKS_TOKEN_TYPE', oneOf('at+jwt', 'JWT'), 'at+jwt')
    return {
      databaseUrl: read('DATABASE_URL', databaseUrl),
      secret: read('OUTBREAKS_SECRET', secret),
      baseUrl,
      authUrl: read('OUTBREAKS_AUTH_URL', address, '') || baseUrl,
      host: read('OUTBREAKS_HOST', (value) => value, '127.0.0.1'),
      port: read('OUTBREAKS_PORT', wholeNumber(0, 65_535), 8080),
      sharePort: read('OUTBREAKS_SHARE_PORT', trueOrFalse, false),
      maxConnections: read('OUTBREAKS_MAX_CONNECTIONS', wholeNumber(1, 1_000_000), 1024),
      logLevel: read('OUTBREAKS_LOG_LEVEL', oneOf('fatal', 'error', 'warn', 'info', 'debug', 'silent'), 'info'),
      drainSeconds: read('OUTBREAKS_DRAIN_SECONDS', wholeNumber(0, 600), 5),
      cacheMegabytes: read('OUTBREAKS_CACHE_MB', wholeNumber(0, 65_536), 64),
      maxStalenessSeconds: read('OUTBREAKS_MAX_STALENESS_SECONDS', wholeNumber(5, 600), 60),
      rateLimit: read('OUTBREAKS_RATE_LIMIT', wholeNumber(0, 1_000_000_000), 6000),
      rateSeconds: read('OUTBREAKS_RATE_SECONDS', wholeNumber(1, 86_400), 60),
      clientConcurrency: read('OUTBREAKS_CLIENT_CONCURRENCY', wholeNumber(0, 10_000), 8),
      redisUrl: read('OUTBREAKS_REDIS_URL', redisUrl, '') || null,
      externalIssuer: jwksUrl === '' ? null : { jwksUrl, tokenType },
      filesDirectory: read('OUTBREAKS_FILES', readableDirectory, '') || null,
    }
  })

/** Where the operator writes the files of releases; null where none are wanted. */
export const readFilesDirectory = (environment: Environment): string | null =>
  readAll(environment, (read) => read('OUTBREAKS_FILES', writableDirectory, '') || null)

/** For the first log line: what the process runs with, without passwords and keys. */
export function redactConfig(config: ServiceConfig): Record<string, unknown> {
  return {
    ...config,
    databaseUrl: withoutLogin(config.databaseUrl),
    redisUrl: config.redisUrl === null ? null : withoutLogin(config.redisUrl),
    secret: '[redacted]',
  }
}

function withoutLogin(text: string): string {
  const { protocol, host, pathname } = new URL(text)
  return `${protocol}//${host}${pathname}`
}

type Reader = <Value>(name: string, parse: (text: string) => Value, fallback?: Value) => Value

function readAll<Config>(environment: Environment, build: (read: Reader) => Config): Config {
  const faults: string[] = []
  const read: Reader = (name, parse, fallback) => {
    const text = environment[name]
    if (text === undefined || text === '') {
      if (fallback === undefined) faults.push(`${name} is missing`)
    } else {
      try {
        return parse(text)
      } catch (error) {
        faults.push(`${name} ${(error as Error).message}`)
      }
    }
    // With a fault noted the configuration is never returned, so the gap is never seen.
    return fallback as never
  }
  const config = build(read)
  if (faults.length > 0) throw new ConfigError(faults)
  return config
}

// No message repeats the value: it may be a secret in the wrong variable.
function databaseUrl(text: string): string {
  if (!URL.canParse(text) || !/^postgres(ql)?:\/\//.test(text)) throw new Error('must be a postgres:// address')
  return text
}

/** Its parameters could undo the bounds on every wait, so it has none. */
function redisUrl(text: string): string {
  if (!URL.canParse(text) || !/^rediss?:\/\/[^/?#]+(\/\d{0,4})?$/.test(text)) {
    throw new Error('must be a redis:// or rediss:// address, at most with a database number behind it')
  }
  return text
}

function address(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) throw new Error('must be an http(s) address')
  if (/[?#@]|\/$/.test(text)) throw new Error('must have no user, no query, no fragment and no slash at the end')
  return text
}

function secret(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length < 32 || bytes.toString('base64url') !== text) {
    throw new Error('must be at least 32 random bytes in base64url')
  }
  return bytes
}

function readableDirectory(text: string): string {
  if (!isAbsolute(text)) throw new Error('must be the absolute path of a directory')
  try {
    opendirSync(text).closeSync()
    accessSync(text, constants.X_OK)
  } catch {
    throw new Error('must be a directory that exists and that this process may read')
  }
  return text
}

function writableDirectory(text: string): string {
  const directory = readableDirectory(text)
  try {
    accessSync(directory, constants.W_OK)
  } catch {
    throw new Error('must be a directory that this process may write to')
  }
  return directory
}

const oneOf =
  (...choices: string[]) =>
  (text: string) => {
    if (!choices.includes(text)) throw new Error(`must be one of ${choices.join(', ')}`)
    return text
  }

const trueOrFalse = (text: string): boolean => oneOf('true', 'false')(text) === 'true'

const wholeNumber = (minimum: number, maximum: number) => (text: string) => {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < minimum || value > maximum) {
    throw new Error(`must be a whole number from ${minimum} to ${maximum}`)
  }
  return value
}
