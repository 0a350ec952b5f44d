// Looking before asking: what events there are, which values records have, and what a record is.
import { Type } from 'typebox'
import { type Dataset, recordSchema } from '../datasets/define.ts'
import type { HttpServer } from '../platform/http-server.ts'
import { createAnswerer, readyParts } from './answer.ts'
import { askOf } from './asking.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { answered, createReleaseResolver, envelopeOf, type QueryRoutes, refusals } from './endpoint.ts'
import { rankValues } from './facets.ts'
import { hasField } from './fields.ts'
import { type Filters, normaliseFilters, readFilters, relaxFilters } from './filters.ts'
import { DEFAULT_NUM, eventsQuery, facetsQuery, releaseQuery } from './parameters.ts'
import { type FacetAnswer, readEvents, readFacets } from './run-filters.ts'
import { shapeEnvelope } from './shape.ts'

export function registerEventRoutes(app: HttpServer, routes: QueryRoutes): void {
  const { dataset, database, baseUrl } = routes
  const home = `/v2/${dataset.name}`
  const releases = createReleaseResolver(routes)
  const answer = createAnswerer(routes)

  if (dataset.summarisesEvents) registerEvents(app, routes)

  app.get<{ Querystring: { release?: string; num?: number; [filter: string]: unknown } }>(
    `${home}/facets`,
    {
      schema: {
        tags: ['Data'],
        summary: 'Count the values of fields',
        description:
          'How many of the records that fit have which value, those with the most records first. For each field its own filter is left aside, so that the other choices are seen.',
        querystring: facetsQuery(dataset),
        response: { 200: answered(facetsSchema(dataset), 'The values of each field.'), ...refusals },
      },
    },
    async (request, reply) => {
      const { num = DEFAULT_NUM } = request.query
      const filters = readFilters(dataset, request.query)
      const release = await releases.named('release', request.query.release)
      const read = (relaxed: Filters, fields: readonly string[]) =>
        readFacets(database, askOf(dataset, releases.list(), relaxed, release), fields)
      return answer(request, reply, {
        release,
        variant: `num=${num} ${normaliseFilters(filters)}`,
        async make() {
          const facets = dataset.facets.filter((name) => hasField(release, name))
          const free = facets.filter((name) => !filters.values.has(name))
          const answers = new Map(await read(filters, free))
          for (const name of facets.filter((bound) => filters.values.has(bound))) {
            const own = (await read(relaxFilters(filters, name), [name])).get(name)
            if (own !== undefined) answers.set(name, own)
          }
          const shaped = facets.map((name) => [name, shapeFacet(dataset, name, answers.get(name), num)])
          return [JSON.stringify(Object.fromEntries(shaped))]
        },
      })
    },
  )

  app.get(
    `${home}/schema`,
    {
      schema: {
        tags: ['Data'],
        summary: 'Read what a record is',
        description: 'The JSON Schema (2020-12) of a record of the release.',
        querystring: releaseQuery,
        response: { 200: answered(Type.Object({}, { additionalProperties: true }), 'A JSON Schema.'), ...refusals },
      },
    },
    async (request, reply) => {
      const release = await releases.named('release', request.query.release)
      const head = {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $id: `${baseUrl}${home}/schema?release=${release.number}`,
        title: dataset.recordName,
      }
      const schema = JSON.stringify({ ...recordSchema({ ...dataset, fields: release.contract.fields }), ...head })
      return answer(request, reply, { release, ...readyParts([schema]) })
    },
  )
}

function registerEvents(app: HttpServer, routes: QueryRoutes): void {
  const { dataset, database, cursorKey } = routes
  const home = `/v2/${dataset.name}`
  const releases = createReleaseResolver(routes)
  const answer = createAnswerer(routes)
  app.get<{ Querystring: { release?: string; page?: string; num?: number } }>(
    `${home}/events`,
    {
      schema: {
        tags: ['Data'],
        summary: 'List events',
        description:
          'What there is to know of each event before its records are asked for, sorted by name. Counts are never added up over levels of place, statuses or sources, nor cumulative ones to new ones.',
        querystring: eventsQuery,
        response: { 200: envelopeOf(eventSchema, 'Events'), ...refusals },
      },
    },
    async (request, reply) => {
      const { page, num = DEFAULT_NUM } = request.query
      const walk = `${home}/events`
      const cursor = page === undefined ? undefined : readCursor(cursorKey, walk, page)
      const release = await releases.walked('release', request.query.release, cursor?.release)
      const { number } = release
      // A release does not change, so that a place in the order of its names is one for ever.
      const place = cursor?.fromId ?? 0
      return answer(request, reply, {
        release,
        pinned: { release: number },
        variant: `from=${place}&num=${num}`,
        async make() {
          const bodies = await readEvents(database, dataset, { release: number, skip: place, limit: num + 1 })
          const behind = bodies.length <= num ? null : { release: number, fromId: place + num }
          return shapeEnvelope(bodies.slice(0, num), behind && writeCursor(cursorKey, walk, behind))
        },
      })
    },
  )
}

function shapeFacet(dataset: Dataset, name: string, answer: FacetAnswer | undefined, num: number) {
  const isBoolean = dataset.fields.find((field) => field.name === name)?.kind === 'boolean'
  const { values = [], exact = true } = answer ?? {}
  const ranked = rankValues(values).slice(0, num)
  return {
    values: ranked.map(({ value, records }) => ({ value: isBoolean ? value === 'true' : value, records })),
    distinct: values.length,
    exact,
  }
}

const facetsSchema = (dataset: Dataset) =>
  Type.Object(
    Object.fromEntries(
      dataset.facets.map((name) => [
        name,
        Type.Object({
          values: Type.Array(
            Type.Object({
              value: Type.Union([Type.String(), Type.Boolean()]),
              records: Type.Integer({ minimum: 1, description: 'Records that fit and have the value.' }),
            }),
          ),
          distinct: Type.Integer({ minimum: 0, description: 'How many values there are, listed or not.' }),
          exact: Type.Boolean({
            description: 'False where too many records fit to look at them all: each number may be larger.',
          }),
        }),
      ]),
    ),
  )

const count = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description })
const day = (description: string) => Type.Union([Type.String({ format: 'date' }), Type.Null()], { description })
const eventSchema = Type.Object({
  event: Type.String(),
  records: Type.Integer({ minimum: 1 }),
  pathogens: Type.Array(Type.String()),
  country_codes: Type.Array(Type.String()),
  sources: Type.Array(Type.String()),
  first_day: day('First day that a record covers.'),
  last_day: day('Last day that a record covers.'),
  last_release: Type.Integer({ minimum: 1, description: 'Release of the last addition or change to its records.' }),
  counts: Type.Array(
    Type.Object({
      location_granularity: Type.String(),
      case_status: Type.String(),
      largest_cumulative_cases: count('The largest cumulative count that any record of this level and status has.'),
      largest_cumulative_deaths: count('The same for deaths.'),
      new_cases: count('The new counts of one source added up: of the source that gives the most.'),
      new_deaths: count('The same for deaths.'),
    }),
    { description: 'By level of place and by status.' },
  ),
})
