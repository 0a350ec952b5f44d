// Splits the series of a question into groups, refuses what must not be added up, and computes the figures of each group.
// Pure.
import type { FieldValue } from '../../datasets/define.ts'
import type { Period } from '../../methods/calendar.ts'
import { type Contribution, describeMixture, findMixedFields, PLACE } from '../../methods/comparability.ts'
import { computeFigures, type Figure, isWithin, ONE_PERIOD, type Window } from '../../methods/figures.ts'
import { type Cover, chooseCover } from '../../methods/place-cover.ts'
import { describePlace, type RecordSeries, type SeriesDataset } from '../../methods/record-series.ts'
import { notComparable } from './comparison-problem.ts'
import type { FigureRequest } from './figure-request.ts'

/** The value of a group: of a field or, for `place`, the values of all fields of the place. */
type GroupValue = FieldValue

interface CoveredPlace {
  readonly place: Record<string, FieldValue>
  readonly records: number
}

export interface FigureGroup {
  readonly group: ReadonlyMap<string, GroupValue>
  /** The number of matching records with a day in the window, and of their series. */
  readonly records: number
  readonly series: number
  readonly undated: readonly number[]
  readonly figures: readonly Figure[]
  /** The places that the figures are made of, and the number of series that were left out; null without a cover. */
  readonly cover: { readonly madeOf: readonly CoveredPlace[]; readonly leftOut: number } | null
}

/** The period of a day in a group, or one period for all days. */
export type PeriodOf = ((day: number) => Period) | null

export function computeGroups(
  dataset: SeriesDataset,
  series: readonly RecordSeries[],
  request: FigureRequest,
  periodOf: PeriodOf,
): FigureGroup[] {
  const groups = [
    ...Map.groupBy(series, (one) => JSON.stringify(request.groupBy.map((field) => groupKey(one, field)))).values(),
  ].map((members) => placeSeries(dataset, members, request))
  rejectMixtures(dataset, groups, request)
  return groups
    .map((members) => toGroup(dataset, members, request, periodOf))
    .filter(({ records, undated }) => records > 0 || undated.length > 0)
    .sort((a, b) => compareGroups(a, b, request.groupBy))
}

const groupKey = (one: RecordSeries, field: string): FieldValue => (field === PLACE ? one.place : one.read(field))

/** A series with its position in the tree of places, and whether it has a count in the window, or up to its last day. */
interface PlacedSeries extends RecordSeries {
  readonly path: readonly string[] | null
  readonly reports: boolean
  readonly known: boolean
}

function placeSeries(
  { series: { place } }: SeriesDataset,
  members: readonly RecordSeries[],
  { window }: FigureRequest,
) {
  const paths = place?.findPaths(members.map(({ read }) => read)) ?? []
  return members.map(
    (one, i): PlacedSeries => ({
      ...one,
      path: paths[i] ?? null,
      reports: one.counted.some(({ day }) => isWithin(window, day)),
      known: one.counted.some(({ day }) => day <= window.to),
    }),
  )
}

type Question = Pick<FigureRequest, 'window' | 'groupBy' | 'across' | 'place'>

/** Judges each group by itself, and describes a mixture with the records of all groups. */
export function rejectMixtures(
  dataset: SeriesDataset,
  groups: readonly (readonly (RecordSeries & Partial<PlacedSeries>)[])[],
  question: Question,
): void {
  const judged = groups.map((members) =>
    // A cover uses only series that have a position.
    members
      .filter(({ path }) => question.place === null || path !== null)
      .flatMap((one) => toContribution(one, question.window)),
  )
  const mixed = new Set(judged.flatMap((group) => findMixed(dataset, group, question)))
  if (mixed.size > 0) throw notComparable(dataset, describeMixture(judged.flat(), [...mixed]))
}

function findMixed(
  { series: { comparison, place } }: SeriesDataset,
  contributions: readonly Contribution[],
  { groupBy, across, place: covered }: Question,
): string[] {
  const ignored = covered === null ? groupBy : [...groupBy, PLACE, ...(place === undefined ? [] : [place.level])]
  return findMixedFields(contributions, comparison, { across, ignored })
}

function toContribution(one: RecordSeries, window: Window): Contribution[] {
  const days = one.counted.filter(({ day }) => isWithin(window, day)).map(({ day }) => day)
  if (days.length === 0) return []
  const [firstDay, lastDay] = [days.reduce((a, b) => Math.min(a, b)), days.reduce((a, b) => Math.max(a, b))]
  return [{ read: one.read, exclusivePlace: one.exclusivePlace, records: days.length, firstDay, lastDay }]
}

