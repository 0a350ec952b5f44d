// What differs between two releases of a dataset.
import { Type } from 'typebox'
import type { HttpServer } from '../platform/http-server.ts'
import { Problem } from '../platform/problem.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { createReleaseResolver, envelopeOf, type QueryRoutes, refusals, sendJson } from './endpoint.ts'
import { changesQuery, DEFAULT_NUM } from './parameters.ts'
import { readChanges } from './run.ts'
import { CHANGES, shapeChange, shapeEnvelope } from './shape.ts'

export function registerChangeRoutes(app: HttpServer, routes: QueryRoutes): void {
  const { dataset, database, cursorKey } = routes
  const path = `/v2/${dataset.name}/changes`
  const recordOrNull = (description: string) => Type.Union([Type.Ref(dataset.recordName), Type.Null()], { description })
  const releases = createReleaseResolver(routes)

  app.get(
    path,
    {
      schema: {
        tags: ['Data'],
        summary: 'List what differs between two releases',
        description:
          'The difference of the two releases in ascending order of id, not the steps between them: a record that was corrected twice is here once, one that came and went in between is not. A page may hold fewer changes than `num`; `has_more` alone says whether it is the last. `Outbreaks-Release` is the release of `to`, on which a walk stays.',
        querystring: changesQuery,
        response: {
          200: envelopeOf(
            Type.Object({
              id: Type.Integer({ minimum: 1, description: 'Id of the record.' }),
              change: Type.Enum([...CHANGES], { description: 'What happened to it, seen from `from`.' }),
              before: recordOrNull('The record in `from`; null where it was added.'),
              after: recordOrNull('The record in `to`; null where it was withdrawn.'),
            }),
            'Changes',
          ),
          ...refusals,
        },
      },
    },
    async (request, reply) => {
      const { page, num = DEFAULT_NUM, to } = request.query
      const from = await releases.named('from', readRequired(request.query.from))
      // The cursor itself carries `to`, so that a walk to the newest release stays on the one it started with.
      const walk = `${path}?from=${from.number}`
      const cursor = page === undefined ? undefined : readCursor(cursorKey, walk, page)
      const { number } = await releases.walked('to', to, cursor)
      if (from.number > number) {
        throw new Problem('invalid_parameter', `Release ${from.number} (from) is later than release ${number} (to).`, {
          parameter: 'from',
        })
      }
      const range = { from: from.number, to: number, fromId: cursor?.fromId ?? 0, limit: num }
      const { changes, nextId } = await readChanges(database, dataset, range)
      const next = nextId === null ? null : writeCursor(cursorKey, walk, { release: number, fromId: nextId })
      return sendJson(reply, number, shapeEnvelope(changes.map(shapeChange), next))
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
