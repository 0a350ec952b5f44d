// Random questions over the values that occur in the records. Most of them have numbers for an answer; the others are rejected.
import type { Draw } from './draw.ts'
import type { Published, PublishedRecord } from './published.ts'

type Value = string | boolean

export interface Question {
  kind: 'series' | 'sums' | 'vintages' | 'count' | 'guard'
  filters: Record<string, Value[]>
  missing: string[]
  date_from?: string
  date_to?: string
  interval?: string
  group_by?: string[]
  across?: string[]
  place?: string
  explain?: true
  count?: string
  sort?: string
  /** A mixture is rejected; without it, one way of counting is chosen. */
  strict?: true
}

export interface QuestionOptions {
  /** The filters of /series, by the OpenAPI document of the service. */
  filters: ReadonlySet<string>
  releases: number
  /** Every question names a country, so that the service scans few records. */
  byCountry: boolean
}

const NEVER_ADDED = [
  'location_granularity',
  'case_status',
  'count_kind',
  'source_name',
  'date_type',
  'composite',
  'location_type',
]
const ADDED_ON_PURPOSE = ['event', 'pathogen', 'disease', 'host']
const STRATA = ['age_group', 'sex', 'population']
const GUARDED = [...NEVER_ADDED, ...ADDED_ON_PURPOSE, ...STRATA]
const PLACE_GROUPS = ['place', 'country_code', 'who_region', 'un_region', 'al1_code', 'admin_l1', 'admin_l2']
const INTERVALS = ['day', 'isoweek', 'epiweek', 'month', 'year']
const COUNTS = ['cases', 'deaths', 'hospitalised', 'recovered', 'tested']
const PATHS: Record<Question['kind'], string> = {
  series: '/series',
  sums: '/sums',
  vintages: '/vintages',
  count: '/outbreaks',
  guard: '/outbreaks',
}
const DAY_MS = 86_400_000
const PLACE_SHARE = 0.2
const isPlace = (value: unknown): value is string => typeof value === 'string' && !isUserAssigned(value)
const isUserAssigned = (code: unknown) => /^X[A-Z]$/.test(String(code))

/** The filters of /series, by the OpenAPI document. */
export async function readFilters({ get }: Published): Promise<Set<string>> {
  const { body } = await get('/../../openapi.json')
  const paths = body['paths'] as Record<string, { get: { parameters: { name: string }[] } }>
  return new Set(paths['/v2/hed-outbreaks/series']?.get.parameters.map(({ name }) => name))
}

/** The request of a question. */
export function toTarget(question: Question): string {
  const { kind, filters, missing, ...options } = question
  const parameters = new URLSearchParams()
  for (const [field, values] of Object.entries(filters))
    for (const value of values) parameters.append(field, String(value))
  for (const field of missing) parameters.append('missing', field)
  for (const [name, value] of Object.entries(options))
    for (const item of [value].flat()) parameters.append(name, String(item))
  if (kind === 'count' || kind === 'guard') parameters.append('num', '1')
  else parameters.append('detail', 'full')
  if (kind === 'count') parameters.append('count', 'exact')
  if (kind === 'guard') parameters.append('strict', 'true')
  return `${PATHS[kind]}?${parameters}`
}

