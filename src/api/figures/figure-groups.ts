// The figures of a group from the cells of its rows: the open ends of its days, what a figure tells, and the order of groups.
import type { FieldValue } from '../../datasets/define.ts'
import { type Interval, type Period, periodOf } from '../../methods/calendar.ts'
import { type Figure, ONE_PERIOD, type Span, type Window } from '../../methods/figures.ts'
import type { Counts } from '../../methods/increments.ts'
import type { MeasureFacts } from '../../methods/measures.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { MARKS } from '../../methods/step-columns.ts'
import type { GroupCover } from './cover-series.ts'
import type { Explanations } from './explain-records.ts'
import type { FigureRequest } from './figure-request.ts'
import { type FigureCell, NO_COUNT } from './figure-sql.ts'
import type { DescribeGroup } from './group-values.ts'

export interface FigureGroup {
  /** The values of the group: of a field or, for `place`, of all fields of the place. */
  readonly group: ReadonlyMap<string, FieldValue>
  /** The number of matching records with a day in the window, and of their series. */
  readonly records: number
  readonly series: number
  readonly undated: number
  /** The counts of undated records; null without any, or if they cannot be added together. */
  readonly undatedCounts: Counts | null
  /** The undated records; null unless requested. */
  readonly undatedIds: readonly number[] | null
  readonly figures: readonly Figure[]
  /** New counts whose days do not lie in one interval. */
  readonly spans: readonly Span[]
  /** Null without a cover. */
  readonly cover: GroupCover | null
  /** Null unless measures were requested. */
  readonly facts: MeasureFacts | null
}

interface GroupQuestion {
  readonly dataset: SeriesDataset
  readonly request: FigureRequest
  readonly interval: Interval | null
}

interface GroupParts {
  readonly describe: DescribeGroup
  readonly explanations: Explanations | null
  /** By the key of the group, for a place. */
  readonly covers: ReadonlyMap<string, GroupCover> | null
  /** By the key of the group. */
  readonly spans: ReadonlyMap<string, readonly Span[]>
  readonly undated: ReadonlyMap<string, Counts>
  readonly facts: ReadonlyMap<string, MeasureFacts>
}

export function toGroup(
  { dataset, request, interval }: GroupQuestion,
  key: string,
  cells: readonly FigureCell[],
  { describe, explanations, covers, spans: allSpans, undated, facts }: GroupParts,
): FigureGroup {
  const real = cells.filter(({ cell }) => cell !== null).sort((a, b) => (a.cell as number) - (b.cell as number))
  const description = describe(key)
  const periodOfCell = ({ cell }: FigureCell) =>
    cutPeriod(interval === null ? ONE_PERIOD : periodOf(interval, cell as number), request.window)
  const total = cells.find(({ cell }) => cell === null)
  const spans = allSpans.get(key) ?? []
  const cover = covers?.get(key) ?? null
  return {
    group: description.values,
    records: real.reduce((sum, { records }) => sum + records, 0),
    series: total?.series ?? 0,
    undated: total?.records ?? 0,
    undatedCounts: undated.get(key) ?? null,
    undatedIds: explanations?.undatedOf(key) ?? null,
    figures: real.map((cell) => {
      const figure = toFigure(dataset, description.kind, cell, periodOfCell(cell))
      const { first, last } = figure.period
      return {
        ...figure,
        completeness: cover?.isPartial === true ? withoutShare(figure) : figure.completeness,
        inSpan: spans.some((span) => span.first <= last && span.last >= first),
        explanations: explanations?.ofCell(key, cell.cell as number) ?? null,
      }
    }),
    spans,
    cover,
    facts: facts.get(key) ?? null,
  }
}

/** No one knows how much of a silent place its parts are. */
const withoutShare = ({ completeness }: Pick<Figure, 'completeness'>) =>
  completeness.map((one) => ({ ...one, share: null }))

function toFigure(
  { series }: SeriesDataset,
  kind: FieldValue,
  { records, marks, begins, firstRecord, lastRecord, counts }: FigureCell,
  period: Period,
): Omit<Figure, 'explanations' | 'inSpan'> {
  const { name, first, last } = period
  const isOpen = !Number.isFinite(first)
  const has = (mark: number) => (marks & mark) !== 0
  // Without a count in the window there is nothing that earlier counts agree with.
  const known = series.counts.map((count) => (kind === null ? undefined : counts.get(count)) ?? NO_COUNT)
  return {
    // An open end of the range is shown as the first day that a count covers, or as the day of the last record.
    period: {
      name,
      first: Number.isFinite(first) ? first : Math.min(begins ?? firstRecord, firstRecord),
      last: Number.isFinite(last) ? last : lastRecord,
    },
    records,
    new: known.map((count) => count.new),
    // With a first day, earlier counts are not part of the response.
    total: known.map((count) => (isOpen ? count.total : count.new)),
    cumulative: known.map(({ gain }) => (kind === 'cumulative' ? gain : null)),
    point: known.map(({ reported }) => (kind === 'point' ? reported : null)),
    completeness: known.map((count) => ({
      placesKnown: count.known ?? 0,
      placesReporting: count.reporting ?? 0,
      share: count.gain ? Math.round(((count.reported ?? 0) / count.gain) * 10_000) / 10_000 : null,
    })),
    derived: has(MARKS.derived),
    revision: has(MARKS.revision),
    baseUnknown: has(MARKS.baseUnknown),
    definitionChanged: has(MARKS.definitionChanged),
    overlapping: has(MARKS.overlapping),
    inexact: has(MARKS.inexact),
    interim: has(MARKS.interim),
    includesEarlierDays: begins !== null && begins < first,
  }
}

const cutPeriod = ({ name, first, last }: Period, { from, to }: Window): Period => ({
  name,
  first: Math.max(first, from),
  last: Math.min(last, to),
})

/** By the values of the groups in their order; null is last. */
export function compareGroups(a: FigureGroup, b: FigureGroup, groupBy: readonly string[]): number {
  for (const field of groupBy) {
    const order = compareValues(a.group.get(field) ?? null, b.group.get(field) ?? null)
    if (order !== 0) return order
  }
  return 0
}

function compareValues(a: FieldValue, b: FieldValue): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const left = sortKey(a)
  const right = sortKey(b)
  return left === right ? 0 : left < right ? -1 : 1
}

const sortKey = (value: FieldValue) => (typeof value === 'object' ? JSON.stringify(value) : String(value))
