// The rows of figures as an analyst reads them: flat, only with the columns in which some row has something, and the flags as a
// list. `detail=full` has the nested rows from which they are made. Pure: another member of a row becomes a column here.
import { encodeTable } from '../../formats/table.ts'
import { INTERVALS } from '../../methods/calendar.ts'

/** A row with the values of its group, if there are groups. */
type FullRow = { readonly group?: Readonly<Record<string, unknown>>; readonly [member: string]: unknown }
type ShortRow = Readonly<Record<string, unknown>>
type Completeness = Readonly<Record<string, { readonly share: number | null }>>

/** In a table these come last. */
const LAST_COLUMNS = ['flags', 'row', 'counted']
/** The columns that name a period. */
const PERIODS: readonly string[] = ['period', ...INTERVALS]

/**
 * The lists of one response. A column that is null in all rows of all lists is left out, unless it is one of `kept`; so is
 * a completeness that is nowhere below 1.
 */
export function shortenRows<Lists extends Readonly<Record<string, readonly FullRow[] | null>>>(
  lists: Lists,
  kept: readonly string[] = [],
): { [Name in keyof Lists]: ShortRow[] | Extract<Lists[Name], null> } {
  const told = new Set<string>(kept)
  const join = joinOnce()
  const flat = Object.entries(lists).map(([name, rows]) => {
    const names = new Set<string>()
    return { name, names, rows: rows?.map((row) => flattenRow(row, names, told, join)) ?? null }
  })
  return Object.fromEntries(
    flat.map(({ name, names, rows }) => {
      const columns = [...names].filter((column) => told.has(column))
      return [name, rows && selectColumns(rows, columns)]
    }),
  ) as ReturnType<typeof shortenRows<Lists>>
}

/** A response may have twenty thousand rows, so this and what follows is written for speed. */
function selectColumns(rows: readonly ShortRow[], columns: readonly string[]): ShortRow[] {
  return rows.map((row) => {
    const selected: Record<string, unknown> = {}
    for (const column of columns) selected[column] = row[column] ?? null
    return selected
  })
}

type Join = (first: string, second: string) => string

/** A new string for each cell would be hashed for each. */
function joinOnce(): Join {
  const joined = new Map<string, Map<string, string>>()
  return (first, second) => {
    let names = joined.get(first)
    if (names === undefined) joined.set(first, (names = new Map()))
    let name = names.get(second)
    if (name === undefined) names.set(second, (name = `${first}_${second}`))
    return name
  }
}

interface TableForm {
  /** The columns that exist even without rows, in their order. */
  readonly first: readonly string[]
  /** Columns that can be requested although no row has them: a query with them stays valid if the data changes. */
  readonly possible: readonly string[]
  readonly groupBy: readonly string[]
  readonly isFull: boolean
  /** The columns that were asked for. */
  readonly columns: readonly string[] | undefined
}

/** The rows as CSV, in the full form or in the short one. There the flags of a row are separated by spaces. */
export function encodeRows(rows: readonly FullRow[], { first, possible, groupBy, isFull, columns }: TableForm): string {
  if (isFull)
    return encodeTable(
      rows.map(({ group, ...row }) => ({ ...group, ...row })),
      first,
      columns,
    )
  const { short } = shortenRows({ short: rows }, [...groupBy, ...(columns ?? [])])
  // All rows of a list have the same columns.
  const found = Object.keys(short[0] ?? {})
  // The group `place` has several columns instead of its own.
  const begin = first.flatMap((name) =>
    short.length === 0 || !groupBy.includes(name) || found.includes(name)
      ? [name]
      : found.filter((column) => column.startsWith(`${name}_`)),
  )
  const middle = found.filter((name) => !begin.includes(name) && !LAST_COLUMNS.includes(name))
  const names = [...begin, ...middle, ...LAST_COLUMNS.filter((name) => found.includes(name))]
  return encodeTable(
    short.map((row) => (Array.isArray(row['flags']) ? { ...row, flags: row['flags'].join(' ') || null } : row)),
    columns === undefined ? names : [...names, ...possible, ...LAST_COLUMNS],
    columns ?? narrowColumns(names, short),
  )
}

/**
 * What a reader of a table needs: the group, the period, the numbers, and what warns about them. The days are left out where a
 * period has them, `row` and `counted` where they are the same in all lines, and alongside a total what it is calculated from.
 */
function narrowColumns(names: readonly string[], rows: readonly ShortRow[]): string[] {
  const isKnown = (row: ShortRow, name: string) => (row[name] ?? null) !== null
  const hasPeriod = PERIODS.some((period) => names.includes(period) && rows.every((row) => isKnown(row, period)))
  return names.filter((name) => {
    if (name === 'records') return false
    if (name === 'first_day' || name === 'last_day') return !hasPeriod
    if (name === 'row') return rows.some((row) => row['row'] !== 'figure')
    if (name === 'counted') return rows.some((row) => row['counted'] !== rows[0]?.['counted'])
    const [, count = ''] = /^(?:new|cumulative)_(.+)$/.exec(name) ?? []
    return !names.includes(count) || rows.some((row) => isKnown(row, name) && !isKnown(row, count))
  })
}

/** Adds the names of its columns to `names`, and of those that have something to say to `told`. */
function flattenRow({ group, ...members }: FullRow, names: Set<string>, told: Set<string>, join: Join): ShortRow {
  const row: Record<string, unknown> = {}
  const put = (name: string, value: unknown): void => {
    if (isNested(value)) for (const part in value) put(join(name, part), value[part])
    else {
      names.add(name)
      row[name] = value
      if (value !== null) told.add(name)
    }
  }
  const putCompleteness = (values: Completeness) => {
    for (const count in values) {
      const name = join('completeness', count)
      const share = values[count]?.share ?? null
      names.add(name)
      row[name] = share
      if (share !== null && share < 1) told.add(name)
    }
  }
  const flags: string[] = []
  let hasFlags = false
  for (const name in group) put(name, group[name])
  for (const name in members) {
    const value = members[name]
    if (typeof value === 'boolean') {
      hasFlags = true
      if (value) flags.push(name)
    }
    // The total of a row is the count itself.
    else if (name === 'total' && isNested(value)) for (const count in value) put(count, value[count])
    else if (name === 'completeness') putCompleteness(value as Completeness)
    else put(name, value)
  }
  if (hasFlags) put('flags', flags)
  return row
}

const isNested = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
