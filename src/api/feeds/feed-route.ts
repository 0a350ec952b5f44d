// GET /v2/{dataset}/feed: the releases, or those that touched a query, for a feed reader. The latest ten releases are in the
// feed itself; every ten releases are in an archive, which never changes.
import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { Type } from 'typebox'
import { hasSeries, type SeriesDataset } from '../../methods/record-series.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Problem } from '../../platform/problem.ts'
import { CHANGE_REASONS, CHANGES } from '../../storage/change-reasons.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { parseFigureRequest } from '../figures/figure-request.ts'
import { feedQuery } from '../requests/parameters.ts'
import { validateFilters } from '../requests/prepare-query.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { understandQuery } from '../requests/understand-query.ts'
import { identifyRelease } from '../response/responder.ts'
import { errorResponses, okResponse } from '../response/response-schemas.ts'
import { FORMAT_VARY } from '../response/table-response.ts'
import { warningHeader } from '../search/warnings.ts'
import { assembleFeed, PAGE } from './assemble-feed.ts'
import { isCrossed } from './describe-entry.ts'
import { type FeedQuery, parseFeedQuestion } from './feed-question.ts'
import { readEntries } from './read-entries.ts'
import { ATOM, JSON_FEED, writeAtom, writeJsonFeed } from './write-feed.ts'

export function registerFeedRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, releases, respond, checkValues } = routes
  if (!hasSeries(dataset)) return
  const feedRoutes = { ...routes, dataset }

  app.get<{ Querystring: FeedQuery }>(
    `/v2/${dataset.name}/feed`,
    { preValidation: rejectWords, schema: documentation(dataset) },
    async (request, reply) => {
      const { archive } = request.query
      const question = parseFeedQuestion(dataset, request.query)
      const latest = await releases.resolveParameter('release', undefined)
      const { query } = await understandQuery(routes, question.query)
      const { filters } = parseFigureRequest(dataset, query)
      validateFilters(dataset, releases.list(), latest, filters)
      reply.headers(warningHeader(await checkValues([latest], filters)))
      const page = selectPage(releases.list(), latest, archive)
      const isJson = wantsJson(request)
      return respond(request, reply, {
        release: page.at(-1) ?? latest,
        isImmutable: archive !== undefined,
        vary: FORMAT_VARY,
        file: { contentType: isJson ? JSON_FEED : `${ATOM}; charset=utf-8` },
        variant: [
          archive,
          routes.explorerUrl,
          identifyHistory(releases.list(), page),
          question.when,
          question.canonical,
        ].join(' '),
        async render() {
          const { threshold } = question
          const facts = await readEntries(feedRoutes, question, page)
          const shown = facts.filter((one) => threshold === null || isCrossed(one, threshold))
          const feed = assembleFeed(feedRoutes, question, { page, archive, isJson, facts: shown })
          return [isJson ? writeJsonFeed(feed) : writeAtom(feed)]
        },
      })
    },
  )
}

/** After a restore, earlier releases may be others; after pruning, some have no entry. */
const identifyHistory = (all: readonly PublishedRelease[], page: readonly PublishedRelease[]) =>
  hash(
    'sha256',
    all
      .filter(({ number }) => number >= (page[0]?.number ?? 0) - 1 && number <= (page.at(-1)?.number ?? 0))
      .map((release) => `${identifyRelease(release)} ${release.prunedAt === null}`)
      .join('\n'),
  )

async function rejectWords({ query }: FastifyRequest): Promise<void> {
  if (Object.hasOwn(query as object, 'q'))
    throw new Problem(
      'unknown_parameter',
      'A feed has no q, because a later version can read words differently. Send q to /sums, and use the filters that it lists under understood.',
      { parameter: 'q' },
    )
}

