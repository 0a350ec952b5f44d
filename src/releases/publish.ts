// Publishing: one transaction in which the staged rows become the next release, or nothing at all.
// Versions of records that changed are closed and added; what did not change is not touched.
import type { PoolClient } from 'pg'
import sql, { join, type Sql } from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import type { Database } from '../platform/database.ts'
import { OperatorFault } from '../platform/operator-fault.ts'
import { renderBody } from '../records/render.ts'
import { CHECKPOINT_SPACING, OPEN, tablesOf } from '../records/tables.ts'
import { openRelease, type ReleaseInput, type ReleaseManifest } from './read-release.ts'
import { describeChanges } from './report.ts'
import { contentColumns, createStaged, stageFiles, stageRelease } from './stage.ts'

export interface PublishedSummary {
  dataset: string
  release: number
  records: number
  added: number
  corrected: number
  withdrawn: number
  /** True where the newest release already held exactly these records: nothing was published. */
  unchanged: boolean
}

/** More than this share of the records gone is far more often a truncated file than an intention. */
const MASS_WITHDRAWAL = 0.05

/** The next release, from a directory. `confirmed` is the number of records the operator knows to be withdrawn by it. */
export async function publishRelease(database: Database, dataset: Dataset, directory: string, confirmed = 0) {
  const input = await openRelease(directory)
  return database.transaction(async (client) => {
    const { last, ...summary } = await publishFiles(client, dataset, input)
    if (summary.withdrawn > last.records * MASS_WITHDRAWAL && summary.withdrawn !== confirmed) {
      throw new OperatorFault(
        `this would withdraw ${summary.withdrawn} of ${last.records} records; if that is meant, say --confirm-withdrawn ${summary.withdrawn}`,
      )
    }
    return summary
  })
}

/** What publishing the directory would do. It is done, reported and rolled back: nothing else could be as true. */
export async function previewRelease(database: Database, dataset: Dataset, directory: string) {
  const input = await openRelease(directory)
  return database.rehearse(async (client) => {
    const { last, ...summary } = await publishFiles(client, dataset, input)
    return { ...summary, ...(await describeChanges(client, dataset, last.number + 1)) }
  })
}

async function publishFiles(client: PoolClient, dataset: Dataset, { manifest, files }: ReleaseInput) {
  const last = await beginRelease(client, dataset)
  const remarks = await stageFiles(client, dataset, files)
  const summary = await publishStaged(client, dataset, last, { ...manifest, restores: null })
  return { ...summary, ...remarks, last }
}

/** The next release, equal to an earlier one. History stays readable; the releases between are marked as withdrawn. */
export async function withdrawTo(database: Database, dataset: Dataset, earlier: number, note: string) {
  return database.transaction(async (client) => {
    const last = await beginRelease(client, dataset)
    const [target] = await rows<{ title: string; licence: string }>(
      client,
      sql`select title, licence from release where dataset = ${dataset.name} and number = ${earlier}`,
    )
    if (target === undefined || earlier >= last.number) {
      throw new OperatorFault(`there is no earlier release ${earlier} to go back to`)
    }
    await stageRelease(client, dataset, earlier)
    return publishStaged(client, dataset, last, { ...target, note, restores: earlier })
  })
}

interface LastRelease {
  number: number
  records: number
  last_id: number
}

async function beginRelease(client: PoolClient, dataset: Dataset): Promise<LastRelease> {
  await claimTurn(client, dataset)
  await createStaged(client, dataset)
  return readLastRelease(client, dataset)
}

async function publishStaged(
  client: PoolClient,
  dataset: Dataset,
  last: LastRelease,
  manifest: ReleaseManifest & { restores: number | null },
): Promise<PublishedSummary> {
  await assignIds(client, dataset, last.last_id)
  await refuseDuplicates(client)
  const release = last.number + 1
  const closed = await closeVersions(client, dataset, release)
  const { inserted, corrected } = await addVersions(client, dataset, release)
  const counts = { added: inserted - corrected, corrected, withdrawn: closed - corrected }
  if (closed + inserted === 0 && last.number > 0) {
    return { dataset: dataset.name, release: last.number, records: last.records, ...counts, unchanged: true }
  }
  await addCheckpoints(client, dataset, release)
  const records = await recordRelease(client, dataset, manifest, { number: release, last_id: last.last_id, ...counts })
  return { dataset: dataset.name, release, records, ...counts, unchanged: false }
}

/** One publisher at a time; a second one is told so instead of waiting. */
async function claimTurn(client: PoolClient, dataset: Dataset): Promise<void> {
  const [row] = await rows<{ mine: boolean }>(
    client,
    sql`select pg_try_advisory_xact_lock(hashtextextended(${`publish ${dataset.name}`}, 0)) as mine`,
  )
  if (row?.mine !== true)
    throw new OperatorFault(`another release of ${dataset.name} is being published at this moment`)
}

async function readLastRelease(client: PoolClient, dataset: Dataset): Promise<LastRelease> {
  const [row] = await rows<{ number: number; records: string; last_id: string }>(
    client,
    sql`select number, records, last_id from release where dataset = ${dataset.name} order by number desc limit 1`,
  )
  return { number: row?.number ?? 0, records: Number(row?.records ?? 0), last_id: Number(row?.last_id ?? 0) }
}

