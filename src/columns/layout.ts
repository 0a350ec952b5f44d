// The column index of a dataset: which columns it has. It follows from the declaration: the fields by which records are
// filtered and counted, the fields of series and, for each count, the steps of the arithmetic.
import type { Dataset, Field } from '../datasets/define.ts'
import { hasSeries, type SeriesDataset, seriesColumns } from '../methods/record-series.ts'

/** A text is stored as its number in the dictionary: such a column is small, and fast to compare. */
export type ColumnType = 'code' | 'boolean' | 'smallint' | 'integer' | 'bigint' | 'double' | 'date'

export interface Column {
  readonly name: string
  readonly type: ColumnType
}

const SQL_TYPES: Readonly<Record<ColumnType, string>> = {
  code: 'INTEGER',
  boolean: 'BOOLEAN',
  smallint: 'UTINYINT',
  integer: 'INTEGER',
  bigint: 'BIGINT',
  double: 'DOUBLE',
  date: 'DATE',
}

export const sqlType = ({ type }: Column): string => SQL_TYPES[type]

/** The columns that every dataset has. `present` has a bit for each field that can be null: 1 if it has a value. */
const SERVICE_COLUMNS: readonly Column[] = [
  { name: 'id', type: 'bigint' },
  { name: 'from_release', type: 'integer' },
  { name: 'last_release', type: 'integer' },
  { name: 'present', type: 'bigint' },
]

const TYPE_OF_KIND: Readonly<Record<Field['kind'], ColumnType>> = {
  identifier: 'bigint',
  integer: 'integer',
  number: 'double',
  text: 'code',
  date: 'date',
  boolean: 'boolean',
  choice: 'code',
  code: 'code',
  uri: 'code',
  object: 'code',
}

/** The fields of a record that are columns, in the order of the declaration. */
export function indexedFields(dataset: Dataset): Field[] {
  const { periods, coordinates, series } = dataset
  const names = new Set([
    ...periods.flatMap(({ first, last }) => [first, last]),
    ...(coordinates === undefined ? [] : [coordinates.latitude, coordinates.longitude]),
    ...(hasSeries(dataset) ? seriesColumns(dataset) : []),
    ...(series === undefined ? [] : [series.breakFlag]),
  ])
  return dataset.content.filter((field) => names.has(field.name) || field.filterable)
}

/** The columns of a record that do not depend on other records. */
export const recordColumns = (dataset: Dataset): Column[] => [
  ...SERVICE_COLUMNS,
  ...indexedFields(dataset).map(({ name, kind }) => ({ name, type: TYPE_OF_KIND[kind] })),
]

/** The columns for one count of a record: methods/step-columns.ts explains each. */
export const countColumns = (count: string) => ({
  rule: `${count}_rule`,
  increment: `${count}_new`,
  since: `${count}_since`,
  total: `${count}_total`,
  gain: `${count}_gain`,
  until: `${count}_until`,
  isFirst: `${count}_first`,
})

/** The value of a field in the latest record of the series, for a field that can change while the place stays the same. */
export const latestColumn = (field: string): string => `latest_${field}`

/** The columns of a record that depend on the other records of its series. */
export function stepColumns(dataset: SeriesDataset): Column[] {
  const { series } = dataset
  return [
    { name: 'day', type: 'date' },
    { name: 'marks', type: 'integer' },
    { name: 'place', type: 'code' },
    { name: 'exclusive_place', type: 'code' },
    ...(series.place?.names ?? []).map((name): Column => ({ name: latestColumn(name), type: 'code' })),
    ...series.counts.flatMap((count): Column[] => {
      const names = countColumns(count)
      return [
        { name: names.rule, type: 'smallint' },
        { name: names.increment, type: 'bigint' },
        { name: names.since, type: 'date' },
        { name: names.total, type: 'bigint' },
        { name: names.gain, type: 'bigint' },
        { name: names.until, type: 'date' },
        { name: names.isFirst, type: 'boolean' },
      ]
    }),
  ]
}

/** All columns of the index. */
export const indexColumns = (dataset: Dataset): Column[] => [
  ...recordColumns(dataset),
  ...(hasSeries(dataset) ? stepColumns(dataset) : []),
]

/** The columns in which the records of a run agree: the fields by whose values records are filtered. */
export const runColumns = (dataset: Dataset): string[] =>
  dataset.content.filter(({ filterable }) => filterable).map(({ name }) => name)

/** The field of the dictionary that numbers the bits of `present`. */
export const PRESENT = '(present)'
/** The field of the dictionary that has the places of series. */
export const PLACES = '(place)'

/** The field of the dictionary to which the codes of a column belong: columns of the same field share its codes. */
export function dictionaryOf(dataset: SeriesDataset | Dataset, column: string): string {
  if (column === 'place' || column === 'exclusive_place') return PLACES
  const latest = dataset.series?.place?.names.find((name) => latestColumn(name) === column)
  return latest ?? column
}
