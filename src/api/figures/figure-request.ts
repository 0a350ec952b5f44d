// Parses the part of a request for figures that /series, /sums and /vintages have in common: the filters of whole series,
// the days, the groups, the fields to add across, and a place to cover. Pure.
import { type TSchema, Type } from 'typebox'
import { parseDay } from '../../methods/calendar.ts'
import type { Window } from '../../methods/figures.ts'
import { commonFields, type SeriesDataset } from '../../methods/record-series.ts'
import { Problem } from '../../platform/problem.ts'
import { type Filters, filterParameters, missingParameter, parseFilters, serialiseFilters } from '../filters/filters.ts'

export interface FigureQuery {
  readonly group_by?: readonly string[]
  readonly across?: readonly string[]
  readonly place?: string
  readonly explain?: boolean
  readonly strict?: boolean
  readonly side_by_side?: boolean
  readonly count?: string
  readonly counts?: readonly string[]
  readonly detail?: 'short' | 'full'
  readonly sort?: string
  readonly q?: string
  readonly [filter: string]: unknown
}

export interface FigureRequest {
  /** The filters without the days: the reports before the first day are needed too. */
  readonly filters: Filters
  /** The filters with the days, as they were asked for. */
  readonly asked: Filters
  readonly window: Window
  readonly groupBy: readonly string[]
  readonly across: readonly string[]
  /** The place to cover; null to add up the places of one level. */
  readonly place: string | null
  readonly explain: boolean
  /** True to reject counts that were counted in several ways, instead of choosing one. */
  readonly strict: boolean
  /** The count that matters most: sets without it are not chosen. */
  readonly count: string
  /** True to return every way of counting. */
  readonly sideBySide: boolean
  /** The path and the query as they were sent, for links to other responses. */
  readonly url: string
  /** True if the ways of counting were chosen: the rows of a group differ in them only from event to event. */
  readonly isChosen: boolean
  /** Everything above as text. */
  readonly variant: string
}

/** The fields by which figures can be grouped, besides periods. */
export function groupFields(dataset: SeriesDataset): string[] {
  const names = commonFields(dataset).filter((name) => name !== dataset.series.id)
  return dataset.series.place === undefined ? names : ['place', ...names]
}

/** The fields that can be added across on request. */
export const acrossFields = ({ series: { comparison } }: SeriesDataset): string[] => [
  ...comparison.addable,
  ...comparison.parts,
]

/** The numbers by which rows can be sorted: `new_cases`, or `-new_cases` for the largest first. */
export const sortKeys = ({ series }: SeriesDataset): string[] =>
  ['total', 'new', 'cumulative', 'point'].flatMap((member) =>
    series.counts.flatMap((count) => [`${member}_${count}`, `-${member}_${count}`]),
  )

export function parseFigureRequest(dataset: SeriesDataset, query: FigureQuery, url = ''): FigureRequest {
  const {
    group_by: groupBy = [],
    across = [],
    place = null,
    explain = false,
    strict = false,
    side_by_side: sideBySide = false,
  } = query
  const count =
    query.count ??
    dataset.series.counts.find((name) => query.sort?.endsWith(`_${name}`)) ??
    query.counts?.[0] ??
    dataset.series.counts[0] ??
    ''
  const requested = parseFilters(dataset, query)
  const days = requested.days.get(dayFilter(dataset)) ?? { from: null, to: null }
  const restricted = place === null ? requested : restrictToPlace(dataset, requested, place)
  const sameInBoth = groupBy.find((name) => across.includes(name))
  if (sameInBoth !== undefined)
    throw new Problem('invalid_parameter', `${sameInBoth} is in both group_by and across. Remove it from one.`, {
      parameter: 'across',
    })
  if (sideBySide && groupBy.length > 0)
    throw new Problem('invalid_parameter', 'side_by_side and group_by cannot be used together. Remove one.', {
      parameter: 'side_by_side',
    })
  return {
    filters: { ...restricted, days: new Map() },
    asked: restricted,
    window: {
      from: days.from === null ? Number.NEGATIVE_INFINITY : parseDay(days.from),
      to: days.to === null ? Number.POSITIVE_INFINITY : parseDay(days.to),
    },
    groupBy,
    across: across.toSorted(),
    place,
    explain,
    strict,
    count,
    sideBySide,
    url: sortQuery(url),
    isChosen: false,
    // The response has links, so requests that say the same in other words have their own responses.
    variant: [serialiseFilters(requested), groupBy, across.toSorted(), place, explain, count, sortQuery(url)].join(' '),
  }
}

/** Two requests for the same have the same response, regardless of the order of their parameters. */
function sortQuery(url: string): string {
  const [path = '', query = ''] = url.split('?')
  const parameters = new URLSearchParams(query)
  parameters.sort()
  return `${path}?${parameters.toString()}`
}

/** The filter on the days that counts cover. */
const dayFilter = ({ periods, series }: SeriesDataset) =>
  periods.find(({ last }) => last === series.day)?.name ?? series.day

/**
 * The filters of figures. A filter on a field in which the records of a series differ could take single reports out of a
 * series, and differences would be wrong; so there is none.
 */
export function figureFilters(dataset: SeriesDataset): Record<string, TSchema> {
  const { series, content, example } = dataset
  const common = [...commonFields(dataset), series.id]
  const day = dayFilter(dataset)
  const allowed = new Set([...common, `${day}_from`, `${day}_to`])
  const filters = Object.entries(filterParameters(dataset)).filter(([name]) => allowed.has(name))
  const nullable = content.filter((field) => field.nullable && common.includes(field.name)).map(({ name }) => name)
  const event = example?.['event']
  return {
    ...Object.fromEntries(
      filters.map(([name, schema]) => [
        name,
        name === 'event' && event ? Type.Optional({ ...schema, examples: [[event]] }) : schema,
      ]),
    ),
    ...(nullable.length === 0 ? {} : { missing: missingParameter(nullable) }),
  }
}

/** Adds the filter that selects a place and everything in it. */
function restrictToPlace({ series }: SeriesDataset, filters: Filters, place: string): Filters {
  const filter = series.place?.findFilter(place) ?? null
  if (filter === null)
    throw new Problem(
      'invalid_parameter',
      'place must be world, a WHO region such as AFR, a UN region such as Western Africa, a country code such as US, or an ISO 3166-2 code such as US-CO. To ask for a place by its name, use q instead.',
      { parameter: 'place' },
    )
  const repeated = series.place?.filters.find((name) => filters.values.has(name))
  if (repeated !== undefined)
    throw new Problem('invalid_parameter', `place and ${repeated} cannot be used together. Remove one.`, {
      parameter: 'place',
    })
  return {
    ...filters,
    values: new Map([...filters.values, ...[...filter.values].map(([name, value]) => [name, [value]] as const)]),
  }
}
