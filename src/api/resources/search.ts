// Finds events, diseases, pathogens, places and sources by name.
import { Type } from 'typebox'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { DEFAULT_HITS, searchQuery } from '../requests/parameters.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { prerendered } from '../response/responder.ts'
import { errorResponses, okResponse } from '../response/response-schemas.ts'
import { requireWords } from '../search/require-words.ts'
import type { SearchHit } from '../search/search-index.ts'

const MAX_SUGGESTIONS = 5

export function registerSearchRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, loadIndex, releases, respond } = routes
  if (dataset.search === undefined) return
  const kinds = Object.entries(dataset.search.kinds)
  const fields = kinds.flatMap(([, names]) => names)
  const kindOf = (field: string) => kinds.find(([, names]) => names.includes(field))?.[0] ?? null

  app.get(
    `/v2/${dataset.name}/search`,
    {
      schema: {
        tags: ['Data'],
        operationId: 'searchValues',
        summary: 'Find values by name',
        description:
          'Events, diseases, pathogens, places and sources of the release that match all words of `q`, best match first. Synonyms, names in other languages, and names without accents match too. If nothing matches, the search allows for typos. To filter by a hit, use `value` with the filter named in `parameter`.',
        querystring: searchQuery,
        response: { 200: okResponse(searchSchema, 'The hits.'), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { num = DEFAULT_HITS } = request.query
      const q = requireWords(request.query.q)
      const release = await releases.resolveParameter('release', request.query.release)
      const format = (hit: SearchHit) => ({ kind: kindOf(hit.field), ...formatHit(hit) })
      const index = await loadIndex(release)
      const hits = await index.search(q, fields)
      const suggestions = hits.length > 0 ? [] : await index.suggest(q, fields, MAX_SUGGESTIONS)
      const body = {
        data: hits.slice(0, num).map(format),
        total: hits.length,
        suggestions: suggestions.map(format),
        incomplete: index.incomplete.filter((field) => fields.includes(field)),
      }
      // A later version may know more synonyms, so the release and `q` do not determine the body.
      return respond(request, reply, { release, isImmutable: false, ...prerendered([JSON.stringify(body)]) })
    },
  )
}

function formatHit({ field, value, label, match, records, events }: SearchHit) {
  const days = events.flatMap(({ firstDay, lastDay }) => [firstDay, lastDay].filter((day) => day !== null)).toSorted()
  const countries = new Set(events.flatMap(({ values }) => values.get('country_code') ?? []))
  const isLinked = events.length > 0
  return {
    value,
    label,
    parameter: field,
    match,
    records,
    events: isLinked ? events.length : null,
    countries: isLinked ? countries.size : null,
    first_day: days[0] ?? null,
    last_day: days.at(-1) ?? null,
  }
}

const orNull = (schema: ReturnType<typeof Type.Integer>, description: string) =>
  Type.Union([schema, Type.Null()], { description })
const day = (description: string) => Type.Union([Type.String({ format: 'date' }), Type.Null()], { description })
const hitSchema = Type.Object({
  kind: Type.String({ description: 'What the value is: event, disease, pathogen, place or source.' }),
  value: Type.String({ description: 'The exact value, as records have it.' }),
  label: Type.String({ description: 'The title of an event, the name of a code; otherwise the value.' }),
  parameter: Type.String({ description: 'The filter that selects the records with the value.' }),
  match: Type.Enum(['name', 'words', 'similar'], {
    description:
      '`name`: `q` is a name of the value. `words`: the value has all words of `q`. `similar`: only with misspellings.',
  }),
  records: Type.Integer({ minimum: 1, description: 'The number of records with the value.' }),
  events: orNull(Type.Integer({ minimum: 1 }), 'The number of events with the value; null if unknown.'),
  countries: orNull(Type.Integer({ minimum: 0 }), 'The number of countries of these events; null if unknown.'),
  first_day: day('First day of these events.'),
  last_day: day('Last day of these events.'),
})
const searchSchema = Type.Object({
  data: Type.Array(hitSchema, { description: 'The hits, best match first.' }),
  total: Type.Integer({ minimum: 0, description: 'The number of hits, listed or not.' }),
  suggestions: Type.Array(hitSchema, { description: 'The nearest values, if there is no hit.' }),
  incomplete: Type.Array(Type.String(), {
    description:
      'Fields of which not all values are searched: those with too many values, and in a large release those that are not counted.',
  }),
})