/**
 * A series without a count in the window was not judged. Its earlier counts are part of the totals only if it is comparable
 * with the series that were judged, which all agree.
 */
function isComparable(dataset: SeriesDataset, one: PlacedSeries, judged: PlacedSeries | undefined, question: Question) {
  if (judged === undefined) return false
  const contributions = [judged, one].map(({ read, exclusivePlace }) => ({
    ...{ read, exclusivePlace, records: 0, firstDay: null, lastDay: null },
  }))
  return findMixed(dataset, contributions, question).length === 0
}

function toGroup(
  dataset: SeriesDataset,
  members: readonly PlacedSeries[],
  request: FigureRequest,
  periodOf: PeriodOf,
): FigureGroup {
  const { groupBy, window, explain } = request
  const judged = members.find(({ reports, path }) => reports && (request.place === null || path !== null))
  const comparable = members.map((one) =>
    one.reports || isComparable(dataset, one, judged, request) ? one : { ...one, steps: [] },
  )
  const cover = request.place === null ? null : chooseCover(comparable)
  const taken = cover?.taken ?? comparable
  const isInWindow = ({ day }: { readonly day: number }) => isWithin(window, day)
  const figures = computeFigures(taken, {
    ...{ counts: dataset.series.counts.length, explain, window },
    periodOf: periodOf ?? (() => ONE_PERIOD),
  })
  return {
    group: new Map(groupBy.map((field) => [field, groupValue(dataset, members, field)])),
    records: taken.reduce((sum, { records }) => sum + records.filter(isInWindow).length, 0),
    series: taken.filter(({ records }) => records.some(isInWindow)).length,
    undated: taken.flatMap(({ undated }) => undated).sort((a, b) => a - b),
    figures:
      cover === null || !explain
        ? figures
        : figures.map((figure) =>
            explainCovered(figure, periodOf === null ? window : periodRange(figure), cover.covered),
          ),
    cover: cover && describeCover(dataset, cover, window),
  }
}

const periodRange = ({ period }: Figure): Window => ({ from: period.first, to: period.last })

/** Lists the records of the places that a coarser place covers, too. */
function explainCovered(figure: Figure, range: Window, covered: readonly RecordSeries[]): Figure {
  const leftOut = covered.flatMap(({ records }) =>
    records
      .filter(({ day }) => isWithin(range, day))
      .map(({ id }) => ({ id, rules: figure.new.map(() => 'covered' as const), new: figure.new.map(() => null) })),
  )
  return { ...figure, explanations: [...(figure.explanations ?? []), ...leftOut].sort((a, b) => a.id - b.id) }
}

const groupValue = (dataset: SeriesDataset, members: readonly RecordSeries[], field: string): GroupValue => {
  const [first] = members as readonly [RecordSeries]
  return field === PLACE ? describePlace(dataset, first) : first.read(field)
}

function describeCover(dataset: SeriesDataset, { taken, covered, unplaced }: Cover<PlacedSeries>, window: Window) {
  const places = [...Map.groupBy(taken, ({ place }) => place).values()]
  return {
    madeOf: places
      .map((members) => ({
        place: describePlace(dataset, members[0] as RecordSeries),
        records: members.flatMap(({ records }) => records).filter(({ day }) => isWithin(window, day)).length,
        isKnown: members.some(({ known, steps }) => known && steps.length > 0),
      }))
      .filter(({ records, isKnown }) => records > 0 || isKnown)
      .map(({ place, records }) => ({ place, records })),
    leftOut: covered.length + unplaced.length,
  }
}

/** By the values of the groups in their order; null is last. */
function compareGroups(a: FigureGroup, b: FigureGroup, groupBy: readonly string[]): number {
  for (const field of groupBy) {
    const order = compareValues(a.group.get(field) ?? null, b.group.get(field) ?? null)
    if (order !== 0) return order
  }
  return 0
}

function compareValues(a: FieldValue, b: FieldValue): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const [left, right] = [sortKey(a), sortKey(b)]
  return left === right ? 0 : left < right ? -1 : 1
}

const sortKey = (value: FieldValue) => (typeof value === 'object' ? JSON.stringify(value) : String(value))
