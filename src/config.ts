// Reads the configuration from environment variables. Reports all errors together and never prints a secret.
import { readFileSync } from 'node:fs'
import type { PopulationTable } from './methods/population.ts'
import { parseWritableDirectory, SIGN_IN_VARIABLES, VARIABLES, type Variable } from './variables.ts'

export interface DatabaseConfig {
  databaseUrl: string
}

export interface OperatorConfig extends DatabaseConfig {
  /** Encrypts and signs. */
  secret: Buffer
  /** Accepted while the secret changes: the previous and the next one. */
  fallbackSecrets: Buffer[]
}

export interface ServiceConfig extends OperatorConfig {
  baseUrl: string
  authUrl: string
  host: string
  port: number
  /** Addresses and networks of proxies whose X-Forwarded-For is believed. */
  trustedProxies: readonly string[]
  /** Where to report a vulnerability: a mailto: or https: URL; null if there is no security.txt. */
  securityContact: string | null
  /** Where Prometheus reads the metrics; null if they are not served. */
  metricsAddress: { host: string; port: number } | null
  logLevel: string
  /** How long the node continues to serve after SIGTERM, while /ready returns 503. */
  drainSeconds: number
  /** Size of the response cache; 0 for none. */
  cacheMegabytes: number
  /** Maximum age of the loaded clients and keys; beyond it every token is rejected. */
  maxStalenessSeconds: number
  /** Units of a client in a minute; 0 for no limit. */
  rateLimit: number
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
  /** The operator's table of inhabitants; null for that of the repository. */
  population: PopulationTable | null
  /** The client of guests of the explorer; null if there are none. */
  publicClientId: string | null
  /** Whether assistants can ask at /mcp. */
  mcp: boolean
  /** Origins of pages that can show an embed in a frame, besides the service itself. */
  embedOrigins: readonly string[]
  /** Where this node reaches the notifier; null if there is none. */
  notifierUrl: string | null
  /** The OpenID Connect provider for signing in to the explorer; null if there is none. */
  oidc: OidcConfig | null
  /** How the notifier delivers. */
  delivery: DeliveryConfig
}

interface DeliveryConfig {
  /** Origins of receivers that need no challenge, and can have any address and port. */
  trustedOrigins: readonly string[]
  /** The proxy for webhooks; null if there is none. */
  proxyUrl: string | null
  /** The server that sends mails, and their sender; null if no mail is sent. */
  mail: { smtpUrl: string; from: string } | null
}

interface OidcConfig {
  issuer: string
  clientId: string
  clientSecret: string
  /** The client that people who signed in with the provider use. */
  readerClientId: string
  /** The claim `groups` must contain it; null if everyone with an account can sign in. */
  group: string | null
  /** The name of the provider for people. */
  name: string
}

export class ConfigError extends Error {
  constructor(messages: string[]) {
    super(`The configuration is not valid:\n${messages.map((message) => `  ${message}`).join('\n')}`)
    this.name = 'ConfigError'
  }
}

type Environment = Record<string, string | undefined>

export const readDatabaseConfig = (environment: Environment): DatabaseConfig =>
  readAll(environment, (read) => ({ databaseUrl: read('DATABASE_URL') }))

/** For commands that use a database only if there is one. */
export const hasDatabase = (environment: Environment): boolean =>
  Boolean(environment['DATABASE_URL'] || environment['DATABASE_URL_FILE'])

export const readOperatorConfig = (environment: Environment): OperatorConfig =>
  readAll(environment, (read) => ({
    databaseUrl: read('DATABASE_URL'),
    ...readSecrets(read),
  }))

function readSecrets(read: ReadVariable) {
  const fallbacks = [read('OUTBREAKS_SECRET_PREVIOUS'), read('OUTBREAKS_SECRET_NEXT')]
  return { secret: read('OUTBREAKS_SECRET'), fallbackSecrets: fallbacks.filter((secret) => secret.length > 0) }
}

