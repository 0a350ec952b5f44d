// The columns of the index by which figures are filtered, grouped and compared, and the texts of their codes.
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { IndexSnapshot } from '../../columns/column-index.ts'
import { countColumns, dictionaryOf, indexColumns, latestColumn } from '../../columns/layout.ts'
import { dayLiteral } from '../../columns/periods.ts'
import { column } from '../../columns/tables.ts'
import type { FieldValue } from '../../datasets/define.ts'
import { PLACE } from '../../methods/comparability.ts'
import type { Window } from '../../methods/figures.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import type { DuckRow } from '../../platform/duckdb/duckdb.ts'

/** The rows of a query: a table and a condition, without the days. */
export interface FigureRows {
  readonly from: Sql
  readonly condition: Sql
}

/** The column of a field. All rows of a series have the same value: a series is never taken in part. */
export function figureColumn({ series }: SeriesDataset, field: string): string {
  if (field === PLACE) return 'place'
  return series.place?.names.includes(field) === true ? latestColumn(field) : field
}

/** The columns that describe a place: its level and its fields. */
export const placeColumns = (dataset: SeriesDataset): { field: string; name: string }[] => {
  const { place } = dataset.series
  const fields = place === undefined ? [] : [place.level, ...place.fields]
  return fields.map((field) => ({ field, name: figureColumn(dataset, field) }))
}

/** True for rows with a day up to the last day of the window. */
export const isUpTo = ({ to }: Window): Sql =>
  Number.isFinite(to) ? sql`day <= ${dayLiteral(to)}` : sql`day is not null`

export const isInWindow = (window: Window): Sql =>
  Number.isFinite(window.from) ? sql`day >= ${dayLiteral(window.from)} and ${isUpTo(window)}` : isUpTo(window)

/** True if the record has at least one of the counts. */
export const hasCount = (counts: readonly string[]): Sql =>
  sql`(${join(
    counts.map((count) => sql`${column(count)} is not null`),
    ' or ',
  )})`

/** True for rows of these series. The codes are one text: thousands of literals take long to parse. */
export const isInSeries = ({ series }: SeriesDataset, codes: readonly number[]): Sql =>
  sql`${column(series.id)} in (${listNumbers(codes)})`

export const listNumbers = (numbers: readonly number[]): Sql =>
  sql`select unnest(string_split(${numbers.join()}, ',')::BIGINT[])`

/** What a row adds to everything that is known of a count: to a total, or to the sum of new counts. */
export async function totalColumns(
  { series }: SeriesDataset,
  snapshot: IndexSnapshot,
): Promise<(count: string) => Sql> {
  const codes = (await snapshot.codesOf(new Map([[series.kind, ['cumulative', 'point']]]))).get(series.kind)
  const isKind = (kind: string) => sql`${column(series.kind)} = ${raw(String(codes?.get(kind) ?? -1))}`
  return (count) => {
    const { gain, increment } = countColumns(count)
    return sql`case when ${isKind('cumulative')} then ${column(gain)}
      when ${isKind('point')} then null else ${column(increment)} end`
  }
}

export const toNumber = (value: DuckRow[number] | undefined): number | null =>
  value === null || value === undefined ? null : Number(value)

/** The value of a column: the text of a code, or the value itself. */
type Decode = (name: string, value: DuckRow[number] | undefined) => FieldValue

/** Reads the texts of all codes in some columns of a result, with one query. */
export async function readTexts(
  dataset: SeriesDataset,
  snapshot: IndexSnapshot,
  columns: readonly { readonly name: string; readonly values: Iterable<DuckRow[number] | undefined> }[],
): Promise<Decode> {
  const texts = new Map(
    indexColumns(dataset).flatMap(({ name, type }) =>
      type === 'code' ? [[dictionaryOf(dataset, name), new Map()]] : [],
    ),
  ) as Map<string, Map<number, string>>
  const textsByColumn = new Map(columns.map(({ name }) => [name, texts.get(dictionaryOf(dataset, name))]))
  for (const { name, values } of columns) {
    const codes = textsByColumn.get(name)
    if (codes === undefined) continue
    for (const value of values) if (typeof value === 'number') codes.set(value, '')
  }
  const wanted = [...texts].flatMap(([field, codes]) => [...codes.keys()].map((code) => [field, code] as const))
  if (wanted.length > 0) {
    const fields = wanted.map(([field]) => field).join()
    const codes = wanted.map(([, code]) => code).join()
    const rows = await snapshot.query(sql`
      select field, code, value from dictionary semi join (
        select unnest(string_split(${fields}, ',')) as field, unnest(string_split(${codes}, ',')::INTEGER[]) as code
      ) as wanted using (field, code)`)
    for (const [field, code, value] of rows) texts.get(String(field))?.set(Number(code), String(value))
  }
  return (name, value) => {
    if (value === null || value === undefined) return null
    const codes = textsByColumn.get(name)
    return codes === undefined ? (value as boolean) : (codes.get(value as number) ?? null)
  }
}

/** Identifies a group by the values of its columns. */
export const groupKey = (values: readonly unknown[]): string => values.map(String).join(' ')
