// Compares an answer of the service with that of the oracle: the same numbers, the same decision, the same flags.
import type { PublishedRecord, Response } from './published.ts'
import type { Answer } from './python.ts'
import type { Question } from './questions.ts'

const COUNTS = ['cases', 'deaths', 'hospitalised', 'recovered', 'tested'] as const
const FLAGS = [
  ...['derived', 'revision', 'base_unknown', 'definition_changed', 'includes_earlier_days', 'overlapping', 'inexact'],
  ...['interim', 'in_span'],
]
const HOW_COUNTED = [
  ...['location_granularity', 'case_status', 'count_kind', 'source_name', 'date_type', 'composite', 'location_type'],
  ...['age_group', 'sex', 'population'],
]
/** `share` has 4 decimals, and both programs may round the last one differently. */
const SHARE_TOLERANCE = 0.000_11
const MAX_DIFFERENCES = 8
/** The service lists the values with the most records only. */
const MAX_LISTED = 100

type Json = Record<string, unknown>
interface ExplainLine {
  id: number
  rules: Json
  new: Json
}

/** What both sides must agree on, from the answer of either side. */
export function summarise(question: Question, answer: Answer, byId: ReadonlyMap<number, PublishedRecord>): Json {
  if ('refused' in answer) {
    const { refused, mixed } = answer
    return question.strict || question.kind === 'guard'
      ? { refused, mixed: summariseMixed(question, mixed as Json) }
      : { refused }
  }
  const figure = (value: unknown) => summariseFigure(value as Json, byId)
  // docs/methods.md does not say whether a place with undated records only is used.
  const undated = question.place === undefined ? ['undated'] : []
  switch (question.kind) {
    case 'count':
      return pick(answer, ['count'])
    case 'guard':
      return { refused: false }
    case 'vintages':
      return { ...summariseChosen(answer), ...pick(answer, ['data']) }
    case 'sums': {
      const rows = (answer['data'] as Json[]).map((row) => ({
        group: summariseGroup(row['group']),
        ...pick(row, ['total']),
        ...figure(row),
      }))
      const covers = (answer['covers'] as Json[] | undefined)
        ?.filter(hasRecords)
        .map((cover) => ({ group: summariseGroup(cover['group']), ...summariseCover(cover) }))
      return {
        ...summariseChosen(answer),
        ...pick(answer, ['records', 'series', 'groups', ...undated]),
        data: byGroup(rows),
        spans: listByGroup(answer['spans']),
        undated_counts: question.place === undefined ? listByGroup(answer['undated_counts']) : [],
        beside: summariseBeside(answer['beside'], byId),
        covers: covers === undefined ? undefined : byGroup(covers),
      }
    }
    default: {
      const summary = (part: Json) => ({
        ...pick(part, ['records', 'series', ...undated]),
        undated_counts: question.place === undefined ? part['undated_counts'] : null,
        spans: part['spans'],
        points: (part['points'] as Json[]).map((point) => ({ period: point['period'], ...figure(point) })),
        ...summariseCover(part['cover'] as Json | undefined),
      })
      if (question.group_by === undefined) return { ...summariseChosen(answer), ...summary(answer) }
      const groups = (answer['groups'] as Json[]).map((part) => ({
        group: summariseGroup(part['group']),
        ...summary(part),
      }))
      const beside = summariseBeside(answer['beside'], byId)
      return { ...summariseChosen(answer), groups: byGroup(groups), beside, ...pick(answer, ['range']) }
    }
  }
}

/** The chosen sets by their values, their records and totals, and the number of sets that were left out. */
const summariseChosen = (answer: Answer): Json => ({
  chosen: (answer['chosen'] as Json[])
    .map((set) => {
      const values = Object.entries(set['values'] as Json).filter(([name]) => HOW_COUNTED.includes(name))
      const shown = pick(set, ['records', 'first_day', 'last_day', 'counts'])
      return JSON.stringify([sortKeys(Object.fromEntries(values)), sortKeys(shown)])
    })
    .sort(),
  ...pick(answer, ['left_out_total']),
})

/** Lists with groups, in an order of our own. */
const listByGroup = (list: unknown): string[] =>
  (list as Json[]).map(({ group, ...rest }) => JSON.stringify([summariseGroup(group), sortKeys(rest)])).sort()
const sortKeys = (value: Json): unknown =>
  Object.entries(value)
    .map(([name, inner]) => [name, isObject(inner) ? sortKeys(inner) : inner])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))

const summariseBeside = (beside: unknown, byId: ReadonlyMap<number, PublishedRecord>): unknown =>
  (beside as Json[] | null)
    ?.map((figure) => JSON.stringify([summariseGroup({ place: figure['place'] }), summariseFigure(figure, byId)]))
    .sort() ?? null

/** The figures of an event by the fields in which they differ. */
export function summariseEvent(figures: readonly Json[]): Json {
  const shared = ['places', 'records', 'first_day', 'last_day', 'new', 'cumulative', 'undated', 'interim']
  const other = [...shared, 'place', 'event']
  const named = figures.map((figure): [string, Json] => {
    const fields = Object.entries(figure).filter(([name, value]) => value !== null && !other.includes(name))
    return [JSON.stringify(fields.sort(([a], [b]) => (a < b ? -1 : 1))), pick(figure, shared)]
  })
  // Places that may contain others have a figure each, with the same fields.
  return Object.fromEntries(
    Object.entries(Object.groupBy(named, ([name]) => name)).map(([name, all = []]) => [
      name,
      all.map(([, figure]) => JSON.stringify(figure)).sort(),
    ]),
  )
}

