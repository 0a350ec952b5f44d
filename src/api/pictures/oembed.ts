// GET /v2/{dataset}/oembed: how to show an embed in a page, for programs that make pages (oembed.com). The key of the embed in
// `url` opens it.
import type { IncomingMessage } from 'node:http'
import { parse } from 'node:querystring'
import { Type } from 'typebox'
import type { Dataset } from '../../datasets/define.ts'
import { SERVICE_NAME } from '../../formats/release-description.ts'
import { hasSeries } from '../../methods/record-series.ts'
import { escapeHtml } from '../../platform/escape-html.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { compileQuery } from '../../platform/http/query-string.ts'
import { takenKey } from '../../platform/http/request-checks.ts'
import { Problem } from '../../platform/problem.ts'
import { describeFilters } from '../filters/describe-filters.ts'
import { parseFilters } from '../filters/filters.ts'
import { fitWords } from '../requests/usual-words.ts'
import { errorResponses } from '../response/response-schemas.ts'
import { embedQuery } from './picture-query.ts'

interface OembedOptions {
  readonly dataset: Dataset
  readonly baseUrl: string
}

/** Of a frame with a curve; a reader scrolls in a smaller one. */
const [WIDTH, HEIGHT] = [800, 640]

const addKey = (address: string, key: string): string => `${address}${address.includes('?') ? '&' : '?'}key=${key}`

export const writeOembedAddress = (options: OembedOptions & { address: string; key: string }): string =>
  `${options.baseUrl}/v2/${options.dataset.name}/oembed?url=${encodeURIComponent(options.baseUrl + addKey(options.address, options.key))}`

/** Path and query of the embed in `url`, without its key. Null if it is no embed of this dataset. */
function findEmbed({ dataset, baseUrl }: OembedOptions, url: string | null): string | null {
  const path = `/v2/${dataset.name}/embed`
  const address = url?.startsWith(`${baseUrl}${path}`) ? url.slice(baseUrl.length) : null
  return address === path || address?.startsWith(`${path}?`) ? address : null
}

/** The embed of a request for this route, before its query is parsed. */
export const findRequestedEmbed = (options: OembedOptions, { url = '' }: IncomingMessage): string | null =>
  findEmbed(options, new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('url'))

export function registerOembedRoute(app: HttpServer, options: OembedOptions): void {
  const { dataset, baseUrl } = options
  if (!hasSeries(dataset)) return
  const parseEmbed = compileQuery(embedQuery(dataset))
  app.get<{ Querystring: { url: string; maxwidth?: number; maxheight?: number } }>(
    `/v2/${dataset.name}/oembed`,
    {
      schema: {
        tags: ['Data'],
        security: [],
        operationId: `getOembed${dataset.operationSuffix ?? ''}`,
        summary: 'Describe an embed',
        description:
          'oEmbed 1.0, type `rich`: the HTML that shows an embed. It needs no token: the key in `url` is checked as if the embed itself was opened.',
        querystring: Type.Object({
          url: Type.String({
            minLength: 1,
            maxLength: 4000,
            description: 'The URL of an embed with its key, encoded as one value.',
            examples: [`${baseUrl}/v2/${dataset.name}/embed`],
          }),
          maxwidth: Type.Optional(Type.Integer({ minimum: 1, description: 'The most pixels that there are across.' })),
          maxheight: Type.Optional(Type.Integer({ minimum: 1, description: 'The most pixels that there are down.' })),
          format: Type.Optional(Type.Enum(['json'], { description: 'Only JSON.' })),
          dnt: Type.Optional(Type.String({ description: 'Some programs ask not to be tracked. No one is.' })),
        }),
        response: {
          200: Type.Object(
            {
              version: Type.Literal('1.0'),
              type: Type.Literal('rich'),
              title: Type.String(),
              provider_name: Type.String(),
              provider_url: Type.String({ format: 'uri' }),
              html: Type.String({ description: 'An iframe with the embed.' }),
              width: Type.Integer(),
              height: Type.Integer(),
            },
            { description: 'How to show the embed.' },
          ),
          ...errorResponses,
        },
      },
    },
    async (request, reply) => {
      const { url, maxwidth = WIDTH, maxheight = HEIGHT } = request.query
      const key = takenKey(request.raw)
      const address = findEmbed(options, url)
      // A token opens this route too, but without the key no one could open the frame.
      if (key === null || address === null)
        throw new Problem('not_authenticated', 'url must be the URL of an embed with its key.')
      const [width, height] = [Math.min(WIDTH, maxwidth), Math.min(HEIGHT, maxheight)]
      const title = describeEmbed(address)
      const source = escapeHtml(baseUrl + addKey(address, key))
      reply.header('cache-control', 'no-store')
      return {
        version: '1.0',
        type: 'rich',
        title,
        provider_name: SERVICE_NAME,
        provider_url: baseUrl,
        html: `<iframe src="${source}" title="${escapeHtml(title)}" width="${width}" height="${height}" style="border:0" loading="lazy" referrerpolicy="no-referrer"></iframe>`,
        width,
        height,
      }
    },
  )

  function describeEmbed(address: string): string {
    const [, sent = ''] = address.split('?', 2)
    const query = parse(sent) as Record<string, string | string[]>
    fitWords(dataset, query)
    const asked = parseEmbed(query)
    const { q } = asked
    return describeFilters(dataset, parseFilters(dataset, asked)) ?? (typeof q === 'string' ? q : 'All events')
  }
}
