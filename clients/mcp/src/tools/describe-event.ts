// `describe_event`: what is known about an event, and which events there are.

import * as z from 'zod'
import type { EventFigure, EventSummary, Facets } from '../../../typescript/src/client.ts'
import type { Access } from '../access.ts'
import type { Draft } from '../envelope.ts'
import { mainFilters, type Query, toQuery, values, withFilters } from '../query.ts'
import { toTable } from '../table.ts'
import { defineTool } from './tool.ts'

const OWN = ['sort', 'limit', 'page', 'values_of']
const DEFAULT_LIMIT = 20
const MAX_LISTED = 12
/** Characters of names in an address. */
const MAX_NAMES = 1400
const LIST = ['event', 'title', 'countries', 'first_day', 'last_day', 'cases', 'deaths', 'counted', 'records']
const FIGURES = [
  'level',
  'case_status',
  'count_kind',
  'source_name',
  'first_day',
  'last_day',
  'cases',
  'deaths',
  'records',
]

const input = withFilters({
  ...mainFilters,
  disease: values.optional(),
  country_code: values.optional(),
  sort: z.enum(['cases', '-cases', 'deaths', '-deaths']).optional(),
  limit: z.int().min(1).max(20).optional(),
  page: z.string().max(500).optional(),
  values_of: z.string().optional().describe('a field: its values and their records'),
})

export const describeEvent = defineTool({
  name: 'describe_event',
  title: 'Describe events',
  description:
    'With `event`: the number to quote, and every other way it was counted. With other filters: the list of matching events.',
  input,
  answer: (given, access) => (given.values_of === undefined ? readEvents(given, access) : readValues(given, access)),
})

interface Page {
  readonly data: readonly EventSummary[]
  readonly next_page: string | null
}

async function readEvents(given: z.output<typeof input>, access: Access): Promise<Draft> {
  const { limit = DEFAULT_LIMIT, sort, page } = given
  const query = toQuery(given, OWN)
  const asked = { ...query, sort, num: limit, page }
  const { body, release, newestRelease, warning } = await access.outbreaks.read<Page>('events', asked, access)
  const [first] = body.data
  const isOne = first !== undefined && body.data.length === 1
  const names = body.data.map(({ event }) => event)
  const isPinnable = names.length > 0 && encodeURIComponent(names.join()).length < MAX_NAMES
  // Words may find more in a later version of the service; names never do.
  const pinned: Query =
    query['q'] === undefined || !isPinnable ? { ...query, sort, num: limit, page } : { event: names, sort, num: limit }
  const noHeadline = body.data.filter(({ headline }) => headline === null).length
  return {
    outcome: first === undefined ? 'none' : 'answer',
    release: release ?? 'latest',
    newestRelease,
    title: isOne ? first.title : `Outbreak events: ${body.data.length} listed`,
    resource: 'events',
    query: pinned,
    page: isOne ? { path: `/events/${encodeURIComponent(first.event)}`, query: {} } : { path: '/events', query },
    method:
      'cases and deaths are the headline of each event: the one figure to quote by the rule for recommended answers. Headlines of several events cannot be added together: ask count.',
    warnings: [
      ...(warning === null ? [] : [warning]),
      ...(noHeadline === 0
        ? []
        : [
            `${noHeadline} of these events have no number to quote: its sources contradict each other. null is not known, and never 0.`,
          ]),
      ...(body.data.some(({ headline }) => headline?.interim)
        ? ['interim: an outbreak went on after its last report, or may have.']
        : []),
      ...(first === undefined ? ['No event matches. That says nothing about cases.'] : []),
    ],
    data: isOne
      ? (shown) => describeOne(first, shown)
      : (shown) => ({ ...toTable(body.data.slice(0, shown).map(toLine), LIST) }),
    rows: isOne ? Math.min(MAX_LISTED * 2, first.figures?.length ?? 0) : body.data.length,
    more: (shown) => {
      if (isOne) {
        const left = (first.figures?.length ?? 0) + (first.more_figures ?? 0) - shown
        return left > 0
          ? { left, call: { tool: 'count', arguments: { event: first.event, side_by_side: true, release } } }
          : null
      }
      if (shown < body.data.length)
        return {
          left: body.data.length - shown,
          call: { tool: 'describe_event', arguments: { ...given, release, limit: Math.max(1, shown) } },
        }
      return body.next_page === null
        ? null
        : { left: 1, call: { tool: 'describe_event', arguments: { ...given, page: body.next_page } } }
    },
  }
}

function toLine({
  event,
  title,
  country_codes: countries,
  first_day,
  last_day,
  headline,
  doubt,
  records,
}: EventSummary) {
  return {
    ...{ event, title, first_day, last_day, records },
    countries: countries.slice(0, 6),
    cases: headline?.cases ?? null,
    deaths: headline?.deaths ?? null,
    counted: headline === null ? `no number to quote: ${doubt}` : headline.words,
  }
}

function describeOne({ figures = [], ...event }: EventSummary, shown: number) {
  const { headline } = event
  return {
    ...toLine({ figures, ...event }),
    pathogens: event.pathogens.slice(0, 5),
    diseases: event.diseases?.slice(0, 5),
    sources: event.sources.slice(0, MAX_LISTED),
    sources_total: event.sources.length,
    last_release: event.last_release,
    ...(headline === null
      ? {}
      : {
          headline_days: `${headline.first_day} to ${headline.last_day}`,
          interim: headline.interim,
          left_out: headline.left_out,
        }),
    figures: toTable(figures.slice(0, shown).map(toFigure), FIGURES),
  }
}

function toFigure(figure: EventFigure) {
  const { first_day, last_day, records, new: added, cumulative } = figure
  return {
    level: figure['location_granularity'],
    ...{ case_status: figure['case_status'], count_kind: figure['count_kind'], source_name: figure['source_name'] },
    ...{ first_day, last_day, records },
    cases: cumulative.cases ?? added.cases,
    deaths: cumulative.deaths ?? added.deaths,
  }
}

/** The values of one field, with the number of their records. */
async function readValues(given: z.output<typeof input>, access: Access): Promise<Draft> {
  const { values_of: field = '', limit: num = 50 } = given
  const query = { ...toQuery(given, OWN), num }
  const { body, release, newestRelease, warning } = await access.outbreaks.read<Facets>('facets', query, access)
  const facet = body[field as keyof Facets]
  const known = Object.keys(body).join(', ')
  const found = facet?.values ?? []
  return {
    outcome: found.length === 0 ? 'none' : 'answer',
    release: release ?? 'latest',
    newestRelease,
    title: `Values of ${field}`,
    resource: 'facets',
    query,
    page: null,
    method: 'The numbers count records, not cases. The filter on the field itself is not applied.',
    warnings: [...(warning === null ? [] : [warning]), ...(facet === undefined ? [`Values exist for ${known}.`] : [])],
    data: (shown) => ({
      field,
      ...toTable(found.slice(0, shown), ['value', 'records']),
      distinct: facet?.distinct ?? 0,
    }),
    rows: found.length,
    more: (shown) => ((facet?.distinct ?? 0) > shown ? { left: (facet?.distinct ?? 0) - shown } : null),
  }
}
