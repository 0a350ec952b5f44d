// The published point before each row of an input that holds only changes: what a cumulative count is compared with.
import sql, { join } from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import type { Database } from '../platform/database.ts'
import { identifier, OPEN, tablesOf } from '../records/tables.ts'
import type { PublishedPoints } from './check-release.ts'
import type { SeriesPoint } from './series-watch.ts'

export function createPublishedPoints(database: Database, dataset: Dataset): PublishedPoints | undefined {
  const { series, content } = dataset
  if (series === undefined) return undefined
  const placeOf = (name: string) => content.findIndex((field) => field.name === name)
  const [idPlace, dayPlace] = [placeOf(series.id), placeOf(series.day)]
  const [id, kind, day] = [series.id, series.kind, series.day].map(identifier)
  const columns = join(series.counts.map(identifier))
  return async (rows) => {
    const asked = rows.map(
      ({ cells }): Asked => ({
        series: cells[idPlace]?.value as string,
        day: (cells[dayPlace]?.value as string | null) ?? null,
      }),
    )
    const spans = spanDays(asked)
    // Neighbours are mostly of one series, which is read once for all of them: from the point before their first day on.
    const found = await database.query<SeriesPoint & { series: string }>(sql`
      select series, point.day::text, jsonb_build_array(${columns}) as counts
      from unnest(${spans.map((span) => span.series)}::text[], ${spans.map((span) => span.first)}::date[],
        ${spans.map((span) => span.last)}::date[]) as asked (series, first, last)
      cross join lateral (
        select ${day} as day, id, ${columns}, max(${day}) filter (where ${day} < asked.first) over () as before
        from ${tablesOf(dataset).version}
        where ${id} = asked.series and ${day} < asked.last and ${kind} = 'cumulative' and to_release = ${OPEN}
      ) as point
      where point.day >= coalesce(before, asked.first)
      order by point.day, point.id desc`)
    const points = Map.groupBy(found, (point) => point.series)
    return asked.map(({ series: of, day: today }) =>
      today === null ? undefined : points.get(of)?.findLast((point) => point.day < today),
    )
  }
}

interface Asked {
  series: string
  day: string | null
}

/** The first and the last day that is asked of each series. */
function spanDays(asked: readonly Asked[]): { series: string; first: string; last: string }[] {
  const spans = new Map<string, { series: string; first: string; last: string }>()
  for (const { series, day } of asked) {
    if (day === null) continue
    const { first, last } = spans.get(series) ?? { first: day, last: day }
    spans.set(series, { series, first: day < first ? day : first, last: day > last ? day : last })
  }
  return [...spans.values()]
}
