// Checks what a node uses alongside the database: Redis, the files of releases, disks, limits of the process, the public address
// with its certificate, and the issuers of tokens.

import { readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import os from 'node:os'
import { connect, type TLSSocket } from 'node:tls'
import { DAY_MS } from '../platform/calendar-date.ts'
import { MAX_CONNECTIONS } from '../platform/http/bounded-server.ts'
import { describeRedisError, openRedis } from '../platform/redis/redis.ts'
import type { FileStore } from '../storage/files/file-store.ts'
import type { ReleaseFile } from '../storage/published-releases.ts'
import { type Finding, findingsOf } from './finding.ts'

const TIMEOUT_MS = 5000
const CERTIFICATE_DAYS = 14
const CERTIFICATE_ERROR_DAYS = 3
const MINIMUM_FREE_BYTES = 1e9
/** A node can add nothing to its index. */
const FULL_BYTES = 1e7
const MINIMUM_FREE_SHARE = 0.1
/** Each connection, with the file that it downloads; and the database, Redis and the index. */
const DESCRIPTORS = 2 * MAX_CONNECTIONS + 256

export async function checkRedis(url: string | null): Promise<Finding[]> {
  const check = findingsOf('Redis')
  if (url === null)
    return [
      check.warning(
        'not configured, so each node counts quotas on its own',
        'with several nodes, set OUTBREAKS_REDIS_URL',
      ),
    ]
  const redis = openRedis(url)
  try {
    await redis.connect()
    await redis.ping()
    return [check.ok('responds')]
  } catch (error) {
    return [
      check.error(
        describeRedisError(redis, error),
        'check OUTBREAKS_REDIS_URL, and that Redis is running; until then each node counts quotas on its own',
      ),
    ]
  } finally {
    redis.disconnect()
  }
}

/** `recorded` are the files that the latest release should have; null if the database does not say. */
export async function checkFiles(
  store: FileStore | undefined,
  recorded: readonly ReleaseFile[] | null,
): Promise<Finding[]> {
  const check = findingsOf('files')
  if (store === undefined)
    return [check.warning('not configured, so releases are not available as files', 'set OUTBREAKS_FILES')]
  if (recorded === null)
    return [check.warning('could not be checked without the database', 'run doctor again when it responds')]
  try {
    const findings: Finding[] = []
    for (const { name, bytes } of recorded) {
      const file = await store.open(name)
      await file?.close()
      if (file?.bytes !== bytes)
        findings.push(
          check.error(
            file === undefined ? `${name} is missing` : `${name} has ${file.bytes} bytes instead of ${bytes}`,
            'run outbreakctl release export',
          ),
        )
    }
    if (recorded.length === 0)
      return [check.warning('the latest release has no files', 'run outbreakctl release export')]
    return findings.length > 0 ? findings : [check.ok(`the latest release has all ${recorded.length} files`)]
  } catch (error) {
    const reason = ((error as Error).cause ?? error) as Error
    return [
      check.error(
        `the files cannot be read (${reason.message})`,
        'check OUTBREAKS_FILES, its permissions and its credentials',
      ),
    ]
  }
}

/** A node without a directory for its index writes it to the temporary directory. */
export async function checkDisks(directories: readonly string[]): Promise<Finding[]> {
  const check = findingsOf('disk')
  const findings: Finding[] = []
  for (const directory of new Set([...directories, os.tmpdir()])) {
    const disk = await statfs(directory).catch((error: Error) => error)
    if (disk instanceof Error) {
      findings.push(check.error(`${directory} cannot be used (${disk.message})`, 'create it, or correct its path'))
      continue
    }
    const { bavail, blocks, bsize } = disk
    const free = bavail * bsize
    if (free < FULL_BYTES) {
      findings.push(check.error(`${directory} is full`, 'free some space, or use a larger disk'))
      continue
    }
    const gigabytes = (free / 1e9).toFixed(1)
    const isFull = free < MINIMUM_FREE_BYTES || bavail / blocks < MINIMUM_FREE_SHARE
    findings.push(
      isFull
        ? check.warning(`${directory} has only ${gigabytes} GB free`, 'free some space, or use a larger disk')
        : check.ok(`${directory} has ${gigabytes} GB free`),
    )
  }
  return findings
}

export function checkLimits(): Finding[] {
  const check = findingsOf('file descriptors')
  let limit: number
  try {
    limit = Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
  } catch {
    return []
  }
  const message = `this process can open ${limit} files`
  return [
    limit < DESCRIPTORS
      ? check.warning(
          `${message}, too few for ${MAX_CONNECTIONS} connections with downloads`,
          `raise LimitNOFILE to at least ${DESCRIPTORS}`,
        )
      : check.ok(message),
  ]
}

/** The node of this configuration. It must run, and say that it is ready. */
export async function checkListener(host: string, port: number): Promise<Finding[]> {
  if (port === 0) return []
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host
  return [
    await checkReady(
      'this node',
      `http://${name}:${port}`,
      'start it, and read its log: journalctl -u "outbreaks@*" -n 50',
    ),
  ]
}

/** Without a notifier there are no watches, which is no fault. */
export async function checkNotifier(url: string | null): Promise<Finding[]> {
  if (url === null) return []
  const remedy = 'start it, and read its log: journalctl -u outbreaks-notifier -n 50; until then watches wait'
  return [await checkReady('notifier', url, remedy)]
}

async function checkReady(name: string, url: string, remedy: string): Promise<Finding> {
  const check = findingsOf(name)
  try {
    const response = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    const { reasons = [], index = {} } = (await response.json().catch(() => ({}))) as Readiness
    if (response.ok) return describeIndex(name, url, index)
    const why = reasons.length > 0 ? ` (${reasons.join(', ')})` : ''
    return check.error(
      `${url}/ready returns ${response.status}${why}`,
      'see the runbook OutbreaksNoNodeReady in docs/runbooks.md, or on the documentation site',
    )
  } catch (error) {
    return describeSilence(name, url, error as Error, remedy)
  }
}

/** What a node says at /ready. */
interface Readiness {
  readonly reasons?: readonly string[]
  /** The datasets whose index is not complete. */
  readonly index?: Readonly<Record<string, { readonly failures: number }>>
}

/** A node is ready without its index, but requests with filters fail. */
function describeIndex(name: string, url: string, index: NonNullable<Readiness['index']>): Finding {
  const check = findingsOf(name)
  const datasets = Object.keys(index)
  if (Object.values(index).some(({ failures }) => failures > 0))
    return check.error(
      `${url} is ready, but its column index of ${datasets.join(', ')} failed, so requests with filters return 503`,
      'read its log for "the index failed", and follow the runbook OutbreaksIndexBehind',
    )
  return datasets.length > 0
    ? check.warning(
        `${url} is ready, but still builds its column index of ${datasets.join(', ')}`,
        'run doctor again in a minute',
      )
    : check.ok(`${url} is ready`)
}

/** A name that this machine cannot find may still be known to clients. */
function describeSilence(name: string, url: string, error: Error, remedy: string): Finding {
  const check = findingsOf(name)
  const reason = describeFailure(error)
  const message = `${url} does not respond (${reason})`
  return /ENOTFOUND|EAI_AGAIN/.test(reason) ? check.warning(message, remedy) : check.error(message, remedy)
}

/** The address that clients use. It may be that of a load balancer. */
export async function checkPublicAddress(baseUrl: string): Promise<Finding[]> {
  const check = findingsOf('public address')
  const { protocol, hostname, port } = new URL(baseUrl)
  const certificate = protocol === 'https:' ? await checkCertificate(hostname, Number(port || 443)) : []
  if (certificate.some(({ status }) => status === 'error')) return certificate
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  const plain =
    protocol === 'https:' || isLocal
      ? []
      : [check.error('clients send secrets and tokens without TLS', 'put a proxy with TLS in front, and use https://')]
  return [...plain, ...certificate, await checkReady('public address', baseUrl, PROXY_REMEDY)]
}

const PROXY_REMEDY =
  'check that the proxy is running (systemctl status haproxy), its certificate, and OUTBREAKS_BASE_URL'

async function checkCertificate(host: string, port: number): Promise<Finding[]> {
  const socket = connect({ host, port, servername: host, rejectUnauthorized: false, timeout: TIMEOUT_MS })
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('secureConnect', resolve).once('error', reject)
      socket.once('timeout', () => reject(new Error(`no response within ${TIMEOUT_MS / 1000} s`)))
    })
    return [describeCertificate(socket)]
  } catch (error) {
    return [describeSilence('certificate', `${host}:${port}`, error as Error, PROXY_REMEDY)]
  } finally {
    socket.destroy()
  }
}

