// The OpenAPI document, made from the routes, and a self-hosted page that shows it.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { HttpServer } from './http-server.ts'

interface OpenApiOptions {
  baseUrl: string
  authUrl: string
}

/** Everything the page needs comes from this service; nothing in it may be inline. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export async function registerOpenApi(app: HttpServer, { baseUrl, authUrl }: OpenApiOptions): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.1',
      info: {
        title: 'Outbreak Data Service',
        version: '2',
        description:
          'Outbreak data, published as immutable releases. Every answer names its release; a walk stays on it.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: baseUrl }],
      tags: [
        { name: 'Authentication', description: 'Client credentials in, access token out.' },
        { name: 'Data', description: 'Records and what describes them.' },
      ],
      components: {
        securitySchemes: {
          // Not `oauth2`: the page's dialog for it cannot send the audience, so it would only ever fail.
          token: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description: `An access token from POST ${authUrl}/oauth/token; the operator hands out the credentials for it.`,
          },
        },
      },
      security: [{ token: [] }],
    },
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
      theme: { title: 'Outbreak Data Service: reference' },
      uiConfig: { layout: 'BaseLayout', docExpansion: 'list', defaultModelsExpandDepth: 0 },
    })
  })
}
