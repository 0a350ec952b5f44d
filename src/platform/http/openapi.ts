// The OpenAPI document, generated from the routes, and a self-hosted page that shows it.
// Both are rendered once and sent from memory, so an unread response holds neither a copy nor an open file.
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import fastify from 'fastify'
import type { HttpServer } from './http-server.ts'

/** The part of the document that does not follow from the routes. */
export type ApiDescription = NonNullable<FastifyDynamicSwaggerOptions['openapi']>

const PAGE_PATH = '/reference'
/** The page loads everything from this service and has no inline script or style. */
const PAGE_CSP =
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
  // Rendered with the first request, when all routes are registered.
  let document: Buffer | undefined
  const serialiseDocument = () => (document ??= Buffer.from(JSON.stringify(app.swagger())))
  const hidden = { schema: { hide: true } }
  app.get('/openapi.json', hidden, (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(serialiseDocument()),
  )
  const files = await loadPageFiles(`${description.info?.title}: reference`)
  await app.register(async (page) => {
    page.addHook('onRequest', async (_request, reply) => {
      reply.header('content-security-policy', PAGE_CSP)
    })
    for (const { url, type, bytes } of files) page.get(url, hidden, (_request, reply) => reply.type(type).send(bytes))
    // The page fetches the document from this URL.
    page.get(`${PAGE_PATH}/json`, hidden, (_request, reply) =>
      reply.type('application/json; charset=utf-8').send(serialiseDocument()),
    )
  })
}

/** The page and the files that it references, read from the plugin once. The plugin itself opens a file for each request. */
async function loadPageFiles(title: string): Promise<PageFile[]> {
  const source = fastify()
  await source.register(swagger)
  await source.register(swaggerUi, {
    routePrefix: PAGE_PATH,
    theme: { title },
    uiConfig: { layout: 'BaseLayout', docExpansion: 'list', defaultModelsExpandDepth: 0 },
  })
  async function load(url: string): Promise<PageFile> {
    const { statusCode, headers, rawPayload } = await source.inject(url)
    if (statusCode !== 200) throw new Error(`the reference page lacks ${url}`)
    return { url, type: String(headers['content-type']), bytes: rawPayload }
  }
  try {
    const page = await load(PAGE_PATH)
    const references = [...page.bytes.toString().matchAll(/(?:href|src)="([^"]+)"/g)].map(([, url]) => url ?? '')
    return [page, ...(await Promise.all([`${PAGE_PATH}/`, ...references].map(load)))]
  } finally {
    await source.close()
  }
}
