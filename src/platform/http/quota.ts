// How many requests a client has left in the running window. Counted in Redis or Valkey for all nodes together; in this
// process where there is none, or while it does not answer. Never asks PostgreSQL, and never keeps a request waiting for long.
import type { FastifyBaseLogger } from 'fastify'
import { Redis } from 'ioredis'
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'

interface QuotaOptions {
  /** Requests a client may make in a window. */
  limit: number
  /** How long a window is; it opens with the first request in it. */
  seconds: number
  redisUrl: string | null
  log: FastifyBaseLogger
}

/** Where a client stands. */
interface QuotaStatus {
  remaining: number
  /** Whole seconds until the window ends. */
  resetsIn: number
}

export interface Quota {
  limit: number
  seconds: number
  /** Counts one request, and says whether it is still within the quota. */
  consume(clientId: string): Promise<QuotaStatus & { granted: boolean }>
  /** Counts nothing. */
  peek(clientId: string): Promise<QuotaStatus>
  /** Waits a moment for Redis; goes on without it. */
  open(): Promise<void>
  close(): Promise<void>
}

type Ask = (limiter: RateLimiterAbstract) => Promise<RateLimiterRes | null>

export function createQuota({ limit, seconds, redisUrl, log }: QuotaOptions): Quota {
  const rule = { points: limit, duration: seconds, keyPrefix: 'outbreaks-quota' }
  const local = new RateLimiterMemory(rule)
  const redis = redisUrl === null ? null : openRedis(redisUrl)
  const shared = redis === null ? local : new RateLimiterRedis({ ...rule, storeClient: redis })
  let sharing = true

  // Only the message: the error of a refused login carries the password.
  function lose(error: unknown): void {
    if (sharing)
      log.warn({ reason: (error as Error).message }, 'Redis does not answer: this node counts requests alone')
    sharing = false
  }

  function regain(): void {
    if (!sharing) log.info('Redis answers again: the nodes count requests together')
    sharing = true
  }

  async function ask(question: Ask): Promise<RateLimiterRes> {
    const answer = await askShared(question).catch((error: unknown) => {
      lose(error)
      return askLimiter(local, question)
    })
    return answer ?? new RateLimiterRes(limit, seconds * 1000)
  }

  async function askShared(question: Ask): Promise<RateLimiterRes | null> {
    const answer = await askLimiter(shared, question)
    regain()
    return answer
  }

  return {
    limit,
    seconds,
    async consume(clientId) {
      const answer = await ask((limiter) => limiter.consume(clientId))
      return { ...readStatus(answer), granted: answer.consumedPoints <= limit }
    },
    peek: async (clientId) => readStatus(await ask((limiter) => limiter.get(clientId))),
    open: async () => redis?.connect().catch(lose),
    close: async () => redis?.disconnect(),
  }
}

/** The library throws its answer where the quota is used up. */
const askLimiter = (limiter: RateLimiterAbstract, question: Ask) =>
  question(limiter).catch((error: unknown) => {
    if (error instanceof RateLimiterRes) return error
    throw error
  })

const readStatus = ({ remainingPoints, msBeforeNext }: RateLimiterRes): QuotaStatus => ({
  remaining: remainingPoints,
  resetsIn: Math.max(1, Math.ceil(msBeforeNext / 1000)),
})

/** Each command is answered or given up in a quarter of a second; a silent connection is cut, a lost one tried again for ever. */
function openRedis(url: string): Redis {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 500,
    commandTimeout: 250,
    socketTimeout: 500,
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    retryStrategy: (attempt) => Math.min(attempt * 50, 500),
  })
  // Without a listener it prints to the console; what fails is noticed by whoever asks.
  redis.on('error', () => {})
  return redis
}
