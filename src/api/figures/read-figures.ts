// Reads the figures of a query from the column index: finds the rows, rejects what cannot be added together, and gives the
// figures of each group and period.
import sql, { type Sql } from 'sql-template-tag'
import type { ColumnIndex, IndexSnapshot } from '../../columns/column-index.ts'
import { column } from '../../columns/tables.ts'
import type { Interval } from '../../methods/calendar.ts'
import { type JudgedField, PLACE } from '../../methods/comparability.ts'
import type { Span } from '../../methods/figures.ts'
import type { Counts } from '../../methods/increments.ts'
import type { MeasureFacts } from '../../methods/measures.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import type { DuckRow } from '../../platform/duckdb/duckdb.ts'
import { Problem } from '../../platform/problem.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { matchRows } from '../filters/match-rows.ts'
import { type Choice, chooseSets, followSets } from './choose-sets.ts'
import { notComparable } from './comparison-problem.ts'
import { chooseCovers, findContainedSeries, findPlaced, readPlacedSeries } from './cover-series.ts'
import { readExplanations } from './explain-records.ts'
import {
  type FigureRows,
  figureColumn,
  groupKey,
  isInSeries,
  isInWindow,
  isUpTo,
  toNumber,
  totalColumns,
} from './figure-columns.ts'
import { compareGroups, type FigureGroup, toGroup } from './figure-groups.ts'
import type { FigureRequest } from './figure-request.ts'
import {
  DEFAULT_INTERVAL,
  type FigureCell,
  findInterval,
  readCell,
  selectFigures,
  selectFit,
  selectSpans,
  selectUndated,
} from './figure-sql.ts'
import { readGroupValues } from './group-values.ts'
import {
  describeMixture,
  findOverlaps,
  judgedValue,
  judgeFields,
  judgeRows,
  selectComparable,
  type Verdict,
} from './mixed-rows.ts'
import { type AnswerSet, readSets } from './read-sets.ts'
import { splitLevels } from './split-levels.ts'

/** The largest query that gets a response. docs/methods.md, limits. */
export interface FigureLimits {
  /** Groups times periods. A figure is about 1 kB of the response. */
  readonly figures: number
  /** The records that `explain` lists. */
  readonly explained: number
  /** The series of a place. Their tree is built in the event loop, from about 50 series in a millisecond. */
  readonly placed: number
}

/** Each is its own query. */
const MAX_SIDE_BY_SIDE = 20

const LIMITS: FigureLimits = { figures: 20_000, explained: 20_000, placed: 30_000 }

export interface FigureQuestion {
  readonly dataset: SeriesDataset
  readonly request: FigureRequest
  /** The length of the periods; null for one period with all days, undefined for the finest that fits. */
  readonly interval: Interval | null | undefined
  readonly release: PublishedRelease
  /** The sets to use: those that another release chose. */
  readonly followed?: readonly AnswerSet[]
  /** Reads what measures need from the rows that are used, by the key of the group. */
  readonly readFacts?: ReadFacts
}

type ReadFacts = (
  snapshot: IndexSnapshot,
  rows: FigureRows,
  question: { readonly request: FigureRequest; readonly interval: Interval | null },
) => Promise<ReadonlyMap<string, MeasureFacts>>

interface FittedQuestion extends FigureQuestion {
  readonly interval: Interval | null
  /** The verdict on the rows up to the last day, if it is known already. */
  readonly upTo: Verdict | null
}

export interface FigureAnswer {
  /** The length of the periods, even where it was found. */
  readonly interval: Interval | null
  /** How the counts were counted; null if there is only one way. */
  readonly choice: Choice | null
  readonly groups: readonly FigureGroup[]
  /** The places that contain those of the groups, each with one figure; null if they must not be compared. */
  readonly beside: readonly FigureGroup[] | null
}

export function readFigures(index: ColumnIndex, question: FigureQuestion, limits = LIMITS): Promise<FigureAnswer> {
  const { dataset, request, release, interval = DEFAULT_INTERVAL } = question
  return index.read(release, async (snapshot) => {
    const condition = await matchRows(dataset, request.filters, snapshot, (field) => figureColumn(dataset, field))
    if (condition === null) return { interval, choice: null, groups: [], beside: [] }
    const { table, beside } = await splitLevels(dataset, snapshot, { from: snapshot.rows, condition }, request)
    if (request.sideBySide) return readSideBySide(question, snapshot, table, limits)
    const answer = await readGroups(question, snapshot, table, limits)
    return { ...answer, beside: beside === null ? [] : await readBeside(question, snapshot, beside, limits) }
  })
}

/** One figure for each place that contains others. Sources that differ say only that there is something. */
async function readBeside(question: FigureQuestion, snapshot: IndexSnapshot, all: FigureRows, limits: FigureLimits) {
  const { dataset } = question
  const request = { ...question.request, groupBy: [PLACE], place: null, explain: false }
  let rows = all
  if (question.request.place !== null) {
    // A region has no position among the places that were asked for.
    const series = await readPlacedSeries(dataset, snapshot, all, request, limits.placed)
    const placed = [...series.values()].flat().filter(({ path }) => path !== null)
    if (placed.length === 0) return []
    rows = restrict(
      all,
      isInSeries(
        dataset,
        placed.map(({ code }) => code),
      ),
    )
  }
  try {
    const { readFacts: _readFacts, ...plain } = question
    return (await readGroups({ ...plain, request, interval: null }, snapshot, rows, limits)).groups
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_comparable') return null
    throw error
  }
}

