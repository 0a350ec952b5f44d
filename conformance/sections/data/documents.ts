// The resources that need no token: health and the OpenAPI document.
import { check, type Section } from '../../check.ts'
import { asRows, expectEqual, expectJsonType, expectStatus, expectThat, type Row, readObject } from '../../expect.ts'
import { EVENT_NAMES, NO_TOKEN, readOnce, V1, V2 } from '../../service.ts'

const readDescription = readOnce(async (service) => {
  const response = await service.get('/openapi.json', NO_TOKEN)
  expectStatus(response, 200)
  return readObject(response)
})

const operations: [method: string, path: string, parameters: string[]][] = [
  ['post', '/oauth/token', []],
  ['get', EVENT_NAMES, []],
  ['get', V1, ['offset', 'num']],
  ['get', V2, ['page', 'num']],
]

/** Follows one reference inside the document. */
function resolveReference(description: Row, entry: Row): unknown {
  if (typeof entry.$ref !== 'string') return entry
  const steps = entry.$ref.split('/').slice(1)
  return steps.reduce<unknown>((at, step) => (at as Row | undefined)?.[step], description)
}

export const documents: Section = {
  name: 'documents',
  checks: [
    ...['/live', '/ready'].map((path) =>
      check(`${path} is 200 and JSON, without a token`, async (service) => {
        const response = await service.get(path, NO_TOKEN)
        expectStatus(response, 200)
        expectJsonType(response)
        readObject(response)
      }),
    ),
    check('/openapi.json is OpenAPI 3.1, without a token', async (service) => {
      const { openapi } = await readDescription(service)
      expectThat(/^3\.1\.\d+$/.test(String(openapi)), 'openapi 3.1', openapi)
    }),
    ...operations.map(([method, path, expected]) =>
      check(`the OpenAPI document has ${method.toUpperCase()} ${path} and its parameters`, async (service) => {
        const description = await readDescription(service)
        const paths = (description.paths ?? {}) as Record<string, Record<string, Row>>
        const operation = paths[path]?.[method]
        expectThat(operation !== undefined, `${method} ${path}`, Object.keys(paths))
        const parameters = asRows(operation.parameters ?? [], 'parameters')
        const names = parameters.map((entry) => (resolveReference(description, entry) as Row | undefined)?.name)
        expectEqual(
          'missing parameters',
          expected.filter((name) => !names.includes(name)),
          [],
        )
      }),
    ),
  ],
}