export const readServiceConfig = (environment: Environment): ServiceConfig =>
  readAll(environment, (read) => {
    const baseUrl = read('OUTBREAKS_BASE_URL')
    const jwksUrl = read('OUTBREAKS_JWKS_URL')
    const metricsPort = read('OUTBREAKS_METRICS_PORT')
    const metricsHost = read('OUTBREAKS_METRICS_HOST')
    const tokenType = read('OUTBREAKS_TOKEN_TYPE')
    return {
      databaseUrl: read('DATABASE_URL'),
      ...readSecrets(read),
      baseUrl,
      authUrl: read('OUTBREAKS_AUTH_URL') || baseUrl,
      host: read('OUTBREAKS_HOST'),
      port: read('OUTBREAKS_PORT'),
      trustedProxies: read('OUTBREAKS_TRUSTED_PROXIES'),
      securityContact: read('OUTBREAKS_SECURITY_CONTACT') || null,
      metricsAddress: metricsPort === -1 ? null : { host: metricsHost, port: metricsPort },
      logLevel: read('OUTBREAKS_LOG_LEVEL'),
      drainSeconds: read('OUTBREAKS_DRAIN_SECONDS'),
      cacheMegabytes: read('OUTBREAKS_CACHE_MB'),
      maxStalenessSeconds: read('OUTBREAKS_MAX_STALENESS_SECONDS'),
      rateLimit: read('OUTBREAKS_RATE_LIMIT'),
      failedAttempts: read('OUTBREAKS_FAILED_ATTEMPTS'),
      clientConcurrency: read('OUTBREAKS_CLIENT_CONCURRENCY'),
      redisUrl: read('OUTBREAKS_REDIS_URL') || null,
      externalIssuer: jwksUrl === '' ? null : { jwksUrl, tokenType },
      filesLocation: read('OUTBREAKS_FILES') || null,
      redirectDownloads: read('OUTBREAKS_FILES_REDIRECT'),
      indexDirectory: read('OUTBREAKS_INDEX') || null,
      population: read('OUTBREAKS_POPULATION'),
      publicClientId: read('OUTBREAKS_PUBLIC_CLIENT') || null,
      mcp: read('OUTBREAKS_MCP'),
      embedOrigins: read('OUTBREAKS_EMBED_ORIGINS'),
      notifierUrl: read('OUTBREAKS_NOTIFIER_URL') || null,
      oidc: isSignInSet(environment) ? readOidc(read) : null,
      delivery: readDelivery(read),
    }
  })

function readDelivery(read: ReadVariable): DeliveryConfig {
  const smtpUrl = read('OUTBREAKS_SMTP_URL')
  const from = read('OUTBREAKS_MAIL_FROM')
  return {
    trustedOrigins: read('OUTBREAKS_WEBHOOK_ORIGINS'),
    proxyUrl: read('OUTBREAKS_EGRESS_PROXY') || null,
    mail: smtpUrl === '' ? null : { smtpUrl, from },
  }
}

const isSignInSet = (environment: Environment): boolean =>
  Object.keys(SIGN_IN_VARIABLES).some((name) => environment[name] || environment[`${name}_FILE`])

const readOidc = (read: ReadVariable): OidcConfig => ({
  issuer: read('OUTBREAKS_OIDC_ISSUER'),
  clientId: read('OUTBREAKS_OIDC_CLIENT_ID'),
  clientSecret: read('OUTBREAKS_OIDC_CLIENT_SECRET'),
  readerClientId: read('OUTBREAKS_OIDC_READER'),
  group: read('OUTBREAKS_OIDC_GROUP') || null,
  name: read('OUTBREAKS_OIDC_NAME'),
})

/** The address at which clients reach the API, for links in what commands print. */
export const readBaseUrl = (environment: Environment): string =>
  readAll(environment, (read) => read('OUTBREAKS_BASE_URL'))

export type FileAccess = 'read' | 'write'

/** The directory or the bucket with the files of releases, for the operator; null if there is none. */
export function readFilesLocation(environment: Environment, access: FileAccess): string | null {
  const check = (location: string) =>
    access === 'write' && !location.startsWith('s3:') && parseWritableDirectory(location)
  return readAll(environment, (read) => read('OUTBREAKS_FILES', check) || null)
}

/** Where a node on this machine keeps its column index; null if there is none. */
export const readIndexDirectory = (environment: Environment): string | null =>
  readAll(environment, (read) => read('OUTBREAKS_INDEX') || null)