/** Draws questions about the records of a release. */
export function createQuestions(draw: Draw, records: readonly PublishedRecord[], options: QuestionOptions) {
  const valuesOf = (field: string) => [...new Set(records.map((record) => record[field]))]
  const varied = GUARDED.filter((field) => valuesOf(field).length > 1)
  const groups = [...varied, ...PLACE_GROUPS]
  const strata = Object.fromEntries(STRATA.map((field) => [field, known(valuesOf(field))]))
  const series = [...new Map(records.map((record) => [record.series_id, record])).values()]
  const ordinary = known(valuesOf('country_code')).filter((code) => !isUserAssigned(code))
  const days = records
    .flatMap(({ date_low: low, date_high: high }) => [low, high])
    .filter((day) => typeof day === 'string')
    .sort()
  const [firstDay, lastDay] = [Date.parse(days[0] ?? '2020-01-01'), Date.parse(days.at(-1) ?? '2020-12-31')]

  const dayAt = (time: number) => new Date(time).toISOString().slice(0, 10)
  const period = (lastDay - firstDay) / DAY_MS

  /** Days around those of a record, or any days within the period of all records and 20 days outside it. */
  function drawWindow(anchor: PublishedRecord): { date_from?: string; date_to?: string } {
    const shape = draw.below(10)
    if (shape < 4) return {}
    const centre = Date.parse(String(anchor['date_high'] ?? anchor['date_low'] ?? days[0]))
    const span = draw.pick([2, 10, 40, 400])
    const drawDay = () =>
      draw.chance(0.85)
        ? dayAt(centre + (draw.below(span) - Math.trunc(span / 2)) * DAY_MS)
        : dayAt(firstDay + (draw.below(period + 41) - 20) * DAY_MS)
    const [first = '', last = ''] = [drawDay(), drawDay()].sort()
    if (shape === 4) return { date_from: first }
    return shape === 5 ? { date_to: last } : { date_from: first, date_to: last }
  }

  /** Restricts a field to the value of a record. */
  function addFilter(question: Question, field: string, value: unknown): void {
    if (value === null && options.filters.has('missing')) question.missing.push(field)
    else if (value !== null && options.filters.has(field)) {
      const other = draw.chance(0.04) ? known(valuesOf(field)) : []
      question.filters[field] = [...new Set([value as Value, ...(other.length > 0 ? [draw.pick(other)] : [])])]
    }
  }

  /** Where a filter for null is missing: names the series that agree with a record in the fields without a filter. */
  function addSeries(question: Question, anchor: PublishedRecord): void {
    const unfiltered = varied.filter((field) => !(field in question.filters) && !question.missing.includes(field))
    if (unfiltered.length === 0 || draw.chance(0.1)) return
    const agreeing = draw.shuffle(series).filter((record) => varied.every((field) => record[field] === anchor[field]))
    question.filters['series_id'] = agreeing.slice(0, 50).map(({ series_id }) => series_id)
  }

  function addPlace(question: Question, anchor: PublishedRecord): void {
    const { who_region, un_region, country_code, al1_code } = anchor
    const [country, wider] = [
      [country_code, country_code, al1_code],
      ['world', who_region, un_region],
    ]
    const places = [...country, ...(options.byCountry ? [] : wider)]
    const named = places.filter(isPlace)
    if (named.length === 0) return
    question.place = draw.pick(named)
    for (const field of ['location_granularity', 'country_code', 'al1_code']) delete question.filters[field]
  }

  function addGroups(question: Question): void {
    const wanted = question.kind === 'sums' ? draw.pick([0, 1, 1, 2]) : draw.pick([0, 0, 1])
    const chosen = new Set(Array.from({ length: wanted }, () => draw.pick(groups)))
    if (question.kind === 'sums' && draw.chance(0.25)) chosen.add(draw.pick(INTERVALS))
    if (chosen.size === 0) return
    question.group_by = [...chosen].slice(-2)
    for (const field of question.group_by) {
      if (field === 'country_code' && options.byCountry) continue
      if (draw.chance(0.3)) continue
      delete question.filters[field]
      question.missing = question.missing.filter((name) => name !== field)
    }
  }

  function addAcross(question: Question): void {
    for (const field of [...ADDED_ON_PURPOSE, ...STRATA].filter((name) => varied.includes(name))) {
      if (!draw.chance(0.12) || question.group_by?.includes(field)) continue
      question.across = [...(question.across ?? []), field]
      delete question.filters[field]
      question.missing = question.missing.filter((name) => name !== field)
      const values = strata[field]
      if (values !== undefined && draw.chance(0.8) && options.filters.has(field)) question.filters[field] = values
    }
  }

  return function drawQuestion(): Question {
    const anchor = draw.pick(records)
    const kinds: Question['kind'][] = ['series', 'series', 'series', 'sums', 'sums', 'sums', 'sums', 'count', 'guard']
    const kind = draw.pick<Question['kind']>(options.releases > 1 ? [...kinds, 'vintages'] : kinds)
    const question: Question = { kind, filters: {}, missing: [] }
    const careful = draw.chance(0.65)
    for (const field of varied) if (draw.chance(careful ? 0.985 : 0.45)) addFilter(question, field, anchor[field])
    if (careful) addSeries(question, anchor)
    const isContainer = isUserAssigned(anchor['country_code'])
    if (options.byCountry || isContainer || draw.chance(0.4))
      addFilter(question, 'country_code', anchor['country_code'])
    else if (careful && ordinary.length <= 50) question.filters['country_code'] = ordinary
    if (draw.chance(0.15) && anchor['al1_code'] !== null) addFilter(question, 'al1_code', anchor['al1_code'])
    Object.assign(question, drawWindow(anchor))
    if (kind === 'count') return question
    if (kind === 'guard') {
      delete question.date_from
      delete question.date_to
      return question
    }
    if (kind !== 'sums') question.interval = draw.pick(INTERVALS)
    if (kind === 'vintages') question.count = draw.pick(COUNTS.slice(0, 2))
    else addGroups(question)
    addAcross(question)
    if (kind !== 'vintages' && draw.chance(PLACE_SHARE)) addPlace(question, anchor)
    if (kind !== 'vintages' && draw.chance(0.3)) question.explain = true
    return question
  }
}

