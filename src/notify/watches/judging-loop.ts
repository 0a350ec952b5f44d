// Judges watches for as long as the notifier runs: after each release, within a budget of CPU. What is over the budget waits for the
// next pause and is never left out.
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { FeedRoutes } from '../../api/feeds/read-entries.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { endLostWatches, judgeDue, PrunedMeanwhile } from './judge-due.ts'
import type { Judge } from './judge-release.ts'

interface JudgingOptions {
  readonly database: Database
  readonly routes: FeedRoutes
  readonly judge: Judge
  readonly log: FastifyBaseLogger
  /** CPU of this process between two pauses. */
  readonly budgetMs?: number
  readonly pauseMs?: number
}

const BUDGET_MS = 60_000
const PAUSE_MS = 60_000
/** How soon a new release is noticed. */
const INTERVAL_MS = 1000
/** A watch whose judging failed is tried again after it. */
const RETRY_MS = 30_000

export function startJudging(options: JudgingOptions): { stop(): Promise<void> } {
  const { database, routes, judge, log, budgetMs = BUDGET_MS, pauseMs = PAUSE_MS } = options
  const { dataset } = routes
  const stopped = new AbortController()
  const failedUntil = new Map<string, number>()
  const rest = (ms: number) => wait(ms, undefined, { signal: stopped.signal }).catch(() => {})

  async function judgeAll(): Promise<void> {
    const ended = await endLostWatches(database, dataset)
    if (ended > 0) log.info({ dataset: dataset.name, ended }, 'watches of lost clients ended')
    let before = process.cpuUsage()
    while (!stopped.signal.aborted) {
      const now = performance.now()
      for (const [id, until] of failedUntil) if (until <= now) failedUntil.delete(id)
      const round = await judgeDue({ database, routes, judge, except: [...failedUntil.keys()] })
      if (round === null) return
      const { ended: invalid, failed, ...counts } = round
      for (const { watch, reason } of invalid) log.warn({ watch, reason }, 'a watch has ended')
      for (const { watch, error } of failed) {
        failedUntil.set(watch, performance.now() + RETRY_MS)
        log.warn({ err: error, watch }, 'a watch could not be judged and is tried again')
      }
      log.info(
        { dataset: dataset.name, ...counts, ended: invalid.length, failed: failed.length },
        'watches were judged',
      )
      const { user, system } = process.cpuUsage(before)
      if ((user + system) / 1000 < budgetMs) continue
      log.warn({ dataset: dataset.name, pause_seconds: pauseMs / 1000 }, 'judging has used its CPU and goes on later')
      await rest(pauseMs)
      before = process.cpuUsage()
    }
  }

  const loop = (async () => {
    while (!stopped.signal.aborted) {
      await judgeAll().catch(async (error: unknown) => {
        if (error instanceof PrunedMeanwhile) return routes.refresh().catch(() => {})
        log.warn({ err: error, dataset: dataset.name }, 'watches could not be judged')
      })
      await rest(INTERVAL_MS)
    }
  })()

  return {
    async stop() {
      stopped.abort()
      await loop
    },
  }
}
