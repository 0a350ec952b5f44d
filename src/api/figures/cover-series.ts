// Which series of overlapping places are added up: those that cover a requested place, and none that the name of another place
// contains. docs/methods.md, sections 6 and 8.
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { IndexSnapshot } from '../../columns/column-index.ts'
import { column } from '../../columns/tables.ts'
import type { FieldValue } from '../../datasets/define.ts'
import { type Cover, chooseCover } from '../../methods/place-cover.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { Problem } from '../../platform/problem.ts'
import { notComparable } from './comparison-problem.ts'
import {
  type FigureRows,
  figureColumn,
  groupKey,
  hasCount,
  isInSeries,
  isInWindow,
  isUpTo,
  placeColumns,
  readTexts,
} from './figure-columns.ts'
import type { FigureRequest } from './figure-request.ts'
import { describeMixture, findOverlaps, judgedValue, judgeFields } from './mixed-rows.ts'

interface CoveredPlace {
  readonly place: Record<string, FieldValue>
  readonly records: number
}

/** What the figures of a group are made of. */
export interface GroupCover {
  readonly madeOf: readonly CoveredPlace[]
  /** The number of series that another place covers, or that have no position. */
  readonly leftOut: number
  /** True if a place is silent and others stand for it. */
  readonly isPartial: boolean
}

export interface Covers {
  /** The codes of the series that are used, and of those that other places cover. */
  readonly taken: readonly number[]
  readonly covered: readonly number[]
  /** By the key of the group, without the series that a list of places contains. */
  readonly describe: (contained: readonly number[]) => ReadonlyMap<string, GroupCover>
}

interface PlacedSeries {
  readonly code: number
  readonly group: string
  /** The values in which comparable series agree. */
  readonly judged: readonly unknown[]
  /** Of a set: its event and what else can be added up. */
  readonly subject: string
  /** Identifies what was counted: series of other events or people are not parts of each other. */
  readonly counted: string
  readonly valueOf: (field: string) => FieldValue
  readonly path: readonly string[] | null
  readonly reports: boolean
  readonly known: boolean
  /** The number of records with a day in the window. */
  readonly records: number
}

export async function chooseCovers(
  dataset: SeriesDataset,
  snapshot: IndexSnapshot,
  rows: FigureRows,
  request: FigureRequest,
  maxSeries: number,
): Promise<Covers> {
  const judged = judgeFields(dataset, request)
  const found = await readPlacedSeries(dataset, snapshot, rows, request, maxSeries)
  const located = (members: readonly PlacedSeries[]) => (request.isChosen ? locateInSets(dataset, members) : members)
  const groups = new Map([...found].map(([key, members]) => [key, located(members).filter(isInside(dataset, request))]))
  const placed = [...groups.values()].flat().filter(({ path }) => path !== null)
  const mixed = new Set([...groups.values()].flatMap((members) => findMixed(members)))
  if (mixed.size > 0) {
    const differing = judged.filter((_, i) => mixed.has(i)).map(({ field }) => field)
    const codes = placed.map(({ code }) => code)
    const taken = takenOfSets(dataset, placed, request)
    const ofPlaces = { ...rows, condition: sql`${rows.condition} and ${isInSeries(dataset, codes)}` }
    const { across, groupBy, window } = request
    const groupColumns = groupBy.map((field) => column(figureColumn(dataset, field)))
    const options = { across, groups: groupColumns, days: isInWindow(window) }
    const overlaps = await findOverlaps(dataset, snapshot, ofPlaces, options)
    const fields = [...new Set([...differing, ...overlaps])]
    const used = new Set(taken.map(({ code }) => code))
    const leftOut = [...codes.filter((code) => !used.has(code)), ...findContained(dataset, taken)]
    const mixture = await describeMixture(dataset, snapshot, ofPlaces, { window, fields, leftOut })
    throw notComparable(dataset, mixture, request.url)
  }
  const covers = [...groups].map(([key, members]) => ({ key, members, cover: coverEach(members) }))
  const codesOf = (pick: (cover: Cover<PlacedSeries>) => readonly PlacedSeries[]) =>
    covers.flatMap(({ cover }) => pick(cover).map(({ code }) => code))
  return {
    taken: codesOf(({ taken }) => taken),
    covered: codesOf(({ covered }) => covered),
    describe: (contained) => {
      const leftOut = new Set(contained)
      return new Map(covers.map(({ key, members, cover }) => [key, describeCover(dataset, cover, members, leftOut)]))
    },
  }
}

