// Delivers: takes what is due from the queue, makes attempts at the same moment, records them, makes digests and deletes what is
// old. A failure of the database ends nothing: what was not recorded is due again when its lease ends.
import type { FastifyBaseLogger } from 'fastify'
import type { Registry } from 'prom-client'
import type { EgressPolicy } from '../../platform/egress/checked-connection.ts'
import { createThrottledWarning } from '../../platform/log.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { registerDeliveryMetrics } from './delivery-metrics.ts'
import { gatherDigests } from './digest.ts'
import { openSecrets, resealSecrets, type SealingKeys } from './endpoint-secrets.ts'
import { attemptMail, type MailData, type Mailer, writeMail } from './mail.ts'
import { unsubscribeUrl } from './mail-links.ts'
import { type DueDelivery, deleteOld, endDeliveries, recordAttempt, takeDue } from './queue.ts'
import { nextAttemptSeconds } from './retry-schedule.ts'
import { ATTEMPT_MS, attemptWebhook } from './send-webhook.ts'

export interface DeliveryDeps {
  /** Of the role outbreaks_notify. */
  readonly database: Database
  readonly datasets: readonly { name: string; scope: string }[]
  /** The keys of the purpose `endpoint secrets`. */
  readonly sealingKeys: SealingKeys
  /** The keys of the purpose `mail links`. */
  readonly linkKeys: SealingKeys
  readonly baseUrl: string
  readonly egress: EgressPolicy
  /** Null if no mail is sent. */
  readonly mailer: Mailer | null
  readonly log: FastifyBaseLogger
  readonly metrics: Registry
  readonly timing?: DeliveryTiming
}

/** Other times than the usual ones, so that a test need not wait for days. */
export interface DeliveryTiming {
  readonly retrySeconds?: readonly number[]
  readonly attemptMs?: number
  readonly leaseSeconds?: number
  readonly pollMs?: number
}

/** Attempts of one notifier at the same moment. */
const MAX_RUNNING = 64
/** Longer than an attempt with its record. */
const LEASE_SECONDS = 60
const POLL_MS = 500
const DIGEST_INTERVAL_MS = 10_000
const CLEANING_INTERVAL_MS = 600_000

/** Rejects if the database cannot be reached, or no key opens a secret that an endpoint needs. */
export async function startDelivery(deps: DeliveryDeps): Promise<{ stop(): Promise<void> }> {
  const { database, sealingKeys, log, mailer, timing = {} } = deps
  const metrics = registerDeliveryMetrics(deps.metrics, database)
  const warnThrottled = createThrottledWarning(log)
  const unreadable = await resealSecrets(database, sealingKeys)
  if (unreadable.length > 0)
    log.error(
      { endpoints: unreadable },
      'secrets of endpoints were sealed with another OUTBREAKS_SECRET: nothing is delivered there',
    )

  const running = new Map<string, number>()
  const attempts = new Set<Promise<void>>()
  const stopping = new AbortController()
  /** Ends the rest of the loop. */
  let wake = () => {}
  /** While there was something to take, the next attempt begins as soon as one ends. */
  let isBusy = false

  async function attempt(delivery: DueDelivery) {
    const { id, kind, address, body } = delivery
    if (kind === 'mail') {
      const unsubscribe = unsubscribeUrl(deps, { id: delivery.endpoint, dataset: delivery.dataset })
      const mail = writeMail(body as { type: string; data: MailData }, unsubscribe)
      return attemptMail(mailer as Mailer, { id, to: address, ...mail, unsubscribeUrl: unsubscribe })
    }
    return attemptWebhook({
      id,
      body: JSON.stringify(body),
      address,
      secrets: openSecrets(delivery, sealingKeys),
      egress: deps.egress,
      timeoutMs: timing.attemptMs ?? ATTEMPT_MS,
    })
  }

  async function deliver(delivery: DueDelivery): Promise<void> {
    const { endpoint, id, kind } = delivery
    const { retryAfter, ...outcome } = await attempt(delivery)
    const retrySeconds = nextAttemptSeconds(delivery.attempts + 1, {
      ...(timing.retrySeconds && { schedule: timing.retrySeconds }),
      retryAfter,
    })
    const disabled = await recordAttempt(database, delivery, outcome, retrySeconds)
    const { delivered, gone, status, error, milliseconds } = outcome
    metrics.countAttempt(kind, delivered ? 'delivered' : gone || retrySeconds === null ? 'failed' : 'retried')
    log.info({ delivery: id, endpoint, status, error, ms: milliseconds }, delivered ? 'delivered' : 'not delivered')
    if (disabled === null) return
    metrics.countDisabled()
    log.warn({ endpoint, reason: disabled }, 'an endpoint was disabled')
  }

  function start(delivery: DueDelivery): void {
    const { endpoint } = delivery
    running.set(endpoint, (running.get(endpoint) ?? 0) + 1)
    const current = deliver(delivery)
      .catch((error: unknown) =>
        warnThrottled({ err: error, endpoint }, 'an attempt was not recorded and will be repeated'),
      )
      .finally(() => {
        attempts.delete(current)
        const left = (running.get(endpoint) ?? 1) - 1
        if (left === 0) running.delete(endpoint)
        else running.set(endpoint, left)
        if (isBusy) wake()
      })
    attempts.add(current)
  }

  const takeMore = () =>
    takeDue(database, {
      datasets: deps.datasets,
      kinds: mailer === null ? ['webhook'] : ['webhook', 'mail'],
      limit: MAX_RUNNING - attempts.size,
      leaseSeconds: timing.leaseSeconds ?? LEASE_SECONDS,
      running,
    })

  /** One step that fails does not keep the others from their work. */
  const tryTo = <Result>(what: string, step: () => Promise<Result>): Promise<Result | undefined> =>
    step().catch((error: unknown) => {
      warnThrottled({ err: error }, `could not ${what}`)
      return undefined
    })

  async function work(): Promise<void> {
    let digestsAt = 0
    let cleaningAt = 0
    while (!stopping.signal.aborted) {
      const now = performance.now()
      if (now >= digestsAt) {
        digestsAt = now + (timing.pollMs ?? DIGEST_INTERVAL_MS)
        await tryTo('gather digests', () => gatherDigests(database, deps.baseUrl))
      }
      if (now >= cleaningAt) {
        cleaningAt = now + CLEANING_INTERVAL_MS
        await tryTo('delete old deliveries', async () => {
          await endDeliveries(database)
          await deleteOld(database)
        })
      }
      const taken = (attempts.size < MAX_RUNNING && (await tryTo('read the queue of deliveries', takeMore))) || []
      for (const delivery of taken) start(delivery)
      isBusy = taken.length > 0 || attempts.size === MAX_RUNNING
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, stopping.signal.aborted ? 0 : (timing.pollMs ?? POLL_MS))
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    await Promise.all(attempts)
  }

  const ended = work()
  return {
    async stop() {
      stopping.abort()
      wake()
      await ended
    },
  }
}
