// How many of the matching records have each value of a field.
import { Type } from 'typebox'
import type { Dataset } from '../../datasets/define.ts'
import { encodeTable } from '../../formats/table.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { type FacetValue, rankValues } from '../filters/facets.ts'
import { hasField } from '../filters/fields.ts'
import { type Filters, omitFilter } from '../filters/filters.ts'
import { readFacets } from '../filters/run-filter-queries.ts'
import { DEFAULT_NUM, facetsQuery } from '../requests/parameters.ts'
import { prepareQuery, type QueryParameters } from '../requests/prepare-query.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { errorResponses, okResponse, withFiles } from '../response/response-schemas.ts'
import { chooseFormat, TABLE_TYPES } from '../response/table-response.ts'
import { warningHeader } from '../search/warnings.ts'

export function registerFacetRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, respond } = routes

  app.get<{ Querystring: QueryParameters & { num?: number } }>(
    `/v2/${dataset.name}/facets`,
    {
      schema: {
        tags: ['Data'],
        operationId: 'getFacets',
        summary: 'Count records by field value',
        description:
          'The number of matching records for each value of a field, in descending order. The counts of a field ignore the filter on the field itself, so that they show its other values too. As `text/csv`: a line for each value.',
        querystring: facetsQuery(dataset),
        response: {
          200: withFiles(okResponse(facetsSchema(dataset), 'The values of each field.'), TABLE_TYPES),
          ...errorResponses,
        },
      },
    },
    async (request, reply) => {
      const { num = DEFAULT_NUM } = request.query
      const query = await prepareQuery(routes, request.query)
      const { release, filters, isImmutable } = query
      reply.headers(warningHeader(query.warnings))
      const countValues = (applied: Filters, fields: readonly string[]) =>
        readFacets(routes, { ...query, filters: applied }, fields)
      const { isTable, columns, format } = chooseFormat(request, dataset.name, release, 'facets')
      return respond(request, reply, {
        release,
        isImmutable,
        ...format,
        variant: [num, columns, query.canonicalFilters].join(' '),
        async render() {
          const facets = dataset.facets.filter((name) => hasField(release, name))
          const unfiltered = facets.filter((name) => !filters.values.has(name))
          const results = new Map(await countValues(filters, unfiltered))
          for (const name of facets.filter((facet) => filters.values.has(facet))) {
            const result = (await countValues(omitFilter(filters, name), [name])).get(name)
            if (result !== undefined) results.set(name, result)
          }
          const formatted = facets.map((name) => ({
            name,
            ...formatFacet(dataset, name, results.get(name) ?? [], num),
          }))
          if (isTable) return [encodeTable(formatted.flatMap(toRows), TABLE_COLUMNS, columns)]
          return [JSON.stringify(Object.fromEntries(formatted.map(({ name, ...facet }) => [name, facet])))]
        },
      })
    },
  )
}

function formatFacet(dataset: Dataset, name: string, values: readonly FacetValue[], num: number) {
  const isBoolean = dataset.fields.find((field) => field.name === name)?.kind === 'boolean'
  const ranked = rankValues(values).slice(0, num)
  return {
    values: ranked.map(({ value, records }) => ({ value: isBoolean ? value === 'true' : value, records })),
    distinct: values.length,
  }
}

const TABLE_COLUMNS = ['field', 'value', 'records', 'distinct']
const toRows = ({ name, values, ...facet }: ReturnType<typeof formatFacet> & { name: string }) =>
  values.map((value) => ({ field: name, ...value, ...facet }))

const facetsSchema = (dataset: Dataset) =>
  Type.Object(
    Object.fromEntries(
      dataset.facets.map((name) => [
        name,
        Type.Object({
          values: Type.Array(
            Type.Object({
              value: Type.Union([Type.String(), Type.Boolean()]),
              records: Type.Integer({ minimum: 1, description: 'The number of matching records with the value.' }),
            }),
          ),
          distinct: Type.Integer({ minimum: 0, description: 'The number of distinct values, listed or not.' }),
        }),
      ]),
    ),
  )
