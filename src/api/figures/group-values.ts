// The values of groups of figures, from the codes of their columns.
import sql, { join } from 'sql-template-tag'
import type { IndexSnapshot } from '../../columns/column-index.ts'
import { column } from '../../columns/tables.ts'
import type { FieldValue } from '../../datasets/define.ts'
import { PLACE } from '../../methods/comparability.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { figureColumn, groupKey, listNumbers, placeColumns, readTexts } from './figure-columns.ts'
import { type FigureCell, SEVERAL_KINDS } from './figure-sql.ts'

interface GroupDescription {
  readonly values: ReadonlyMap<string, FieldValue>
  /** The kind of the counts; null if no record with a day has a count. */
  readonly kind: FieldValue
}
/** Describes the group with a key. */
export type DescribeGroup = (key: string) => GroupDescription

export async function readGroupValues(
  dataset: SeriesDataset,
  snapshot: IndexSnapshot,
  groupBy: readonly string[],
  cells: readonly FigureCell[],
): Promise<DescribeGroup> {
  const { kind } = dataset.series
  const groups = new Map([...Map.groupBy(cells, ({ group }) => groupKey(group))].map(([key, own]) => [key, merge(own)]))
  const place = groupBy.includes(PLACE) ? placeColumns(dataset) : []
  // A place has the latest names of its first series.
  const places =
    place.length === 0 || groups.size === 0
      ? []
      : await snapshot.query(sql`
    select id, ${join(place.map(({ name }) => column(name)))} from ${snapshot.rows}
    where id in (${listNumbers([...groups.values()].map(({ firstId }) => firstId))})`)
  const placesById = new Map(places.map(([id, ...values]) => [Number(id), values]))
  const fields = groupBy.map((field, i) => ({ field, i, name: figureColumn(dataset, field) }))
  const decode = await readTexts(dataset, snapshot, [
    { name: kind, values: cells.map((cell) => cell.kind) },
    ...fields
      .filter(({ field }) => field !== PLACE)
      .map(({ name, i }) => ({ name, values: cells.map(({ group }) => group[i]) })),
    ...place.map(({ name }, i) => ({ name, values: places.map((row) => row[i + 1]) })),
  ])
  const describePlace = (firstId: number) => {
    const values = placesById.get(firstId) ?? []
    return Object.fromEntries(place.map(({ field, name }, i) => [field, decode(name, values[i])]))
  }
  return (key) => {
    const { group, firstId, kindCode } = groups.get(key) as ReturnType<typeof merge>
    return {
      kind: kindCode === SEVERAL_KINDS ? 'several' : decode(kind, kindCode),
      values: new Map(
        fields.map(({ field, name, i }) => [field, field === PLACE ? describePlace(firstId) : decode(name, group[i])]),
      ),
    }
  }
}

const merge = (cells: readonly FigureCell[]) => ({
  group: (cells[0] as FigureCell).group,
  firstId: Math.min(...cells.filter(({ firstId }) => firstId > 0).map(({ firstId }) => firstId)),
  kindCode: kindOf(cells),
})

/** The kind of all counts; `SEVERAL_KINDS` if events were counted in different ways. Undated records are not part of a figure. */
function kindOf(cells: readonly FigureCell[]): number | null {
  const kinds = cells.filter(({ cell }) => cell !== null).flatMap(({ kind }) => kind ?? [])
  return kinds.some((kind) => kind !== kinds[0]) ? SEVERAL_KINDS : (kinds[0] ?? null)
}
