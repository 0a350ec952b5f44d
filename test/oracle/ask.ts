// Asks the service for figures, for tests that know the numbers.
import assert from 'node:assert/strict'
import type { Published } from './published.ts'

export type Counts = Record<'cases' | 'deaths' | 'hospitalised' | 'recovered' | 'tested', number | null>

export interface Figure {
  period: string
  group: Record<string, unknown>
  first_day: string
  last_day: string
  records: number
  /** Only in /sums. */
  total: Counts
  new: Counts
  cumulative: Counts
  point: Counts
  completeness: Record<string, { places_known: number; places_reporting: number; share: number | null }>
  derived: boolean
  revision: boolean
  base_unknown: boolean
  includes_earlier_days: boolean
  overlapping: boolean
  inexact: boolean
  interim: boolean
  in_span: boolean
  explain?: { id: number; rules: Record<string, string>; new: Counts }[]
}

interface Span {
  group: Record<string, unknown>
  first_day: string
  last_day: string
  new: Counts
}

export interface FiguresAnswer {
  chosen: Record<string, unknown>[]
  left_out: { because: string; reason: string }[]
  undated: number
  undated_counts: Counts
  spans: Span[]
  beside: Figure[] | null
  points: Figure[]
  data: Figure[]
  groups: { group: Record<string, unknown>; points: Figure[] }[]
  range: { period: string; new: Record<string, unknown>; cumulative: Record<string, unknown> }[]
}

type Parameters = Record<string, string | readonly string[]>

const toQuery = (parameters: Parameters) => {
  const query = new URLSearchParams()
  for (const [name, values] of Object.entries(parameters))
    for (const value of [values].flat()) query.append(name, value)
  return query
}

/** The answer of /series, /sums or another resource that has figures. */
export async function ask({ get }: Published, resource: string, parameters: Parameters): Promise<FiguresAnswer> {
  const { status, body } = await get(`/${resource}?${toQuery({ ...parameters, detail: 'full' })}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body as unknown as FiguresAnswer
}

/** The points of /series by period. */
export async function askPoints(published: Published, interval: string, parameters: Parameters) {
  const { points } = await ask(published, 'series', { interval, ...parameters })
  return Object.fromEntries(points.map((point) => [point.period, point]))
}

/** The only row of /sums. */
export async function askSum(published: Published, parameters: Parameters): Promise<Figure> {
  const { data } = await ask(published, 'sums', parameters)
  assert.equal(data.length, 1)
  return data[0] as Figure
}

/** Asserts that a request is rejected because these fields are mixed. */
export async function assertRefused(
  published: Published,
  resource: string,
  parameters: Parameters,
  ...fields: string[]
) {
  const { status, body } = await published.get(`/${resource}?${toQuery(parameters)}`)
  assert.deepEqual([status, body['code']], [400, 'not_comparable'], JSON.stringify(body))
  const mixed = (body['mixed'] as { field: string }[]).map(({ field }) => field)
  for (const field of fields) assert.ok(mixed.includes(field), `${field} is not among ${mixed.join()}`)
}

/** The figures of an event. */
export async function askEvent({ get }: Published, event: string): Promise<(Figure & Record<string, unknown>)[]> {
  let page = ''
  do {
    const { status, body } = await get(`/events?num=1000${page === '' ? '' : `&page=${page}`}`)
    assert.equal(status, 200, JSON.stringify(body))
    const events = body['data'] as { event: string; figures: (Figure & Record<string, unknown>)[] }[]
    const found = events.find((item) => item.event === event)
    if (found !== undefined) return found.figures
    page = (body['next_page'] as string | null) ?? ''
  } while (page !== '')
  throw new Error(`no event ${event}`)
}
