// How many of the matching records have each value of a field.
import { Type } from 'typebox'
import type { Dataset } from '../../datasets/define.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { rankValues } from '../filters/facets.ts'
import { hasField } from '../filters/fields.ts'
import { type Filters, normaliseFilters, readFilters, relaxFilters } from '../filters/filters.ts'
import { toFilterQuery } from '../filters/records-request.ts'
import { type FacetResult, readFacets } from '../filters/run-filter-queries.ts'
import { createReleaseResolver } from '../paging/release-resolver.ts'
import { createResponder } from '../response/responder.ts'
import { errorResponses, okResponse } from '../response/response-schemas.ts'
import { DEFAULT_NUM, facetsQuery } from './parameters.ts'
import type { ResourceOptions } from './resource-options.ts'

export function registerFacetRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, database } = routes
  const releases = createReleaseResolver(routes)
  const answer = createResponder(routes)

  app.get<{ Querystring: { release?: string; num?: number; [filter: string]: unknown } }>(
    `/v2/${dataset.name}/facets`,
    {
      schema: {
        tags: ['Data'],
        summary: 'Count the values of fields',
        description:
          'How many of the records that fit have which value, those with the most records first. For each field its own filter is left aside, so that the other choices are seen.',
        querystring: facetsQuery(dataset),
        response: { 200: okResponse(facetsSchema(dataset), 'The values of each field.'), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { num = DEFAULT_NUM } = request.query
      const filters = readFilters(dataset, request.query)
      const release = await releases.named('release', request.query.release)
      const read = (relaxed: Filters, fields: readonly string[]) =>
        readFacets(database, toFilterQuery(dataset, releases.list(), relaxed, release), fields)
      return answer(request, reply, {
        release,
        variant: `num=${num} ${normaliseFilters(filters)}`,
        async render() {
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
}

function shapeFacet(dataset: Dataset, name: string, answer: FacetResult | undefined, num: number) {
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
