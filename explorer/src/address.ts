// What is on the screen is in the address: the page in the path, the question and the view in the query. The names of the
// question are those of the API, so an address becomes a request by another path. Pure.
import type { SeriesParameters } from '../../clients/typescript/src/client.ts'

export const PAGES = [
  'explore',
  'events',
  'compare',
  'releases',
  'records',
  'coverage',
  'downloads',
  'watches',
] as const
/** `event` is one event, at /explore/events/NAME. */
export type Page = (typeof PAGES)[number] | 'event'
/** The parts of the page of an event. The first has no name in the address. */
export const TABS = ['overview', 'sources', 'changes', 'records', 'use'] as const
export type Tab = (typeof TABS)[number]

/** The parameters of the API that select records. */
export const FILTERS = [
  ...['event', 'disease', 'pathogen', 'host', 'place', 'country_code', 'who_region', 'un_region'],
  ...['location_granularity', 'al1_code', 'admin_l1', 'admin_l2', 'admin_l3', 'locality', 'location_type'],
  ...['date_from', 'date_to', 'date_type', 'case_status', 'count_kind', 'age_group', 'sex', 'population'],
  ...['composite', 'source_name', 'series_id', 'missing', 'across'],
] as const satisfies readonly (keyof SeriesParameters)[]
export type Filter = (typeof FILTERS)[number]

/** Values by filter; a filter without a value is absent. */
export type Question = Readonly<Partial<Record<Filter, readonly string[]>>>

export const INTERVALS = ['day', 'isoweek', 'epiweek', 'month', 'year'] as const
export const COUNTS = ['cases', 'deaths', 'hospitalised', 'recovered', 'tested'] as const
export const KINDS = ['new', 'cumulative', 'point'] as const
export const GROUPS = [
  'none',
  'event',
  'country_code',
  'al1_code',
  'source_name',
  'case_status',
  'age_group',
  'sex',
] as const
export const MAP_LEVELS = ['country_code', 'al1_code', 'admin_l1'] as const
export const PERIODS = ['year', 'month'] as const
export const LANGUAGES = ['python', 'r', 'typescript', 'curl'] as const
/** The parts of the page that can be taken along as a program. */
export const TAKEN = ['series', 'sums', 'coverage'] as const

export const AVERAGES = ['1', '3', '5', '7'] as const
export const SORTS = ['-last', 'name', '-cases', '-deaths', '-days', '-records'] as const

/** How the answer is shown. Every member has a default, which the address leaves out. */
export interface View {
  /** Null for the newest release. */
  readonly release: number | null
  readonly compare: number | null
  /** Null: as the days of the answer need it. */
  readonly interval: (typeof INTERVALS)[number] | null
  readonly count: (typeof COUNTS)[number]
  readonly kind: (typeof KINDS)[number]
  readonly group: (typeof GROUPS)[number]
  readonly scale: 'linear' | 'log'
  readonly align: 'date' | 'first'
  /** Null: as the places of the answer need it. */
  readonly level: (typeof MAP_LEVELS)[number] | null
  /** All ways of counting, each by itself. */
  readonly side: boolean
  /** Several lines on one scale, or each in its own picture. */
  readonly layout: 'one' | 'each'
  /** Periods of the moving average; 1 for the counts as they are. */
  readonly average: (typeof AVERAGES)[number]
  /** Counts as they are, or per 100,000 inhabitants of a country. */
  readonly measures: 'none' | 'per_100000'
  /** The order of a list of events. */
  readonly sort: (typeof SORTS)[number]
  /** The periods of the page about coverage. */
  readonly period: (typeof PERIODS)[number]
  /** The fields of the table of records. */
  readonly columns: readonly string[]
  readonly taken: (typeof TAKEN)[number]
  readonly code: (typeof LANGUAGES)[number]
}

export interface Address {
  readonly page: Page
  /** The number of a release or the id of a record, if the page shows one. */
  readonly item: number | null
  readonly tab: Tab
  readonly question: Question
  readonly view: View
}

const DEFAULT_COLUMNS = [
  ...['id', 'event', 'country_code', 'admin_l1', 'date_low', 'date_high', 'case_status', 'count_kind'],
  ...['cases', 'deaths', 'source_name'],
]
export const DEFAULT_VIEW: View = {
  release: null,
  compare: null,
  interval: null,
  count: 'cases',
  kind: 'new',
  group: 'none',
  scale: 'linear',
  align: 'date',
  level: null,
  side: false,
  layout: 'one',
  average: '1',
  measures: 'none',
  sort: '-last',
  period: 'year',
  columns: DEFAULT_COLUMNS,
  taken: 'series',
  code: 'python',
}

