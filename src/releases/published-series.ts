// The published point before each row of an input that holds only changes: what a cumulative count is compared with.
import sql, { join } from 'sql-template-tag'
import type { Dataset, FieldValue } from '../datasets/define.ts'
import type { Database } from '../platform/database.ts'
import { identifier, OPEN, tablesOf } from '../records/tables.ts'
import type { PublishedPoints } from './check-release.ts'
import type { SeriesPoint } from './series-watch.ts'

export function createPublishedPoints(database: Database, dataset: Dataset): PublishedPoints | undefined {
  const { series, content } = dataset
  if (series === undefined) return undefined
  const placeOf = (name: string) => content.findIndex((field) => field.name === name)
  const [idPlace, dayPlace] = [placeOf(series.id), placeOf(series.day)]
  const [id, cumulative, day] = [series.id, series.cumulative, series.day].map(identifier)
  const counts = sql`jsonb_build_array(${join(series.counts.map(identifier))})`
  return async (rows) => {
    const ids = rows.map(({ cells }) => cells[idPlace]?.value as string | null)
    const days = rows.map(({ cells }) => cells[dayPlace]?.value as string | null)
    const found = await database.query<{ place: string; day: string; counts: FieldValue[] }>(sql`
      select place, before.day::text, before.counts
      from unnest(${ids}::text[], ${days}::date[]) with ordinality as asked (series, day, place)
      cross join lateral (
        select ${day} as day, ${counts} as counts from ${tablesOf(dataset).version}
        where ${id} = asked.series and ${day} < asked.day and ${cumulative} and to_release = ${OPEN}
        order by ${day} desc limit 1
      ) as before`)
    const points: (SeriesPoint | undefined)[] = rows.map(() => undefined)
    for (const row of found) points[Number(row.place) - 1] = { day: row.day, counts: row.counts }
    return points
  }
}
