// Reads the figures of a question from the column index: finds the rows, refuses what must not be added up, and gives the
// figures of each group and period.
import sql from 'sql-template-tag'
import type { ColumnIndex, IndexSnapshot } from '../../columns/column-index.ts'
import { column } from '../../columns/tables.ts'
import type { FieldValue } from '../../datasets/define.ts'
import { type Interval, type Period, periodOf } from '../../methods/calendar.ts'
import { type JudgedField, PLACE } from '../../methods/comparability.ts'
import { type Figure, ONE_PERIOD, type Window } from '../../methods/figures.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { MARKS } from '../../methods/step-columns.ts'
import { Problem } from '../../platform/problem.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { matchRows } from '../filters/match-rows.ts'
import { notComparable } from './comparison-problem.ts'
import { type Covers, chooseCovers, type GroupCover } from './cover-series.ts'
import { type Explanations, readExplanations } from './explain-records.ts'
import { type FigureRows, figureColumn, groupKey, isInSeries, isInWindow, isUpTo } from './figure-columns.ts'
import type { FigureRequest } from './figure-request.ts'
import { type FigureCell, NO_COUNT, readCell, selectFigures } from './figure-sql.ts'
import { type DescribeGroup, readGroupValues } from './group-values.ts'
import { describeMixture, judgeFields, judgeRows, selectComparable } from './mixed-rows.ts'

/** The largest question that is answered. docs/methods.md, limits. */
export interface FigureLimits {
  /** Groups times periods. A figure is about 1 kB of the answer. */
  readonly figures: number
  /** The records that `explain` lists. */
  readonly explained: number
  /** The series of a place. Their tree is built in the event loop, from about 50 series in a millisecond. */
  readonly placed: number
}

const LIMITS: FigureLimits = { figures: 20_000, explained: 20_000, placed: 30_000 }

export interface FigureGroup {
  /** The values of the group: of a field or, for `place`, of all fields of the place. */
  readonly group: ReadonlyMap<string, FieldValue>
  /** The number of matching records with a day in the window, and of their series. */
  readonly records: number
  readonly series: number
  readonly undated: number
  /** The undated records; null unless requested. */
  readonly undatedIds: readonly number[] | null
  readonly figures: readonly Figure[]
  /** Null without a cover. */
  readonly cover: GroupCover | null
}

export interface FigureQuestion {
  readonly dataset: SeriesDataset
  readonly request: FigureRequest
  /** The length of the periods; null for one period with all days. */
  readonly interval: Interval | null
  readonly release: PublishedRelease
}

export function readFigures(index: ColumnIndex, question: FigureQuestion, limits = LIMITS): Promise<FigureGroup[]> {
  const { dataset, request, interval, release } = question
  return index.read(release, async (snapshot) => {
    const condition = await matchRows(dataset, request.filters, snapshot, (field) => figureColumn(dataset, field))
    if (condition === null) return []
    const all = { from: snapshot.rows, condition }
    const covers = request.place === null ? null : await chooseCovers(dataset, snapshot, all, request, limits.placed)
    if (covers?.taken.length === 0) return []
    const rows =
      covers === null ? all : { ...all, condition: sql`${condition} and ${isInSeries(dataset, covers.taken)}` }
    const cells = await readCells(question, snapshot, rows, limits.figures)
    const explanations = request.explain
      ? await readExplanations(dataset, snapshot, all, request, {
          interval,
          covers,
          maxRecords: limits.explained,
        })
      : null
    const describe = await readGroupValues(dataset, snapshot, request.groupBy, cells)
    const groups = [...Map.groupBy(cells, ({ group }) => groupKey(group))]
    return groups
      .map(([key, members]) => toGroup(question, key, members, { describe, explanations, covers }))
      .sort((a, b) => compareGroups(a, b, request.groupBy))
  })
}

