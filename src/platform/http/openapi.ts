// The OpenAPI document, generated from the routes, and a self-hosted page that shows it.
// Both are written once and sent from memory: a response that is not read holds neither a copy nor a file.
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import fastify from 'fastify'
import type { HttpServer } from './http-server.ts'

/** The document as far as it does not follow from the routes. */
export type ApiDescription = NonNullable<FastifyDynamicSwaggerOptions['openapi']>

const PAGE = '/reference'
/** Everything the page needs comes from this service; nothing in it may be inline. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

interface PageFile {
  readonly url: string
  readonly type: string
  readonly bytes: Buffer
}

export async function registerOpenApi(app: HttpServer, description: ApiDescription): Promise<void> {
  await app.register(swagger, {
    openapi: description,
    refResolver: {
      buildLocalReference: ({ $id }, _base, _fragment, i) => (typeof $id === 'string' ? $id : `schema-${i}`),
    },
  })
  // Complete only once all routes are registered, so written with the first request.
  let document: Buffer | undefined
  const serialiseDocument = () => (document ??= Buffer.from(JSON.stringify(app.swagger())))
  const hidden = { schema: { hide: true } }
  app.get('/openapi.json', hidden, (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(serialiseDocument()),
  )
  const files = await loadPageFiles(`${description.info?.title}: reference`)
  await app.register(async (page) => {
    page.addHook('onRequest', async (_request, reply) => {
      reply.header('content-security-policy', PAGE_POLICY)
    })
    for (const { url, type, bytes } of files) page.get(url, hidden, (_request, reply) => reply.type(type).send(bytes))
    // Where the page looks for the document.
    page.get(`${PAGE}/json`, hidden, (_request, reply) =>
      reply.type('application/json; charset=utf-8').send(serialiseDocument()),
    )
  })
}

/** The page and all that it refers to, as the plugin writes them; it would open a file for every request. */
async function loadPageFiles(title: string): Promise<PageFile[]> {
  const source = fastify()
  await source.register(swagger)
  await source.register(swaggerUi, {
    routePrefix: PAGE,
    theme: { title },
    uiConfig: { layout: 'BaseLayout', docExpansion: 'list', defaultModelsExpandDepth: 0 },
  })
  async function load(url: string): Promise<PageFile> {
    const { statusCode, headers, rawPayload } = await source.inject(url)
    if (statusCode !== 200) throw new Error(`the reference page lacks ${url}`)
    return { url, type: String(headers['content-type']), bytes: rawPayload }
  }
  try {
    const page = await load(PAGE)
    const references = [...page.bytes.toString().matchAll(/(?:href|src)="([^"]+)"/g)].map(([, url]) => url ?? '')
    return [page, ...(await Promise.all([`${PAGE}/`, ...references].map(load)))]
  } finally {
    await source.close()
  }
}