/** A cover for each event and each group of people: none of them is a part of another. */
function coverEach(members: readonly PlacedSeries[]): Cover<PlacedSeries> {
  const covers = [...Map.groupBy(members, ({ counted }) => counted).values()].map((own) => chooseCover(own))
  return {
    taken: covers.flatMap(({ taken }) => taken),
    covered: covers.flatMap(({ covered }) => covered),
    unplaced: covers.flatMap(({ unplaced }) => unplaced),
    isPartial: covers.some(({ isPartial }) => isPartial),
  }
}

/** The codes of the series of the requested place and of all places in it, and of those that are used of each set. */
export async function findPlaced(
  dataset: SeriesDataset,
  snapshot: IndexSnapshot,
  rows: FigureRows,
  request: FigureRequest,
  maxSeries: number,
): Promise<{ placed: number[]; taken: number[] }> {
  const groups = await readPlacedSeries(dataset, snapshot, rows, request, maxSeries)
  const isPlaced = isInside(dataset, request)
  const placed = [...groups.values()].flat().filter((one) => one.path !== null && isPlaced(one))
  const codesOf = (series: readonly PlacedSeries[]) => series.map(({ code }) => code)
  return { placed: codesOf(placed), taken: codesOf(takenOfSets(dataset, placed, request)) }
}

/** The series that are used of each set, if the set is chosen. */
function takenOfSets(dataset: SeriesDataset, placed: readonly PlacedSeries[], request: FigureRequest): PlacedSeries[] {
  const located = locateInSets(dataset, placed).filter(isInside(dataset, request))
  const sets = Map.groupBy(located, ({ group, judged, counted }) => groupKey([group, ...judged, counted]))
  return [...sets.values()].flatMap((set) => chooseCover(set).taken)
}

/** The same series, each with its path among the places of its set. So a set counts the same, alone or beside others. */
function locateInSets(dataset: SeriesDataset, series: readonly PlacedSeries[]): PlacedSeries[] {
  const sets = Map.groupBy(series, ({ group, judged, subject }) => groupKey([group, ...judged, subject]))
  return [...sets.values()].flatMap((set) => locate(dataset, set))
}

function locate<Member extends Pick<PlacedSeries, 'valueOf'>>({ series }: SeriesDataset, members: readonly Member[]) {
  const paths = series.place?.findPaths(members.map(({ valueOf }) => valueOf)) ?? []
  return members.map((member, i) => ({ ...member, path: paths[i] ?? null }))
}

/** True for a series in the requested place, or without a position. */
function isInside({ series }: SeriesDataset, { place }: FigureRequest): (member: PlacedSeries) => boolean {
  const start = (place === null ? null : series.place?.findFilter(place)?.path) ?? []
  return ({ path }) => (path === null ? start.length === 0 : start.every((step, i) => path[i] === step))
}

/** By group: one item for each series, in the order of their first record. */
export async function readPlacedSeries(
  dataset: SeriesDataset,
  snapshot: IndexSnapshot,
  { from, condition }: FigureRows,
  request: FigureRequest,
  maxSeries: number,
): Promise<Map<string, PlacedSeries[]>> {
  const { series } = dataset
  const { window, groupBy } = request
  const { addable, parts } = series.comparison
  const place = placeColumns(dataset)
  const same = (values: readonly Sql[]) => values.map((value) => sql`any_value(${value})`)
  const found = await snapshot.query(sql`
    select ${join([
      ...same(place.map(({ name }) => column(name))),
      column(series.id),
      sql`count(*) filter (where ${isInWindow(window)})`,
      sql`bool_or(${hasCount(series.counts)} and ${isInWindow(window)})`,
      sql`bool_or(${hasCount(series.counts)} and ${isUpTo(window)})`,
      ...same([
        ...groupBy.map((field) => column(figureColumn(dataset, field))),
        ...[...addable, ...parts].map(column),
        ...judgeFields(dataset, request).map(judgedValue),
      ]),
    ])}
    from ${from} where ${condition} group by ${column(series.id)} order by min(id)
    limit ${raw(String(maxSeries + 1))}`)
  if (found.length > maxSeries)
    throw new Problem(
      'invalid_parameter',
      `This place has more than ${maxSeries} series, which is the limit. Choose a smaller place, or filter by event or another field.`,
      { parameter: 'place' },
    )
  const decode = await readTexts(
    dataset,
    snapshot,
    place.map(({ name }, i) => ({ name, values: found.map((row) => row[i]) })),
  )
  const positions = new Map(place.map(({ field, name }, i) => [field, { name, i }]))
  const members = found.map((row) => {
    const [code, records, reports, known, ...values] = row.slice(place.length)
    return {
      code: Number(code),
      records: Number(records),
      reports: reports === true,
      known: known === true,
      valueOf: (field: string) => {
        const position = positions.get(field)
        return position === undefined ? null : decode(position.name, row[position.i])
      },
      group: groupKey(values.slice(0, groupBy.length)),
      subject: groupKey(values.slice(groupBy.length, groupBy.length + addable.length)),
      counted: groupKey(values.slice(groupBy.length, groupBy.length + addable.length + parts.length)),
      judged: values.slice(groupBy.length + addable.length + parts.length),
    }
  })
  const groups = Map.groupBy(members, ({ group }) => group)
  return new Map([...groups].map(([key, own]) => [key, locate(dataset, own)]))
}