async function readCells(
  { dataset, request, interval }: FigureQuestion,
  snapshot: IndexSnapshot,
  rows: FigureRows,
  maxFigures: number,
): Promise<FigureCell[]> {
  const { window, groupBy } = request
  const judged = judgeFields(dataset, request)
  const groups = groupBy.map((field) => column(figureColumn(dataset, field)))
  const upTo = await judgeRows(dataset, snapshot, rows, { judged, groups, days: isUpTo(window) })
  // Rows that agree up to the last day also agree in the window, and no series before the window has to be compared.
  const isUniform = upTo.mixed.length === 0
  const { mixed } =
    isUniform || !Number.isFinite(window.from)
      ? upTo
      : await judgeRows(dataset, snapshot, rows, { judged, groups, days: isInWindow(window) })
  if (mixed.length > 0) throw notComparable(dataset, await describeMixture(dataset, snapshot, rows, window, mixed))
  const comparable = isUniform ? rows : selectComparable(dataset, rows, { judged, groups, window })
  // Rows without any count have records. The SQL needs one count to be valid.
  const counts = upTo.counts.length > 0 ? upTo.counts : dataset.series.counts.slice(0, 1)
  const found = await snapshot.query(
    selectFigures(dataset, comparable, {
      window,
      interval,
      groups,
      counts,
      maxRows: maxFigures + 1,
      hasSeriesPerPlace: hasSeriesPerPlace(dataset, request, judged),
      withFirstId: groupBy.includes(PLACE),
    }),
  )
  if (found.length > maxFigures)
    throw new Problem(
      'invalid_parameter',
      `The answer would have more than ${maxFigures} figures. Filter further, choose longer periods, or group by fewer fields.`,
      { parameter: groupBy.length > 0 ? 'group_by' : 'interval' },
    )
  return found.map((row) => readCell(row, groups.length, counts))
}

/** True if the comparable series of a group have different places: they agree in everything else that identifies a series. */
function hasSeriesPerPlace(
  { series }: SeriesDataset,
  { filters, groupBy, across }: FigureRequest,
  judged: readonly JudgedField[],
): boolean {
  if (series.place === undefined) return true
  const { level, fields } = series.place
  const isFixed = (field: string) => filters.values.get(field)?.length === 1 || filters.missing.includes(field)
  return series.fields.every(
    (field) =>
      field === level ||
      fields.includes(field) ||
      groupBy.includes(field) ||
      isFixed(field) ||
      (!across.includes(field) && judged.some((other) => other.field === field)),
  )
}

interface GroupParts {
  readonly describe: DescribeGroup
  readonly explanations: Explanations | null
  readonly covers: Covers | null
}

function toGroup(
  { dataset, request, interval }: FigureQuestion,
  key: string,
  cells: readonly FigureCell[],
  { describe, explanations, covers }: GroupParts,
): FigureGroup {
  const real = cells.filter(({ cell }) => cell !== null).sort((a, b) => (a.cell as number) - (b.cell as number))
  const description = describe(key)
  const periodOfCell = ({ cell }: FigureCell) =>
    cutPeriod(interval === null ? ONE_PERIOD : periodOf(interval, cell as number), request.window)
  const total = cells.find(({ cell }) => cell === null)
  return {
    group: description.values,
    records: real.reduce((sum, { records }) => sum + records, 0),
    series: total?.series ?? 0,
    undated: total?.records ?? 0,
    undatedIds: explanations?.undatedOf(key) ?? null,
    figures: real.map((cell) => ({
      ...toFigure(dataset, description.kind, cell, periodOfCell(cell)),
      explanations: explanations?.ofCell(key, cell.cell as number) ?? null,
    })),
    cover: covers?.groups.get(key) ?? null,
  }
}

function toFigure(
  { series }: SeriesDataset,
  kind: FieldValue,
  { records, marks, begins, firstRecord, lastRecord, counts }: FigureCell,
  period: Period,
): Omit<Figure, 'explanations'> {
  const { name, first, last } = period
  const has = (mark: number) => (marks & mark) !== 0
  // Without a count in the window there is nothing that earlier counts agree with.
  const known = series.counts.map((count) => (kind === null ? undefined : counts.get(count)) ?? NO_COUNT)
  return {
    // An open end of the range is shown as the day of the first or last record.
    period: {
      name,
      first: Number.isFinite(first) ? first : firstRecord,
      last: Number.isFinite(last) ? last : lastRecord,
    },
    records,
    new: known.map((count) => count.new),
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
    includesEarlierDays: begins !== null && begins < first,
  }
}

const cutPeriod = ({ name, first, last }: Period, { from, to }: Window): Period => ({
  name,
  first: Math.max(first, from),
  last: Math.min(last, to),
})

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
  const left = sortKey(a)
  const right = sortKey(b)
  return left === right ? 0 : left < right ? -1 : 1
}

const sortKey = (value: FieldValue) => (typeof value === 'object' ? JSON.stringify(value) : String(value))
