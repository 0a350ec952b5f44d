// What is open to all: health and the description of the interface.
import { check, type Section } from '../../check.ts'
import { asRows, expectEqual, expectJsonType, expectStatus, expectThat, type Row, readObject } from '../../expect.ts'
import { EVENT_NAMES, OPEN, readOnce, V1, V2 } from '../../service.ts'

const readDescription = readOnce(async (service) => {
  const answer = await service.get('/openapi.json', OPEN)
  expectStatus(answer, 200)
  return readObject(answer)
})

const described: [method: string, path: string, parameters: string[]][] = [
  ['post', '/oauth/token', []],
  ['get', EVENT_NAMES, []],
  ['get', V1, ['offset', 'num']],
  ['get', V2, ['page', 'num']],
]

/** Follows a reference inside the document, one step. */
function resolved(description: Row, entry: Row): unknown {
  if (typeof entry.$ref !== 'string') return entry
  const steps = entry.$ref.split('/').slice(1)
  return steps.reduce<unknown>((at, step) => (at as Row | undefined)?.[step], description)
}

export const documents: Section = {
  name: 'documents',
  checks: [
    ...['/live', '/ready'].map((path) =>
      check(`${path} is 200 and JSON, without a token`, async (service) => {
        const answer = await service.get(path, OPEN)
        expectStatus(answer, 200)
        expectJsonType(answer)
        readObject(answer)
      }),
    ),
    check('the interface is described as OpenAPI 3.1, without a token', async (service) => {
      const { openapi } = await readDescription(service)
      expectThat(/^3\.1\.\d+$/.test(String(openapi)), 'openapi 3.1', openapi)
    }),
    ...described.map(([method, path, wanted]) =>
      check(`the description has ${method.toUpperCase()} ${path} and its parameters`, async (service) => {
        const description = await readDescription(service)
        const paths = (description.paths ?? {}) as Record<string, Record<string, Row>>
        const operation = paths[path]?.[method]
        expectThat(operation !== undefined, `${method} ${path}`, Object.keys(paths))
        const parameters = asRows(operation.parameters ?? [], 'parameters')
        const names = parameters.map((entry) => (resolved(description, entry) as Row | undefined)?.name)
        expectEqual(
          'parameters left out',
          wanted.filter((name) => !names.includes(name)),
          [],
        )
      }),
    ),
  ],
}
