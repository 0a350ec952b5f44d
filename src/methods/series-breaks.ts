// Where a series breaks: a count falls, or the case definition changes. Pure: takes the records of one series in any
// order, and the answer follows from these alone, however they came to be in a release.

export interface SeriesRecord {
  readonly id: number
  readonly day: string | null
  /** The day the report was published. */
  readonly reported: string | null
  /** The first day of the period the counts cover. */
  readonly begins: string | null
  /** What the counts count, as the field says it. */
  readonly kind: string
  readonly counts: readonly (number | null)[]
  readonly definition: string | null
}

/** What shows that a series breaks at a record. */
export type SeriesBreak =
  | { readonly kind: 'falls'; readonly count: number; readonly before: number; readonly after: number }
  | { readonly kind: 'redefined'; readonly before: string; readonly after: string }

/** Since when a record counts, by its kind. Counts of other kinds may fall. */
const COUNTED_SINCE: Readonly<Record<string, 'event' | 'period'>> = {
  cumulative: 'event',
  period_to_date: 'period',
}

/** The kinds of counts that are expected not to fall, as text. */
export const CUMULATIVE_KINDS: readonly string[] = Object.keys(COUNTED_SINCE)

const isCumulative = ({ kind }: Pick<SeriesRecord, 'kind'>): boolean => kind in COUNTED_SINCE

/** Records are compared where this is the same; null where a record is compared with none. */
export function comparisonOf(record: Pick<SeriesRecord, 'kind' | 'begins'>): string | null {
  if (!isCumulative(record)) return null
  return COUNTED_SINCE[record.kind] === 'event' ? 'event' : record.begins
}

type Counts = readonly (number | null)[]

/** By the id of each record at which the series breaks. */
export function findBreaks(records: readonly SeriesRecord[]): Map<number, SeriesBreak> {
  const breaks = new Map<number, SeriesBreak>()
  const known = new Map<string, Counts>()
  let definition: string | null = null
  for (const day of splitByDay(records)) {
    // Records of one day are each judged by the days before; the last reported one then stands for the day.
    const standing = new Map<string, SeriesRecord>()
    for (const record of day) {
      const comparison = comparisonOf(record)
      const found =
        (comparison === null ? null : findFall(known.get(comparison), record.counts)) ??
        findRedefinition(definition, record.definition)
      if (found !== null) breaks.set(record.id, found)
      if (comparison !== null) standing.set(comparison, record)
    }
    for (const [comparison, { counts }] of standing) known.set(comparison, lastKnown(known.get(comparison), counts))
    definition = day.at(-1)?.definition ?? null
  }
  return breaks
}

/** A count that is null leaves the one before it known. */
export const lastKnown = (before: Counts | undefined, counts: Counts): Counts =>
  counts.map((count, i) => count ?? before?.[i] ?? null)

/** The first of the counts that is below the last known one. */
export function findFall(known: Counts | undefined, counts: Counts): SeriesBreak | null {
  for (const [count, after] of counts.entries()) {
    const before = known?.[count] ?? null
    if (before !== null && after !== null && after < before) return { kind: 'falls', count, before, after }
  }
  return null
}

const findRedefinition = (before: string | null, after: string | null): SeriesBreak | null =>
  before !== null && after !== null && before !== after ? { kind: 'redefined', before, after } : null

/** The records of each day, the days and the reports of a day in their order. A record without a day is in none. */
function splitByDay(records: readonly SeriesRecord[]): SeriesRecord[][] {
  const dated = records.filter(({ day }) => day !== null)
  const days = Map.groupBy(dated, ({ day }) => day as string)
  return [...days.keys()].sort().map((day) => (days.get(day) ?? []).sort(compareReports))
}

/** One whose day of report is unknown comes first. */
function compareReports(one: SeriesRecord, other: SeriesRecord): number {
  const [a, b] = [one.reported ?? '', other.reported ?? '']
  return a === b ? one.id - other.id : a < b ? -1 : 1
}
