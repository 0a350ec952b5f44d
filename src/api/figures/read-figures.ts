// Reads the figures of a question from the column index: finds the rows, refuses what must not be added up, and gives the
// figures of each group and period.
import sql, { type Sql } from 'sql-template-tag'
import type { ColumnIndex, IndexSnapshot } from '../../columns/column-index.ts'
import { column } from '../../columns/tables.ts'
import type { FieldValue } from '../../datasets/define.ts'
import { type Interval, type Period, periodOf } from '../../methods/calendar.ts'
import { type JudgedField, PLACE } from '../../methods/comparability.ts'
import { type Figure, ONE_PERIOD, type Span, type Window } from '../../methods/figures.ts'
import type { Counts } from '../../methods/increments.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { MARKS } from '../../methods/step-columns.ts'
import type { DuckRow } from '../../platform/duckdb/duckdb.ts'
import { Problem } from '../../platform/problem.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { matchRows } from '../filters/match-rows.ts'
import { notComparable } from './comparison-problem.ts'
import { type Covers, chooseCovers, type GroupCover } from './cover-series.ts'
import { type Explanations, readExplanations } from './explain-records.ts'
import { type FigureRows, figureColumn, groupKey, isInSeries, isInWindow, isUpTo, toNumber } from './figure-columns.ts'
import type { FigureRequest } from './figure-request.ts'
import { type FigureCell, NO_COUNT, readCell, selectFigures, selectSpans, selectUndated } from './figure-sql.ts'
import { type DescribeGroup, readGroupValues } from './group-values.ts'
import { describeMixture, findOverlaps, judgedValue, judgeFields, judgeRows, selectComparable } from './mixed-rows.ts'
import { findContainedSeries, splitLevels } from './split-levels.ts'

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
  /** The counts of undated records; null without any, or if they must not be added up. */
  readonly undatedCounts: Counts | null
  /** The undated records; null unless requested. */
  readonly undatedIds: readonly number[] | null
  readonly figures: readonly Figure[]
  /** New counts whose days do not lie in one interval. */
  readonly spans: readonly Span[]
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

export interface FigureAnswer {
  readonly groups: readonly FigureGroup[]
  /** The places that contain those of the groups, each with one figure; null if they must not be compared. */
  readonly beside: readonly FigureGroup[] | null
}

export function readFigures(index: ColumnIndex, question: FigureQuestion, limits = LIMITS): Promise<FigureAnswer> {
  const { dataset, request, release } = question
  return index.read(release, async (snapshot) => {
    const condition = await matchRows(dataset, request.filters, snapshot, (field) => figureColumn(dataset, field))
    if (condition === null) return { groups: [], beside: [] }
    const { table, beside } = await splitLevels(dataset, snapshot, { from: snapshot.rows, condition }, request)
    const groups = await readGroups(question, snapshot, table, limits)
    return { groups, beside: beside === null ? [] : await readBeside(question, snapshot, beside, limits) }
  })
}

/** One figure for each place that contains others. Sources that differ say only that there is something. */
async function readBeside(question: FigureQuestion, snapshot: IndexSnapshot, rows: FigureRows, limits: FigureLimits) {
  const request = { ...question.request, groupBy: [PLACE], place: null, explain: false }
  try {
    return await readGroups({ ...question, request, interval: null }, snapshot, rows, limits)
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_comparable') return null
    throw error
  }
}

async function readGroups(
  question: FigureQuestion,
  snapshot: IndexSnapshot,
  all: FigureRows,
  limits: FigureLimits,
): Promise<FigureGroup[]> {
  const { dataset, request, interval } = question
  const covers = request.place === null ? null : await chooseCovers(dataset, snapshot, all, request, limits.placed)
  if (covers?.taken.length === 0) return []
  const rows = covers === null ? all : restrict(all, isInSeries(dataset, covers.taken))
  const { cells, spans, undated, contained } = await readCells(question, snapshot, rows, limits)
  const explanations = request.explain
    ? await readExplanations(dataset, snapshot, all, request, {
        interval,
        covers: { taken: covers?.taken ?? null, covered: [...(covers?.covered ?? []), ...contained] },
        maxRecords: limits.explained,
      })
    : null
  const describe = await readGroupValues(dataset, snapshot, request.groupBy, cells)
  const groups = [...Map.groupBy(cells, ({ group }) => groupKey(group))]
  return groups
    .map(([key, members]) => toGroup(question, key, members, { describe, explanations, covers, spans, undated }))
    .sort((a, b) => compareGroups(a, b, request.groupBy))
}

const restrict = ({ from, condition }: FigureRows, further: Sql): FigureRows => ({
  from,
  condition: sql`${condition} and ${further}`,
})

interface Cells {
  readonly cells: readonly FigureCell[]
  /** By the key of the group. */
  readonly spans: ReadonlyMap<string, readonly Span[]>
  readonly undated: ReadonlyMap<string, Counts>
  /** The codes of series whose place another place contains by name. */
  readonly contained: readonly number[]
}