/** Rows that were counted in several ways get one of them, unless the reader is strict. */
async function readGroups(
  question: FigureQuestion,
  snapshot: IndexSnapshot,
  all: FigureRows,
  limits: FigureLimits,
): Promise<Omit<FigureAnswer, 'beside'>> {
  const { dataset, request, interval: asked = DEFAULT_INTERVAL } = question
  const { preference } = dataset.series
  const readRows = async (own: FigureRows, isChosen: boolean, upTo: Verdict | null = null) => {
    const interval = await fitInterval(question, snapshot, own)
    const fitted = { ...question, interval, upTo, request: { ...request, isChosen } }
    return { interval, groups: await readComparable(fitted, snapshot, own, limits) }
  }
  if (question.followed !== undefined && preference !== undefined) {
    const same = await followSets(dataset, preference, snapshot, all, request, question.followed)
    return { choice: null, ...(same === null ? { interval: asked, groups: [] } : await readRows(same, true)) }
  }
  // A set of records outside of the place is no way of counting it.
  const found =
    request.place === null || request.strict ? null : await findPlaced(dataset, snapshot, all, request, limits.placed)
  if (found?.placed.length === 0) return { interval: asked, choice: null, groups: [] }
  const rows = found === null ? all : restrict(all, isInSeries(dataset, found.placed))
  const used = found === null ? all : restrict(all, isInSeries(dataset, found.taken))
  const withUndated = countsUndated(question)
  if (request.strict || preference === undefined) return { choice: null, ...(await readRows(rows, false)) }
  const verdict = await judgeWays(dataset, snapshot, rows, request, withUndated)
  if (verdict.mixed.length === 0) {
    // With no first day and nothing undated, those were the rows up to the last day.
    const isUpToEnd = rows === all && !withUndated && !Number.isFinite(request.window.from)
    return { choice: null, ...(await readRows(rows, false, isUpToEnd ? verdict : null)) }
  }
  const choice = await chooseSets(dataset, preference, snapshot, rows, request, {
    used,
    withUndated,
    isCurve: asked !== null,
    maxSeries: limits.placed,
    preferred: question.release.preferred,
  })
  return { choice, ...(await (choice === null ? readRows(rows, false) : readRows(choice.rows, true))) }
}

async function fitInterval({ dataset, request, interval }: FigureQuestion, snapshot: IndexSnapshot, rows: FigureRows) {
  if (interval !== undefined) return interval
  const [row = []] = await snapshot.query(selectFit(dataset, rows, request.window))
  return findInterval(row)
}

/** In a total of all days, a record without a day counts too. */
const countsUndated = ({ request: { window, place }, interval }: Pick<FigureQuestion, 'request' | 'interval'>) =>
  interval === null && place === null && !Number.isFinite(window.from) && !Number.isFinite(window.to)

/** A figure for each way of counting. */
async function readSideBySide(
  question: FigureQuestion,
  snapshot: IndexSnapshot,
  rows: FigureRows,
  limits: FigureLimits,
): Promise<FigureAnswer> {
  const { dataset, request } = question
  const { preference } = dataset.series
  const interval = await fitInterval(question, snapshot, rows)
  if (preference === undefined) return { interval, choice: null, groups: [], beside: [] }
  const options = { used: rows, withUndated: countsUndated(question) }
  const { sets, select } = await readSets(dataset, preference, snapshot, rows, request, options)
  const groups: FigureGroup[] = []
  for (const set of sets.toSorted((a, b) => b.records - a.records).slice(0, MAX_SIDE_BY_SIDE)) {
    const chosen = { ...question, interval, upTo: null, request: { ...request, isChosen: true } }
    const values = new Map([['words', preference.describe(set.how, set.countries)], ...set.subject, ...set.how])
    for (const group of await readComparable(chosen, snapshot, select([set]), limits))
      groups.push({ ...group, group: values })
  }
  return { interval, choice: null, groups, beside: [] }
}

/** Judges the rows with a count in the window, by everything that cannot be added together. */
function judgeWays(
  dataset: SeriesDataset,
  snapshot: IndexSnapshot,
  rows: FigureRows,
  request: FigureRequest,
  withUndated: boolean,
) {
  const groups = request.groupBy.map((field) => column(figureColumn(dataset, field)))
  const judged = judgeFields(dataset, request)
  const days = withUndated ? sql`true` : isInWindow(request.window)
  return judgeRows(dataset, snapshot, rows, { judged, groups, days })
}

