// Marks the breaks of the series that a release changes. Runs after all records are written, because a break depends on all
// records of the release. A record whose break flag changes counts as corrected, even if nothing else changes.
import type { PoolClient } from 'pg'
import sql, { join, type Sql } from 'sql-template-tag'
import type { Dataset, Series } from '../../datasets/define.ts'
import { CUMULATIVE_KINDS, findBreaks, type SeriesBreak, type SeriesRecord } from '../../methods/series-breaks.ts'
import { type Cell, createRecordSerialiser, readCells, serialiseBody, toCell } from '../../storage/serialise-record.ts'
import { identifier, NO_END_RELEASE, tablesOf } from '../../storage/tables.ts'
import type { Finding, Findings } from '../findings/findings.ts'
import { createContentDigest } from './compare.ts'
import { readByCursor } from './server-cursor.ts'
import { createVersionWriter } from './versions.ts'

const BATCH_RECORDS = 1000

/** Warns of every new break. Gives the ids of records of earlier releases whose flag changed. */
export async function markBreaks(
  client: PoolClient,
  dataset: Dataset,
  release: number,
  findings: Findings,
): Promise<number[]> {
  const { series } = dataset
  if (series === undefined) return []
  const changed = new Map<number, boolean>()
  for await (const records of readTouchedSeries(client, dataset, series, release)) {
    const breaks = findBreaks(records)
    for (const { id, began, broken } of records) {
      const found = breaks.get(id)
      if (broken !== (found !== undefined)) changed.set(id, found !== undefined)
      if (found !== undefined && (began === release || !broken)) findings.add(describeBreak(series, id, found))
    }
  }
  return updateFlags(client, dataset, series, release, changed)
}

function describeBreak(series: Series, id: number, found: SeriesBreak): Finding {
  const location = { file: 'record', line: id, severity: 'warning' } as const
  const { before, after } = found
  return found.kind === 'decreased'
    ? {
        ...location,
        column: series.counts[found.count] ?? null,
        rule: 'series_falls',
        message: `decreases from ${before} to ${after} within its series; ${series.breakFlag} is set`,
      }
    : {
        ...location,
        column: series.definition ?? null,
        rule: 'definition_changes',
        message: `changes from ${before} to ${after} within its series; ${series.breakFlag} is set`,
      }
}

interface StoredRecord extends SeriesRecord {
  began: number
  broken: boolean
}
type StoredRow = Omit<StoredRecord, 'id'> & { id: string; series: string }

/** The current records of each changed series, if they can have a break or be compared. */
async function* readTouchedSeries(
  client: PoolClient,
  dataset: Dataset,
  series: Series,
  release: number,
): AsyncGenerator<StoredRecord[]> {
  const { version } = tablesOf(dataset)
  const [id, kind, begins, day] = [series.id, series.kind, series.begins, series.day].map(identifier)
  const definition = series.definition === undefined ? sql`null::text` : identifier(series.definition)
  const touched = sql`select ${id} from ${version} where from_release = ${release}
    union select ${id} from ${version} where to_release = ${release}`
  // All records of a first release are new, and its indexes do not exist yet.
  const chosen = release === 1 ? sql`true` : sql`${id} in (${touched})`
  const rows = readByCursor<StoredRow>(
    client,
    'touched_series',
    sql`select id, ${id} as series, ${day}::text as day, ${identifier(series.reported)}::text as reported,
        ${begins}::text as begins, ${kind}::text as kind, ${definition} as definition,
        array[${join(series.counts.map(identifier))}] as counts, from_release as began, ${identifier(series.breakFlag)} as broken
      from ${version}
      where to_release = ${NO_END_RELEASE} and ${day} is not null
        and (${kind}::text = any(${CUMULATIVE_KINDS}) or ${definition} is not null) and ${chosen}
      order by ${id}`,
  )
  let current: string | undefined
  let records: StoredRecord[] = []
  for await (const batch of rows) {
    for (const row of batch) {
      if (row.series !== current && records.length > 0) {
        yield records
        records = []
      }
      current = row.series
      records.push({ ...row, id: Number(row.id) })
    }
  }
  if (records.length > 0) yield records
}

interface OpenVersion {
  id: string
  from_release: number
  revision: number
  first_release: number
  body: string
}

/** Rewrites a version that begins with the release. Closes an earlier version and adds a new one. */
async function updateFlags(
  client: PoolClient,
  dataset: Dataset,
  series: Series,
  release: number,
  flags: ReadonlyMap<number, boolean>,
): Promise<number[]> {
  const serialise = createRecordSerialiser(dataset)
  const digest = createContentDigest(dataset)
  const writer = createVersionWriter(client, dataset, release)
  const corrected: number[] = []
  const ids = [...flags.keys()]
  try {
    for (let at = 0; at < ids.length; at += BATCH_RECORDS) {
      const { rows } = await client.query<OpenVersion>(sql`
        select id, from_release, revision, first_release, body from ${tablesOf(dataset).version}
        where id = any(${ids.slice(at, at + BATCH_RECORDS)}::bigint[]) and to_release = ${NO_END_RELEASE}`)
      const updated = rows.map((row) => {
        const id = Number(row.id)
        const cells = withFlag(dataset, readCells(dataset, row.body), series, flags.get(id) === true)
        return { ...row, id, cells, content: serialise(cells) }
      })
      const [current, earlier] = [
        updated.filter((row) => row.from_release === release),
        updated.filter((row) => row.from_release < release),
      ]
      await rewriteVersions(
        client,
        dataset,
        release,
        current.map(({ id, revision, first_release, content, cells: _cells }) => ({
          id,
          broken: flags.get(id) === true,
          body: serialiseBody(content, { id, revision, firstRelease: first_release, lastRelease: release }),
        })),
      )
      await writer.add(
        earlier.map(({ id, cells, content, revision, first_release }) => ({
          row: { identity: { id }, cells },
          content,
          contentSha256: digest(cells),
          id,
          revision: revision + 1,
          firstRelease: first_release,
          replaces: true,
          newKey: null,
        })),
      )
      corrected.push(...earlier.map(({ id }) => id))
    }
    await writer.end()
  } finally {
    await writer.stop()
  }
  return corrected
}

const withFlag = (dataset: Dataset, cells: readonly Cell[], series: Series, broken: boolean): Cell[] =>
  cells.map((cell, i) => (dataset.content[i]?.name === series.breakFlag ? toCell(broken) : cell))

/** The operator's role may not update versions. This SQL function may, as long as no published release has them. */
async function rewriteVersions(
  client: PoolClient,
  dataset: Dataset,
  release: number,
  versions: readonly { id: number; broken: boolean; body: string }[],
): Promise<void> {
  if (versions.length === 0) return
  const mark: Sql = identifier(`mark_${dataset.table}_breaks`)
  await client.query(sql`select ${mark}(${release}, ${versions.map(({ id }) => id)}::bigint[],
    ${versions.map(({ broken }) => broken)}::boolean[], ${versions.map(({ body }) => body)}::text[])`)
}
