// Finds the breaks of a series: a cumulative count decreases, or the case definition changes. Pure.
// The result depends only on the records of the series, not on their order or on the releases that added them.

export interface SeriesRecord {
  readonly id: number
  readonly day: string | null
  /** The day the report was published. */
  readonly reported: string | null
  /** The first day of the period that the counts cover. */
  readonly begins: string | null
  /** The kind of count, as in the field. */
  readonly kind: string
  readonly counts: readonly (number | null)[]
  readonly definition: string | null
}

/** The reason why a series breaks at a record. */
export type SeriesBreak =
  | { readonly kind: 'decreased'; readonly count: number; readonly before: number; readonly after: number }
  | { readonly kind: 'redefined'; readonly before: string; readonly after: string }

/** The start of counting, by kind of count. Counts of other kinds may decrease. */
const COUNTED_FROM: Readonly<Record<string, 'event' | 'period'>> = {
  cumulative: 'event',
  period_to_date: 'period',
}

const isCumulative = ({ kind }: Pick<SeriesRecord, 'kind'>): boolean => kind in COUNTED_FROM

/** Records with the same key are compared. A record with null is not compared. */
export function comparisonKey(record: Pick<SeriesRecord, 'kind' | 'begins'>): string | null {
  if (!isCumulative(record)) return null
  return COUNTED_FROM[record.kind] === 'event' ? 'event' : record.begins
}

type Counts = readonly (number | null)[]

/** The breaks by the id of the record at which the series breaks. */
export function findBreaks(records: readonly SeriesRecord[]): Map<number, SeriesBreak> {
  const breaks = new Map<number, SeriesBreak>()
  const known = new Map<string, Counts>()
  let definition: string | null = null
  for (const day of splitByDay(records)) {
    // Each record is compared with earlier days only. The last report of the day is then the count of that day.
    const lastReports = new Map<string, SeriesRecord>()
    for (const record of day) {
      const key = comparisonKey(record)
      const found =
        (key === null ? null : findDecrease(known.get(key), record.counts)) ??
        findRedefinition(definition, record.definition)
      if (found !== null) breaks.set(record.id, found)
      if (key !== null) lastReports.set(key, record)
    }
    for (const [comparison, { counts }] of lastReports) known.set(comparison, lastKnown(known.get(comparison), counts))
    definition = day.at(-1)?.definition ?? null
  }
  return breaks
}

/** The last known value of each count: null in a later record does not replace it. */
export const lastKnown = (before: Counts | undefined, counts: Counts): Counts =>
  counts.map((count, i) => count ?? before?.[i] ?? null)

/** The first count that is below its last known value. */
export function findDecrease(known: Counts | undefined, counts: Counts): SeriesBreak | null {
  for (const [count, after] of counts.entries()) {
    const before = known?.[count] ?? null
    if (before !== null && after !== null && after < before) return { kind: 'decreased', count, before, after }
  }
  return null
}

const findRedefinition = (before: string | null, after: string | null): SeriesBreak | null =>
  before !== null && after !== null && before !== after ? { kind: 'redefined', before, after } : null

/** The records grouped by day, in the order of days and of reports. Records without a day are left out. */
function splitByDay(records: readonly SeriesRecord[]): SeriesRecord[][] {
  const dated = records.filter(({ day }) => day !== null)
  const days = Map.groupBy(dated, ({ day }) => day as string)
  return [...days.keys()].sort().map((day) => (days.get(day) ?? []).sort(compareReports))
}

/** A report whose date is unknown comes first. */
export function compareReports(a: Pick<SeriesRecord, 'id' | 'reported'>, b: typeof a): number {
  const reportedA = a.reported ?? ''
  const reportedB = b.reported ?? ''
  return reportedA === reportedB ? a.id - b.id : reportedA < reportedB ? -1 : 1
}
