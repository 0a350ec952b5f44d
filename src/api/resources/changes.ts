// The difference between two releases of a dataset.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Dataset } from '../../datasets/define.ts'
import { createNdjsonEncoder } from '../../formats/text-encoders.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Problem } from '../../platform/problem.ts'
import { CHANGE_REASONS, CHANGES, reasonOf } from '../../storage/change-reasons.ts'
import { haveSameKeys } from '../../storage/contract.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { type Filters, isUnfiltered, parseFilters, serialiseFilters } from '../filters/filters.ts'
import { startPaging } from '../paging/cursor.ts'
import { readPages } from '../paging/read-pages.ts'
import { findRelease, isReleaseNumber, requireOrder } from '../paging/release-reference.ts'
import { readChanges } from '../queries/changes.ts'
import { changesQuery, DEFAULT_NUM } from '../requests/parameters.ts'
import { nameList, validateFilters } from '../requests/prepare-query.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { chooseType, LINE_TYPES } from '../response/chosen-type.ts'
import { type Change, type ChangeDetail, serialiseChange, serialiseEnvelope } from '../response/json-body.ts'
import { identifyRelease } from '../response/responder.ts'
import { errorResponses, pageResponse, withFiles } from '../response/response-schemas.ts'
import { requireChunks, sendFile } from '../response/stream-file.ts'
import { FORMAT_VARY, rejectPaging } from '../response/table-response.ts'
import { warningHeader } from '../search/warnings.ts'

export function registerChangeRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, cursorKey, checkValues, streamLimit, releases, respond } = routes
  const path = `/v2/${dataset.name}/changes`
  const recordOrNull = (description: string) => Type.Union([Type.Ref(dataset.recordName), Type.Null()], { description })
  const serialiseWithReason = (change: Change, detail: ChangeDetail) => {
    const release = findRelease(releases.list(), { number: change.release })
    return serialiseChange(change, reasonOf(release?.reasons ?? {}, change.kind, change.event), detail)
  }

  /** All changes as NDJSON, which bring a copy of `from` up to date with `to` (decision 0027). */
  async function sendLines(request: FastifyRequest, reply: FastifyReply, pair: ReleasePair, isImmutable: boolean) {
    const { from, to, filters } = pair
    requireSameFields(pair)
    const toLine = (change: Change) => ({ body: serialiseWithReason(change, { fields: null, bodies: ['after'] }) })
    return sendFile(request, reply, {
      release: to,
      isImmutable,
      streamLimit,
      contentType: LINE_TYPES[0],
      name: `${dataset.name}-${from.number}-${to.number}-changes.ndjson`,
      async open() {
        const readFrom = (fromId: number) =>
          readChanges(routes, { ...pair, fromId, limit: PAGE_CHANGES, readsBefore: false })
        const pages = await readPages(readFrom)
        const expectedRecords = isUnfiltered(filters) ? countChanges(pair) : undefined
        return { encoder: createNdjsonEncoder(), batches: readBatches(pages), expectedRecords }
      },
    })

    async function* readBatches(pages: AsyncIterable<{ changes: readonly Change[] }>) {
      for await (const { changes } of pages) yield changes.map(toLine)
    }
  }

  app.get<{ Querystring: ChangesParameters }>(
    path,
    {
      schema: {
        tags: ['Data'],
        operationId: 'listChanges',
        summary: 'List the changes between two releases',
        description:
          'The difference of two releases in ascending order of id, not the steps between them: a record that was corrected twice is listed once, and a record that was added and withdrawn in between is not listed. A page may have fewer changes than `num`; only `has_more` says whether it is the last page. With filters a change is listed if the record before or after it matches. If a field was added after `from`, `before` does not have it; that alone is not a change. `Outbreaks-Release` is the release of `to`. All pages are of the two releases of the first page; send the cursor together with `from`, and with `to` if the first request had it. As `application/x-ndjson`: all changes, one on each line, with `after` as the last member and without `before`. `after` has the bytes of the published record, so the lines bring a copy of `from` up to date with `to`. The trailers `Outbreaks-Records` and `Content-Digest` end a complete response; `page`, `num`, `bodies` and `changed_fields` are for JSON only.',
        querystring: changesQuery(dataset),
        response: {
          200: withFiles(
            pageResponse(
              Type.Object({
                id: Type.Integer({ minimum: 1, description: 'Id of the record.' }),
                change: Type.Enum([...CHANGES], { description: 'The kind of change from `from` to `to`.' }),
                release: Type.Integer({ minimum: 1, description: 'The last release that changed the record.' }),
                reason: Type.Enum([...CHANGE_REASONS], {
                  description: 'Why that release changed the record, according to its publisher.',
                }),
                fields: Type.Optional(
                  Type.Array(Type.String(), {
                    description:
                      'The fields whose values differ, with `changed_fields=true` or `bodies=false`. Empty if the record was added or withdrawn.',
                  }),
                ),
                before: Type.Optional(recordOrNull('The record in `from`; null if it was added.')),
                after: Type.Optional(recordOrNull('The record in `to`; null if it was withdrawn.')),
              }),
              'Changes',
            ),
            LINE_TYPES,
          ),
          ...errorResponses,
        },
      },
    },
    async (request, reply) => {
      const mediaType = chooseType(request, LINE_TYPES)
      if (mediaType !== null) {
        rejectPaging(request.query, mediaType, ['page', 'num', 'bodies', 'changed_fields'])
        requireChunks(request)
      }
      const { page, num = DEFAULT_NUM, bodies = true, changed_fields: listsFields = !bodies, strict } = request.query
      const filters = parseFilters(dataset, request.query)
      const { cursor, nextPage } = startPaging(cursorKey, nameList(path, filters), page)
      // The cursor has both releases: a date or `latest` is resolved on the first page only.
      const from = await releases.resolveForCursor('from', request.query.from, cursor?.from)
      const to = await releases.resolveForCursor('to', request.query.to, cursor?.release)
      requireOrder(from, to)
      validateFilters(dataset, releases.list(), to, filters)
      reply.headers(warningHeader(await checkValues([from, to], filters, strict)))
      const isImmutable =
        cursor !== undefined || (isReleaseNumber(request.query.from) && isReleaseNumber(request.query.to))
      if (mediaType !== null) return sendLines(request, reply, { dataset, from, to, filters }, isImmutable)
      const range = { dataset, from, to, readsBefore: true, fromId: cursor?.fromId ?? 0, limit: num, filters }
      return respond(request, reply, {
        release: to,
        isImmutable,
        pinned: { from: from.number, to: to.number },
        vary: FORMAT_VARY,
        variant: `from=${identifyRelease(from)}&at=${range.fromId}&num=${num} ${bodies} ${listsFields} ${serialiseFilters(filters)}`,
        async render() {
          const { changes, nextId } = await readChanges(routes, range)
          const detail = (change: Change): ChangeDetail => ({
            fields: listsFields ? changedFields(dataset, change) : null,
            bodies: bodies ? ['before', 'after'] : [],
          })
          const serialised = changes.map((change) => serialiseWithReason(change, detail(change)))
          return serialiseEnvelope(serialised, nextPage({ release: to.number, from: from.number, fromId: nextId }))
        },
      })
    },
  )
}

