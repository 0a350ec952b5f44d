// Rows that must not stand in one table or one sum: places that contain the others. docs/methods.md, sections 6 and 7.
import sql, { raw, type Sql } from 'sql-template-tag'
import type { IndexSnapshot } from '../../columns/column-index.ts'
import { column } from '../../columns/tables.ts'
import { PLACE } from '../../methods/comparability.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { type FigureRows, hasCount, isInWindow } from './figure-columns.ts'
import type { FigureRequest } from './figure-request.ts'

interface Levels {
  readonly table: FigureRows
  /** The rows of places that contain those of the table; null if there are none. */
  readonly beside: FigureRows | null
}

/** Groups by place have one level: what contains them is alongside the table. */
export async function splitLevels(
  dataset: SeriesDataset,
  snapshot: IndexSnapshot,
  rows: FigureRows,
  { groupBy, window }: FigureRequest,
): Promise<Levels> {
  const { place, counts } = dataset.series
  const above = place === undefined ? [] : groupBy.map(place.levelsAbove).filter((levels) => levels !== null)
  // Anyone who groups by the level tells the levels apart.
  const isSplit = above.length > 0 || groupBy.includes(PLACE)
  if (place === undefined || !isSplit || groupBy.includes(place.level)) return { table: rows, beside: null }
  // From the coarsest on.
  const levels = dataset.content.find(({ name }) => name === place.level)?.choices ?? []
  const codes = (await snapshot.codesOf(new Map([[place.level, levels]]))).get(place.level) ?? new Map<string, number>()
  const level = column(place.level)
  const places = groupBy.includes(PLACE) ? sql`count(distinct place)::DOUBLE` : sql`null`
  const found = await snapshot.query(sql`
    select ${level}, exclusive_place is not null, ${places} from ${rows.from}
    where ${rows.condition} and ${isInWindow(window)} and ${hasCount(counts)} group by all`)
  const kept = groupBy.includes(PLACE) ? [chooseLevel(found, levels, codes)] : null
  const excluded = new Set(above.flat())
  const isAbove = (name: string) => (kept === null ? excluded.has(name) : !kept.includes(name))
  const listed = levels.filter((name) => codes.has(name) && isAbove(name)).map((name) => codes.get(name) as number)
  const contains = sql`(exclusive_place is not null${listed.length === 0 ? sql`` : sql` or ${level} in (${raw(listed.join())})`})`
  const isInTable = found.some(([code, isContainer]) => isContainer !== true && !listed.includes(Number(code)))
  const isBeside = found.some(([code, isContainer]) => isContainer === true || listed.includes(Number(code)))
  if (!isInTable || !isBeside) return { table: rows, beside: null }
  const restrict = (condition: Sql) => ({ ...rows, condition: sql`${rows.condition} and ${condition}` })
  return { table: restrict(sql`not ${contains}`), beside: restrict(contains) }
}

/** The level of the most places; of several the coarsest. */
function chooseLevel(
  found: readonly (readonly unknown[])[],
  levels: readonly string[],
  codes: ReadonlyMap<string, number>,
): string {
  const placesOf = (name: string) =>
    found
      .filter(([code, isContainer]) => Number(code) === codes.get(name) && isContainer !== true)
      .reduce((sum, [, , places]) => sum + Number(places), 0)
  return levels.reduce((best, name) => (placesOf(name) > placesOf(best) ? name : best))
}
