// The part of the OpenAPI document that does not follow from the routes.
import type { ApiDescription } from './platform/http/openapi.ts'

export const describeService = (baseUrl: string, authUrl: string): ApiDescription => ({
  openapi: '3.1.1',
  info: {
    title: 'Outbreak Data Service',
    version: '2',
    description:
      'Outbreak data, published as immutable releases. Every response names its release; all pages of a walk are of the same release.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: baseUrl }],
  tags: [
    { name: 'Authentication', description: 'Obtain an access token with client credentials.' },
    { name: 'Data', description: 'Records, releases, downloads and metadata.' },
  ],
  components: {
    securitySchemes: {
      // Not `oauth2`: the dialog of the reference page cannot send the audience, so it would always fail.
      token: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: `An access token from POST ${authUrl}/oauth/token. The operator provides the client credentials.`,
      },
    },
  },
  security: [{ token: [] }],
})
