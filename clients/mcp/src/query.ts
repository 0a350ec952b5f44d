// From the arguments of a tool to a query of the service and back, and the addresses of answers. The names of filters are the same
// in both, so every choice of the service is a call.

import * as z from 'zod'
import type { AllParameters } from '../../typescript/src/client.ts'
import type { Access } from './access.ts'

export type Values = string | number | boolean | readonly (string | number)[]
export type Query = Readonly<Record<string, Values | undefined>>

/** The filters of the service, beside those that the schema of the tools describes. */
const FILTERS = [
  ...['q', 'release', 'date_from', 'date_to', 'reported_from', 'reported_to', 'place', 'country', 'across', 'missing'],
  ...['event', 'pathogen', 'disease', 'host', 'country_code', 'country_iso3', 'who_region', 'un_region'],
  ...['location_granularity', 'al1_code', 'admin_l1', 'admin_l2', 'admin_l3', 'locality', 'place_id', 'location_type'],
  ...['date_type', 'case_status', 'count_kind', 'age_group', 'sex', 'population', 'count_qualifier', 'series_id'],
  ...['composite', 'source_name', 'source_type', 'licence', 'verification', 'bbox', 'updated_since_release'],
  ...['cases_min', 'cases_max', 'deaths_min', 'deaths_max'],
] as const satisfies readonly (keyof AllParameters | 'country' | 'country_iso3' | 'place_id' | 'missing')[]
const IS_FILTER = new Set<string>(FILTERS)

export const values = z.union([z.string(), z.array(z.string()).max(50)])

const reference = z.union([z.int(), z.string()])
/** Any other filter of the dictionary. */
const otherFilters = z.union([z.string(), z.number(), z.boolean(), z.array(z.string()).max(50)])

/** The filters that most questions need. */
export const mainFilters = {
  q: z.string().max(200).optional(),
  event: values.optional(),
  release: reference.optional(),
}
/** Those of a number and of its course. */
export const placeFilters = {
  ...mainFilters,
  disease: values.optional(),
  country_code: values.optional(),
  admin_l1: values.optional().describe('state'),
  date_from: z.string().optional().describe('YYYY-MM-DD'),
  date_to: z.string().optional(),
}
/** Those that a count describes; the other tools take them too. */
export const allFilters = {
  ...placeFilters,
  q: mainFilters.q.describe('free words instead of filters: "measles texas 2025"'),
  case_status: values.optional(),
  source_name: values.optional(),
}

/** The arguments of a tool: its own, and every filter by its name. */
export const withFilters = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape).catchall(otherFilters)

/** Of the address of an answer: browsers and the service accept it, and it leaves room for the answer. */
export const MAX_ADDRESS = 2000
export const TOO_LONG = 'The question names so many values that its answer does not fit. Ask about fewer.'

export class InvalidArgument extends Error {}

/** `own` are the arguments that are no filters. */
export function toQuery(given: Readonly<Record<string, unknown>>, own: readonly string[] = []): Query {
  const entries = Object.entries(given).filter(([name, value]) => value !== undefined && !own.includes(name))
  const unknown = entries.find(([name]) => !IS_FILTER.has(name))
  if (unknown !== undefined)
    throw new InvalidArgument(`${unknown[0]} is not an argument. Other filters: ${FILTERS.join(', ')}.`)
  const query = Object.fromEntries(entries) as Query
  if (serialise(query).length > MAX_ADDRESS) throw new InvalidArgument(TOO_LONG)
  return query
}

/** The arguments of a call from a query, as the service writes it in its choices. */
export function toArguments(query: string): Record<string, Values> {
  const parameters = new URLSearchParams(query)
  return Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const all = parameters.getAll(name)
      return [name, all.length === 1 ? (all[0] ?? '') : all]
    }),
  )
}

function serialise(query: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined) search.append(name, String(each))
  search.sort()
  return search.toString()
}

/** Words are replaced by the filters that the service read in them: a later version may read more in them. */
export const replaceWords = (query: Query, understood: { filters: Query } | null | undefined): Query =>
  understood == null || query['q'] === undefined ? query : { ...query, q: undefined, ...understood.filters }

/** The address of an answer, which always has the same bytes: `query` names its releases by number. */
export const addressOf = ({ baseUrl, dataset }: Access, resource: string, query: Query): string => {
  const search = serialise(query)
  return `${baseUrl}/v2/${dataset}/${resource}${search === '' ? '' : `?${search}`}`
}

/** The page of the explorer, with the same filters; null without an explorer. It knows no free words. */
export function explorerPage({ explorerUrl }: Access, page: string, query: Query): string | null {
  if (explorerUrl === null || query['q'] !== undefined) return null
  const search = serialise(query)
  return `${explorerUrl}${page}${search === '' ? '' : `?${search}`}`
}
