// A summary of each event of a release.
import { hash } from 'node:crypto'
import { Type } from 'typebox'
import { hasSeries, type SeriesDataset } from '../../methods/record-series.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { countOrNullSchema } from '../figures/figure-json.ts'
import { readMatchingEvents } from '../filters/run-filter-queries.ts'
import { readEvents, readEventsByName } from '../queries/events.ts'
import { DEFAULT_NUM, eventsQuery } from '../requests/parameters.ts'
import { preparePagedQuery, type QueryParameters } from '../requests/prepare-query.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { serialiseEnvelope } from '../response/json-body.ts'
import { errorResponses, pageResponse } from '../response/response-schemas.ts'
import { requireWords } from '../search/require-words.ts'
import type { SearchIndex } from '../search/search-index.ts'
import { describeNearest, formatParameter, warningHeader } from '../search/warnings.ts'

const MAX_SUGGESTIONS = 5

interface EventsParameters extends QueryParameters {
  page?: string
  num?: number
  q?: string
  sort?: string
}

export function registerEventRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, database, loadIndex, respond } = routes
  if (!dataset.summarisesEvents || !hasSeries(dataset)) return
  const path = `/v2/${dataset.name}/events`
  app.get<{ Querystring: EventsParameters }>(
    path,
    {
      schema: {
        tags: ['Data'],
        operationId: 'listEvents',
        summary: 'List events',
        description:
          'A summary of each event, sorted by name or, with `q`, by how well it matches, with values for each set of comparable counts. With filters only events that have a matching record are listed; the summary still covers all records of the event. A range of a count, such as `deaths_min`, is about the headline. If no event matches `q`, the header `Outbreaks-Warning` has the nearest names. docs/methods.md has the rules.',
        querystring: eventsQuery(dataset),
        response: { 200: pageResponse(eventSchema(dataset), 'Events'), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { num = DEFAULT_NUM, sort = null } = request.query
      const q = request.query.q === undefined ? null : requireWords(request.query.q)
      const query = await preparePagedQuery(routes, request.query, path, {
        restrictions: Object.fromEntries(Object.entries({ q, sort }).filter((entry) => entry[1] !== null)) as Record<
          string,
          string
        >,
      })
      const { release, canonicalFilters } = query
      // A release never changes, so an index into its sorted names stays valid.
      const skip = query.start ?? 0
      const found = q === null ? null : await findEvents(await loadIndex(release), q)
      reply.headers(warningHeader([...query.warnings, ...(found?.warnings ?? [])]))
      return respond(request, reply, {
        release,
        pinned: { release: release.number },
        // A later version may know more synonyms, so the list of events is part of the variant.
        isImmutable: q === null && query.isImmutable,
        variant: `from=${skip}&num=${num}&sort=${sort} ${canonicalFilters} ${found === null ? '' : hash('sha256', JSON.stringify(found.events))}`,
        async render() {
          // A count is that of the event, not of one of its records.
          const { counts } = query.filters
          const matching = await readMatchingEvents(routes, {
            ...query,
            filters: { ...query.filters, counts: new Map() },
          })
          const position = { release: release.number, sort, counts, skip, limit: num + 1 }
          const bodies =
            found === null
              ? await readEvents(database, dataset, { ...position, events: matching })
              : await readEventsByName(database, dataset, { ...position, events: keep(found.events, matching) })
          return serialiseEnvelope(bodies.slice(0, num), query.nextPage(bodies.length <= num ? null : skip + num))
        },
      })
    },
  )
}

/** The names of the matching events, best first, and a warning if there are none or if not all events were searched. */
async function findEvents(index: SearchIndex, q: string) {
  const hits = await index.search(q, ['event'])
  const events = hits.map(({ value }) => value)
  const warnings: string[] = []
  if (events.length === 0) {
    const nearest = await index.suggest(q, ['event'], MAX_SUGGESTIONS)
    const names = nearest.map(({ value }) => formatParameter('event', value))
    warnings.push(`${formatParameter('q', q)} matches no event. ${describeNearest(names)}`)
  }
  if (index.incomplete.includes('event'))
    warnings.push('q was compared only with the events that have the most records.')
  return { events, warnings }
}

/** The events that are also in `kept`, in the same order. */
function keep(events: readonly string[], kept: readonly string[] | null): readonly string[] {
  if (kept === null) return events
  const names = new Set(kept)
  return events.filter((event) => names.has(event))
}

const day = (description: string) => Type.Union([Type.String({ format: 'date' }), Type.Null()], { description })
const names = Type.Array(Type.String())
const eventSchema = ({ series }: SeriesDataset) => {
  const counts = (description: string) =>
    Type.Object(Object.fromEntries(series.counts.map((name) => [name, countOrNullSchema])), { description })
  return Type.Object({
    event: Type.String(),
    title: Type.String({ description: 'The name of the event for people: "Measles, United States, 2025".' }),
    records: Type.Integer({ minimum: 1 }),
    first_day: day('First day that a record covers.'),
    last_day: day('Last day that a record covers.'),
    pathogens: names,
    diseases: Type.Optional(names),
    country_codes: names,
    sources: names,
    last_release: Type.Integer({
      minimum: 1,
      description: 'The last release that added or changed a record of the event.',
    }),
    headline: Type.Union(
      [
        Type.Object(
          {
            ...Object.fromEntries(series.counts.map((name) => [name, countOrNullSchema])),
            words: Type.String({ description: 'How it was counted, in words.' }),
            records: Type.Integer({ minimum: 1 }),
            first_day: day('First day that a record covers.'),
            last_day: day('Last day that a record covers.'),
            interim: Type.Boolean({ description: 'The outbreak went on, or may have.' }),
            left_out: Type.Integer({
              minimum: 0,
              description: 'The number of other ways of counting; `figures` has them.',
            }),
          },
          { additionalProperties: true },
        ),
        Type.Null(),
      ],
      {
        description:
          'The value to quote for this event, chosen by the rule of docs/methods.md, with how it was counted. Null if nothing is clearly the best.',
      },
    ),
    doubt: Type.Union([Type.String(), Type.Null()], {
      description:
        'Why there is no headline: `subjects`, `people`, `place`, `places`, `count`, `status` or `days`. docs/methods.md explains them.',
    }),
    figures: Type.Optional(
      Type.Array(
        Type.Object(
          {
            places: Type.Integer({ minimum: 1, description: 'The number of places that are added up.' }),
            place: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()], {
              description: 'The place, if it is only one.',
            }),
            records: Type.Integer({ minimum: 1 }),
            first_day: day('First day that a record covers.'),
            last_day: day('Last day that a record covers.'),
            new: counts('The sum of all new counts, as in `/sums`.'),
            cumulative: counts('The last cumulative count of each series, added up.'),
            undated: Type.Optional(counts('The counts of records without a day; in no other number.')),
            interim: Type.Optional(
              Type.Boolean({
                description:
                  'A total that was published within 42 days of its last day, or before the last day of the event: the outbreak went on, or may have.',
              }),
            ),
          },
          { additionalProperties: true },
        ),
        {
          description:
            'Values by geographic level, status, kind of count, source and the other fields in which comparable counts agree.',
        },
      ),
    ),
    more_figures: Type.Optional(Type.Integer({ minimum: 0, description: 'The number of values that are left out.' })),
  })
}
