// Descriptions of the data for programs: the JSON Schema of a record, and a release in Croissant, as a data package and in DCAT.
import { Type } from 'typebox'
import { type Dataset, type FieldShape, labelOf, labelOfValue, recordSchema } from '../../datasets/define.ts'
import { CROISSANT_TYPE, describeAsCroissant } from '../../formats/croissant.ts'
import { describeAsDataPackage } from '../../formats/data-package.ts'
import { DCAT_TYPE, describeAsDcat } from '../../formats/dcat.ts'
import type { ReleaseDescription } from '../../formats/release-description.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Problem } from '../../platform/problem.ts'
import { NO_FILTERS } from '../filters/filters.ts'
import { isReleaseNumber, LATEST } from '../paging/release-reference.ts'
import { emptyQuery, releasePath, releaseQuery } from '../requests/parameters.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { citeAsBibtex, citeAsText } from '../response/citation-formats.ts'
import { prerendered } from '../response/responder.ts'
import { errorResponses, errorResponsesWithNotFound, okResponse } from '../response/response-schemas.ts'
import { readCitation } from './citation.ts'

const anyObject = Type.Object({}, { additionalProperties: true })

const FORMATS = [
  {
    name: 'croissant.json',
    operationId: 'getCroissant',
    contentType: CROISSANT_TYPE,
    describe: describeAsCroissant,
    summary: 'Read the description of a release in Croissant',
    content: 'Croissant 1.1 (JSON-LD): the files of the release, and a record set with every field for each file.',
  },
  {
    name: 'datapackage.json',
    operationId: 'getDataPackage',
    describe: describeAsDataPackage,
    contentType: 'application/json; charset=utf-8',
    summary: 'Read the description of a release as a Frictionless data package',
    content:
      'A data package, version 2: the files of the release as tables with the types and constraints of every field.',
  },
  {
    name: 'dcat.jsonld',
    operationId: 'getDcat',
    contentType: DCAT_TYPE,
    describe: describeAsDcat,
    summary: 'Read the description of a release in DCAT',
    content: 'DCAT 3 with the properties of DCAT-AP (JSON-LD): the release in the series of releases, and its files.',
  },
]

/** The value of `Link` that names the descriptions of a release (RFC 8288). */
export const linkDescriptions = (releaseUrl: string): string =>
  FORMATS.map(({ name, contentType }) => {
    const [type = ''] = contentType.split(';')
    return `<${releaseUrl}/${name}>; rel="describedby"; type="${type}"`
  }).join(', ')

export function registerSchemaRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, baseUrl, releases, respond } = routes
  const path = `/v2/${dataset.name}/schema`

  app.get(
    path,
    {
      schema: {
        tags: ['Data'],
        operationId: 'getRecordSchema',
        summary: 'Read the JSON Schema of a record',
        description:
          'The JSON Schema (2020-12) of a record of the release. `title` is the label of a field; `oneOf` has every closed value as `const`, with its label as `title`.',
        querystring: releaseQuery,
        response: { 200: okResponse(anyObject, 'A JSON Schema.'), ...errorResponses },
      },
    },
    async (request, reply) => {
      const release = await releases.resolveParameter('release', request.query.release)
      const head = {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $id: `${baseUrl}${path}?release=${release.number}`,
        title: dataset.recordName,
      }
      const { fields } = release.contract
      const record = recordSchema({ ...dataset, fields })
      const properties = Object.fromEntries(
        fields.map((field) => [field.name, { ...labelField(dataset, field), ...record.properties[field.name] }]),
      )
      const schema = JSON.stringify({ ...record, ...head, properties })
      const isImmutable = isReleaseNumber(request.query.release)
      return respond(request, reply, { release, isImmutable, ...prerendered([schema]) })
    },
  )
}

/** The words of a field and of its closed values, in keywords that every validator knows. */
export function labelField(dataset: Dataset, { name, kind, choices, nullable }: FieldShape) {
  const values = kind === 'boolean' ? ['true', 'false'] : (choices ?? [])
  const labels = values.map((value) => ({
    const: kind === 'boolean' ? value === 'true' : value,
    title: labelOfValue(dataset, name, value),
  }))
  const unknown = { const: null, title: labelOfValue(dataset, name, 'null') }
  return {
    title: labelOf(dataset, name),
    ...(labels.length > 0 && { oneOf: nullable ? [...labels, unknown] : labels }),
  }
}

export function registerDescriptionRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, baseUrl, releases, respond } = routes
  const path = `/v2/${dataset.name}/releases`

  /** Refreshes the list of releases before giving up: the files may just have been exported. */
  async function findRelease(number: string) {
    const { number: found } = await (number === LATEST
      ? releases.resolveParameter('release', LATEST)
      : releases.resolveNumber(number))
    const exported = await releases.findOrRefresh((known) =>
      known.find((release) => release.number === found && (release.files.length > 0 || release.prunedAt !== null)),
    )
    if (exported !== undefined) return releases.requireUnpruned(exported)
    throw new Problem('not_found', `Release ${found} has no files yet, so there is nothing to describe.`)
  }

  async function readDescription(number: string): Promise<ReleaseDescription> {
    const release = await findRelease(number)
    const citation = await readCitation(routes, { dataset, release, filters: NO_FILTERS })
    return {
      dataset,
      release,
      baseUrl,
      citation: { text: citeAsText(citation), bibtex: citeAsBibtex(citation) },
      sources: citation.sources.map(({ value }) => value),
    }
  }

  for (const { name, operationId, contentType, summary, content, describe } of FORMATS)
    app.get<{ Params: { number: string } }>(
      `${path}/:number/${name}`,
      {
        schema: {
          tags: ['Data'],
          operationId,
          summary,
          description: `${content} It has the licence, the sources, the citation, and the size and SHA-256 of each file. The URLs of files need a token. 404 until the files have been exported.`,
          params: releasePath,
          querystring: emptyQuery,
          response: {
            200: okResponse(
              { content: { [contentType.replace(/;.*/, '')]: { schema: anyObject } } },
              'The description.',
            ),
            ...errorResponsesWithNotFound,
          },
        },
      },
      async (request, reply) => {
        const description = await readDescription(request.params.number)
        const { release } = description
        if (request.params.number === LATEST)
          reply.header('content-location', `${baseUrl}${path}/${release.number}/${name}`)
        return respond(request, reply, {
          release,
          // The files of a release are exported after it is published, and later versions describe more.
          isImmutable: false,
          file: { contentType, name },
          ...prerendered([JSON.stringify(describe(description))]),
        })
      },
    )
}