/** The positions of the judged values in which the series of a group differ. A cover uses only series with a position. */
function findMixed(members: readonly PlacedSeries[]): number[] {
  const [first, ...others] = members.filter(({ reports, path }) => reports && path !== null)
  return first === undefined
    ? []
    : first.judged.flatMap((value, i) => (others.some(({ judged }) => judged[i] !== value) ? [i] : []))
}

function describeCover(
  dataset: SeriesDataset,
  { taken, covered, unplaced, isPartial }: Cover<PlacedSeries>,
  members: readonly PlacedSeries[],
  contained: ReadonlySet<number>,
): GroupCover {
  const used = taken.filter(({ code }) => !contained.has(code))
  const reporting = members.find(({ reports, path }) => reports && path !== null)
  // The earlier counts of a series without a count in the window are used only if it agrees with the others.
  const isUsed = ({ known, judged }: PlacedSeries) =>
    known && reporting !== undefined && reporting.judged.every((value, i) => value === judged[i])
  // Two ways of writing a place are one place of the tree.
  const places = [...Map.groupBy(used, ({ path }) => JSON.stringify(path)).values()]
  return {
    madeOf: places
      .map((own) => ({
        first: own[0] as PlacedSeries,
        records: own.reduce((sum, { records }) => sum + records, 0),
        isKnown: own.some(isUsed),
      }))
      .filter(({ records, isKnown }) => records > 0 || isKnown)
      .map(({ first, records }) => ({
        place: Object.fromEntries(placeColumns(dataset).map(({ field }) => [field, first.valueOf(field)])),
        records,
      })),
    leftOut: covered.length + unplaced.length + taken.length - used.length,
    isPartial,
  }
}

/** The codes of series whose place another place of the same group, level and way of counting contains by name. */
export async function findContainedSeries(
  dataset: SeriesDataset,
  snapshot: IndexSnapshot,
  rows: FigureRows,
  request: FigureRequest,
  maxSeries: number,
): Promise<number[]> {
  const groups = await readPlacedSeries(dataset, snapshot, rows, request, maxSeries)
  return findContained(dataset, [...groups.values()].flat())
}

function findContained(dataset: SeriesDataset, series: readonly PlacedSeries[]): number[] {
  const sets = [...Map.groupBy(series, ({ group, judged }) => groupKey([group, ...judged])).values()]
  return sets.flatMap((members) => containedOf(dataset, members)).map(({ code }) => code)
}

/** A list that reports contains the places that it names. If only these report, the list is left out. */
function containedOf({ series }: SeriesDataset, members: readonly PlacedSeries[]): PlacedSeries[] {
  const contained = (all: readonly PlacedSeries[]) =>
    [...Map.groupBy(all, ({ counted }) => counted).values()].flatMap((alike) => {
      const places = series.place?.findContained(alike.map(({ valueOf }) => valueOf)) ?? new Set<number>()
      return alike.filter((_, i) => places.has(i))
    })
  const reporting = members.filter(({ reports }) => reports)
  const [first] = reporting
  const silent = members.filter(
    ({ reports, known, judged }) => !reports && known && judged.every((value, i) => value === first?.judged[i]),
  )
  const leftOut = new Set(contained(reporting))
  const kept = reporting.filter((one) => !leftOut.has(one))
  const isList = ({ valueOf }: PlacedSeries) => series.place?.listsPlaces(valueOf) === true
  for (const list of silent.filter(isList)) {
    if (contained([list, ...kept]).length > 0) leftOut.add(list)
    else kept.push(list)
  }
  for (const one of contained([...kept, ...silent.filter((other) => !isList(other))])) leftOut.add(one)
  return [...leftOut]
}
