// Specification sections 1 and 4: the headers of responses, and the request headers that matter.
import { type Check, check, type Section } from '../check.ts'
import { expectEqual, expectHeader, expectJsonType, expectStatus, expectThat, readJson } from '../expect.ts'
import { DATA_PATHS, NO_TOKEN, type Service, V1, V2 } from '../service.ts'

const onEachPath = (title: string, run: (service: Service, path: string) => Promise<void>): Check[] =>
  DATA_PATHS.map((path) => check(`${title}: ${path}`, (service) => run(service, path)))

const FIRST = `${V2}?num=2`
const invalidIds: [words: string, id: string][] = [
  ['of 1,000 characters', 'x'.repeat(1000)],
  ['with markup', '<b>id</b> "quoted"'],
]

export const responses: Section = {
  name: 'responses',
  checks: [
    ...onEachPath('every response body is JSON with the content type application/json', async (service, path) => {
      const response = await service.get(path)
      expectStatus(response, 200)
      expectJsonType(response)
      readJson(response)
    }),
    ...onEachPath('Content-Type: application/json on a GET is accepted', async (service, path) =>
      expectStatus(await service.get(path, { 'content-type': 'application/json' }), 200),
    ),
    ...onEachPath('Content-Type on a GET is not required', async (service, path) =>
      expectStatus(await service.get(path, { 'content-type': undefined }), 200),
    ),
    ...onEachPath('HEAD has the headers of GET and no body', async (service, path) => {
      const [head, get] = [await service.request('HEAD', path), await service.get(path)]
      expectStatus(head, 200)
      expectEqual('length of the body', head.text.length, 0)
      for (const name of ['content-type', 'outbreaks-release'])
        expectEqual(name, head.headers.get(name), get.headers.get(name))
    }),
    ...['json', 'text', 'bibtex', 'csl-json'].map((format) =>
      check(`a shared cache must not store a citation: ${format}`, async (service) => {
        const response = await service.get(`/v2/hed-outbreaks/citation?format=${format}`)
        expectStatus(response, 200)
        expectHeader(response, 'cache-control', /\b(private|no-store)\b/, 'with private or no-store')
      }),
    ),
    ...onEachPath('a shared cache must not store a response', async (service, path) =>
      expectHeader(await service.get(path), 'cache-control', /\b(private|no-store)\b/, 'with private or no-store'),
    ),
    check('with Accept-Encoding: identity a response is not compressed and has the same text', async (service) => {
      const plain = await service.get(FIRST, { 'accept-encoding': 'identity' })
      expectThat(['identity', null].includes(plain.headers.get('content-encoding')), 'no Content-Encoding', 'one')
      expectStatus(plain, 200)
      const compressed = await service.get(FIRST, { 'accept-encoding': 'gzip' })
      expectThat(plain.text === compressed.text, 'the same text with and without gzip', 'different texts')
    }),
    check('a data response has X-Request-Id', async (service) =>
      expectHeader(await service.get(FIRST), 'x-request-id', /^\S+$/, 'with an id'),
    ),
    check('an error has X-Request-Id', async (service) =>
      expectHeader(await service.get(V1, NO_TOKEN), 'x-request-id', /^\S+$/, 'with an id'),
    ),
    check('a token response has X-Request-Id', async (service) =>
      expectHeader(await service.postTokenJson(), 'x-request-id', /^\S+$/, 'with an id'),
    ),
    check('two requests have different ids', async (service) => {
      const ids = [await service.get(FIRST), await service.get(FIRST)].map((each) => each.headers.get('x-request-id'))
      expectThat(ids[0] !== ids[1], 'two ids', ids)
    }),
    check('X-Request-Id of the client is echoed', async (service) => {
      const response = await service.get(FIRST, { 'x-request-id': 'conformance-4711' })
      expectEqual('X-Request-Id', response.headers.get('x-request-id'), 'conformance-4711')
    }),
    ...invalidIds.map(([words, id]) =>
      check(`an X-Request-Id ${words} is replaced, not echoed`, async (service) => {
        const response = await service.get(FIRST, { 'x-request-id': id })
        expectStatus(response, 200)
        const returned = response.headers.get('x-request-id')
        expectThat(returned !== null && returned !== id, 'an id of the service', returned)
      }),
    ),
  ],
}
