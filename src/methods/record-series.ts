// Builds the series of a dataset from rows of records: the reports of the arithmetic, the place, and the values that all
// records of a series have in common. Pure.
import type { Dataset, Field, FieldValue, Series } from '../datasets/define.ts'
import { parseDay } from './calendar.ts'
import { type DerivedSeries, deriveSeries } from './derived-series.ts'
import { type CountKind, dayOf, type Report } from './increments.ts'
import { compareReports } from './series-breaks.ts'

/** A dataset whose records form series. */
export type SeriesDataset = Dataset & { readonly series: Series }

export const hasSeries = (dataset: Dataset): dataset is SeriesDataset => dataset.series !== undefined

/** Values by column, dates as text. */
export type Row = Record<string, FieldValue>

export interface RecordSeries extends DerivedSeries {
  /** The value of a field in the latest record of the series. */
  readonly read: (field: string) => FieldValue
  /** Identifies the place if it may contain other places; otherwise null. */
  readonly exclusivePlace: string | null
  /** The records that have a day and at least one count. */
  readonly counted: readonly { readonly day: number }[]
  /** The last record, if its total was published so early that the outbreak may have gone on; otherwise null. */
  readonly interim: number | null
  /** True if the name of the place lists several places. */
  readonly listsPlaces: boolean
}

/** The fields that all records of a series have in common, and the fields that are derived from them. */
export function commonFields({ fields, series }: SeriesDataset): string[] {
  const members = new Set(series.fields)
  const isDerived = ({ derive }: Field) => derive?.from.every((name) => members.has(name)) ?? false
  return fields.filter((field) => members.has(field.name) || isDerived(field)).map(({ name }) => name)
}

/** The columns that `toSeries` needs. */
export function seriesColumns(dataset: SeriesDataset): string[] {
  const { series } = dataset
  const { definition, report, qualifier, preference } = series
  const optional = [definition, report, qualifier, preference?.sourceType].filter((name) => name !== undefined)
  const always = ['id', series.id, series.kind, series.begins, series.day, series.reported]
  return [...new Set([...always, ...series.counts, ...optional, ...commonFields(dataset)])]
}

/** The series of rows with the same id of a series. */
export function toSeries({ series }: SeriesDataset, rows: readonly Row[]): RecordSeries {
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
  const latest = rows[findLatest(kind, reports)]
  const read = (field: string) => latest?.[field] ?? null
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
    interim: findInterim(kind, reports),
    listsPlaces: series.place?.listsPlaces(read) === true,
  }
}

/** A total is interim if it was published soon after its last day. */
function findInterim(kind: CountKind, reports: readonly Report[]): number | null {
  if (kind !== 'cumulative') return null
  const last = reports[findLatest(kind, reports)]
  if (last?.last == null || last.reported === null) return null
  return parseDay(last.reported) - last.last < FINAL_DAYS ? last.id : null
}

/** The level and the fields of the place of a series. */
export function describePlace({ series: { place } }: SeriesDataset, { read }: RecordSeries): Row {
  const fields = place === undefined ? [] : [place.level, ...place.fields]
  return Object.fromEntries(fields.map((field) => [field, read(field)]))
}

/** The position of the latest report: of the last day, then reported last, then with the greatest id (methods.md, rule 1). */
function findLatest(kind: CountKind, reports: readonly Report[]): number {
  const days = reports.map((report) => dayOf(kind, report) ?? Number.NEGATIVE_INFINITY)
  const lastDay = days.reduce((a, b) => Math.max(a, b))
  const ofLastDay = reports.filter((_, i) => days[i] === lastDay)
  return reports.indexOf(ofLastDay.reduce((a, b) => (compareReports(a, b) < 0 ? b : a)))
}

/** A total that is published this long after its last day, twice the incubation period of Ebola, is the final one. */
const FINAL_DAYS = 42

const toDay = (value: FieldValue | undefined) => (typeof value === 'string' ? parseDay(value) : null)
const toText = (value: FieldValue | undefined) => (typeof value === 'string' ? value : null)
