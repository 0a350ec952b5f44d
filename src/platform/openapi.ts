// The OpenAPI document, made from the routes, and a self-hosted page that shows it.
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { HttpServer } from './http-server.ts'

/** The document as far as it does not follow from the routes. */
export type ApiDescription = NonNullable<FastifyDynamicSwaggerOptions['openapi']>

/** Everything the page needs comes from this service; nothing in it may be inline. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export async function registerOpenApi(app: HttpServer, description: ApiDescription): Promise<void> {
  await app.register(swagger, {
    openapi: description,
    refResolver: {
      buildLocalReference: ({ $id }, _base, _fragment, i) => (typeof $id === 'string' ? $id : `schema-${i}`),
    },
  })
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
  await app.register(async (page) => {
    page.addHook('onRequest', async (_request, reply) => {
      reply.header('content-security-policy', PAGE_POLICY)
    })
    await page.register(swaggerUi, {
      routePrefix: '/reference',
      theme: { title: `${description.info?.title}: reference` },
      uiConfig: { layout: 'BaseLayout', docExpansion: 'list', defaultModelsExpandDepth: 0 },
    })
  })
}
