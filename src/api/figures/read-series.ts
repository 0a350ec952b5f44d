// Reads the matching records of a question and groups them into series.
import type { FieldValue } from '../../datasets/define.ts'
import { parseDay } from '../../methods/calendar.ts'
import { type DerivedSeries, deriveSeries } from '../../methods/figures.ts'
import type { CountKind } from '../../methods/increments.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { Problem } from '../../platform/problem.ts'
import type { FilterQuery } from '../filters/run-filter-queries.ts'
import { readColumns } from '../filters/run-filter-queries.ts'
import { groupFields, type SeriesDataset } from './figure-request.ts'

/** The maximum number of records of one answer. */
const MAX_RECORDS = 20_000

type Row = Record<string, FieldValue>

/** A series with the values of its fields. */
export interface QuestionSeries extends DerivedSeries {
  readonly read: (field: string) => FieldValue
  /** Identifies the place if it may contain other places; otherwise null. */
  readonly exclusivePlace: string | null
  /** The records that have a day and at least one count. */
  readonly counted: readonly { readonly day: number }[]
}

export async function readSeries(
  database: Database,
  query: FilterQuery & { readonly dataset: SeriesDataset },
): Promise<QuestionSeries[]> {
  const { dataset } = query
  const rows = await readColumns<Row>(database, query, columnsOf(dataset), MAX_RECORDS)
  if (rows === null)
    throw new Problem(
      'invalid_parameter',
      `More than ${MAX_RECORDS} records match, whatever their days. Filter by ${dataset.series.id}, or add filters that match fewer records.`,
      { parameter: dataset.series.id },
    )
  return [...Map.groupBy(rows, (row) => row[dataset.series.id]).values()].map((members) => toSeries(dataset, members))
}

function columnsOf(dataset: SeriesDataset): string[] {
  const { series } = dataset
  const optional = [series.definition, series.report, series.qualifier].filter((name) => name !== undefined)
  const grouped = groupFields(dataset).filter((name) => name !== 'place')
  return [
    ...new Set([
      ...['id', series.id, series.kind, series.begins, series.day, series.reported],
      ...[...series.counts, ...optional, ...grouped],
    ]),
  ]
}

function toSeries({ series }: SeriesDataset, rows: readonly Row[]): QuestionSeries {
  const kind = rows[0]?.[series.kind] as CountKind
  const reports = rows.map((row) => ({
    id: Number(row['id']),
    first: toDay(row[series.begins]),
    last: toDay(row[series.day]),
    reported: toText(row[series.reported]),
    sourceReport: series.report === undefined ? null : toText(row[series.report]),
    definition: series.definition === undefined ? null : toText(row[series.definition]),
    exact: series.qualifier === undefined || row[series.qualifier] === 'exact',
    counts: series.counts.map((name) => (row[name] ?? null) as number | null),
  }))
  const latest = rows.reduce((a, b) => (rankOf(series, b) > rankOf(series, a) ? b : a))
  const read = (field: string) => latest[field] ?? null
  // Two levels of one name are two places, such as a city that is also a province.
  const place = JSON.stringify(
    series.place === undefined ? read(series.id) : [read(series.place.level), ...series.place.identify(read).values()],
  )
  const derived = deriveSeries({ kind, place, reports })
  const hasCount = new Set(reports.filter(({ counts }) => counts.some((count) => count !== null)).map(({ id }) => id))
  return {
    ...derived,
    read,
    exclusivePlace: series.place?.mayContainOthers(read) === true ? place : null,
    counted: derived.records.filter(({ id }) => hasCount.has(id)),
  }
}

/** The names in a series come from its latest record: the record of the last day, published last. */
const rankOf = (series: SeriesDataset['series'], row: Row) =>
  [toText(row[series.day]), toText(row[series.reported]), String(Number(row['id'])).padStart(20, '0')].join(' ')

const toDay = (value: FieldValue | undefined) => (typeof value === 'string' ? parseDay(value) : null)
const toText = (value: FieldValue | undefined) => (typeof value === 'string' ? value : null)
