// The environment variables: what each one means, its default, how its text is read. docs/reference/configuration.md is
// generated from this list.

import { accessSync, constants, opendirSync } from 'node:fs'
import { isIP } from 'node:net'
import { isAbsolute } from 'node:path'
import { readPopulationFile } from './api/measures/population-file.ts'
import type { PopulationTable } from './methods/population.ts'
import { parseRedisUrl } from './platform/redis/redis-url.ts'
import { isBucketUrl } from './storage/files/open-store.ts'

export interface Variable<Value> {
  /** Throws if the text is not valid. */
  readonly parse: (text: string) => Value
  /** The value if the variable is not set; without one it is required. */
  readonly fallback?: Value
  readonly meaning: string
  /** The page that says more. */
  readonly see?: string
  /** Whether the value is removed from texts that people read. */
  readonly isSecret?: true
}

const define = <Value>(
  parse: (text: string) => Value,
  fallback: Value | undefined,
  meaning: string,
  more: { see?: string; isSecret?: true } = {},
): Variable<Value> => ({ parse, ...(fallback === undefined ? {} : { fallback }), meaning, ...more })

/** For a variable that must be set. */
const REQUIRED = undefined
const NO_SECRET: Buffer = Buffer.alloc(0)
const anyText = (value: string): string => value