function describeCertificate(socket: TLSSocket): Finding {
  const check = findingsOf('certificate')
  const { valid_to: end } = socket.getPeerCertificate()
  const days = Math.floor((Date.parse(end) - Date.now()) / DAY_MS)
  if (days < 0) return check.error(`the certificate expired on ${end}`, 'renew it')
  if (!socket.authorized)
    return check.error(
      `clients do not trust the certificate (${socket.authorizationError})`,
      'use one from a public issuer for this host, with its intermediate certificates',
    )
  const message = `the certificate expires in ${days} days`
  if (days < CERTIFICATE_ERROR_DAYS) return check.error(message, 'renew it')
  return days < CERTIFICATE_DAYS ? check.warning(message, 'renew it') : check.ok(`valid for ${days} days`)
}

/** An issuer of tokens or of identities must respond with JSON that has a member. */
export async function checkIssuer(name: string, url: string, member: string): Promise<Finding[]> {
  const check = findingsOf(name)
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    const body = (await response.json()) as Record<string, unknown>
    if (response.ok && body[member] !== undefined) return [check.ok(`${url} responds`)]
    return [check.error(`${url} returned ${response.status} without ${member}`, 'check the URL')]
  } catch (error) {
    return [check.error(`${url} does not respond (${describeFailure(error as Error)})`, 'check the URL')]
  }
}

const describeFailure = (error: Error): string => (error.cause instanceof Error ? error.cause.message : error.message)
