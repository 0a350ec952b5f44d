// The OpenAPI document, made from the routes, and a self-hosted page that shows it.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { HttpServer } from './http-server.ts'

interface OpenApiOptions {
  baseUrl: string
  authUrl: string
  scopes: [name: string, meaning: string][]
}

/*
 * Everything the page needs comes from this service. Its style attributes are the one concession: the page sets
 * the size of some icons by them, and an attribute can neither load nor run anything here.
 */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export async function registerOpenApi(app: HttpServer, { baseUrl, authUrl, scopes }: OpenApiOptions): Promise<void> {
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
          token: {
            type: 'oauth2',
            description: 'OAuth 2.0 client credentials; the operator hands them out.',
            flows: { clientCredentials: { tokenUrl: `${authUrl}/oauth/token`, scopes: Object.fromEntries(scopes) } },
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
      uiConfig: { docExpansion: 'list', defaultModelsExpandDepth: 0 },
    })
  })
}
