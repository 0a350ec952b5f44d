// The sets of a query: the records that agree in what was counted and how. Found for a choice, and turned into rows again.
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { IndexSnapshot } from '../../columns/column-index.ts'
import { countColumns } from '../../columns/layout.ts'
import { dayNumber } from '../../columns/periods.ts'
import { column } from '../../columns/tables.ts'
import { ADDED_UP, type FieldValue, type Preference } from '../../datasets/define.ts'
import type { JudgedField } from '../../methods/comparability.ts'
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
import { selectUndated } from './figure-sql.ts'
import { judgedColumn, judgedValue, judgeFields } from './mixed-rows.ts'

/** A set of a response: what it counts (the values of its group and subject), and how. */
export interface AnswerSet extends CountedSet {
  /** The key of its group. */
  readonly group: string
  readonly groupValues: ReadonlyMap<string, FieldValue>
  /** What was counted: the event and what else the sets of a group may differ in. */
  readonly subject: ReadonlyMap<string, FieldValue>
  /** How it was counted, in the fields in which sets may differ. `values` also has the level and the status. */
  readonly how: ReadonlyMap<string, FieldValue>
  /** True if the name of a place lists several places. */
  readonly listsPlaces: boolean
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

/** Stands for a missing value in a list of codes, which are not negative. */
const NO_CODE = -1

/** More sets would make a statement of megabytes. */
const MAX_SETS = 20_000

export interface SetOptions {
  /** The rows that are used; `rows` also has those of places that others cover. */
  readonly used: FigureRows
  /** True if records without a day count too. */
  readonly withUndated: boolean
  /** True to find sets without a count, too. */
  readonly withoutCounts?: boolean
}

/** The sets among the rows with a count in the window. */
export async function readSets(
  dataset: SeriesDataset,
  { country, sourceType, level, status }: Preference,
  snapshot: IndexSnapshot,
  rows: FigureRows,
  request: FigureRequest,
  { used, withUndated, withoutCounts = false }: SetOptions,
): Promise<AnswerSets> {
  const { from, condition } = used
  const { window, groupBy, across } = request
  const { counts, comparison } = dataset.series
  const isSubject = (field: string) => comparison.addable.includes(field)
  const judged = judgeFields(dataset, { ...request, across: across.filter((field) => !isSubject(field)) })
  // The rule asks for these, even where a filter or a group fixes them. The cover of a place has several levels.
  const fixed = [...(request.place === null ? [level] : []), status].filter(
    (field) => !judged.some((other) => other.field === field),
  )
  const judge = (one: JudgedField, role: string) => ({
    field: one.field,
    role,
    name: judgedColumn(one.field),
    value: judgedValue(one),
    isAdded: one.by === 'presence',
  })
  const plain = (field: string, role: string, name: string) => ({
    field,
    role,
    name,
    value: column(name),
    isAdded: false,
  })
  const fields = [
    ...groupBy.map((field) => plain(field, 'group', figureColumn(dataset, field))),
    ...judged.filter(({ field }) => isSubject(field)).map((one) => judge(one, 'subject')),
    ...judged.filter(({ field }) => !isSubject(field)).map((one) => judge(one, 'how')),
    ...fixed.map((field) => plain(field, 'fixed', judgedColumn(field))),
  ]
  const columns = fields.map(({ value }) => value)
  const names = columns.map((_, i) => raw(`key_${i}`))
  const totalOf = await totalColumns(dataset, snapshot)
  const totals = counts.map((count) => sql`sum(${totalOf(count)})::DOUBLE`)
  const present = counts.map((count) => sql`count(${column(count)}) filter (where ${isInWindow(window)})::DOUBLE`)
  const isKnown = hasCount(counts)
  const begins = sql`least(min(day) filter (where ${isKnown}), ${join(counts.map((count) => sql`min(${column(countColumns(count).since)})`))})`
  // Not a distinct aggregate: each of those groups all rows once more, by all columns of a set.
  const distinct = (value: Sql, where: Sql) => sql`list_distinct(list(${value}) filter (where ${where}))`
  const list = (value: Sql, where: Sql) =>
    sql`array_to_string(${distinct(sql`coalesce(${value}, ${raw(String(NO_CODE))})`, where)}, ',')`
  const isCounted = sql`${withUndated ? sql`true` : isInWindow(window)} and ${hasCount(counts)}`
  const found = await snapshot.query(sql`
    select ${join([
      ...columns.map((value, i) => sql`${value} as ${names[i]}`),
      sql`count(*) filter (where ${isCounted})::DOUBLE`,
      sql`len(${distinct(sql`day`, isCounted)})::DOUBLE`,
      dayNumber(begins),
      dayNumber(sql`max(day) filter (where ${isKnown})`),
      sql`bit_or(marks) filter (where ${isInWindow(window)}) & ${raw(String(MARKS.contradicts))} <> 0`,
      sql`bit_or(marks) & ${raw(String(MARKS.listsPlaces))} <> 0`,
      list(column(sourceType), isCounted),
      list(sql`place`, isCounted),
      list(column(country), sql`${isCounted} and exclusive_place is null`),
      ...totals,
      ...present,
    ])}
    from ${from} where ${condition} and ${withUndated ? sql`true` : isUpTo(window)}
    group by ${columns.length === 0 ? sql`()` : join(names)}
    having ${withoutCounts ? sql`true` : sql`count(*) filter (where ${isCounted}) > 0`}
    order by min(id) limit ${raw(String(MAX_SETS + 1))}`)
  if (found.length > MAX_SETS)
    throw new Problem('invalid_parameter', 'The matching records were counted in too many ways. Add filters.', {
      parameter: 'filter',
    })
  const undated = withUndated ? await snapshot.query(selectUndated(dataset, used, { groups: columns, judged: [] })) : []
  const undatedOf = new Map(
    undated.map((row) => [groupKey(row.slice(0, columns.length)), row.slice(columns.length + 1)]),
  )
  const codesOf = (text: DuckRow[number] | undefined) =>
    typeof text === 'string' ? text.split(',').map((code) => (Number(code) === NO_CODE ? null : Number(code))) : []
  const width = fields.length
  const decode = await readTexts(dataset, snapshot, [
    ...fields.map(({ name }, i) => ({ name, values: found.map((row) => row[i]) })),
    { name: sourceType, values: found.flatMap((row) => codesOf(row[width + 6])) },
    { name: country, values: found.flatMap((row) => codesOf(row[width + 8])) },
  ])
  const sets = found.map((row): AnswerSet => {
    const valueOf = ({ name, isAdded }: (typeof fields)[number], stored: DuckRow[number] | undefined) => {
      if (!isAdded) return decode(name, stored)
      return stored === true ? null : ADDED_UP
    }
    const valuesOf = (role: string) =>
      new Map(fields.flatMap((one, i) => (one.role === role ? [[one.field, valueOf(one, row[i])]] : [])))
    const undatedCounts = undatedOf.get(groupKey(row.slice(0, width)))
    const [records, days, first, last, contradicts, listsPlaces, types, places, countries, ...numbers] =
      row.slice(width)
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
      firstDay: toNumber(first),
      lastDay: toNumber(last),
      contradicts: contradicts === true,
      listsPlaces: listsPlaces === true,
      sourceTypes: decodeAll(sourceType, types),
      places: new Set(typeof places === 'string' ? places.split(',') : []),
      countries: new Set(decodeAll(country, countries)),
      totals: new Map(
        counts.map((count, i) => {
          const known = numbers[counts.length + i] === 0 ? null : toNumber(numbers[i])
          return [count, known ?? toNumber(undatedCounts?.[i])]
        }),
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
