// Reads and writes the watches of clients. Every statement names the client: others' watches do not exist for it.
import { randomUUID } from 'node:crypto'
import sql, { type Sql } from 'sql-template-tag'
import type { Database } from '../../platform/postgres/database.ts'
import { Problem } from '../../platform/problem.ts'

export const MAX_WATCHES = 50
const NOTICES_OF_A_PAGE = 100

export interface WatchRow {
  id: string
  name: string
  question: string
  condition: string
  endpoint: string | null
  state: 'active' | 'paused' | 'ended'
  reason: string | null
  judged: number
  created_at: Date
}

/** Whose watches, and of which dataset. */
export interface Owner {
  readonly clientId: string
  readonly dataset: string
}

interface NewWatch extends Pick<WatchRow, 'name' | 'question' | 'condition' | 'endpoint'> {
  /** The watch judges the releases after it. */
  readonly after: number
}

const columns = sql`id, name, question, condition, endpoint, state, reason, judged, created_at`
const isOwn = ({ clientId, dataset }: Owner): Sql => sql`client_id = ${clientId} and dataset = ${dataset}`

/** Two requests at the same moment may choose the same place: one of them chooses again. */
const ATTEMPTS = 5
const UNIQUE_VIOLATION = '23505'

export async function addWatch(database: Database, owner: Owner, watch: NewWatch): Promise<WatchRow> {
  await requireEndpoint(database, owner, watch.endpoint)
  for (let attempt = 1; ; attempt += 1) {
    const rows = await database
      .query<WatchRow>(sql`
        insert into watch (id, client_id, place, dataset, endpoint, name, question, condition, judged)
        select ${randomUUID()}, ${owner.clientId}, place, ${owner.dataset}, ${watch.endpoint}, ${watch.name}, ${watch.question},
          ${watch.condition}, ${watch.after}
        from generate_series(1, ${MAX_WATCHES}::integer) as place
        where place not in (select place from watch where client_id = ${owner.clientId}) order by place limit 1
        returning ${columns}`)
      .catch((error: unknown) => {
        if (!isUniqueViolation(error)) throw error
        if (attempt < ATTEMPTS) return null
        throw new Problem('unavailable', 'The client creates many watches at once. Try again in a second.')
      })
    const [row] = rows ?? []
    if (row !== undefined) return row
    if (rows !== null)
      throw new Problem('limit_reached', `The client has ${MAX_WATCHES} watches, which is the limit. Delete one first.`)
  }
}

const isUniqueViolation = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION

/** An endpoint of another client does not exist. */
async function requireEndpoint(database: Database, owner: Owner, endpoint: string | null): Promise<void> {
  if (endpoint === null) return
  const [found] = await database.query(
    sql`select id from endpoint where id = ${endpoint} and ${isOwn(owner)} and deleted_at is null`,
  )
  if (found === undefined)
    throw new Problem('invalid_parameter', 'endpoint must be the id of one of your endpoints of this dataset.', {
      parameter: 'endpoint',
    })
}

export const listWatches = (database: Database, owner: Owner): Promise<WatchRow[]> =>
  database.query<WatchRow>(sql`select ${columns} from watch where ${isOwn(owner)} order by created_at, id`)

export async function readWatch(database: Database, owner: Owner, id: string): Promise<WatchRow> {
  const [row] = await database.query<WatchRow>(
    sql`select ${columns} from watch where id::text = ${id} and ${isOwn(owner)}`,
  )
  if (row === undefined) throw notFound()
  return row
}

const notFound = () => new Problem('not_found', 'You have no watch with this id.')

interface WatchChange {
  readonly name?: string
  readonly endpoint?: string | null
  readonly state?: 'active' | 'paused'
}

/** A watch that is resumed begins with the release after `latest`: what was published in between is not judged. */
export async function changeWatch(
  database: Database,
  owner: Owner,
  { id, change, latest }: { readonly id: string; readonly change: WatchChange; readonly latest: number },
): Promise<WatchRow> {
  const before = await readWatch(database, owner, id)
  if (before.state === 'ended')
    throw new Problem('conflict', `This watch has ended, because ${before.reason}. Create a new one.`)
  const { name = before.name, endpoint = before.endpoint, state = before.state } = change
  if (change.endpoint !== undefined) await requireEndpoint(database, owner, endpoint)
  const [row] = await database.query<WatchRow>(sql`
    update watch set name = ${name}, endpoint = ${endpoint}, state = ${state},
      judged = case when state = 'paused' and ${state} = 'active' then greatest(judged, ${latest}) else judged end
    where id::text = ${id} and ${isOwn(owner)} and state <> 'ended' returning ${columns}`)
  if (row === undefined) throw notFound()
  return row
}

export async function deleteWatch(database: Database, owner: Owner, id: string): Promise<void> {
  const rows = await database.query(sql`delete from watch where id::text = ${id} and ${isOwn(owner)} returning id`)
  if (rows.length === 0) throw notFound()
}

export interface NoticeRow {
  release: number
  body: Record<string, unknown>
}

/** What a watch has said about the releases after one, a page at most. */
export async function readNotices(
  database: Database,
  owner: Owner,
  { id, after }: { readonly id: string; readonly after: number },
): Promise<{ notices: NoticeRow[]; hasMore: boolean }> {
  await readWatch(database, owner, id)
  const rows = await database.query<NoticeRow>(sql`
    select release, body from delivery where watch::text = ${id} and release > ${after} and ${isOwn(owner)}
    order by release limit ${NOTICES_OF_A_PAGE + 1}`)
  return { notices: rows.slice(0, NOTICES_OF_A_PAGE), hasMore: rows.length > NOTICES_OF_A_PAGE }
}
