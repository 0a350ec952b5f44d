// Marks the breaks of the series that a release touches. A break follows from the records of the release alone, so it is
// judged when all of them are written; records that only gain or lose a break are corrected by the release as well.
import type { PoolClient } from 'pg'
import sql, { join, type Sql } from 'sql-template-tag'
import type { Dataset, Series } from '../../datasets/define.ts'
import { CUMULATIVE_KINDS, findBreaks, type SeriesBreak, type SeriesRecord } from '../../methods/series-breaks.ts'
import { type Cell, createRecordSerialiser, readCells, serialiseBody, spell } from '../../storage/serialise-record.ts'
import { identifier, OPEN, tablesOf } from '../../storage/tables.ts'
import type { Finding, Findings } from '../findings/findings.ts'
import { createContentDigest } from './compare.ts'
import { readByCursor } from './server-cursor.ts'
import { createVersionWriter } from './versions.ts'

const BATCH_RECORDS = 1000

/** Gives the ids of records of earlier releases that are corrected by it. Warns of every break the release brings. */
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
  return changeFlags(client, dataset, series, release, changed)
}

function describeBreak(series: Series, id: number, found: SeriesBreak): Finding {
  const place = { file: 'record', line: id, severity: 'warning' } as const
  const { before, after } = found
  return found.kind === 'decreased'
    ? {
        ...place,
        column: series.counts[found.count] ?? null,
        rule: 'series_falls',
        message: `falls from ${before} to ${after} within its series; ${series.broken} is set`,
      }
    : {
        ...place,
        column: series.definition ?? null,
        rule: 'definition_changes',
        message: `changes from ${before} to ${after} within its series; ${series.broken} is set`,
      }
}

interface StoredRecord extends SeriesRecord {
  began: number
  broken: boolean
}
type StoredRow = Omit<StoredRecord, 'id'> & { id: string; series: string }

/** The open records of one touched series after the other, as far as they can break or be compared with. */
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
  // All records of a first release are new, and its indexes are not there yet.
  const chosen = release === 1 ? sql`true` : sql`${id} in (${touched})`
  const rows = readByCursor<StoredRow>(
    client,
    'touched_series',
    sql`select id, ${id} as series, ${day}::text as day, ${identifier(series.reported)}::text as reported,
        ${begins}::text as begins, ${kind}::text as kind, ${definition} as definition,
        array[${join(series.counts.map(identifier))}] as counts, from_release as began, ${identifier(series.broken)} as broken
      from ${version}
      where to_release = ${OPEN} and ${day} is not null
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

/** A version that begins with the release is rewritten; an earlier one is closed, and another begins. */
async function changeFlags(
  client: PoolClient,
  dataset: Dataset,
  series: Series,
  release: number,
  flags: ReadonlyMap<number, boolean>,
): Promise<number[]> {
  const render = createRecordSerialiser(dataset)
  const digest = createContentDigest(dataset)
  const writer = createVersionWriter(client, dataset, release)
  const corrected: number[] = []
  const ids = [...flags.keys()]
  try {
    for (let at = 0; at < ids.length; at += BATCH_RECORDS) {
      const { rows } = await client.query<OpenVersion>(sql`
        select id, from_release, revision, first_release, body from ${tablesOf(dataset).version}
        where id = any(${ids.slice(at, at + BATCH_RECORDS)}::bigint[]) and to_release = ${OPEN}`)
      const judged = rows.map((row) => {
        const id = Number(row.id)
        const cells = withFlag(dataset, readCells(dataset, row.body), series, flags.get(id) === true)
        return { ...row, id, cells, content: render(cells) }
      })
      const [own, earlier] = [
        judged.filter((row) => row.from_release === release),
        judged.filter((row) => row.from_release < release),
      ]
      await rewriteVersions(
        client,
        dataset,
        release,
        own.map(({ id, revision, first_release, content, cells: _cells }) => ({
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
  cells.map((cell, i) => (dataset.content[i]?.name === series.broken ? spell(broken) : cell))

/** The operator's role may not change a version. This function may, as long as no published release holds it. */
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