const CHOICES = {
  interval: INTERVALS,
  count: COUNTS,
  kind: KINDS,
  group: GROUPS,
  level: MAP_LEVELS,
  period: PERIODS,
  scale: ['linear', 'log'],
  align: ['date', 'first'],
  layout: ['one', 'each'],
  average: AVERAGES,
  measures: ['none', 'per_100000'],
  sort: SORTS,
  taken: TAKEN,
  code: LANGUAGES,
} as const
type Chosen = keyof typeof CHOICES

const toNumber = (text: string | null): number | null =>
  text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null

export function parseAddress(url: URL): Address {
  const [, , first = '', second = '', third = ''] = url.pathname.split('/')
  const query = url.searchParams
  const question = FILTERS.flatMap((name) => {
    const values = [...new Set(query.getAll(name).filter(isValue))]
    return values.length === 0 ? [] : [[name, values] as const]
  })
  const chosen = (Object.keys(CHOICES) as Chosen[]).flatMap((name) => {
    const value = (CHOICES[name] as readonly string[]).find((choice) => choice === query.get(name))
    return value === undefined ? [] : [[name, value] as const]
  })
  const columns =
    query
      .get('columns')
      ?.split(',')
      .filter((name) => /^[a-z0-9_]+$/.test(name)) ?? []
  const asked: Question = Object.fromEntries(question)
  const event = first === 'events' ? decode(second) : ''
  const page = isValue(event) ? 'event' : (PAGES.find((name) => name === first) ?? 'explore')
  return {
    ...(page === 'explore' && asked.event !== undefined
      ? // Before events had addresses of their own, all questions were here.
        { page: asked.event.length === 1 && query.get('group') === null ? 'event' : 'compare' }
      : { page }),
    item: page === 'event' ? null : toNumber(second),
    tab: TABS.find((name) => name === third) ?? 'overview',
    question: page === 'event' ? { ...asked, event: [event] } : asked,
    view: {
      ...DEFAULT_VIEW,
      ...(Object.fromEntries(chosen) as Partial<View>),
      side: query.get('side') === 'true',
      release: toNumber(query.get('release')),
      compare: toNumber(query.get('compare')),
      columns: columns.length === 0 ? DEFAULT_COLUMNS : columns,
    },
  }
}

/** U+0000 is in no data, and R has no string for it. */
const isValue = (value: string): boolean => value !== '' && !value.includes('\0')

/** What no browser wrote stays as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function formatAddress({ page, item, tab, question, view }: Address): string {
  const query = new URLSearchParams()
  const path = ['/explore']
  const [event] = question.event ?? []
  const isEvent = page === 'event' && event !== undefined
  if (isEvent) path.push('events', encodeURIComponent(event), ...(tab === 'overview' ? [] : [tab]))
  else if (page !== 'explore' && page !== 'event') path.push(page, ...(item === null ? [] : [String(item)]))
  for (const name of FILTERS)
    if (!(isEvent && name === 'event')) for (const value of question[name] ?? []) query.append(name, value)
  if (view.release !== null) query.append('release', String(view.release))
  if (view.compare !== null) query.append('compare', String(view.compare))
  if (view.side) query.append('side', 'true')
  for (const name of Object.keys(CHOICES) as Chosen[]) {
    const value = view[name]
    if (value !== null && value !== DEFAULT_VIEW[name]) query.append(name, value)
  }
  if (view.columns.join() !== DEFAULT_COLUMNS.join()) query.append('columns', view.columns.join(','))
  return query.size === 0 ? path.join('/') : `${path.join('/')}?${query}`
}

/** The question with other values for some filters; an empty list removes a filter. */
export function changeQuestion(question: Question, changes: Question): Question {
  const changed = { ...question, ...changes }
  return Object.fromEntries(Object.entries(changed).filter(([, values]) => values.length > 0))
}

/** The filters of a query string of the API, such as that of a comparable choice. */
export const parseQuestion = (query: string): Question =>
  parseAddress(new URL(`https://explorer.invalid/explore?${query}`)).question