export const VARIABLES = {
  DATABASE_URL: define(parseDatabaseUrl, REQUIRED, 'the database and the login of this process', {
    see: 'operating/replicas.md',
  }),
  OUTBREAKS_SECRET: define(
    parseSecret,
    REQUIRED,
    'the secret from which all keys are derived; the same on every node, and where you run `outbreakctl key` or `outbreakctl link`',
    { isSecret: true },
  ),
  OUTBREAKS_SECRET_NEXT: define(
    parseSecret,
    NO_SECRET,
    'the next secret: accepted during a change, never used to write',
    { see: 'operating/change-the-secret.md', isSecret: true },
  ),
  OUTBREAKS_SECRET_PREVIOUS: define(
    parseSecret,
    NO_SECRET,
    'the previous secret: accepted during a change, never used to write',
    { see: 'operating/change-the-secret.md', isSecret: true },
  ),
  OUTBREAKS_BASE_URL: define(
    parseUrl,
    REQUIRED,
    'the exact URL at which clients reach the API; and the audience of tokens',
  ),
  OUTBREAKS_AUTH_URL: define(parseUrl, '', "the token issuer's URL, if it is not the base URL"),
  OUTBREAKS_HOST: define(anyText, '127.0.0.1', 'the address to listen on'),
  OUTBREAKS_PORT: define(parseInteger(0, 65_535), 8080, 'the port to listen on; 0 picks a free one'),
  OUTBREAKS_TRUSTED_PROXIES: define(
    parseTrustedProxies,
    [],
    'proxies (addresses and networks) whose `X-Forwarded-For` the node trusts; the client is the rightmost address that is not one of them',
  ),
  OUTBREAKS_SECURITY_CONTACT: define(
    parseContact,
    '',
    'where to report a vulnerability; the node then serves `/.well-known/security.txt` (RFC 9116)',
  ),
  OUTBREAKS_METRICS_PORT: define(parseInteger(0, 65_535), -1, 'the port on which Prometheus reads metrics', {
    see: 'operating/monitor.md',
  }),
  OUTBREAKS_METRICS_HOST: define(anyText, '127.0.0.1', 'the address on which the node serves metrics'),
  OUTBREAKS_LOG_LEVEL: define(
    parseChoice('fatal', 'error', 'warn', 'info', 'debug', 'silent'),
    'info',
    'the lowest level that the node logs',
  ),
  OUTBREAKS_DRAIN_SECONDS: define(parseInteger(0, 600), 5, 'how long a node keeps serving after SIGTERM'),
  OUTBREAKS_CACHE_MB: define(
    parseInteger(0, 65_536),
    64,
    "size of a node's response cache in megabytes; 0 turns it off",
  ),
  OUTBREAKS_MAX_STALENESS_SECONDS: define(
    parseInteger(5, 600),
    60,
    "the maximum age of a node's data about clients and keys; if it is older, the node rejects all requests",
    { see: 'operating/replicas.md' },
  ),
  OUTBREAKS_RATE_LIMIT: define(
    parseInteger(0, 1_000_000_000),
    6000,
    "a client's quota in units per minute, across all nodes; 0 for no limit",
    { see: 'fair-use.md#quota' },
  ),
  OUTBREAKS_FAILED_ATTEMPTS: define(
    parseInteger(0, 1_000_000),
    60,
    'failed authentication attempts per minute that a node allows from one address; 0 for no limit',
    { see: 'fair-use.md#failed-attempts' },
  ),
  OUTBREAKS_CLIENT_CONCURRENCY: define(
    parseInteger(0, 10_000),
    8,
    'how many requests one client can run at the same time on a node; 0 for no limit',
  ),
  OUTBREAKS_REDIS_URL: define(checkRedisUrl, '', 'the Redis or Valkey through which nodes share quotas'),
  OUTBREAKS_JWKS_URL: define(
    parseKeySetUrl,
    '',
    'the key set of an external issuer; `OUTBREAKS_AUTH_URL` is then that issuer. If the issuer removes a key, nodes trust it for ten minutes at most',
  ),
  OUTBREAKS_TOKEN_TYPE: define(
    parseChoice('at+jwt', 'JWT'),
    'at+jwt',
    "the `typ` of the external issuer's tokens; some issuers use `JWT`",
  ),
  OUTBREAKS_FILES: define(
    parseFilesLocation,
    '',
    'the directory or bucket for release files; `outbreakctl` writes to it and nodes read it',
    { see: 'operating/files.md' },
  ),
  OUTBREAKS_FILES_REDIRECT: define(parseBoolean, false, 'true to redirect downloads to the object store', {
    see: 'operating/files.md#use-an-object-store',
  }),
  OUTBREAKS_INDEX: define(
    parseWritableDirectory,
    '',
    'a directory on each machine where nodes keep their column index; without it, every start builds a temporary one',
    { see: 'operating/column-index.md' },
  ),
  OUTBREAKS_POPULATION: define(
    parsePopulationTable,
    null,
    'a table of inhabitants for `measures=per_100000`, the same on every node; without it that of the World Bank',
    { see: 'operating/population-table.md' },
  ),
  OUTBREAKS_MCP: define(parseBoolean, true, 'false turns off the tools for assistants at `/mcp`', {
    see: 'use-with-an-assistant.md#for-operators',
  }),
  OUTBREAKS_PUBLIC_CLIENT: define(
    anyText,
    '',
    'the client id for guests: with it, anyone can use the explorer without signing in',
    {
      see: 'operating/explorer-sign-in.md',
    },
  ),
  OUTBREAKS_NOTIFIER_URL: define(
    parseUrl,
    '',
    'where nodes reach the notifier, to which they forward requests about watches; without it the service has no watches',
    { see: 'operating/notifier.md' },
  ),
  OUTBREAKS_EMBED_ORIGINS: define(
    parseOrigins,
    [],
    'origins of web pages that can show a picture of this service in a frame; nothing else of the service can be framed',
    { see: 'embed-a-picture.md' },
  ),
  OUTBREAKS_WEBHOOK_ORIGINS: define(
    parseReceivers,
    [],
    'origins of receivers that you trust: they need no challenge, and can have a private address or another port than 443',
    { see: 'receive-webhooks.md#for-operators' },
  ),
  OUTBREAKS_EGRESS_PROXY: define(
    parseProxy,
    '',
    'the proxy (HTTP CONNECT) through which webhooks go; it gets addresses that the notifier has checked',
    { see: 'receive-webhooks.md#for-operators', isSecret: true },
  ),
  OUTBREAKS_SMTP_URL: define(
    parseMailServer,
    '',
    'the server that sends mails, such as `smtps://user:password@mail.example.org`; without it no mail is sent',
    { see: 'receive-webhooks.md#for-operators', isSecret: true },
  ),
  OUTBREAKS_MAIL_FROM: define(
    parseSender,
    'outbreaks@localhost',
    'the sender of mails, such as `outbreaks@example.org`',
  ),
} as const

