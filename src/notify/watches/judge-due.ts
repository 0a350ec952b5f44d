// Judges the watches that are due, a few in one transaction: what they say is stored, and the release counts as judged, or neither.
// A notifier that dies in between leaves the watches to another one, and an id that follows from watch and release adds nothing twice.
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import type { FeedRoutes } from '../../api/feeds/read-entries.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { Problem } from '../../platform/problem.ts'
import type { Judge } from './judge-release.ts'
import { toCloudEvent } from './write-notice.ts'

interface DueWatch {
  id: string
  client_id: string
  endpoint: string | null
  name: string
  question: string
  condition: string
  judged: number
}

interface Judged {
  readonly watch: DueWatch
  /** The last release that was judged. */
  readonly upTo: number
  readonly events: readonly { readonly release: number; readonly body: ReturnType<typeof toCloudEvent> }[]
}

export interface Round {
  /** Watches that were judged, and pairs of watch and release; of these, how many were skipped or had a notice. */
  readonly watches: number
  readonly pairs: number
  readonly skipped: number
  readonly notices: number
  /** Watches whose query is no longer valid: they have ended. */
  readonly ended: readonly { readonly watch: string; readonly reason: string }[]
  /** Watches whose judging failed: they stay due. */
  readonly failed: readonly { readonly watch: string; readonly error: unknown }[]
}

interface DueOptions {
  readonly database: Database
  readonly routes: FeedRoutes
  readonly judge: Judge
  /** Watches that failed a moment ago. They would be claimed again and again. */
  readonly except: readonly string[]
}

/** So that a transaction stays short. A watch that is many releases behind goes on in the next one. */
const BATCH = 100
const BATCH_MS = 2000

/** Other notifiers skip the watches that this one has claimed. Those of lost clients are about to end. */
const claim = ({ dataset: { name, scope } }: FeedRoutes, latest: number, except: readonly string[]) => sql`
  select id, client_id, endpoint, name, question, condition, judged from watch
  where dataset = ${name} and state = 'active' and judged < ${latest} and id <> all(${except}::uuid[])
    and ${lostBecause(scope)} is null
  order by judged, id limit ${BATCH} for no key update skip locked`

/** Null if no watch is due. */
export async function judgeDue({ database, routes, judge, except }: DueOptions): Promise<Round | null> {
  const known = routes.releases.list()
  const latest = known.at(-1)
  if (latest === undefined) return null
  return database.transaction(async (client) => {
    const { rows: due } = await client.query<DueWatch>(claim(routes, latest.number, except))
    if (due.length === 0) return null
    const deadline = performance.now() + BATCH_MS
    const done: Judged[] = []
    const ended: { watch: string; reason: string }[] = []
    const failed: { watch: string; error: unknown }[] = []
    const counts = { pairs: 0, skipped: 0 }
    for (const watch of due) {
      if (performance.now() > deadline) break
      try {
        done.push(await judgeWatch(watch))
      } catch (error) {
        // An upgrade can remove a field or a value that the query names. Judging it again would always fail.
        if (error instanceof Problem && error.status === 400)
          ended.push({ watch: watch.id, reason: `its query is no longer valid: ${error.message}` })
        else failed.push({ watch: watch.id, error })
      }
    }
    await requireSamePruned(client)
    await store(client, routes.dataset.name, done)
    await endWatches(client, ended)
    return {
      watches: done.length,
      notices: done.reduce((sum, { events }) => sum + events.length, 0),
      ended,
      failed,
      ...counts,
    }

    async function judgeWatch(watch: DueWatch): Promise<Judged> {
      const watched = judge.parse(watch.question, watch.condition)
      const events: Judged['events'][number][] = []
      let upTo = watch.judged
      for (const pair of judge.pairsAfter(watch.judged)) {
        if (upTo > watch.judged && performance.now() > deadline) break
        const { notice, isSkipped } = await judge.judge(watched, pair)
        counts.pairs += 1
        if (isSkipped) counts.skipped += 1
        upTo = pair.release.number
        if (notice !== null)
          events.push({ release: pair.release.number, body: toCloudEvent(routes, watch, pair.release, notice) })
      }
      return { watch, upTo, events }
    }
  })

  /** What was read of a release that is pruned while it is read may be incomplete: then everything is judged again. */
  async function requireSamePruned(client: PoolClient): Promise<void> {
    const { rows } = await client.query<{ number: number }>(
      sql`select number from release where dataset = ${routes.dataset.name} and pruned_at is not null`,
    )
    const pruned = new Set(rows.map(({ number }) => number))
    if (known.some(({ number, prunedAt }) => prunedAt === null && pruned.has(number))) throw new PrunedMeanwhile()
  }
}

