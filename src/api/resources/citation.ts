// The citation of a query: its permanent URL, the licence and the sources.

import { Type } from 'typebox'
import { SOURCE_FIELD } from '../../datasets/define.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { describeFilters } from '../filters/describe-filters.ts'
import { type FacetValue, rankValues } from '../filters/facets.ts'
import { serialiseFilters } from '../filters/filters.ts'
import { type FilterQuery, readFacets } from '../filters/run-filter-queries.ts'
import { citationQuery } from '../requests/parameters.ts'
import { prepareQuery, type QueryParameters } from '../requests/prepare-query.ts'
import type { DatasetOptions, ResourceOptions } from '../requests/resource-options.ts'
import { understandQuery } from '../requests/understand-query.ts'
import {
  type CITATION_FORMATS,
  type Citation,
  citeAsBibtex,
  citeAsCsl,
  citeAsText,
} from '../response/citation-formats.ts'
import { cacheHeader, prerendered, releaseHeader } from '../response/responder.ts'
import { errorResponses, okResponse, withFiles } from '../response/response-schemas.ts'
import { warningHeader } from '../search/warnings.ts'

/** A record can have a licence of its own. */
const LICENCE_FIELD = 'licence'

/** More sources are only counted. */
const MAX_SOURCES = 50

type Format = (typeof CITATION_FORMATS)[number]
const FILES = {
  text: { type: 'text/plain; charset=utf-8', name: 'citation.txt', write: citeAsText },
  bibtex: { type: 'application/x-bibtex; charset=utf-8', name: 'citation.bib', write: citeAsBibtex },
  'csl-json': {
    type: 'application/vnd.citationstyles.csl+json; charset=utf-8',
    name: 'citation.json',
    write: (citation: Citation) => JSON.stringify([citeAsCsl(citation)]),
  },
}

export function registerCitationRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, respond } = routes

  app.get<{ Querystring: QueryParameters & { format?: Format; q?: string } }>(
    `/v2/${dataset.name}/citation`,
    {
      schema: {
        tags: ['Data'],
        operationId: 'getCitation',
        summary: 'Cite a query',
        description:
          'The citation of the matching records: a permanent URL that always returns the same bytes, the licence, and the sources with their numbers of records. `format` returns one citation format as a file for a reference manager.',
        querystring: citationQuery(dataset),
        response: {
          200: withFiles(
            okResponse(
              Type.Object({
                url: Type.String({ format: 'uri', description: 'The canonical query, pinned to one release.' }),
                title: Type.String({
                  description: 'The query in words; without filters the title of the release.',
                }),
                licence: Type.String({
                  description:
                    'The licences of the matching records: their own and, where one has none, that of the release.',
                }),
                release: Type.Integer({ minimum: 1 }),
                published_at: Type.String({ format: 'date-time' }),
                as_of: Type.String({ format: 'date', description: 'The day up to which the data is known.' }),
                digest: Type.String({ description: 'SHA-256 of the release.' }),
                sources: Type.Array(
                  Type.Object({ [SOURCE_FIELD]: Type.String(), records: Type.Integer({ minimum: 1 }) }),
                  {
                    description: 'The sources with the most records.',
                  },
                ),
                more_sources: Type.Integer({ minimum: 0, description: 'The number of sources that are not listed.' }),
                text: Type.String(),
                bibtex: Type.String(),
                csl_json: Type.Object({}, { additionalProperties: true }),
              }),
              'The citation.',
            ),
            Object.values(FILES).map(({ type }) => type.replace(/;.*/, '')),
          ),
          ...errorResponses,
        },
      },
    },
    async (request, reply) => {
      const { format = 'json' } = request.query
      const { query: understood, warnings } = await understandQuery(routes, request.query)
      const query = await prepareQuery(routes, understood)
      const { release } = query
      // A later version may read more in the words of `q`.
      const isImmutable = request.query.q === undefined && query.isImmutable
      reply.headers(warningHeader([...warnings, ...query.warnings]))
      const citation = await readCitation(routes, query)
      if (format === 'json') {
        return respond(request, reply, { release, isImmutable, ...prerendered([serialiseCitation(citation)]) })
      }
      const { type, name, write } = FILES[format]
      reply.headers({
        ...releaseHeader(release),
        ...cacheHeader(isImmutable),
        'content-disposition': `attachment; filename="${name}"`,
      })
      return reply.type(type).send(write(citation))
    },
  )
}

/** The citation of the records that match, with the sources that have the most of them. */
export async function readCitation(routes: DatasetOptions, filterQuery: FilterQuery): Promise<Citation> {
  const { dataset, baseUrl } = routes
  const { filters, release } = filterQuery
  const hasLicences = dataset.content.some(({ name }) => name === LICENCE_FIELD)
  const facets = await readFacets(routes, filterQuery, [SOURCE_FIELD, ...(hasLicences ? [LICENCE_FIELD] : [])])
  const sources = rankValues(facets.get(SOURCE_FIELD) ?? [])
  const query = new URLSearchParams(serialiseFilters(filters))
  query.append('release', String(release.number))
  return {
    ...release,
    url: `${baseUrl}/v2/${dataset.name}/${dataset.resource}?${query.toString()}`,
    title: describeFilters(dataset, filters) ?? release.title,
    licence: joinLicences(release.licence, facets.get(LICENCE_FIELD) ?? [], sources),
    dataset: dataset.title,
    release: release.number,
    sources: sources.slice(0, MAX_SOURCES),
    moreSources: Math.max(0, sources.length - MAX_SOURCES),
  }
}

/** As an SPDX expression. Every record has a source, so fewer licences than sources means that some records have none. */
function joinLicences(ofRelease: string, ofRecords: readonly FacetValue[], sources: readonly FacetValue[]): string {
  const count = (values: readonly FacetValue[]) => values.reduce((sum, { records }) => sum + records, 0)
  const own = rankValues(ofRecords).map(({ value }) => value)
  if (own.length === 0 || count(ofRecords) < count(sources)) own.push(ofRelease)
  // The expression of a release can have the licence of a record already.
  const parts = own.flatMap((one) => (one.includes(' OR ') ? [`(${one})`] : one.split(' AND ')))
  return [...new Set(parts)].join(' AND ')
}

const serialiseCitation = (citation: Citation) =>
  JSON.stringify({
    url: citation.url,
    title: citation.title,
    licence: citation.licence,
    release: citation.release,
    published_at: citation.publishedAt.toISOString(),
    as_of: citation.asOf,
    digest: citation.digest,
    sources: citation.sources.map(({ value, records }) => ({ [SOURCE_FIELD]: value, records })),
    more_sources: citation.moreSources,
    text: citeAsText(citation),
    bibtex: citeAsBibtex(citation),
    csl_json: citeAsCsl(citation),
  })