/** Draws questions about single events and diseases, in which counts were made in several ways. */
export function createMixedQuestions(draw: Draw, records: readonly PublishedRecord[], releases: number) {
  const ordinary = records.filter((record) => !isUserAssigned(record['country_code']))
  const subject = (record: PublishedRecord): Record<string, Value[]> => {
    const { event, disease } = record
    if (draw.chance(0.45)) return { event: [String(event)] }
    const other = draw.chance(0.1) ? [String(draw.pick(records)['disease'])] : []
    return { disease: [...new Set([String(disease), ...other])] }
  }
  const day = (record: PublishedRecord) => String(record['date_high'] ?? record['date_low'] ?? '2020-06-01')

  return function drawQuestion(): Question {
    const anchor = draw.pick(records)
    const kinds: Question['kind'][] = ['sums', 'sums', 'series', 'series']
    const kind = draw.pick<Question['kind']>(releases > 1 ? [...kinds, 'vintages'] : kinds)
    const question: Question = { kind, filters: subject(anchor), missing: [] }
    for (const field of ['location_granularity', 'case_status', 'count_kind', 'source_name', 'country_code'])
      if (draw.chance(0.05)) question.filters[field] = [String(anchor[field])]
    if (draw.chance(0.3)) question.missing = draw.chance(0.5) ? STRATA : [draw.pick(STRATA)]
    if (draw.chance(0.15)) question.date_from = day(anchor)
    if (draw.chance(0.15)) question.date_to = [day(anchor), question.date_from ?? ''].sort().at(-1) ?? ''
    if (kind === 'vintages') question.count = draw.pick(['cases', 'cases', 'deaths'])
    else if (draw.chance(0.4)) {
      const groups = [...GUARDED, ...PLACE_GROUPS, 'event', 'disease', 'event', 'country_code', 'country_code']
      question.group_by = [draw.pick(kind === 'sums' ? [...groups, 'month', 'month', 'year', 'year'] : groups)]
    }
    if (kind !== 'sums') question.interval = draw.pick(['day', 'month', 'month', 'year'])
    else if (draw.chance(0.3)) question.sort = draw.pick(['-total_deaths', '-total_cases', '-new_deaths'])
    const across = [...ADDED_ON_PURPOSE, 'event', ...STRATA].filter((field) => !question.group_by?.includes(field))
    if (draw.chance(0.12)) question.across = [draw.pick(across)]
    if (kind !== 'vintages' && draw.chance(0.12)) {
      question.place = draw.pick(['world', String(draw.pick(ordinary)['country_code'])])
      for (const field of ['location_granularity', 'country_code']) delete question.filters[field]
    }
    return question
  }
}

const known = (values: readonly unknown[]): Value[] =>
  values.filter((value): value is Value => typeof value === 'string' || typeof value === 'boolean')
