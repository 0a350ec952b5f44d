// Splits the series of a question into groups, refuses what must not be added up, and computes the figures of each group.
// Pure.
import type { FieldValue } from '../../datasets/define.ts'
import type { Period } from '../../methods/calendar.ts'
import { type Contribution, describeMixture, findMixedFields, PLACE } from '../../methods/comparability.ts'
import { computeFigures, type Figure, isWithin, type Window } from '../../methods/figures.ts'
import { chooseCover } from '../../methods/place-cover.ts'
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
  ].map((members) => ({
    members,
    ...(request.place === null ? { cover: null } : { cover: cover(dataset, members, request) }),
  }))
  rejectMixtures(
    dataset,
    groups.map(({ members, cover: chosen }) => (chosen === null ? members : [...chosen.taken, ...chosen.covered])),
    request,
  )
  return groups
    .map(({ members, cover: chosen }) => toGroup(dataset, members, chosen, request, periodOf))
    .filter(({ records, undated }) => records > 0 || undated.length > 0)
    .sort((a, b) => compareGroups(a, b, request.groupBy))
}

const groupKey = (one: RecordSeries, field: string): FieldValue => (field === PLACE ? one.place : one.read(field))

function cover({ series: { place } }: SeriesDataset, members: readonly RecordSeries[], { window }: FigureRequest) {
  const paths = place?.findPaths(members.map(({ read }) => read)) ?? []
  return chooseCover(
    members.map((one, i) => ({
      ...one,
      path: paths[i] ?? null,
      reports: one.counted.some(({ day }) => isWithin(window, day)),
    })),
  )
}
type ChosenCover = ReturnType<typeof cover>

/** Judges each group by itself, and describes a mixture with the records of all groups. */
export function rejectMixtures(
  { series: { comparison, place } }: SeriesDataset,
  groups: readonly (readonly RecordSeries[])[],
  { window, groupBy, across, place: covered }: Pick<FigureRequest, 'window' | 'groupBy' | 'across' | 'place'>,
): void {
  const ignored = covered === null ? groupBy : [...groupBy, PLACE, ...(place === undefined ? [] : [place.level])]
  const contributions = groups.map((members) => members.flatMap((one) => toContribution(one, window)))
  const mixed = new Set(contributions.flatMap((group) => findMixedFields(group, comparison, { across, ignored })))
  if (mixed.size > 0) throw notComparable(describeMixture(contributions.flat(), [...mixed]))
}

function toContribution(one: RecordSeries, window: Window): Contribution[] {
  const days = one.counted.filter(({ day }) => isWithin(window, day)).map(({ day }) => day)
  if (days.length === 0) return []
  const [firstDay, lastDay] = [days.reduce((a, b) => Math.min(a, b)), days.reduce((a, b) => Math.max(a, b))]
  return [{ read: one.read, exclusivePlace: one.exclusivePlace, records: days.length, firstDay, lastDay }]
}

function toGroup(
  dataset: SeriesDataset,
  members: readonly RecordSeries[],
  chosen: ChosenCover | null,
  { groupBy, window, explain }: FigureRequest,
  periodOf: PeriodOf,
): FigureGroup {
  const taken = chosen?.taken ?? members
  const days = taken.flatMap(({ records }) => records.map(({ day }) => day)).filter((day) => isWithin(window, day))
  const whole: Period = {
    name: '',
    first: Number.isFinite(window.from) ? window.from : days.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
    last: Number.isFinite(window.to) ? window.to : days.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY),
  }
  const figures = computeFigures(taken, {
    ...{ counts: dataset.series.counts.length, explain, window },
    periodOf: periodOf ?? (() => whole),
  })
  return {
    group: new Map(groupBy.map((field) => [field, groupValue(dataset, members, field)])),
    records: days.length,
    series: taken.filter(({ records }) => records.some(({ day }) => isWithin(window, day))).length,
    undated: members.flatMap(({ undated }) => undated).sort((a, b) => a - b),
    figures: chosen === null || !explain ? figures : figures.map((figure) => explainCovered(figure, chosen.covered)),
    cover: chosen && describeCover(dataset, chosen, window),
  }
}

/** Lists the records of the places that a coarser place covers, too. */
function explainCovered(figure: Figure, covered: readonly RecordSeries[]): Figure {
  const { first, last } = figure.period
  const leftOut = covered.flatMap(({ records }) =>
    records
      .filter(({ day }) => day >= first && day <= last)
      .map(({ id }) => ({ id, rules: figure.new.map(() => 'covered' as const), new: figure.new.map(() => null) })),
  )
  return { ...figure, explanations: [...(figure.explanations ?? []), ...leftOut].sort((a, b) => a.id - b.id) }
}

const groupValue = (dataset: SeriesDataset, members: readonly RecordSeries[], field: string): GroupValue => {
  const [first] = members as readonly [RecordSeries]
  return field === PLACE ? describePlace(dataset, first) : first.read(field)
}

function describeCover(dataset: SeriesDataset, { taken, covered, unplaced }: ChosenCover, window: Window) {
  const places = [...Map.groupBy(taken, ({ place }) => place).values()]
  return {
    madeOf: places
      .map((members) => ({
        place: describePlace(dataset, members[0] as RecordSeries),
        records: members.flatMap(({ records }) => records).filter(({ day }) => isWithin(window, day)).length,
      }))
      .filter(({ records }) => records > 0),
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
