// What Prometheus reads about deliveries: how they ended, how many wait and for how long.
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Database } from '../../platform/postgres/database.ts'
import { measureQueue } from './queue.ts'

type DeliveryOutcome = 'delivered' | 'retried' | 'failed'

export interface DeliveryMetrics {
  countAttempt(kind: string, outcome: DeliveryOutcome): void
  countDisabled(): void
}

export function registerDeliveryMetrics(registry: Registry, database: Database): DeliveryMetrics {
  const attempts = new Counter({
    name: 'outbreaks_deliveries_total',
    help: 'Attempts to deliver: delivered, retried later, or failed for the last time.',
    labelNames: ['kind', 'outcome'],
    registers: [registry],
  })
  const disabled = new Counter({
    name: 'outbreaks_endpoints_disabled_total',
    help: 'Endpoints that were disabled: the receiver said that it is gone, or failed for five days.',
    registers: [registry],
  })
  let measuring: ReturnType<typeof measureQueue> | undefined
  /** Both gauges are read at the same moment, by one query. */
  const measure = () => {
    measuring ??= measureQueue(database).finally(() => {
      measuring = undefined
    })
    return measuring.catch(() => ({ pending: Number.NaN, ageSeconds: Number.NaN }))
  }
  const pending = new Gauge({
    name: 'outbreaks_deliveries_pending',
    help: 'Deliveries that wait for an attempt.',
    registers: [],
    async collect() {
      this.set((await measure()).pending)
    },
  })
  const age = new Gauge({
    name: 'outbreaks_delivery_queue_age_seconds',
    help: 'How long the oldest delivery has been due, at receivers that respond.',
    registers: [],
    async collect() {
      this.set((await measure()).ageSeconds)
    },
  })
  for (const gauge of [pending, age]) registry.registerMetric(gauge)
  return {
    countAttempt: (kind, outcome) => attempts.labels(kind, outcome).inc(),
    countDisabled: () => disabled.inc(),
  }
}