/** Gives every new key the next id, for ever; `incoming` then names each row of the release by its id. */
async function assignIds(client: PoolClient, dataset: Dataset, lastId: number): Promise<void> {
  const { key } = tablesOf(dataset)
  await client.query(sql`
    insert into ${key} (key, id)
    select key, greatest(${lastId}::bigint, (select max(id) from staged)) + row_number() over (order by min(ordinal))
    from staged where key is not null and not exists (select from ${key} known where known.key = staged.key)
    group by key`)
  await client.query(sql`
    create temporary table incoming on commit drop as
    select coalesce(staged.id, known.id) as id, ordinal, content_sha256
    from staged left join ${key} known on known.key = staged.key`)
  await client.query(sql`analyze incoming (id, ordinal)`)
}

async function refuseDuplicates(client: PoolClient): Promise<void> {
  const twice = await rows<{ name: string; times: string }>(
    client,
    sql`select coalesce(min(staged.key), incoming.id::text) as name, count(*) as times
      from incoming join staged using (ordinal)
      where incoming.id in (select id from incoming group by id having count(*) > 1)
      group by incoming.id order by incoming.id limit 20`,
  )
  if (twice.length === 0) return
  const list = twice.map(({ name, times }) => `  ${name}: ${times} times`).join('\n')
  throw new OperatorFault(`a record may stand in a release only once; nothing was published\n${list}`)
}

/** Ends the versions that are no longer true: their record is gone or says something else. */
async function closeVersions(client: PoolClient, dataset: Dataset, release: number): Promise<number> {
  const { version } = tablesOf(dataset)
  const closed = await client.query(sql`
    update ${version} as open set to_release = ${release}
    where to_release = ${OPEN} and not exists (
      select from incoming where incoming.id = open.id and incoming.content_sha256 = open.content_sha256)`)
  return closed.rowCount ?? 0
}

/** Adds a version for every record that has none open now: the new ones, the corrected ones, the ones that came back. */
async function addVersions(client: PoolClient, dataset: Dataset, release: number) {
  const { version } = tablesOf(dataset)
  await client.query(sql`
    create temporary table fresh on commit drop as
    select incoming.id, incoming.ordinal,
      coalesce(earlier.revision + 1, 0) as revision,
      coalesce(earlier.first_release, ${release}) as first_release,
      coalesce(earlier.to_release = ${release}, false) as corrected
    from incoming left join lateral (
      select revision, first_release, to_release from ${version} as v
      where v.id = incoming.id order by from_release desc limit 1
    ) as earlier on true
    where not exists (select from ${version} as open where open.id = incoming.id and open.to_release = ${OPEN})`)
  await client.query(sql`analyze fresh (ordinal)`)
  const columns = contentColumns(dataset)
  const body = renderBody(sql`staged.content`, {
    id: sql`fresh.id`,
    revision: sql`fresh.revision`,
    firstRelease: sql`fresh.first_release`,
    lastRelease: sql`${release}::integer`,
  })
  await client.query(sql`
    insert into ${version}
      (id, from_release, ${join(columns)}, revision, first_release, last_release, content_sha256, body)
    select fresh.id, ${release}, ${join(columns.map((column) => sql`staged.${column}`))},
      fresh.revision, fresh.first_release, ${release}, staged.content_sha256, ${body}
    from staged join fresh using (ordinal)`)
  const [counts] = await rows<{ inserted: string; corrected: string }>(
    client,
    sql`select count(*) as inserted, count(*) filter (where corrected) as corrected from fresh`,
  )
  return { inserted: Number(counts?.inserted), corrected: Number(counts?.corrected) }
}

async function addCheckpoints(client: PoolClient, dataset: Dataset, release: number): Promise<void> {
  await client.query(sql`
    insert into ${tablesOf(dataset).checkpoint} (release, ordinal, id)
    select ${release}, place, id
    from (select id, row_number() over (order by id) - 1 as place from incoming) as placed
    where place % ${CHECKPOINT_SPACING} = 0`)
}

async function recordRelease(
  client: PoolClient,
  dataset: Dataset,
  { title, licence, note, restores }: ReleaseManifest & { restores: number | null },
  release: { number: number; last_id: number; added: number; corrected: number; withdrawn: number },
): Promise<number> {
  const [row] = await rows<{ records: string }>(
    client,
    sql`insert into release
      (dataset, number, title, licence, note, restores, added, corrected, withdrawn, records, last_id, event_names)
      select ${dataset.name}, ${release.number}, ${title}, ${licence}, ${note ?? null}, ${restores},
        ${release.added}, ${release.corrected}, ${release.withdrawn}, count(*), greatest(${release.last_id}, max(id)),
        array(select distinct event collate "C" from staged order by 1)
      from incoming returning records`,
  )
  return Number(row?.records)
}

const rows = async <Row extends object>(client: PoolClient, query: Sql): Promise<Row[]> =>
  (await client.query<Row>(query)).rows