/** The secrets that are configured, so that they can be removed from texts. Empty where one cannot be read. */
export function secretValues(environment: Environment): string[] {
  const secrets = Object.entries(ALL_VARIABLES).filter(([, variable]) => variable.isSecret)
  const names = [...secrets.map(([name]) => name), 'AWS_SECRET_ACCESS_KEY', 'PGPASSWORD']
  const values = names.map((name) => attempt(() => findText(environment, name)))
  const urls = ['DATABASE_URL', 'OUTBREAKS_SMTP_URL', 'OUTBREAKS_EGRESS_PROXY']
  const passwords = urls.map((name) => URL.parse(attempt(() => findText(environment, name)))?.password ?? '')
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

/** A variable as this process sees it. */
type ExplainedVariable = {
  name: string
  /** Without passwords and keys; empty if there is none. */
  value: string
  /** Where the value comes from: the default, the environment, or a file. */
  from: string
  /** What is wrong with it; empty if nothing is. */
  problem: string
}

/** Every variable with the value in force, and those of the environment that this version does not know. */
export function explainConfig(environment: Environment): ExplainedVariable[] {
  const names = Object.keys(ALL_VARIABLES) as (keyof Variables)[]
  const unknown = Object.keys(environment).filter(
    (name) => name.startsWith('OUTBREAKS_') && !names.some((known) => name === known || name === `${known}_FILE`),
  )
  return [
    ...names.map((name) => explainVariable(environment, name)),
    ...unknown.map((name) => ({ name, value: '', from: 'environment', problem: 'no variable has this name' })),
  ]
}

function explainVariable(environment: Environment, name: keyof Variables): ExplainedVariable {
  const { parse, fallback, isSecret } = ALL_VARIABLES[name] as Variable<unknown>
  const file = environment[`${name}_FILE`] ?? ''
  const from = file === '' ? 'environment' : `file ${file}`
  let text = ''
  try {
    text = findText(environment, name)
    if (text !== '') parse(text)
  } catch (error) {
    return { name, value: '', from, problem: (error as Error).message }
  }
  if (text !== '') return { name, value: isSecret ? '[redacted]' : removePassword(text), from, problem: '' }
  const isMissing = fallback === undefined && (name in VARIABLES || isSignInSet(environment))
  const value = name === 'OUTBREAKS_AUTH_URL' ? attempt(() => findText(environment, 'OUTBREAKS_BASE_URL')) : fallback
  return { name, value: describeDefault(value), from: 'default', problem: isMissing ? 'is not set' : '' }
}

/** -1 stands for no port. */
function describeDefault(value: unknown): string {
  if (value === -1) return ''
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

const removePassword = (text: string): string =>
  /^[a-z+]+:\/\//.test(text) ? text.replace(/(\/\/[^:@/]*):.*@/, '$1:[redacted]@').replace(/\?.*$/, '') : text

/** For the first log line: the configuration without passwords and keys. */
export function redactConfig(config: ServiceConfig): Record<string, unknown> {
  return {
    ...config,
    databaseUrl: removeLogin(config.databaseUrl),
    redisUrl: config.redisUrl === null ? null : removeLogin(config.redisUrl),
    secret: '[redacted]',
    fallbackSecrets: config.fallbackSecrets.map(() => '[redacted]'),
    oidc: config.oidc === null ? null : { ...config.oidc, clientSecret: '[redacted]' },
    delivery: {
      ...config.delivery,
      proxyUrl: config.delivery.proxyUrl && removeLogin(config.delivery.proxyUrl),
      mail: config.delivery.mail && { ...config.delivery.mail, smtpUrl: removeLogin(config.delivery.mail.smtpUrl) },
    },
  }
}

/** Also of a Redis address with several hosts, which is not a URL for the parser. */
const removeLogin = (text: string): string => text.replace(/^([a-z+]+:\/\/).*@/, '$1').replace(/\?.*$/, '')

const ALL_VARIABLES = { ...VARIABLES, ...SIGN_IN_VARIABLES }
type Variables = typeof ALL_VARIABLES
type Value<Name extends keyof Variables> = ReturnType<Variables[Name]['parse']>
/** `check` throws if this process cannot use a value that is valid. */
type ReadVariable = <Name extends keyof Variables>(name: Name, check?: (value: Value<Name>) => unknown) => Value<Name>

function readAll<Config>(environment: Environment, build: (read: ReadVariable) => Config): Config {
  const errors: string[] = []
  const read: ReadVariable = (name, check) => {
    const { parse, fallback } = ALL_VARIABLES[name] as Variable<Value<typeof name>>
    try {
      const text = findText(environment, name)
      if (text !== '') {
        const value = parse(text)
        check?.(value)
        return value
      }
      if (fallback === undefined) errors.push(`${name} is not set`)
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
  const text = environment[name] ?? ''
  const file = environment[`${name}_FILE`] ?? ''
  if (file === '') return text
  if (text !== '') throw new Error(`and ${name}_FILE are both set: keep one`)
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(`cannot be read from the file in ${name}_FILE (${code})`, { cause: error })
  }
}
