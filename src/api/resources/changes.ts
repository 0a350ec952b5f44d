// The difference between two releases of a dataset.
import { Type } from 'typebox'
import type { Dataset } from '../../datasets/define.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Problem } from '../../platform/problem.ts'
import { CHANGE_REASONS, CHANGES, reasonOf } from '../../storage/change-reasons.ts'
import { parseFilters, serialiseFilters } from '../filters/filters.ts'
import { toFilterQuery } from '../filters/records-request.ts'
import { readCursor, writeCursor } from '../paging/cursor.ts'
import { findRelease } from '../paging/release-reference.ts'
import { createReleaseResolver } from '../paging/release-resolver.ts'
import { readChanges } from '../queries/changes.ts'
import { changesQuery, DEFAULT_NUM } from '../requests/parameters.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { type Change, serialiseChange, serialiseEnvelope } from '../response/json-body.ts'
import { createResponder, identifyRelease } from '../response/responder.ts'
import { errorResponses, pageResponse } from '../response/response-schemas.ts'
import { warningHeader } from '../search/warnings.ts'

export function registerChangeRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, cursorKey, checkValues } = routes
  const path = `/v2/${dataset.name}/changes`
  const recordOrNull = (description: string) => Type.Union([Type.Ref(dataset.recordName), Type.Null()], { description })
  const releases = createReleaseResolver(routes)
  const serialiseWithReason = (change: Change, listsFields: boolean, bodies: boolean) => {
    const release = findRelease(releases.list(), { number: change.release })
    const reason = reasonOf(release?.reasons ?? {}, change.kind, change.event)
    return serialiseChange(change, reason, { fields: listsFields ? changedFields(dataset, change) : null, bodies })
  }
  const respond = createResponder(routes)

  app.get<{ Querystring: ChangesParameters }>(
    path,
    {
      schema: {
        tags: ['Data'],
        operationId: 'listChanges',
        summary: 'List the changes between two releases',
        description:
          'The difference of two releases in ascending order of id, not the steps between them: a record that was corrected twice is listed once, and a record that was added and withdrawn in between is not listed. A page may have fewer changes than `num`; only `has_more` says whether it is the last page. With filters a change is listed if the record before or after it matches. If a field was added after `from`, `before` does not have it; that alone is not a change. `Outbreaks-Release` is the release of `to`. A walk stays on the two releases of its first page; send the cursor together with `from`, and with `to` if the first request had it.',
        querystring: changesQuery(dataset),
        response: {
          200: pageResponse(
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
          ...errorResponses,
        },
      },
    },
    async (request, reply) => {
      const { page, num = DEFAULT_NUM, bodies = true, changed_fields: listsFields = !bodies, strict } = request.query
      const filters = parseFilters(dataset, request.query)
      const canonicalFilters = serialiseFilters(filters)
      const walk = canonicalFilters === '' ? path : `${path}?${canonicalFilters}`
      const cursor = page === undefined ? undefined : readCursor(cursorKey, walk, page)
      // The cursor has both releases: a date or `latest` is resolved on the first page only.
      const from = await releases.resolveForCursor('from', requireFrom(request.query.from), cursor?.from)
      const release = await releases.resolveForCursor('to', request.query.to, cursor?.release)
      const { number } = release
      if (from.number > number) {
        throw new Problem('invalid_parameter', `from (release ${from.number}) is later than to (release ${number}).`, {
          parameter: 'from',
        })
      }
      toFilterQuery(dataset, releases.list(), filters, release)
      reply.headers(warningHeader(await checkValues([from, release], filters, strict)))
      const range = { dataset, from, to: release, fromId: cursor?.fromId ?? 0, limit: num, filters }
      return respond(request, reply, {
        release,
        pinned: { from: from.number, to: number },
        variant: `from=${identifyRelease(from)}&at=${range.fromId}&num=${num} ${bodies} ${listsFields} ${canonicalFilters}`,
        async render() {
          const { changes, nextId } = await readChanges(routes, range)
          const next = nextId === null ? null : { release: number, from: from.number, fromId: nextId }
          const serialised = changes.map((change) => serialiseWithReason(change, listsFields, bodies))
          return serialiseEnvelope(serialised, next && writeCursor(cursorKey, walk, next))
        },
      })
    },
  )
}

interface ChangesParameters {
  from?: string
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
  const [earlier, later] = [before, after].map((body) => JSON.parse(body) as Record<string, unknown>)
  const valueOf = (record: Record<string, unknown> | undefined, name: string) => JSON.stringify(record?.[name] ?? null)
  return content.map(({ name }) => name).filter((name) => valueOf(earlier, name) !== valueOf(later, name))
}

/** The query string parser validates each parameter that is present, so a missing one is detected here. */
function requireFrom(from: string | undefined): string {
  if (from !== undefined) return from
  throw new Problem('invalid_parameter', 'from is required: the number or the date of the release to compare with.', {
    parameter: 'from',
  })
}