/** Sign-in with an OpenID Connect provider: if one of them is set, those without a default are required. */
export const SIGN_IN_VARIABLES = {
  OUTBREAKS_OIDC_ISSUER: define(parseProviderUrl, REQUIRED, 'the issuer, exactly as its metadata names it'),
  OUTBREAKS_OIDC_CLIENT_ID: define(anyText, REQUIRED, 'the client id of the explorer at the provider'),
  OUTBREAKS_OIDC_CLIENT_SECRET: define(anyText, REQUIRED, 'its secret; never logged', { isSecret: true }),
  OUTBREAKS_OIDC_READER: define(anyText, REQUIRED, 'the client id that signed-in people use; its scopes apply'),
  OUTBREAKS_OIDC_GROUP: define(
    anyText,
    '',
    'a group that people must be in (claim `groups`); without it, anyone with an account can sign in',
  ),
  OUTBREAKS_OIDC_NAME: define(anyText, 'your organisation', 'the text of the button: "Sign in with …"'),
} as const

// No message contains the value: it may be a secret in the wrong variable.
function parseDatabaseUrl(text: string): string {
  const url = URL.parse(text)
  if (!/^postgres(ql)?:\/\//.test(text) || url === null || url.hostname.includes(','))
    throw new Error('must be a postgres:// URL with one host')
  return text
}

function checkRedisUrl(text: string): string {
  parseRedisUrl(text)
  return text
}

function parseUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) throw new Error('must be an http or https URL')
  if (/[?#@]|\/$/.test(text)) throw new Error('must not have a user, query, fragment or trailing slash')
  return text
}

/** Without TLS, anyone in between could respond as the provider. */
function parseProviderUrl(text: string): string {
  const { protocol, hostname } = URL.parse(text) ?? {}
  const isLocal = protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname ?? '')
  if (protocol !== 'https:' && !isLocal) throw new Error('must be an https URL (http is allowed only on this machine)')
  if (/[?#@]/.test(text)) throw new Error('must not have a user, query or fragment')
  return text
}

/** Anyone who responds as the issuer can sign any token. */
function parseKeySetUrl(text: string): string {
  return parseUrl(parseProviderUrl(text))
}

/** RFC 9116 section 2.5.3. */
function parseContact(text: string): string {
  if (!/^(mailto:[^\s@]+@[^\s@]+|https:\/\/[^\s]+|tel:\+[\d-]+)$/.test(text) || !URL.canParse(text))
    throw new Error('must be a mailto:, https: or tel: URL')
  return text
}

const MAKE_SECRET = 'node -p "crypto.randomBytes(32).toString(\'base64url\')"'

function parseSecret(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length < 32 || bytes.toString('base64url') !== text) {
    throw new Error(`must be at least 32 random bytes in base64url: ${MAKE_SECRET}`)
  }
  return bytes
}

function parseFilesLocation(text: string): string {
  if (isBucketUrl(text)) return text
  if (!isAbsolute(text)) throw new Error('must be the absolute path of a directory, or s3://bucket/folder')
  return parseReadableDirectory(text)
}

function parseReadableDirectory(text: string): string {
  if (!isAbsolute(text)) throw new Error('must be the absolute path of a directory')
  try {
    opendirSync(text).closeSync()
    accessSync(text, constants.X_OK)
  } catch {
    throw new Error('must be an existing directory that this process can read')
  }
  return text
}

export function parseWritableDirectory(text: string): string {
  const directory = parseReadableDirectory(text)
  try {
    accessSync(directory, constants.W_OK)
  } catch {
    throw new Error('must be a directory that this process can write to')
  }
  return directory
}

function parsePopulationTable(text: string): PopulationTable | null {
  if (!isAbsolute(text)) throw new Error('must be the absolute path of a CSV file with inhabitants')
  try {
    return readPopulationFile(text)
  } catch (error) {
    // A message of the file system has the path.
    const reason = error instanceof Error && !('code' in error) ? error.message : 'this process cannot read it'
    throw new Error(`must be a CSV file with inhabitants: ${reason}`, { cause: error })
  }
}

function parseChoice(...choices: string[]) {
  return (text: string): string => {
    if (!choices.includes(text)) throw new Error(`must be one of ${choices.join(', ')}`)
    return text
  }
}

function parseBoolean(text: string): boolean {
  return parseChoice('true', 'false')(text) === 'true'
}

function parseInteger(minimum: number, maximum: number) {
  return (text: string): number => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < minimum || value > maximum) {
      throw new Error(`must be a whole number from ${minimum} to ${maximum}`)
    }
    return value
  }
}

