// Gathers what happened in a day or a week into one delivery for each endpoint that asked for it.
import type { PoolClient } from 'pg'
import sql, { type Sql } from 'sql-template-tag'
import type { Database } from '../../platform/postgres/database.ts'
import { cloudEvent, idFrom, MAX_BODY_BYTES } from './cloud-event.ts'

/** Before the working day in Europe and Africa. */
const HOUR_UTC = 6
/** For the members of the body around the notices. */
const ENVELOPE_BYTES = 1000
const MAX_NOTICES = 500

/** The next 06:00 UTC, or that of the next Monday; null without a digest. */
export const nextDigestAt = (digest: string | Sql | null): Sql => sql`case ${digest}::text
  when 'daily' then (date_trunc('day', now() at time zone 'UTC' - make_interval(hours => ${HOUR_UTC}))
    + make_interval(days => 1, hours => ${HOUR_UTC})) at time zone 'UTC'
  when 'weekly' then (date_trunc('week', now() at time zone 'UTC' - make_interval(hours => ${HOUR_UTC}))
    + make_interval(days => 7, hours => ${HOUR_UTC})) at time zone 'UTC' end`

/** Makes the digests that are due. Several notifiers may do so at the same time. Returns how many it made. */
export async function gatherDigests(database: Database, source: string): Promise<number> {
  let made = 0
  for (;;) {
    const result = await database.transaction((client) => gatherOne(client, source))
    if (result === 'none due') return made
    if (result === 'made') made++
  }
}

interface DueDigest {
  readonly id: string
  readonly client_id: string
  readonly dataset: string
  readonly digest: 'daily' | 'weekly' | null
  readonly next_digest_at: Date
}

interface GatheredRow {
  readonly id: string
  readonly type: string
  readonly release: number | null
  readonly created_at: Date
  readonly data: { title?: string; text?: unknown; watch?: string; name?: string; links?: object }
}

async function gatherOne(client: PoolClient, source: string): Promise<'none due' | 'nothing to say' | 'made'> {
  const due = await client.query<DueDigest>(sql`
    select id, client_id, dataset, digest, next_digest_at from endpoint
    where state = 'active' and next_digest_at <= now()
    order by next_digest_at limit 1 for update skip locked`)
  const [endpoint] = due.rows
  if (endpoint === undefined) return 'none due'
  await client.query(
    sql`update endpoint set next_digest_at = ${nextDigestAt(endpoint.digest)} where id = ${endpoint.id}`,
  )
  const { rows } = await client.query<GatheredRow>(sql`
    select id, type, release, created_at, body -> 'data' as data from delivery
    where endpoint = ${endpoint.id} and state = 'digest' and gathered_in is null
    order by created_at, id limit ${MAX_NOTICES}`)
  if (rows.length === 0) return 'nothing to say'
  const id = idFrom('digest', endpoint.id, endpoint.next_digest_at.toISOString())
  const body = cloudEvent(id, source, 'digest', summarise(rows, endpoint.digest))
  await client.query(sql`
    insert into delivery (id, endpoint, client_id, dataset, type, body, state, next_attempt_at)
    values (${id}, ${endpoint.id}, ${endpoint.client_id}, ${endpoint.dataset}, 'digest', ${JSON.stringify(body)}, 'pending', now())`)
  await client.query(sql`update delivery set gathered_in = ${id} where id = any (${rows.map((row) => row.id)}::uuid[])`)
  return 'made'
}

/** The notices in their order, as many as fit. */
function summarise(rows: readonly GatheredRow[], digest: string | null) {
  const notices: object[] = []
  let bytes = ENVELOPE_BYTES
  for (const { id, type, release, created_at, data } of rows) {
    const { title, text, watch, name, links } = data
    const notice = { id, type, release, time: created_at.toISOString(), watch, name, title, text, links }
    bytes += Buffer.byteLength(JSON.stringify(notice)) + 1
    if (bytes > MAX_BODY_BYTES) break
    notices.push(notice)
  }
  return {
    title: `${rows.length} ${rows.length === 1 ? 'notice' : 'notices'} of your watches${digest === null ? '' : digest === 'daily' ? ' today' : ' this week'}`,
    from: rows[0]?.created_at.toISOString(),
    to: rows.at(-1)?.created_at.toISOString(),
    notices,
    left_out: rows.length - notices.length,
  }
}
