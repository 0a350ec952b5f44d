// What the service says about itself: the part of the OpenAPI document that does not follow from the routes, and the landing page.
import type { Dataset } from './datasets/define.ts'
import { describeCatalogue } from './formats/croissant.ts'
import { SERVICE_NAME } from './formats/release-description.ts'
import type { LandingPage } from './platform/pages/landing-page.ts'
import type { ApiDescription } from './platform/pages/openapi.ts'

const DOCUMENTATION = 'https://github.com/outbreak-data-service/outbreak-data-service/blob/main/docs'

export const describeService = (baseUrl: string, authUrl: string): ApiDescription => ({
  openapi: '3.1.1',
  info: {
    title: SERVICE_NAME,
    version: '2',
    description:
      'Outbreak data, published as immutable releases. Every response names its release; all pages of a list are of the same release.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: baseUrl }],
  tags: [
    { name: 'Authentication', description: 'Obtain an access token with client credentials.' },
    { name: 'Data', description: 'Records, releases, downloads and metadata.' },
    { name: 'Watches', description: 'Queries that the service watches for you.' },
  ],
  components: {
    securitySchemes: {
      // Not `oauth2`: the reference page would keep the client secret as long as its tab is open.
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

export const describeLandingPage = (
  baseUrl: string,
  authUrl: string,
  {
    datasets,
    hasExplorer,
    hasDocumentation,
  }: { datasets: readonly Dataset[]; hasExplorer: boolean; hasDocumentation: boolean },
): LandingPage => ({
  title: SERVICE_NAME,
  headline: 'Outbreak counts, with their sources and their history',
  description:
    'Outbreak data, published as numbered releases that never change. Every response names its release. Access needs client credentials from the operator of this service.',
  structuredData: describeCatalogue(datasets, baseUrl),
  sections: [
    {
      title: 'Use the service',
      links: [
        ...(hasExplorer
          ? [
              {
                name: 'explorer',
                href: `${baseUrl}/explore`,
                title: 'Explorer',
                description: 'Curves, maps, releases and what changed, in the browser.',
              },
            ]
          : []),
        ...(hasDocumentation
          ? [
              {
                name: 'documentation',
                href: `${baseUrl}/docs/`,
                title: 'Documentation',
                description: 'Tutorials, guides and the meaning of every number.',
              },
            ]
          : []),
        {
          name: 'reference',
          href: `${baseUrl}/reference`,
          title: 'Reference',
          description: 'Every endpoint with its parameters and examples.',
        },
        {
          name: 'openapi',
          href: `${baseUrl}/openapi.json`,
          title: 'OpenAPI document',
          description: 'The same for programs.',
        },
        {
          name: 'authorization',
          href: `${baseUrl}/.well-known/oauth-protected-resource`,
          title: 'Authorization',
          description: `Access tokens come from POST ${authUrl}/oauth/token, with the audience ${baseUrl}.`,
        },
        {
          name: 'status',
          href: `${baseUrl}/ready`,
          title: 'Status',
          description: 'Whether this node can serve requests.',
        },
      ],
    },
    ...datasets.map(({ name, title }) => ({
      title,
      links: [
        {
          name: `${name}_releases`,
          href: `${baseUrl}/v2/${name}/releases`,
          title: 'Releases',
          description: 'All releases with their files and digests. Needs a token.',
        },
        {
          name: `${name}_schema`,
          href: `${baseUrl}/v2/${name}/schema`,
          title: 'Schema',
          description: 'The fields of a record as JSON Schema. Needs a token.',
        },
      ],
    })),
    {
      title: 'Read about the data',
      links: [
        {
          name: 'data_dictionary',
          href: `${DOCUMENTATION}/data-dictionary.md`,
          title: 'Data dictionary',
          description: 'Every field with its type and meaning.',
        },
        {
          name: 'filtering',
          href: `${DOCUMENTATION}/filtering.md`,
          title: 'Filtering',
          description: 'How to filter records.',
        },
        {
          name: 'descriptions',
          href: `${DOCUMENTATION}/describe-the-data.md`,
          title: 'Describe the data',
          description: 'A release in Croissant, as a data package and in DCAT.',
        },
        {
          name: 'download',
          href: `${DOCUMENTATION}/download-a-query.md`,
          title: 'Download a query',
          description: 'CSV, GeoJSON, Parquet and Arrow, for pandas, R and spreadsheets.',
        },
        {
          name: 'errors',
          href: `${DOCUMENTATION}/errors.md`,
          title: 'Errors',
          description: 'What each error means and what to do.',
        },
      ],
    },
  ],
})
