// The difference between two releases of a dataset.
import { Type } from 'typebox'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Problem } from '../../platform/problem.ts'
import { CHANGE_REASONS, CHANGES, reasonOf } from '../../storage/change-reasons.ts'
import { readVersion } from '../../storage/contract.ts'
import { readCursor, writeCursor } from '../paging/cursor.ts'
import { findRelease } from '../paging/release-reference.ts'
import { createReleaseResolver } from '../paging/release-resolver.ts'
import { readChanges } from '../queries/changes.ts'
import { type Change, serialiseChange, serialiseEnvelope } from '../response/json-body.ts'
import { createResponder, identifyRelease } from '../response/responder.ts'
import { errorResponses, pageResponse } from '../response/response-schemas.ts'
import { changesQuery, DEFAULT_NUM } from './parameters.ts'
import type { ResourceOptions } from './resource-options.ts'

export function registerChangeRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, database, cursorKey } = routes
  const path = `/v2/${dataset.name}/changes`
  const recordOrNull = (description: string) => Type.Union([Type.Ref(dataset.recordName), Type.Null()], { description })
  const releases = createReleaseResolver(routes)
  const serialiseWithReason = (change: Change) => {
    const release = findRelease(releases.list(), { number: change.release })
    return serialiseChange(change, reasonOf(release?.reasons ?? {}, change.kind, change.event))
  }
  const respond = createResponder(routes)

  app.get(
    path,
    {
      schema: {
        tags: ['Data'],
        summary: 'List the changes between two releases',
        description:
          'The difference of two releases in ascending order of id, not the steps between them: a record that was corrected twice is listed once, and a record that was added and withdrawn in between is not listed. A page may have fewer changes than `num`; only `has_more` says whether it is the last page. If a field was added after `from`, `before` does not have it; that alone is not a change. `Outbreaks-Release` is the release of `to`. A walk stays on the two releases of its first page; send the cursor together with `from`, and with `to` if the first request had it.',
        querystring: changesQuery,
        response: {
          200: pageResponse(
            Type.Object({
              id: Type.Integer({ minimum: 1, description: 'Id of the record.' }),
              change: Type.Enum([...CHANGES], { description: 'The kind of change from `from` to `to`.' }),
              release: Type.Integer({ minimum: 1, description: 'The last release that changed the record.' }),
              reason: Type.Enum([...CHANGE_REASONS], {
                description: 'Why that release changed the record, according to its publisher.',
              }),
              before: recordOrNull('The record in `from`; null if it was added.'),
              after: recordOrNull('The record in `to`; null if it was withdrawn.'),
            }),
            'Changes',
          ),
          ...errorResponses,
        },
      },
    },
    async (request, reply) => {
      const { page, num = DEFAULT_NUM } = request.query
      const cursor = page === undefined ? undefined : readCursor(cursorKey, path, page)
      // The cursor has both releases: a date or `latest` is resolved on the first page only.
      const from = await releases.resolveForCursor('from', requireFrom(request.query.from), cursor?.from)
      const release = await releases.resolveForCursor('to', request.query.to, cursor?.release)
      const { number } = release
      if (from.number > number) {
        throw new Problem('invalid_parameter', `from (release ${from.number}) is later than to (release ${number}).`, {
          parameter: 'from',
        })
      }
      const range = { from: from.number, to: number, fromId: cursor?.fromId ?? 0, limit: num }
      return respond(request, reply, {
        release,
        pinned: { from: from.number, to: number },
        variant: `from=${identifyRelease(from)}&at=${range.fromId}&num=${num}`,
        async render() {
          const { changes, nextId } = await readChanges(database, dataset, range)
          const next = nextId === null ? null : { release: number, from: from.number, fromId: nextId }
          const serialise = ({ before, after, ...change }: Change) =>
            serialiseWithReason({
              ...change,
              before: before && readVersion(from.contract, before),
              after: after && readVersion(release.contract, after),
            })
          return serialiseEnvelope(changes.map(serialise), next && writeCursor(cursorKey, path, next))
        },
      })
    },
  )
}

/** The query string parser validates each parameter that is present, so a missing one is detected here. */
function requireFrom(from: string | undefined): string {
  if (from !== undefined) return from
  throw new Problem('invalid_parameter', 'from is required: the number or the date of the release to compare with.', {
    parameter: 'from',
  })
}
