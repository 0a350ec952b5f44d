// The sets of a question: the records that agree in what was counted and how. Found for a choice, and turned into rows again.
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { IndexSnapshot } from '../../columns/column-index.ts'
import { countColumns } from '../../columns/layout.ts'
import { dayNumber } from '../../columns/periods.ts'
import { column } from '../../columns/tables.ts'
import type { FieldValue, Preference } from '../../datasets/define.ts'
import type { CountedSet } from '../../methods/recommended-set.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { MARKS } from '../../methods/step-columns.ts'
import type { DuckRow } from '../../platform/duckdb/duckdb.ts'
import { Problem } from '../../platform/problem.ts'
import {
  type FigureRows,
  figureColumn,
  groupKey,
  hasCount,
  isInWindow,
  isUpTo,
  readTexts,
  toNumber,
  totalColumns,
} from './figure-columns.ts'
import type { FigureRequest } from './figure-request.ts'
import { judgedColumn, judgeFields } from './mixed-rows.ts'

/** A set of an answer: what it counts (the values of its group and subject), and how. */
export interface AnswerSet extends CountedSet {
  /** The key of its group. */
  readonly group: string
  readonly groupValues: ReadonlyMap<string, FieldValue>
  /** What was counted: the event and what else the sets of a group may differ in. */
  readonly subject: ReadonlyMap<string, FieldValue>
  /** How it was counted, in the fields in which sets may differ. `values` also has the level and the status. */
  readonly how: ReadonlyMap<string, FieldValue>
  /** The values of the columns as they are stored. */
  readonly stored: DuckRow
}

export interface AnswerSets {
  readonly sets: readonly AnswerSet[]
  /** The rows of some of these sets. */
  readonly select: (sets: readonly AnswerSet[]) => FigureRows
  /** With the undated rows of what has no set. */
  readonly selectWithUndated: (sets: readonly AnswerSet[]) => FigureRows
}

/** More sets would make a statement of megabytes. */
const MAX_SETS = 20_000