async function readCells(
  { dataset, request, interval }: FigureQuestion,
  snapshot: IndexSnapshot,
  rows: FigureRows,
  limits: FigureLimits,
): Promise<Cells> {
  const { window, groupBy, across } = request
  const judged = judgeFields(dataset, request)
  const groups = groupBy.map((field) => column(figureColumn(dataset, field)))
  const upTo = await judgeRows(dataset, snapshot, rows, { judged, groups, days: isUpTo(window) })
  // Rows that agree up to the last day also agree in the window, and no series before the window has to be compared.
  const isUniform = upTo.mixed.length === 0
  const { mixed } =
    isUniform || !Number.isFinite(window.from)
      ? upTo
      : await judgeRows(dataset, snapshot, rows, { judged, groups, days: isInWindow(window) })
  const overlaps = await findOverlaps(dataset, snapshot, rows, { across, groups, days: isInWindow(window) })
  if (mixed.length + overlaps.length > 0)
    throw notComparable(dataset, await describeMixture(dataset, snapshot, rows, window, [...mixed, ...overlaps]))
  const contained = upTo.listsPlaces ? await findContainedSeries(dataset, snapshot, rows, request, limits.placed) : []
  const used = contained.length === 0 ? rows : restrict(rows, sql`not ${isInSeries(dataset, contained)}`)
  const comparable = isUniform ? used : selectComparable(dataset, used, { judged, groups, window })
  // Rows without any count have records. The SQL needs one count to be valid.
  const counts = upTo.counts.length > 0 ? upTo.counts : dataset.series.counts.slice(0, 1)
  const options = { window, interval, groups, counts, maxRows: limits.figures + 1 }
  const found = await snapshot.query(
    selectFigures(dataset, comparable, {
      ...options,
      hasSeriesPerPlace: hasSeriesPerPlace(dataset, request, judged),
      withFirstId: groupBy.includes(PLACE),
    }),
  )
  const cells = found.map((row) => readCell(row, groups.length, counts))
  const spans = cells.some(({ hasSpan }) => hasSpan) ? await snapshot.query(selectSpans(comparable, options)) : []
  if (found.length > limits.figures || spans.length > limits.figures)
    throw new Problem(
      'invalid_parameter',
      `The answer would have more than ${limits.figures} figures. Filter further, choose longer periods, or group by fewer fields.`,
      { parameter: groupBy.length > 0 ? 'group_by' : 'interval' },
    )
  const undated = cells.some(({ cell, records }) => cell === null && records > 0)
    ? await snapshot.query(selectUndated(dataset, comparable, { groups, judged: judged.map(judgedValue) }))
    : []
  return {
    cells,
    spans: toSpans(dataset, spans, groups.length, counts),
    undated: toUndated(undated, groups.length),
    contained,
  }
}

const toSpans = ({ series }: SeriesDataset, rows: readonly DuckRow[], groups: number, counts: readonly string[]) =>
  new Map(
    [...Map.groupBy(rows, (row) => groupKey(row.slice(0, groups)))].map(([key, own]) => [
      key,
      own.map((row): Span => {
        const [first, last, records, ...sums] = row.slice(groups).map(toNumber)
        const valueOf = (count: string) => (counts.includes(count) ? (sums[counts.indexOf(count)] ?? null) : null)
        return { first: first ?? 0, last: last ?? 0, records: records ?? 0, new: series.counts.map(valueOf) }
      }),
    ]),
  )

/** The counts of the undated records by group, without groups whose records must not be added up. */
const toUndated = (rows: readonly DuckRow[], groups: number) =>
  new Map(
    rows
      .map((row) => ({ key: groupKey(row.slice(0, groups)), values: row.slice(groups).map(toNumber) }))
      .filter(({ values: [sets] }) => sets === 1)
      .map(({ key, values: [, ...counts] }) => [key, counts]),
  )

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
  readonly spans: Cells['spans']
  readonly undated: Cells['undated']
}

function toGroup(
  { dataset, request, interval }: FigureQuestion,
  key: string,
  cells: readonly FigureCell[],
  { describe, explanations, covers, spans: allSpans, undated }: GroupParts,
): FigureGroup {
  const real = cells.filter(({ cell }) => cell !== null).sort((a, b) => (a.cell as number) - (b.cell as number))
  const description = describe(key)
  const periodOfCell = ({ cell }: FigureCell) =>
    cutPeriod(interval === null ? ONE_PERIOD : periodOf(interval, cell as number), request.window)
  const total = cells.find(({ cell }) => cell === null)
  const spans = allSpans.get(key) ?? []
  const cover = covers?.groups.get(key) ?? null
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
  }
}

/** Nobody knows how much of a silent place its parts are. */
const withoutShare = ({ completeness }: Pick<Figure, 'completeness'>) =>
  completeness.map((one) => ({ ...one, share: null }))

function toFigure(
  { series }: SeriesDataset,
  kind: FieldValue,
  { records, marks, begins, firstRecord, lastRecord, counts }: FigureCell,
  period: Period,
): Omit<Figure, 'explanations' | 'inSpan'> {
  const { name, first, last } = period
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
