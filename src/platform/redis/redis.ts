// Connects to Redis or Valkey, and says in one sentence why it does not work.
import { Cluster, Redis } from 'ioredis'
import { parseRedisUrl } from './redis-url.ts'

/** Every command has a timeout of 250 ms. A connection without responses is closed; a lost one is opened again without end. */
const CONNECTION = {
  connectTimeout: 500,
  commandTimeout: 250,
  socketTimeout: 500,
  maxRetriesPerRequest: 1,
}
const COMMON = { lazyConnect: true, enableOfflineQueue: false }
const retryAfter = (attempt: number) => Math.min(attempt * 50, 500)

/** One server, the servers that Sentinel watches, or a cluster. */
export function openRedis(url: string): Redis | Cluster {
  const { kind, hosts, name, login } = parseRedisUrl(url)
  const connection = { ...CONNECTION, ...login }
  const redis =
    kind === 'single'
      ? new Redis(url, { ...CONNECTION, ...COMMON, retryStrategy: retryAfter })
      : kind === 'sentinel'
        ? new Redis({
            ...connection,
            ...COMMON,
            sentinels: hosts,
            name,
            retryStrategy: retryAfter,
            sentinelRetryStrategy: retryAfter,
          })
        : new Cluster(hosts, { ...COMMON, clusterRetryStrategy: retryAfter, redisOptions: connection })
  // Without a listener ioredis prints to the console. The command that fails says only that the connection is closed.
  redis.on('error', (error) => reasons.set(redis, error))
  redis.on('ready', () => reasons.delete(redis))
  return redis
}

const reasons = new WeakMap<Redis | Cluster, Error>()

const SENTENCES: readonly (readonly [pattern: RegExp, sentence: string])[] = [
  [/ECONNREFUSED/, 'No Redis listens at this address.'],
  [/ENOTFOUND|EAI_AGAIN/, 'The host of Redis cannot be found.'],
  [/WRONGPASS|NOAUTH|invalid password|without any password/i, 'Redis rejects the user or the password.'],
  [/NOPERM/, 'Redis does not let this user run the commands of the quota.'],
  [/READONLY/, 'This Redis is a replica and cannot be written to.'],
  [/MISCONF|OOM /, 'Redis has no space left to write.'],
  [/LOADING/, 'Redis is still reading its data.'],
  [/certificate|TLS|SSL|wrong version number/i, 'The TLS connection to Redis fails.'],
]

/** A sentence and, in parentheses, the error itself. Only its message: the error of a failed login contains the password. */
export function describeRedisError(redis: Redis | Cluster, error: unknown): string {
  const { message } = error as Error
  const reason = reasons.get(redis)?.message
  const text = reason === undefined || reason === message ? message : `${message.replace(/\.$/, '')}: ${reason}`
  const [, sentence = 'The connection was closed, or took too long.'] =
    SENTENCES.find(([pattern]) => pattern.test(text)) ?? []
  return `${sentence} (${text})`
}
