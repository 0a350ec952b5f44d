// The quota of a client: how many units it has left in the current window. Nodes count together in Redis or Valkey. A node
// counts alone if no Redis is configured, or while Redis does not respond. No request waits long for Redis.
// Why the fallback does not use the insurance limiter of the library: docs/decisions/0020-libraries-tried.md.
import type { FastifyBaseLogger } from 'fastify'
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { describeRedisError, openRedis } from '../redis/redis.ts'

/** Length of a window. */
export const QUOTA_SECONDS = 60

interface QuotaOptions {
  /** Units of a client in one window. A request costs one or more (rate-limit.ts). */
  limit: number
  /** Length of a window, which starts with its first request. */
  seconds: number
  redisUrl: string | null
  log: FastifyBaseLogger
}

export interface QuotaStatus {
  remaining: number
  /** Whole seconds until the window ends. */
  resetsIn: number
}

export interface Quota {
  limit: number
  seconds: number
  /** Counts units, even beyond the limit. Not granted if the client now has more than its limit. */
  consume(clientId: string, units?: number): Promise<QuotaStatus & { granted: boolean }>
  /** Reads the status without counting. */
  peek(clientId: string): Promise<QuotaStatus>
  /** False while this node counts alone, though the nodes should count together. */
  isShared(): boolean
  /** Connects to Redis. Resolves without a connection if Redis does not respond in time. */
  open(): Promise<void>
  close(): Promise<void>
}

type LimiterCommand = (limiter: RateLimiterAbstract) => Promise<RateLimiterRes | null>

export function createQuota({ limit, seconds, redisUrl, log }: QuotaOptions): Quota {
  const rule = { points: limit, duration: seconds, keyPrefix: 'outbreaks-quota' }
  const local = new RateLimiterMemory(rule)
  const redis = redisUrl === null ? null : openRedis(redisUrl)
  const shared = redis === null ? local : new RateLimiterRedis({ ...rule, storeClient: redis })
  let isShared = true

  function onRedisFailure(error: unknown): void {
    if (isShared && redis !== null)
      log.warn(
        { reason: describeRedisError(redis, error) },
        'Redis does not respond: quotas are per node until it does',
      )
    isShared = false
  }

  function onRedisResponse(): void {
    if (!isShared) log.info('Redis responds again: nodes share quotas')
    isShared = true
  }

  async function run(command: LimiterCommand): Promise<RateLimiterRes> {
    const result = await runShared(command).catch((error: unknown) => {
      onRedisFailure(error)
      return runOn(local, command)
    })
    return result ?? new RateLimiterRes(limit, seconds * 1000)
  }

  async function runShared(command: LimiterCommand): Promise<RateLimiterRes | null> {
    const result = await runOn(shared, command)
    onRedisResponse()
    return result
  }

  return {
    limit,
    seconds,
    async consume(clientId, units = 1) {
      const result = await run((limiter) => limiter.consume(clientId, units))
      return { ...readStatus(result), granted: result.consumedPoints <= limit }
    },
    peek: async (clientId) => readStatus(await run((limiter) => limiter.get(clientId))),
    isShared: () => isShared,
    open: async () => redis?.connect().catch(onRedisFailure),
    close: async () => redis?.disconnect(),
  }
}

/** The library throws its result if the quota is exceeded. */
const runOn = (limiter: RateLimiterAbstract, command: LimiterCommand) =>
  command(limiter).catch((error: unknown) => {
    if (error instanceof RateLimiterRes) return error
    throw error
  })

const readStatus = ({ remainingPoints, msBeforeNext }: RateLimiterRes): QuotaStatus => ({
  remaining: remainingPoints,
  resetsIn: Math.max(1, Math.ceil(msBeforeNext / 1000)),
})
