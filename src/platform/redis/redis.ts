// Connects to Redis or Valkey.
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
  // Without a listener ioredis prints to the console. The command that fails reports the error.
  redis.on('error', () => {})
  return redis
}