/** The records of a page may be in as many chunks, which are all decompressed. */
const PAGE_CHANGES = 500

interface ReleasePair {
  readonly dataset: Dataset
  readonly from: PublishedRelease
  readonly to: PublishedRelease
  readonly filters: Filters
}

/** A field that is added changes the text of every record, but `changes` does not list a record for that alone. */
function requireSameFields({ from, to }: ReleasePair): void {
  if (haveSameKeys(from.contract.fields, to.contract.fields)) return
  throw new Problem(
    'fields_changed',
    `Release ${to.number} has other fields than release ${from.number}, so the bytes of every record differ. Download release ${to.number}, or read changes as JSON.`,
    { parameter: 'from' },
  )
}

/** The number of all changes from a release to the next one; undefined for other pairs. */
function countChanges({ from, to }: ReleasePair): number | undefined {
  if (from.number === to.number) return 0
  return to.number === from.number + 1 ? to.added + to.corrected + to.withdrawn : undefined
}

interface ChangesParameters {
  from: string
  to?: string
  page?: string
  num?: number
  bodies?: boolean
  changed_fields?: boolean
  strict?: boolean
  [filter: string]: unknown
}

/**
 * The fields whose values differ, without those that the service assigns: each correction changes the revision. A field
 * that the earlier release does not have counts as null.
 */
function changedFields({ content }: Dataset, { before, after }: Change): string[] {
  if (before === null || after === null) return []
  const earlier = JSON.parse(before) as Record<string, unknown>
  const later = JSON.parse(after) as Record<string, unknown>
  const valueOf = (record: Record<string, unknown>, name: string) => JSON.stringify(record[name] ?? null)
  return content.map(({ name }) => name).filter((name) => valueOf(earlier, name) !== valueOf(later, name))
}