/** Atom, unless the client prefers JSON. */
function wantsJson(request: FastifyRequest<{ Querystring: FeedQuery }>): boolean {
  const { format } = request.query
  if (format !== undefined) return format === 'json'
  const { accept = '*/*' } = request.headers
  const chosen = new Negotiator({ headers: { accept } }).mediaType([ATOM, JSON_FEED, 'application/json'])
  return chosen === JSON_FEED || chosen === 'application/json'
}

/** The latest ten releases, or those of an archive. */
function selectPage(
  all: readonly PublishedRelease[],
  latest: PublishedRelease,
  archive: number | undefined,
): PublishedRelease[] {
  const last = archive === undefined ? latest.number : archive * PAGE
  if (last > latest.number)
    throw new Problem(
      'invalid_parameter',
      `Archive ${archive} will exist from release ${last} on. The latest is ${latest.number}.`,
      { parameter: 'archive' },
    )
  return all.filter(({ number }) => number > last - PAGE && number <= last)
}

const countsSchema = (description: string) =>
  Type.Union([Type.Object({}, { additionalProperties: Type.Union([Type.Integer(), Type.Null()]) }), Type.Null()], {
    description,
  })
const numberOrNull = (description: string) => Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], { description })
const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

const itemSchema = Type.Object({
  id: Type.String({ description: 'A `urn:uuid:` of the release and the query.' }),
  url: Type.String({ format: 'uri', description: 'A page for people, if the service has an explorer.' }),
  external_url: Type.String({ format: 'uri', description: 'The changed records.' }),
  title: Type.String(),
  content_html: Type.String(),
  date_published: Type.String({ format: 'date-time' }),
  date_modified: Type.String({ format: 'date-time' }),
  _outbreaks: Type.Object(
    {
      release: Type.Integer({ minimum: 1 }),
      previous: numberOrNull('The release before; null for the first.'),
      as_of: Type.String({ format: 'date' }),
      restores: numberOrNull('The earlier release that a rollback restored.'),
      changes: Type.Array(
        Type.Object({
          kind: Type.Enum([...CHANGES]),
          reason: Type.Enum([...CHANGE_REASONS]),
          records: Type.Integer({ minimum: 1 }),
        }),
        { description: 'The matching records that the release changed.' },
      ),
      before: countsSchema('The numbers before. Null if there was no release, or no single result.'),
      after: countsSchema('The numbers after. A count that is not known is null.'),
      refused_before: textOrNull('Why there was no single result.'),
      refused_after: textOrNull('Why there is no single result.'),
      counted_another_way: Type.Boolean({ description: 'True if the numbers cannot be compared.' }),
    },
    { description: 'The same for programs.' },
  ),
})

/** JSON Feed 1.1; Atom has the same. */
function describeResponse() {
  const { description, headers, ...schema } = okResponse(
    Type.Object({
      version: Type.String(),
      title: Type.String(),
      home_page_url: Type.String({ format: 'uri' }),
      feed_url: Type.String({ format: 'uri' }),
      description: Type.String(),
      next_url: Type.Optional(Type.String({ format: 'uri', description: 'The archive with earlier releases.' })),
      authors: Type.Array(Type.Object({ name: Type.String() })),
      language: Type.String(),
      items: Type.Array(itemSchema),
    }),
    'The feed.',
  )
  return { description, headers, content: { [ATOM]: { schema: Type.String() }, [JSON_FEED]: { schema } } }
}

const documentation = (dataset: SeriesDataset) => ({
  tags: ['Data'],
  operationId: 'getFeed',
  summary: 'Follow the releases, or a query, with a feed reader',
  description:
    'Without parameters: an entry for each release. With filters: an entry for each release that added, corrected or withdrew a matching record, with the numbers before and after, which are those of `/sums` without groups. An entry never changes, and its `id` depends on the release and the query, not on the URL. The feed has the latest ten releases; `archive` has earlier ones (RFC 5005). A release that was pruned, and the one after it, can no longer be compared: they have no entry, but in the feed of all releases. A link from `/link` opens a feed without a token.',
  querystring: feedQuery(dataset),
  response: { 200: describeResponse(), ...errorResponses },
})
