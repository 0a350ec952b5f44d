// The JSON Schema of a record.
import { Type } from 'typebox'
import { recordSchema } from '../../datasets/define.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { isReleaseNumber } from '../paging/release-reference.ts'
import { createReleaseResolver } from '../paging/release-resolver.ts'
import { releaseQuery } from '../requests/parameters.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { createResponder, prerendered } from '../response/responder.ts'
import { errorResponses, okResponse } from '../response/response-schemas.ts'

export function registerSchemaRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, baseUrl } = routes
  const releases = createReleaseResolver(routes)
  const respond = createResponder(routes)
  const path = `/v2/${dataset.name}/schema`

  app.get(
    path,
    {
      schema: {
        tags: ['Data'],
        operationId: 'getRecordSchema',
        summary: 'Read the JSON Schema of a record',
        description: 'The JSON Schema (2020-12) of a record of the release.',
        querystring: releaseQuery,
        response: {
          200: okResponse(Type.Object({}, { additionalProperties: true }), 'A JSON Schema.'),
          ...errorResponses,
        },
      },
    },
    async (request, reply) => {
      const release = await releases.resolveParameter('release', request.query.release)
      const head = {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $id: `${baseUrl}${path}?release=${release.number}`,
        title: dataset.recordName,
      }
      const schema = JSON.stringify({ ...recordSchema({ ...dataset, fields: release.contract.fields }), ...head })
      const isImmutable = isReleaseNumber(request.query.release)
      return respond(request, reply, { release, isImmutable, ...prerendered([schema]) })
    },
  )
}