/** The answer of the service in the form of the oracle. */
export function readResponse(question: Question, { status, body, headers }: Response): Answer {
  if (status === 400 && body['code'] === 'not_comparable') {
    const mixed = body['mixed'] as { field: string; values: unknown[] }[]
    return { refused: 'not_comparable', mixed: Object.fromEntries(mixed.map(({ field, values }) => [field, values])) }
  }
  if (status !== 200) return { refused: `${status} ${String(body['code'])}: ${String(body['detail'])}`, mixed: {} }
  if (question.kind === 'count') return { count: Number(headers.get('outbreaks-count')) }
  return body
}

export const pick = (from: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, from[name]]))

/** With groups, a program may report the values of one group or of all; the fields are the same. */
function summariseMixed(question: Question, mixed: Json): Json {
  const isPlain = question.group_by === undefined
  return Object.fromEntries(
    Object.entries(mixed)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([field, values]) => [
        field,
        isPlain && field !== 'place' && (values as Json[]).length < MAX_LISTED ? sortValues(values as Json[]) : 'mixed',
      ]),
  )
}
/** The service lists the values with the most records, up to this number. */
const MAX_VALUES = 100
const sortValues = (values: readonly Json[]) =>
  values.length >= MAX_VALUES
    ? 'many values'
    : values.map((value) => JSON.stringify(pick(value, ['value', 'records', 'first_day', 'last_day']))).sort()

/** The codes of names in the synthetic records that are also written without their code. */
const CODES: Json = { Ashanti: 'GH-AH', Orissa: 'IN-OD', Odisha: 'IN-OD', Colorado: 'US-CO' }

/** What identifies a place (rule 1). It may be shown with the names of any of its series. */
function identify(place: Json): Json {
  const { location_granularity: level, country_code, al1_code, admin_l1, place_id } = place
  const code = al1_code ?? CODES[String(admin_l1)] ?? null
  if (/^X[A-JL-Z]$/.test(String(country_code))) return place
  if (level === 'country') return { level, country_code }
  if (level === 'admin1' && code !== null) return { level, code }
  if (place_id !== null) return { level, place_id }
  return al1_code === null ? place : { ...place, admin_l1: null }
}

/** Groups with places by their identity. */
function summariseGroup(group: unknown): Json {
  const entries = Object.entries(group as Json).map(([field, value]): [string, unknown] => {
    if (field !== 'place') return [field, value]
    const place = value as Json
    const shown = identify(place)
    return [field, Object.fromEntries(Object.entries(shown).sort(([a], [b]) => (a < b ? -1 : 1)))]
  })
  return Object.fromEntries(entries)
}

/** Groups in an order of our own: both programs may order null and accents differently. */
const byGroup = (rows: readonly { group: Json }[]): Json =>
  Object.fromEntries(
    rows.map(({ group, ...rest }) => [JSON.stringify(group, Object.keys(flatten(group)).sort()), rest]),
  )
const flatten = (group: Json): Json => ({ ...group, ...(group['place'] as Json | undefined) })

/** Without a record in the days of the answer there is no number, and nothing that it is made of. */
const hasRecords = (cover: Json) => (cover['made_of'] as Json[]).some(({ records }) => records !== 0)

function summariseCover(cover: Json | undefined): Json {
  if (cover === undefined || !hasRecords(cover)) return {}
  const madeOf = (cover['made_of'] as Json[]).map(
    (part) => `${String(part['location_granularity'])} ${String(part['records'])}`,
  )
  return { cover: madeOf.sort() }
}

function summariseFigure(figure: Json, byId: ReadonlyMap<number, PublishedRecord>): Json {
  const completeness = Object.entries(figure['completeness'] as Record<string, Json>).filter(
    ([, { places_known }]) => places_known !== 0,
  )
  return {
    ...pick(figure, ['first_day', 'last_day', 'records', 'new', 'cumulative', 'point', ...FLAGS]),
    completeness: Object.fromEntries(completeness),
    ...(figure['explain'] === undefined ? {} : { explain: summariseExplain(figure['explain'] as ExplainLine[], byId) }),
  }
}

/** Reports that agree in everything that decides which is later may take each other's place. */
function summariseExplain(lines: readonly ExplainLine[], byId: ReadonlyMap<number, PublishedRecord>): Json {
  const ofCount = (count: (typeof COUNTS)[number]) =>
    lines.map(
      ({ id, rules, new: counts }) =>
        `${reportOf(byId.get(id), count)} ${String(rules[count])} ${String(counts[count])}`,
    )
  return Object.fromEntries(COUNTS.map((count) => [count, ofCount(count).sort()]))
}
function reportOf(record: PublishedRecord | undefined, count: string): string {
  const { series_id, date_low, date_high, count_kind, date_report, source_report } =
    record ?? ({} as Partial<PublishedRecord>)
  const isOneDay = count_kind === 'cumulative' || count_kind === 'point'
  const last = date_high ?? date_low
  const days = isOneDay ? [last] : [date_low ?? last, last]
  return JSON.stringify([series_id, ...days, date_report, source_report, record?.[count]])
}

/** The paths at which two values differ, each with both values. */
export function findDifferences(expected: unknown, actual: unknown, path = ''): string[] {
  if (Object.is(expected, actual)) return []
  if (isObject(expected) && isObject(actual)) {
    const keys = [...new Set([...Object.keys(expected), ...Object.keys(actual)])]
    return keys
      .flatMap((key) => findDifferences(expected[key], actual[key], `${path}/${key}`))
      .slice(0, MAX_DIFFERENCES)
  }
  if (path.endsWith('/share') && typeof expected === 'number' && typeof actual === 'number')
    if (Math.abs(expected - actual) < SHARE_TOLERANCE) return []
  return [`${path}: expected ${show(expected)}, got ${show(actual)}`]
}
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null
const show = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, 300)