/** For Fastify's `trustProxy`. The addresses and networks of a list with commas or spaces, such as 10.0.0.0/8. Throws if one of them is not valid. */
export function parseTrustedProxies(text: string): readonly string[] {
  const networks = text.split(/[\s,]+/).filter((network) => network !== '')
  if (!networks.every(isNetwork))
    throw new Error('must be a list of addresses and networks, such as 10.0.0.5,10.1.0.0/16,fd00::/8')
  return networks
}

/** A page without TLS could be anyone's, but for one on this machine. No wildcards: they would name pages of strangers. */
function parseOrigins(text: string): readonly string[] {
  const origins = text.split(/[\s,]+/).filter((origin) => origin !== '')
  const isOrigin = (origin: string) => {
    const { origin: parsed, protocol, hostname } = URL.parse(origin) ?? {}
    const isLocal = protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname ?? '')
    return parsed === origin && (protocol === 'https:' || isLocal) && /^[\w.:[\]/-]+$/.test(origin)
  }
  if (!origins.every(isOrigin))
    throw new Error('must be a list of origins, such as https://www.example.org,https://blog.example.org')
  return origins
}

/** TLS even inside the network: the bodies say who watches what. */
function parseReceivers(text: string): readonly string[] {
  const origins = text.split(/[\s,]+/).filter((origin) => origin !== '')
  if (!origins.every((origin) => /^https:\/\/[\w.:[\]-]+$/.test(origin) && URL.parse(origin)?.origin === origin))
    throw new Error('must be a list of https origins, such as https://hooks.example.org,https://alerts.internal:8443')
  return origins
}

function parseProxy(text: string): string {
  const { protocol, pathname, search, hash } = URL.parse(text) ?? {}
  if (!/^https?:$/.test(protocol ?? '') || pathname !== '/' || search !== '' || hash !== '')
    throw new Error('must be an http or https URL without a path')
  return text
}

function parseMailServer(text: string): string {
  const { protocol, hostname = '' } = URL.parse(text) ?? {}
  if (!/^smtps?:$/.test(protocol ?? '') || hostname === '') throw new Error('must be an smtp: or smtps: URL')
  return text
}

function parseSender(text: string): string {
  if (!/^[^\s@<>"]+@[^\s@<>"]+$/.test(text)) throw new Error('must be a mail address')
  return text
}

/** Fastify accepts no network of length 0, which is everyone. */
function isNetwork(text: string): boolean {
  const [, address = '', length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const bits = isIP(address) === 6 ? 128 : 32
  const ones = Number(length ?? bits)
  return isIP(address) !== 0 && ones >= 1 && ones <= bits
}