/** A release was pruned while watches were judged. They stay due. */
export class PrunedMeanwhile extends Error {}

async function store(client: PoolClient, dataset: string, done: readonly Judged[]): Promise<void> {
  const deliveries = done.flatMap(({ watch, events }) =>
    events.map(({ release, body }) => ({
      id: body.id,
      endpoint: watch.endpoint,
      watch: watch.id,
      client_id: watch.client_id,
      release,
      type: body.type,
      body,
    })),
  )
  // Without an active endpoint the notice is kept for those who ask for it.
  if (deliveries.length > 0)
    await client.query(sql`
      insert into delivery (id, endpoint, watch, client_id, dataset, release, type, body, state, next_attempt_at)
      select one.id, endpoint.id, one.watch, one.client_id, ${dataset}, one.release, one.type, one.body,
        case when endpoint.id is null then 'kept' when endpoint.digest is not null then 'digest' else 'pending' end,
        case when endpoint.id is not null and endpoint.digest is null then now() end
      from jsonb_to_recordset(${JSON.stringify(deliveries)}::jsonb)
        as one (id uuid, endpoint uuid, watch uuid, client_id text, release integer, type text, body jsonb)
      left join endpoint on endpoint.id = one.endpoint and endpoint.client_id = one.client_id
        and endpoint.state = 'active' and endpoint.deleted_at is null
      on conflict (id) do nothing`)
  await client.query(sql`
    update watch set judged = done.judged
    from unnest(${done.map(({ watch }) => watch.id)}::uuid[], ${done.map(({ upTo }) => upTo)}::integer[]) as done (id, judged)
    where watch.id = done.id`)
}

async function endWatches(client: PoolClient, ended: Round['ended']): Promise<void> {
  if (ended.length === 0) return
  await client.query(sql`
    update watch set state = 'ended', reason = one.reason
    from unnest(${ended.map(({ watch }) => watch)}::uuid[], ${ended.map(({ reason }) => reason)}::text[]) as one (id, reason)
    where watch.id = one.id`)
}

/** Why a client has lost its watches; null if it has not. */
const lostBecause = (scope: string) => sql`(
  select case when disabled_at is not null then 'its client was disabled'
    when not scopes @> array[${scope}] then 'its client lost the scope ' || ${scope}
    when public_keys = '[]' and not exists (
      select from client_secret as secret
      where secret.client_id = client.client_id and (expires_at is null or expires_at > now()))
    then 'all secrets of its client have expired' end
  from client where client.client_id = watch.client_id)`

/** Ends the watches of clients that are disabled, have no secret and no key any more, or have lost the scope of the dataset. */
export async function endLostWatches(database: Database, { name, scope }: FeedRoutes['dataset']): Promise<number> {
  const rows = await database.query(sql`
    with lost as (
      select id, ${lostBecause(scope)} as reason from watch
      where dataset = ${name} and state <> 'ended' and ${lostBecause(scope)} is not null
      for no key update skip locked
    )
    update watch set state = 'ended', reason = lost.reason from lost where watch.id = lost.id returning watch.id`)
  return rows.length
}
