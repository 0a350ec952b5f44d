// What the API says of itself beside its routes: the head of the OpenAPI document.
import type { ApiDescription } from './platform/http/openapi.ts'

export const describeService = (baseUrl: string, authUrl: string): ApiDescription => ({
  openapi: '3.1.1',
  info: {
    title: 'Outbreak Data Service',
    version: '2',
    description: 'Outbreak data, published as immutable releases. Every answer names its release; a walk stays on it.',
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
})
