// Marks the breaks of the series that a release changes. Runs after all records are written, because a break depends on all
// records of the release. A record whose break flag changes counts as corrected, even if nothing else changes.
import type { PoolClient } from 'pg'
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset, Series } from '../../datasets/define.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { findBreaks, type SeriesBreak, type SeriesRecord } from '../../methods/series-breaks.ts'
import { type Cell, createRecordSerialiser, readCells, serialiseBody, toCell } from '../../storage/serialise-record.ts'
import { identifier, NO_END_RELEASE, tablesOf } from '../../storage/tables.ts'
import type { Finding, Findings } from '../findings/findings.ts'
import { createContentDigest } from './compare.ts'
import type { SeriesRow } from './index-writer.ts'
import { createVersionWriter } from './versions.ts'

const BATCH_RECORDS = 1000

/**
 * `add` takes the rows of one touched series, warns of every new break, and gives the records at which the series breaks
 * and whether a published record will be corrected. `end` sets the flags and gives the ids of records of earlier releases whose flag changed.
 */
export function createBreakMarker(client: PoolClient, dataset: SeriesDataset, release: number, findings: Findings) {
  const { series } = dataset
  const changed = new Map<number, boolean>()
  return {
    add(rows: readonly SeriesRow[]): { broken: ReadonlySet<number>; corrects: boolean } {
      const breaks = findBreaks(rows.map((row) => toSeriesRecord(series, row)))
      let corrects = false
      for (const row of rows) {
        const id = Number(row['id'])
        const wasBroken = row[series.breakFlag] === true
        const isNew = row['from_release'] === release
        const found = breaks.get(id)
        if (wasBroken !== (found !== undefined)) {
          changed.set(id, found !== undefined)
          corrects ||= !isNew
        }
        if (found !== undefined && (isNew || !wasBroken)) findings.add(describeBreak(series, id, found))
      }
      return { broken: new Set(breaks.keys()), corrects }
    },
    end: () => updateFlags(client, dataset, series, release, changed),
  }
}

/** A row as the record of a series. */
export const toSeriesRecord = (series: Series, row: SeriesRow): SeriesRecord => {
  const textOf = (name: string) => (row[name] ?? null) as string | null
  return {
    id: Number(row['id']),
    day: textOf(series.day),
    reported: textOf(series.reported),
    begins: textOf(series.begins),
    kind: row[series.kind] as string,
    counts: series.counts.map((name) => (row[name] ?? null) as number | null),
    definition: series.definition === undefined ? null : textOf(series.definition),
  }
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
