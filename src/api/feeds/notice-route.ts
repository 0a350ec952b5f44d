// GET /v2/{dataset}/notices: what was published, rolled back and pruned since a notice that the client knows.
import { Type } from 'typebox'
import { INT4_MAX } from '../../datasets/define.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { CHANGE_REASONS } from '../../storage/change-reasons.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { errorResponses, okResponse } from '../response/response-schemas.ts'
import { NOTICE_TYPES, readNotices } from './read-notices.ts'

const PAGE = 100

export function registerNoticeRoute(app: HttpServer, { dataset, database, baseUrl }: ResourceOptions): void {
  app.get(`/v2/${dataset.name}/notices`, { schema: documentation() }, async ({ query: { after = 0 } }, reply) => {
    const place = { datasetName: dataset.name, baseUrl }
    const notices = await readNotices(database, place, { after, limit: PAGE + 1 })
    const data = notices.slice(0, PAGE)
    reply.header('cache-control', 'private, no-cache')
    return { data, has_more: notices.length > PAGE, next_after: data.at(-1)?.data.seq ?? after }
  })
}

const count = Type.Optional(Type.Integer({ minimum: 0 }))
const reason = Type.Optional(Type.Enum([...CHANGE_REASONS]))
const reasons = { added: reason, corrected: reason, withdrawn: reason }

const noticeSchema = Type.Object({
  specversion: Type.String(),
  id: Type.String({ format: 'uuid' }),
  source: Type.String({ format: 'uri', description: 'The dataset.' }),
  type: Type.Enum([...NOTICE_TYPES]),
  time: Type.String({ format: 'date-time' }),
  datacontenttype: Type.String(),
  data: Type.Object({
    seq: Type.Integer({ minimum: 1, description: 'The number of the notice in the dataset, without gaps.' }),
    release: Type.Integer({
      minimum: 1,
      description: 'The release that was published, or the latest that was pruned; all before it are pruned too.',
    }),
    url: Type.String({ format: 'uri' }),
    oldest_kept: Type.Optional(Type.Integer({ description: 'The oldest release that can be read after pruning.' })),
    title: Type.Optional(Type.String()),
    note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    as_of: Type.Optional(Type.String({ format: 'date' })),
    restores: Type.Optional(
      Type.Union([Type.Integer(), Type.Null()], { description: 'The earlier release that a rollback restored.' }),
    ),
    withdrawn_releases: Type.Optional(
      Type.Array(Type.Integer(), { description: 'The releases that a rollback withdrew.' }),
    ),
    records: count,
    added: count,
    corrected: count,
    withdrawn: count,
    reasons: Type.Optional(
      Type.Object({ ...reasons, events: Type.Optional(Type.Record(Type.String(), Type.Object(reasons))) }),
    ),
    digest: Type.Optional(Type.String()),
  }),
})

const documentation = () => ({
  tags: ['Data'],
  operationId: 'listNotices',
  summary: 'Read what happened since your last request',
  description:
    'Releases that were published, rolled back to or pruned, as CloudEvents in the order in which it happened. Keep the `next_after` of the last response: no notice appears with a lower number later, so nothing is missed.',
  querystring: Type.Object({
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: INT4_MAX,
        default: 0,
        description: 'The number of the last notice that you know. Default: all notices.',
      }),
    ),
  }),
  response: {
    200: okResponse(
      Type.Object({
        data: Type.Array(noticeSchema, { description: 'At most 100 notices.' }),
        has_more: Type.Boolean({ description: 'True if there are more already.' }),
        next_after: Type.Integer({ description: 'The value of `after` for the next request.' }),
      }),
      'The notices.',
    ),
    ...errorResponses,
  },
})
