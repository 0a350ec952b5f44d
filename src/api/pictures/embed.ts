// GET /v2/{dataset}/embed: a page for an iframe. Only the origins that the operator names can show it, and nothing else of the
// service can be framed.
import { hash } from 'node:crypto'
import { hasSeries } from '../../methods/record-series.ts'
import { escapeHtml } from '../../platform/escape-html.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { chooseMediaType } from '../../platform/http/media-type.ts'
import { takenKey } from '../../platform/http/request-checks.ts'
import { toProblem } from '../../platform/problem.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { errorResponsesWithNotFound, fileResponse } from '../response/response-schemas.ts'
import type { Drawing, Theme } from './drawing.ts'
import { writeOembedAddress } from './oembed.ts'
import { embedQuery, type PictureQuery } from './picture-query.ts'
import { preparePicture } from './read-picture.ts'

export interface EmbedSettings {
  readonly drawing: Drawing | null
  /** Origins of pages that can show it, besides our own. */
  readonly origins: readonly string[]
}

const HTML = 'text/html; charset=utf-8'
/** A reader of a page cannot send headers. */
const NO_KEY = 'The URL has no key. Make a link for this picture, in the explorer or with /link.'

export function registerEmbedRoute(app: HttpServer, routes: ResourceOptions, settings: EmbedSettings): void {
  const { dataset, respond, published, baseUrl } = routes
  const { drawing, origins } = settings
  const hasExplorer = routes.explorerUrl !== undefined
  if (!hasSeries(dataset)) return
  const writePolicy = (style: string) =>
    `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors ${["'self'", ...origins].join(' ')}`

  app.get<{ Querystring: PictureQuery }>(
    `/v2/${dataset.name}/embed`,
    {
      schema: {
        tags: ['Data'],
        operationId: 'getEmbed',
        summary: 'Show a query in a page',
        description:
          'A page without a script for an `iframe`: the picture of `/picture`, with its source, release and citation, and a note if a newer release exists. Only pages of the origins in `OUTBREAKS_EMBED_ORIGINS` can show it. Use it with a link key.',
        querystring: embedQuery(dataset),
        response: { 200: fileResponse(['text/html'], 'The page.'), ...errorResponsesWithNotFound },
      },
      // The reader of a page should see why there is no picture, such as an expired link.
      errorHandler(error, request, reply) {
        const problem = toProblem(error)
        if (problem.status >= 500 || chooseMediaType(request.headers.accept, ['text/html']) === null) throw error
        request.problem = problem.code
        void reply
          .code(problem.status)
          .headers({ ...problem.headers, 'cache-control': 'no-store', 'content-security-policy': writePolicy('') })
          .type(HTML)
          .send(writeErrorPage(problem.code === 'not_authenticated' ? NO_KEY : problem.message))
      },
    },
    async (request, reply) => {
      const theme: Theme = request.query.theme ?? 'auto'
      const picture = await preparePicture(routes, request, reply, { dataset, drawing })
      const { release } = picture.response
      const latest = published().get(dataset.name)?.at(-1)?.number ?? release.number
      const newest = latest === release.number ? null : latest
      // A key alongside another credential was not verified.
      const key = request.headers.authorization === undefined ? takenKey(request.raw) : null
      reply.header('content-security-policy', writePolicy(picture.drawing.embedStyle(theme)))
      return respond(request, reply, {
        ...picture.response,
        // It says whether a newer release exists.
        isImmutable: false,
        variant: [picture.response.variant, theme, newest, hash('sha256', key ?? '')].join(' '),
        file: { contentType: HTML },
        async render() {
          const options = { theme, baseUrl, filters: picture.filters, newest, hasExplorer }
          const oembed = key === null ? null : writeOembedAddress({ dataset, baseUrl, address: request.url, key })
          return [picture.drawing.drawEmbed(await picture.read(), { ...options, oembed })]
        },
      })
    },
  )
}

const writeErrorPage = (message: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>No picture</title></head><body><main><h1>No picture</h1><p>${escapeHtml(message)}</p></main></body></html>\n`
