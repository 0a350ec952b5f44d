// Finds the breaks of the series that a release changes. Runs after all records are read, because a break depends on all
// records of the release. A record whose break flag changes counts as corrected, even if nothing else changes.
import type { PoolClient } from 'pg'
import type { SeriesRow } from '../../columns/index-writer.ts'
import type { FieldValue, Series } from '../../datasets/define.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { findBreaks, type SeriesBreak, type SeriesRecord } from '../../methods/series-breaks.ts'
import { type AssignedFields, readCells, serialiseBody } from '../../storage/serialise-record.ts'
import type { Finding, Findings } from '../findings/findings.ts'
import { renewVersions } from './versions.ts'

const BATCH_RECORDS = 1000

interface FlagChange {
  broken: boolean
  /** True if the release adds or corrects the record anyway. */
  isNew: boolean
}

/** The changes of the text of records, and the ids of records that the release corrects by it. */
export interface BreakChanges {
  readonly edits: ReadonlyMap<number, (body: string) => string>
  readonly corrected: readonly number[]
}

/**
 * `add` takes the rows of one touched series, warns of every new break, and gives the records at which the series breaks
 * and whether a published record will be corrected. `end` writes the versions of the corrected records.
 */
export function createBreakMarker(client: PoolClient, dataset: SeriesDataset, release: number, findings: Findings) {
  const { series } = dataset
  const changed = new Map<number, FlagChange>()
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
          changed.set(id, { broken: found !== undefined, isNew })
          corrects ||= !isNew
        }
        if (found !== undefined && (isNew || !wasBroken)) findings.add(describeBreak(series, id, found))
      }
      return { broken: new Set(breaks.keys()), corrects }
    },
    async end(): Promise<BreakChanges> {
      const corrected = [...changed].filter(([, { isNew }]) => !isNew).map(([id]) => id)
      for (let at = 0; at < corrected.length; at += BATCH_RECORDS)
        await renewVersions(client, dataset, release, corrected.slice(at, at + BATCH_RECORDS))
      const edit = createFlagEditor(dataset, release)
      const edits = new Map([...changed].map(([id, change]) => [id, (body: string) => edit(body, change)]))
      return { edits, corrected }
    },
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
        message: `falls from ${before} to ${after} within its series: ${series.breakFlag} is set`,
      }
    : {
        ...location,
        column: series.definition ?? null,
        rule: 'definition_changes',
        message: `changes from ${before} to ${after} within its series: ${series.breakFlag} is set`,
      }
}

/** Changes the flag in the text of a record. This corrects a record of an earlier release. */
function createFlagEditor(dataset: SeriesDataset, release: number) {
  const { breakFlag } = dataset.series
  return (body: string, { broken, isNew }: FlagChange): string => {
    const record = JSON.parse(body) as Record<string, FieldValue> & AssignedFields
    return serialiseBody(readCells(dataset, { ...record, [breakFlag]: broken }), {
      id: record.id,
      revision: record.revision + (isNew ? 0 : 1),
      firstRelease: record.first_release,
      lastRelease: release,
    })
  }
}