/** The sets among the rows with a count in the window. */
export async function readSets(
  dataset: SeriesDataset,
  { country, sourceType, level, status }: Preference,
  snapshot: IndexSnapshot,
  rows: FigureRows,
  request: FigureRequest,
): Promise<AnswerSets> {
  const { from, condition } = rows
  const { window, groupBy, across } = request
  const { counts, comparison } = dataset.series
  const judged = judgeFields(dataset, {
    ...request,
    across: across.filter((field) => !comparison.addable.includes(field)),
  })
    .filter(({ by }) => by === 'value')
    .map(({ field }) => field)
  // The rule asks for these, also where a filter or a group fixes them. The cover of a place has several levels.
  const fixed = [...(request.place === null ? [level] : []), status].filter((field) => !judged.includes(field))
  const isSubject = (field: string) => comparison.addable.includes(field)
  const fields = [
    ...groupBy.map((field) => ({ field, role: 'group', name: figureColumn(dataset, field) })),
    ...judged.filter(isSubject).map((field) => ({ field, role: 'subject', name: judgedColumn(field) })),
    ...judged.filter((field) => !isSubject(field)).map((field) => ({ field, role: 'how', name: judgedColumn(field) })),
    ...fixed.map((field) => ({ field, role: 'fixed', name: judgedColumn(field) })),
  ]
  const columns = fields.map(({ name }) => column(name))
  const names = columns.map((_, i) => raw(`key_${i}`))
  const totalOf = await totalColumns(dataset, snapshot)
  const totals = counts.map((count) => sql`sum(${totalOf(count)})::DOUBLE`)
  const present = counts.map((count) => sql`count(${column(count)}) filter (where ${isInWindow(window)})::DOUBLE`)
  const begins = sql`least(min(day), ${join(counts.map((count) => sql`min(${column(countColumns(count).since)})`))})`
  const list = (value: Sql, where: Sql) =>
    sql`string_agg(distinct coalesce(${value}::VARCHAR, ''), ',') filter (where ${where})`
  const isCounted = sql`${isInWindow(window)} and ${hasCount(counts)}`
  const found = await snapshot.query(sql`
    select ${join([
      ...columns.map((value, i) => sql`${value} as ${names[i]}`),
      sql`count(*) filter (where ${isCounted})::DOUBLE`,
      sql`count(distinct day) filter (where ${isCounted})::DOUBLE`,
      dayNumber(begins),
      dayNumber(sql`max(day)`),
      sql`bit_or(marks) filter (where ${isInWindow(window)}) & ${raw(String(MARKS.contradicts))} <> 0`,
      list(column(sourceType), isCounted),
      list(sql`place`, isCounted),
      list(column(country), sql`exclusive_place is null`),
      ...totals,
      ...present,
    ])}
    from ${from} where ${condition} and ${isUpTo(window)} group by ${columns.length === 0 ? sql`()` : join(names)}
    having count(*) filter (where ${isCounted}) > 0
    order by min(id) limit ${raw(String(MAX_SETS + 1))}`)
  if (found.length > MAX_SETS)
    throw new Problem('invalid_parameter', 'The matching records were counted in too many ways. Filter further.', {
      parameter: 'filter',
    })
  const codesOf = (text: DuckRow[number] | undefined) =>
    typeof text === 'string' ? text.split(',').map((code) => (code === '' ? null : Number(code))) : []
  const width = fields.length
  const decode = await readTexts(dataset, snapshot, [
    ...fields.map(({ name }, i) => ({ name, values: found.map((row) => row[i]) })),
    { name: sourceType, values: found.flatMap((row) => codesOf(row[width + 5])) },
    { name: country, values: found.flatMap((row) => codesOf(row[width + 7])) },
  ])
  const sets = found.map((row): AnswerSet => {
    const valuesOf = (role: string) =>
      new Map(fields.flatMap(({ field, name, role: own }, i) => (own === role ? [[field, decode(name, row[i])]] : [])))
    const [records, days, first, last, contradicts, types, places, countries, ...numbers] = row.slice(width)
    const decodeAll = (name: string, text: DuckRow[number] | undefined) =>
      codesOf(text).map((code) => decode(name, code))
    return {
      group: groupKey(row.slice(0, groupBy.length)),
      groupValues: valuesOf('group'),
      subject: valuesOf('subject'),
      how: valuesOf('how'),
      values: new Map([...valuesOf('how'), ...valuesOf('fixed')]),
      stored: row.slice(0, width),
      records: Number(records),
      days: Number(days),
      firstDay: Number(first),
      lastDay: Number(last),
      contradicts: contradicts === true,
      sourceTypes: decodeAll(sourceType, types),
      places: new Set(typeof places === 'string' ? places.split(',') : []),
      countries: new Set(decodeAll(country, countries)),
      totals: new Map(
        counts.map((count, i) => [count, numbers[counts.length + i] === 0 ? null : toNumber(numbers[i])]),
      ),
    }
  })
  const isKey = fields.map(({ role }) => role === 'group' || role === 'subject')
  const keysOf = <Item>(row: readonly Item[]) => row.filter((_, i) => isKey[i])
  const select = (chosen: readonly AnswerSet[]) =>
    selectSets(
      rows,
      columns,
      chosen.map(({ stored }) => stored),
    )
  const known = sets.map(({ stored }) => keysOf(stored))
  return {
    sets,
    select,
    selectWithUndated: (chosen) => addUndated(rows, select(chosen), keysOf(columns), known),
  }
}

/** With the undated rows of what has no set: nothing is chosen for it, and its counts must not disappear. */
function addUndated(
  { from, condition }: FigureRows,
  selected: FigureRows,
  keys: readonly Sql[],
  known: readonly DuckRow[],
): FigureRows {
  if (keys.length === 0) return selected
  const { names, isSame, values } = compareRows(keys, known)
  return {
    condition: sql`true`,
    from: sql`(
      select * from ${selected.from}
      union all by name
      select matching.* from (select * from ${from} where ${condition} and day is null) as matching
      anti join (values ${join(values)}) as chosen(${join(names)}) on ${join(isSame, ' and ')})`,
  }
}

/** The rows of these sets: they have all the values of one of them. */
function selectSets({ from, condition }: FigureRows, columns: readonly Sql[], sets: readonly DuckRow[]): FigureRows {
  const { names, isSame, values } = compareRows(columns, sets)
  return {
    condition: sql`true`,
    from: sql`(
      select matching.* from (select * from ${from} where ${condition}) as matching
      semi join (values ${join(values)}) as chosen(${join(names)}) on ${join(isSame, ' and ')})`,
  }
}

function compareRows(columns: readonly Sql[], rows: readonly DuckRow[]) {
  const names = columns.map((_, i) => raw(`key_${i}`))
  return {
    names,
    isSame: columns.map((value, i) => sql`${value} is not distinct from chosen.${names[i]}`),
    values: rows.map((row) => raw(`(${row.map((value) => literal(value)).join()})`)),
  }
}

/** Codes and truth values: no text of a record is among them. */
function literal(value: DuckRow[number] | undefined): string {
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  return 'null'
}
