// What was delivered to an endpoint in the last thirty days, with every attempt, and delivering it again.
import { randomUUID } from 'node:crypto'
import sql, { type Sql } from 'sql-template-tag'
import type { Database } from '../../platform/postgres/database.ts'
import { Problem } from '../../platform/problem.ts'
import { cloudEvent } from './cloud-event.ts'
import { findEndpoint, isUuid, type Owner } from './endpoints.ts'

export const PAGE_SIZE = 50

interface LoggedDelivery {
  readonly id: string
  readonly type: string
  readonly release: number | null
  readonly watch: string | null
  readonly state: string
  readonly gathered_in: string | null
  readonly created_at: Date
  readonly next_attempt_at: Date | null
  readonly attempts: readonly object[]
}

/** The newest first; `before` is the last id of the page before. */
export async function listDeliveries(database: Database, owner: Owner, endpoint: string, before: string | undefined) {
  await findEndpoint(database, owner, endpoint)
  if (before !== undefined && !isUuid(before))
    throw new Problem('invalid_parameter', 'before must be the id of a delivery.', { parameter: 'before' })
  const older =
    before === undefined
      ? sql`true`
      : sql`(created_at, id) < (select created_at, id from delivery where id = ${before})`
  const deliveries = await database.query<LoggedDelivery>(sql`
    select id, type, release, watch, state, gathered_in, created_at, next_attempt_at,
      (select coalesce(json_agg(json_build_object('at', a.at, 'status', a.status, 'error', a.error, 'milliseconds', a.milliseconds)
        order by a.number), '[]') from delivery_attempt a where a.delivery = delivery.id) as attempts
    from delivery where endpoint = ${endpoint} and ${older}
    order by created_at desc, id desc limit ${PAGE_SIZE}`)
  return { deliveries, before: deliveries.length === PAGE_SIZE ? (deliveries.at(-1)?.id ?? null) : null }
}

/** With the same id. Its retries begin again. */
export async function redeliver(database: Database, owner: Owner, endpoint: string, id: string): Promise<void> {
  await requireActive(database, owner, endpoint)
  const rows = await database.query(
    again(
      sql`id = ${isUuid(id) ? id : null}::uuid and endpoint = ${endpoint} and state in ('pending', 'delivered', 'failed')`,
    ),
  )
  if (rows.length === 0)
    throw new Problem('not_found', 'The endpoint has no delivery with this id, or it waits for a digest.')
}

export const again = (which: Sql): Sql => sql`
  update delivery set state = 'pending', next_attempt_at = now(), attempts_before = attempts where ${which} returning id`

/** A delivery without news, to see whether the receiver accepts it. */
export async function addTest(database: Database, owner: Owner, endpoint: string, source: string): Promise<string> {
  await requireActive(database, owner, endpoint)
  const id = randomUUID()
  const body = cloudEvent(id, source, 'endpoint.test', { title: 'This is a test of your endpoint' })
  await database.query(sql`
    insert into delivery (id, endpoint, client_id, dataset, type, body, state, next_attempt_at)
    values (${id}, ${endpoint}, ${owner.clientId}, ${owner.dataset}, ${body.type}, ${JSON.stringify(body)}, 'pending', now())`)
  return id
}

async function requireActive(database: Database, owner: Owner, id: string): Promise<void> {
  const { state } = await findEndpoint(database, owner, id)
  if (state !== 'active') throw new Problem('conflict', `The endpoint is ${state}. Confirm it first.`)
}
