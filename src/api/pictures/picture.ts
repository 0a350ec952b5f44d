// GET /v2/{dataset}/picture: the picture of a query as an SVG, for reports and web pages.
import { hasSeries } from '../../methods/record-series.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { errorResponsesWithNotFound, fileResponse } from '../response/response-schemas.ts'
import type { Drawing } from './drawing.ts'
import { DEFAULT_WIDTH, type PictureQuery, pictureQuery } from './picture-query.ts'
import { preparePicture } from './read-picture.ts'

export function registerPictureRoute(app: HttpServer, routes: ResourceOptions, drawing: Drawing | null): void {
  const { dataset, respond } = routes
  if (!hasSeries(dataset)) return

  app.get<{ Querystring: PictureQuery & { width?: number } }>(
    `/v2/${dataset.name}/picture`,
    {
      schema: {
        tags: ['Data'],
        operationId: 'getPicture',
        summary: 'Draw a query',
        description:
          'A picture of the counts: a curve, several counts side by side, or one total, with its source, release and citation. Its numbers are those of `/series` and `/sums`; what they reject is a picture with the reason. The SVG needs no other file. With a link key it can be part of any page.',
        querystring: pictureQuery(dataset),
        response: { 200: fileResponse(['image/svg+xml'], 'The picture.'), ...errorResponsesWithNotFound },
      },
    },
    async (request, reply) => {
      const { width = DEFAULT_WIDTH, theme = 'light' } = request.query
      const picture = await preparePicture(routes, request, reply, { dataset, drawing })
      // Anyone who has the key can show it: a picture in a page of another origin is blocked otherwise.
      reply.header('cross-origin-resource-policy', 'cross-origin')
      return respond(request, reply, {
        ...picture.response,
        variant: `${picture.response.variant} ${width} ${theme}`,
        file: { contentType: 'image/svg+xml; charset=utf-8' },
        render: async () => [picture.drawing.drawPicture(await picture.read(), { width, theme })],
      })
    },
  )
}
