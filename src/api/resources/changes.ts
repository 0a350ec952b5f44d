// What differs between two releases of a dataset.
import { Type } from 'typebox'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Problem } from '../../platform/problem.ts'
import { CHANGE_REASONS, CHANGES, reasonOf } from '../../storage/change-reasons.ts'
import { readVersion } from '../../storage/contract.ts'
import { readCursor, writeCursor } from '../paging/cursor.ts'
import { findRelease } from '../paging/release-reference.ts'
import { createReleaseResolver } from '../paging/release-resolver.ts'
import { type Change, shapeChange, shapeEnvelope } from '../response/json-body.ts'
import { createResponder, identifyRelease } from '../response/responder.ts'
import { errorResponses, pageResponse } from '../response/response-schemas.ts'
import { readChanges } from './change-queries.ts'
import { changesQuery, DEFAULT_NUM } from './parameters.ts'
import type { ResourceOptions } from './resource-options.ts'

export function registerChangeRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, database, cursorKey } = routes
  const path = `/v2/${dataset.name}/changes`
  const recordOrNull = (description: string) => Type.Union([Type.Ref(dataset.recordName), Type.Null()], { description })
  const releases = createReleaseResolver(routes)
  const explain = (change: Change) => {
    const release = findRelease(releases.list(), { number: change.release })
    return shapeChange(change, reasonOf(release?.reasons ?? {}, change.step, change.event))
  }
  const answer = createResponder(routes)

  app.get(
    path,
    {
      schema: {
        tags: ['Data'],
        summary: 'List what differs between two releases',
        description:
          'The difference of the two releases in ascending order of id, not the steps between them: a record that was corrected twice is here once, one that came and went in between is not. A page may hold fewer changes than `num`; `has_more` alone says whether it is the last. Where a field is younger than `from`, `before` does not have it; that alone is not a change. `Outbreaks-Release` is the release of `to`. A walk stays on both releases of its first page; the next page has the cursor and `from`, and `to` where it was given.',
        querystring: changesQuery,
        response: {
          200: pageResponse(
            Type.Object({
              id: Type.Integer({ minimum: 1, description: 'Id of the record.' }),
              change: Type.Enum([...CHANGES], { description: 'What happened to it, seen from `from`.' }),
              release: Type.Integer({ minimum: 1, description: 'The last release that changed it.' }),
              reason: Type.Enum([...CHANGE_REASONS], { description: 'Why that release did so, by its publisher.' }),
              before: recordOrNull('The record in `from`; null where it was added.'),
              after: recordOrNull('The record in `to`; null where it was withdrawn.'),
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
      // The cursor holds both releases: a date, or the newest, is resolved on the first page only.
      const from = await releases.walked('from', readRequired(request.query.from), cursor?.from)
      const release = await releases.walked('to', request.query.to, cursor?.release)
      const { number } = release
      if (from.number > number) {
        throw new Problem('invalid_parameter', `Release ${from.number} (from) is later than release ${number} (to).`, {
          parameter: 'from',
        })
      }
      const range = { from: from.number, to: number, fromId: cursor?.fromId ?? 0, limit: num }
      return answer(request, reply, {
        release,
        pinned: { from: from.number, to: number },
        variant: `from=${identifyRelease(from)}&at=${range.fromId}&num=${num}`,
        async render() {
          const { changes, nextId } = await readChanges(database, dataset, range)
          const behind = nextId === null ? null : { release: number, from: from.number, fromId: nextId }
          const read = ({ before, after, ...change }: Change) =>
            explain({
              ...change,
              before: before && readVersion(from.contract, before),
              after: after && readVersion(release.contract, after),
            })
          return shapeEnvelope(changes.map(read), behind && writeCursor(cursorKey, path, behind))
        },
      })
    },
  )
}

/** Query strings are read parameter by parameter: that one is missing is seen here. */
function readRequired(from: string | undefined): string {
  if (from !== undefined) return from
  throw new Problem('invalid_parameter', 'from is needed: the number or the date of the release to compare with.', {
    parameter: 'from',
  })
}
