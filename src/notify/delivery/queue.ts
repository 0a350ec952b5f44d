// The delivery table as a queue: takes what is due, records what came of it, and deletes what is old. Several notifiers may
// take at the same time. A delivery that was taken and not recorded is due again when its lease ends, with the same id.
import sql from 'sql-template-tag'
import type { Database } from '../../platform/postgres/database.ts'
import { MAX_FAILING_DAYS } from './retry-schedule.ts'

/** Attempts at the same moment, of each notifier: an endpoint that fails keeps only one of its places. */
const MAX_PER_ENDPOINT = 4
const MAX_PER_FAILING_ENDPOINT = 1
export const KEPT_DAYS = 30
/** The reason of an endpoint that an operator disabled. */
export const BY_OPERATOR = 'disabled by the operator'

export interface DueDelivery {
  readonly id: string
  readonly endpoint: string
  readonly kind: 'webhook' | 'mail'
  readonly address: string
  readonly dataset: string
  readonly body: Record<string, unknown>
  /** Attempts since it was last asked for. */
  readonly attempts: number
  readonly sealed_secret: Buffer | null
  readonly sealed_previous_secret: Buffer | null
}

export interface TakeOptions {
  /** Whose clients may still read them. */
  readonly datasets: readonly { name: string; scope: string }[]
  readonly kinds: readonly string[]
  readonly limit: number
  readonly leaseSeconds: number
  /** Attempts of this notifier that are under way, by endpoint. */
  readonly running: ReadonlyMap<string, number>
}

/** Takes the oldest due deliveries of each active endpoint whose client may still read the dataset. */
export function takeDue(database: Database, options: TakeOptions): Promise<DueDelivery[]> {
  const { datasets, kinds, limit, leaseSeconds, running } = options
  return database.query<DueDelivery>(sql`
    with receiving as (
      select e.* from endpoint e
      join client c on c.client_id = e.client_id and c.disabled_at is null
      join unnest(${datasets.map(({ name }) => name)}::text[], ${datasets.map(({ scope }) => scope)}::text[]) as d (name, scope)
        on d.name = e.dataset and d.scope = any (c.scopes)
      where e.state = 'active' and e.kind = any (${kinds}::text[])
    ), busy as (
      select * from unnest(${[...running.keys()]}::uuid[], ${[...running.values()]}::integer[]) as b (endpoint, attempts)
    ), due as (
      select taken.id from receiving e
      left join busy on busy.endpoint = e.id
      cross join lateral (
        select id, next_attempt_at from delivery
        where endpoint = e.id and state = 'pending' and next_attempt_at <= now()
        order by next_attempt_at
        limit greatest(0, case when e.failing_since is null then ${MAX_PER_ENDPOINT}::integer else ${MAX_PER_FAILING_ENDPOINT}::integer end
          - coalesce(busy.attempts, 0))
        for update skip locked
      ) taken
      order by taken.next_attempt_at limit ${limit}
    )
    update delivery set next_attempt_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    from due, endpoint e where delivery.id = due.id and e.id = delivery.endpoint
    returning delivery.id, e.id as endpoint, e.kind, e.address, delivery.dataset, delivery.body,
      delivery.attempts - delivery.attempts_before as attempts, e.sealed_secret,
      case when e.previous_until > now() then e.sealed_previous_secret end as sealed_previous_secret`)
}

export interface Outcome {
  /** The status of the response; null if there was none. */
  readonly status: number | null
  readonly error: string | null
  readonly milliseconds: number
  readonly delivered: boolean
  /** The receiver said that it is gone: its endpoint is disabled. */
  readonly gone: boolean
}

/** Records an attempt. Without `retrySeconds` it was the last one. Returns why the endpoint was disabled; null if it was not. */
export async function recordAttempt(
  database: Database,
  { id, endpoint }: DueDelivery,
  outcome: Outcome,
  retrySeconds: number | null,
): Promise<string | null> {
  const { delivered, gone, status, error, milliseconds } = outcome
  const retries = !delivered && !gone && retrySeconds !== null
  await database.query(sql`
    with recorded as (
      update delivery set attempts = attempts + 1,
        state = ${delivered ? 'delivered' : retries ? 'pending' : 'failed'},
        next_attempt_at = case when ${retries} then now() + make_interval(secs => ${retrySeconds ?? 0}) end
      where id = ${id} and state = 'pending'
      returning id, attempts
    )
    insert into delivery_attempt (delivery, number, milliseconds, status, error)
    select id, attempts, ${milliseconds}, ${status}, ${error} from recorded`)
  if (delivered) {
    await database.query(
      sql`update endpoint set failing_since = null where id = ${endpoint} and failing_since is not null`,
    )
    return null
  }
  const [row] = await database.query<{ state: string; reason: string | null }>(sql`
    update endpoint set failing_since = coalesce(failing_since, now()),
      state = case when ${gone} or failing_since < now() - make_interval(days => ${MAX_FAILING_DAYS}) then 'disabled' else state end,
      reason = case when ${gone} then 'the receiver responded 410'
        when failing_since < now() - make_interval(days => ${MAX_FAILING_DAYS}) then 'every attempt failed for five days' end
    where id = ${endpoint} and state = 'active' returning state, reason`)
  if (row?.state !== 'disabled') return null
  await endDeliveries(database)
  return row.reason
}

/** Deliveries of endpoints that are not active are not tried any more. */
export const endDeliveries = (database: Database): Promise<unknown> =>
  database.query(sql`
    update delivery set state = 'failed', next_attempt_at = null
    from endpoint e where e.id = delivery.endpoint and delivery.state = 'pending' and e.state <> 'active'`)

/** At most some thousand rows at a time, so that no statement takes long. */
export async function deleteOld(database: Database): Promise<void> {
  await database.query(sql`
    delete from delivery where id in (
      select id from delivery where created_at < now() - make_interval(days => ${KEPT_DAYS}) order by created_at limit 5000)`)
  await database.query(sql`
    delete from endpoint where deleted_at < now() - make_interval(days => ${KEPT_DAYS})
      or (state = 'unconfirmed' and created_at < now() - make_interval(days => ${KEPT_DAYS}))`)
}

/** How many deliveries are pending, and for how long the oldest has been due at a receiver that responds. */
export async function measureQueue(database: Database): Promise<{ pending: number; ageSeconds: number }> {
  const [row] = await database.query<{ pending: number; age: number }>(sql`
    select count(*)::integer as pending, coalesce(max(extract(epoch from now() - d.next_attempt_at))
      filter (where e.failing_since is null and d.next_attempt_at <= now()), 0)::float8 as age
    from delivery d join endpoint e on e.id = d.endpoint where d.state = 'pending' and e.state = 'active'`)
  return { pending: row?.pending ?? 0, ageSeconds: row?.age ?? 0 }
}