/** The sets of the rows that a query finds, if nothing has to be chosen. */
export const readWays = (
  index: ColumnIndex,
  { dataset, request, release }: FigureQuestion,
): Promise<readonly AnswerSet[]> =>
  index.read(release, async (snapshot) => {
    const { preference } = dataset.series
    const condition = await matchRows(dataset, request.filters, snapshot, (field) => figureColumn(dataset, field))
    if (condition === null || preference === undefined) return []
    const rows = { from: snapshot.rows, condition }
    return (await readSets(dataset, preference, snapshot, rows, request, { used: rows, withUndated: false })).sets
  })

async function readComparable(
  question: FittedQuestion,
  snapshot: IndexSnapshot,
  all: FigureRows,
  limits: FigureLimits,
): Promise<FigureGroup[]> {
  const { dataset, request, interval } = question
  const covers = request.place === null ? null : await chooseCovers(dataset, snapshot, all, request, limits.placed)
  if (covers?.taken.length === 0) return []
  const rows = covers === null ? all : restrict(all, isInSeries(dataset, covers.taken))
  const { cells, spans, undated, contained, facts } = await readCells(question, snapshot, rows, limits)
  const explanations = request.explain
    ? await readExplanations(dataset, snapshot, all, request, {
        interval,
        covers: { taken: covers?.taken ?? null, covered: [...(covers?.covered ?? []), ...contained] },
        maxRecords: limits.explained,
      })
    : null
  const describe = await readGroupValues(dataset, snapshot, request.groupBy, cells)
  const groups = [...Map.groupBy(cells, ({ group }) => groupKey(group))]
  const parts = { describe, explanations, covers: covers?.describe(contained) ?? null, spans, undated, facts }
  return groups
    .map(([key, members]) => toGroup(question, key, members, parts))
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
  readonly facts: ReadonlyMap<string, MeasureFacts>
}

async function readCells(
  { dataset, request, interval, readFacts, upTo: known }: FittedQuestion,
  snapshot: IndexSnapshot,
  rows: FigureRows,
  limits: FigureLimits,
): Promise<Cells> {
  const { window, groupBy, across } = request
  const judged = judgeFields(dataset, request)
  // Among records without a day, sets are chosen only for a total of all days.
  const separate = judgeFields(dataset, {
    ...request,
    isChosen: request.isChosen && countsUndated({ request, interval }),
  })
  const groups = groupBy.map((field) => column(figureColumn(dataset, field)))
  const upTo = known ?? (await judgeRows(dataset, snapshot, rows, { judged, groups, days: isUpTo(window) }))
  // Rows that agree up to the last day also agree in the window, and no series before the window has to be compared.
  const isUniform = upTo.mixed.length === 0
  const { mixed } =
    isUniform || !Number.isFinite(window.from)
      ? upTo
      : await judgeRows(dataset, snapshot, rows, { judged, groups, days: isInWindow(window) })
  const overlaps = await findOverlaps(dataset, snapshot, rows, { across, groups, days: isInWindow(window) })
  const contained = upTo.listsPlaces ? await findContainedSeries(dataset, snapshot, rows, request, limits.placed) : []
  const fields = [...new Set([...mixed, ...overlaps])]
  if (fields.length > 0) {
    const mixture = await describeMixture(dataset, snapshot, rows, { window, fields, leftOut: contained })
    throw notComparable(dataset, mixture, request.url)
  }
  const used = contained.length === 0 ? rows : restrict(rows, sql`not ${isInSeries(dataset, contained)}`)
  const comparable = isUniform ? used : selectComparable(dataset, used, { judged, groups, window })
  // Rows without any count have records. The SQL needs one count to be valid.
  const counts = upTo.counts.length > 0 ? upTo.counts : dataset.series.counts.slice(0, 1)
  const options = { window, interval, groups, counts, maxRows: limits.figures + 1 }
  const found = await snapshot.query(
    selectFigures(dataset, comparable, {
      ...options,
      hasSeriesPerPlace: hasSeriesPerPlace(dataset, request, judged),
      totalOf: await totalColumns(dataset, snapshot),
      withFirstId: groupBy.includes(PLACE),
    }),
  )
  const cells = found.map((row) => readCell(row, groups.length, counts))
  const spans = cells.some(({ hasSpan }) => hasSpan) ? await snapshot.query(selectSpans(comparable, options)) : []
  if (found.length > limits.figures || spans.length > limits.figures)
    throw new Problem(
      'invalid_parameter',
      `The result would have more than ${limits.figures} values, which is the limit. Add filters, choose a longer interval, or group by fewer fields.`,
      { parameter: groupBy.length > 0 ? 'group_by' : 'interval' },
    )
  const undated = cells.some(({ cell, records }) => cell === null && records > 0)
    ? await snapshot.query(selectUndated(dataset, comparable, { groups, judged: separate.map(judgedValue) }))
    : []
  return {
    cells,
    spans: toSpans(dataset, spans, groups.length, counts),
    undated: toUndated(undated, groups.length),
    contained,
    facts: (await readFacts?.(snapshot, comparable, { request, interval })) ?? new Map(),
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

/** The counts of the undated records by group, without groups whose records cannot be added together. */
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
