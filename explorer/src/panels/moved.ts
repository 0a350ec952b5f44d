// Changes as rows: a report that was withdrawn in one place and added in another with the same day and counts only moved. Pure.
import type { Change, OutbreakRecord } from '../../../clients/typescript/src/client.ts'
import { countryName } from '../labels.ts'

export interface ChangeLine {
  readonly change: Change
  /** What was withdrawn elsewhere, if the report only moved. */
  readonly from: Change | null
}

/** What stays the same: within one state or province, since equal counts of two are a coincidence. */
const STAYS = [
  ...(['event', 'country_code', 'admin_l1', 'location_granularity', 'date_low', 'date_high', 'case_status'] as const),
  ...(['count_kind', 'source_name', 'cases', 'deaths', 'hospitalised', 'recovered', 'tested'] as const),
]

const keyOf = (record: OutbreakRecord): string => JSON.stringify(STAYS.map((name) => record[name] ?? null))

/** The names of a place within its state or province. */
const partsOf = ({ locality, admin_l3, admin_l2 }: OutbreakRecord): string =>
  [locality, admin_l3, admin_l2].filter((part) => part != null && part !== '').join(', ')

export const areaOf = (record: OutbreakRecord): string => record.admin_l1 ?? countryName(record.country_code)

/** County, State. */
export const placeOf = (record: OutbreakRecord): string =>
  [record.admin_l2, areaOf(record)].filter((part) => part != null && part !== '').join(', ')

/** From Lubbock to Gaines. */
export const describeMove = (from: OutbreakRecord, to: OutbreakRecord): string =>
  `from ${partsOf(from) || areaOf(from)} to ${partsOf(to) || areaOf(to)}`

export function joinMoved(changes: readonly Change[]): ChangeLine[] {
  const gone = Map.groupBy(
    changes.filter(({ change, before }) => change === 'withdrawn' && before != null),
    ({ before }) => (before == null ? '' : keyOf(before)),
  )
  const origins = new Map<Change, Change>()
  for (const added of changes) {
    const { change, after } = added
    if (change !== 'added' || after == null || (after.cases == null && after.deaths == null)) continue
    const found = gone.get(keyOf(after))
    const at = found?.findIndex(({ before }) => before != null && partsOf(before) !== partsOf(after)) ?? -1
    const [from] = at < 0 ? [] : (found?.splice(at, 1) ?? [])
    if (from !== undefined) origins.set(added, from)
  }
  const joined = new Set(origins.values())
  return changes
    .filter((change) => !joined.has(change))
    .map((change) => ({ change, from: origins.get(change) ?? null }))
}
