// The citation of a question: the address that answers it for ever, the licence, and who is to be named.
import { Type } from 'typebox'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { rankValues } from '../filters/facets.ts'
import { normaliseFilters, readFilters } from '../filters/filters.ts'
import { toFilterQuery } from '../filters/records-request.ts'
import { readFacets } from '../filters/run-filter-queries.ts'
import { createReleaseResolver } from '../paging/release-resolver.ts'
import { createResponder, readyParts, releaseHeader } from '../response/responder.ts'
import { errorResponses, okResponse } from '../response/response-schemas.ts'
import { type CITATION_FORMATS, type Cited, citeAsBibtex, citeAsCsl, citeAsText } from './citation-formats.ts'
import { citationQuery } from './parameters.ts'
import type { ResourceOptions } from './resource-options.ts'

/** So many sources are named; the others are counted. */
const MOST_SOURCES = 50
const SOURCE = 'source_name'

type Format = (typeof CITATION_FORMATS)[number]
const FILES = {
  text: { type: 'text/plain; charset=utf-8', name: 'citation.txt', write: citeAsText },
  bibtex: { type: 'application/x-bibtex; charset=utf-8', name: 'citation.bib', write: citeAsBibtex },
  'csl-json': {
    type: 'application/vnd.citationstyles.csl+json; charset=utf-8',
    name: 'citation.json',
    write: (cited: Cited) => JSON.stringify([citeAsCsl(cited)]),
  },
}

export function registerCitationRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, database, baseUrl } = routes
  const releases = createReleaseResolver(routes)
  const answer = createResponder(routes)

  app.get<{ Querystring: { release?: string; format?: Format; [filter: string]: unknown } }>(
    `/v2/${dataset.name}/citation`,
    {
      schema: {
        tags: ['Data'],
        summary: 'Cite a question',
        description:
          'How to cite the records that fit: an address that answers the same bytes for ever, the licence, and the sources with their numbers of records. `format` gives one form as a file for a reference manager.',
        querystring: citationQuery(dataset),
        response: {
          200: okResponse(
            Type.Object({
              url: Type.String({ format: 'uri', description: 'The question, in one spelling and in one release.' }),
              title: Type.String(),
              licence: Type.String(),
              release: Type.Integer({ minimum: 1 }),
              published_at: Type.String({ format: 'date-time' }),
              digest: Type.String({ description: 'SHA-256 of the release.' }),
              sources: Type.Array(Type.Object({ source_name: Type.String(), records: Type.Integer({ minimum: 1 }) }), {
                description: 'Those with the most records.',
              }),
              more_sources: Type.Integer({ minimum: 0, description: 'How many sources are not listed.' }),
              exact: Type.Boolean({
                description: 'False where too many records fit to look at them all: the sources are those of some.',
              }),
              text: Type.String(),
              bibtex: Type.String(),
              csl_json: Type.Object({}, { additionalProperties: true }),
            }),
            'The citation.',
          ),
          ...errorResponses,
        },
      },
    },
    async (request, reply) => {
      const { format = 'json' } = request.query
      const filters = readFilters(dataset, request.query)
      const release = await releases.named('release', request.query.release)
      const question = toFilterQuery(dataset, releases.list(), filters, release)
      const found = (await readFacets(database, question, [SOURCE])).get(SOURCE)
      const sources = rankValues(found?.values ?? [])
      const query = new URLSearchParams(normaliseFilters(filters))
      query.append('release', String(release.number))
      const cited: Cited = {
        ...release,
        url: `${baseUrl}/v2/${dataset.name}/${dataset.resource}?${query.toString()}`,
        dataset: dataset.title,
        release: release.number,
        sources: sources.slice(0, MOST_SOURCES),
        moreSources: Math.max(0, sources.length - MOST_SOURCES),
      }
      if (format === 'json') {
        return answer(request, reply, { release, ...readyParts([shapeCitation(cited, found?.exact ?? true)]) })
      }
      const { type, name, write } = FILES[format]
      reply.headers({
        ...releaseHeader(release),
        'cache-control': 'private, no-cache',
        'content-disposition': `attachment; filename="${name}"`,
      })
      return reply.type(type).send(write(cited))
    },
  )
}

const shapeCitation = (cited: Cited, exact: boolean) =>
  JSON.stringify({
    url: cited.url,
    title: cited.title,
    licence: cited.licence,
    release: cited.release,
    published_at: cited.publishedAt.toISOString(),
    digest: cited.digest,
    sources: cited.sources.map(({ value, records }) => ({ [SOURCE]: value, records })),
    more_sources: cited.moreSources,
    exact,
    text: citeAsText(cited),
    bibtex: citeAsBibtex(cited),
    csl_json: citeAsCsl(cited),
  })
