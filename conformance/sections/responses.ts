// Specification section 1 and 4, the headers: what each answer carries, and which request headers matter.
import { type Check, check, type Section } from '../check.ts'
import { expectEqual, expectHeader, expectJsonType, expectStatus, expectThat, readJson } from '../expect.ts'
import { DATA_PATHS, OPEN, type Service, V1, V2 } from '../service.ts'

const onEachPath = (title: string, run: (service: Service, path: string) => Promise<void>): Check[] =>
  DATA_PATHS.map((path) => check(`${title}: ${path}`, (service) => run(service, path)))

const FIRST = `${V2}?num=2`
const insane: [words: string, id: string][] = [
  ['of 1,000 characters', 'x'.repeat(1000)],
  ['with markup', '<b>id</b> "quoted"'],
]

export const answers: Section = {
  name: 'answers',
  checks: [
    ...onEachPath('every response body is JSON, and says so', async (service, path) => {
      const answer = await service.get(path)
      expectStatus(answer, 200)
      expectJsonType(answer)
      readJson(answer)
    }),
    ...onEachPath('Content-Type: application/json on a GET is accepted', async (service, path) =>
      expectStatus(await service.get(path, { 'content-type': 'application/json' }), 200),
    ),
    ...onEachPath('Content-Type on a GET is not demanded', async (service, path) =>
      expectStatus(await service.get(path, { 'content-type': undefined }), 200),
    ),
    ...onEachPath('HEAD answers as GET does, without a body', async (service, path) => {
      const [head, get] = [await service.request('HEAD', path), await service.get(path)]
      expectStatus(head, 200)
      expectEqual('length of the body', head.text.length, 0)
      for (const name of ['content-type', 'outbreaks-release'])
        expectEqual(name, head.headers.get(name), get.headers.get(name))
    }),
    ...['json', 'text', 'bibtex', 'csl-json'].map((format) =>
      check(`no shared cache keeps a citation: ${format}`, async (service) => {
        const answer = await service.get(`/v2/hed-outbreaks/citation?format=${format}`)
        expectStatus(answer, 200)
        expectHeader(answer, 'cache-control', /\b(private|no-store)\b/, 'with private or no-store')
      }),
    ),
    ...onEachPath('no shared cache keeps an answer', async (service, path) =>
      expectHeader(await service.get(path), 'cache-control', /\b(private|no-store)\b/, 'with private or no-store'),
    ),
    check('compression is not required: identity is honoured and tells the same', async (service) => {
      const plain = await service.get(FIRST, { 'accept-encoding': 'identity' })
      expectThat(['identity', null].includes(plain.headers.get('content-encoding')), 'no Content-Encoding', 'one')
      expectStatus(plain, 200)
      const packed = await service.get(FIRST, { 'accept-encoding': 'gzip' })
      expectThat(plain.text === packed.text, 'the same text with and without gzip', 'another')
    }),
    check('a data answer carries X-Request-Id', async (service) =>
      expectHeader(await service.get(FIRST), 'x-request-id', /^\S+$/, 'with an id'),
    ),
    check('an error carries X-Request-Id', async (service) =>
      expectHeader(await service.get(V1, OPEN), 'x-request-id', /^\S+$/, 'with an id'),
    ),
    check('a token answer carries X-Request-Id', async (service) =>
      expectHeader(await service.postTokenJson(), 'x-request-id', /^\S+$/, 'with an id'),
    ),
    check('each request has an id of its own', async (service) => {
      const ids = [await service.get(FIRST), await service.get(FIRST)].map((each) => each.headers.get('x-request-id'))
      expectThat(ids[0] !== ids[1], 'two ids', ids)
    }),
    check('X-Request-Id of the client is echoed', async (service) => {
      const answer = await service.get(FIRST, { 'x-request-id': 'conformance-4711' })
      expectEqual('X-Request-Id', answer.headers.get('x-request-id'), 'conformance-4711')
    }),
    ...insane.map(([words, id]) =>
      check(`an X-Request-Id ${words} is replaced, not echoed`, async (service) => {
        const answer = await service.get(FIRST, { 'x-request-id': id })
        expectStatus(answer, 200)
        const seen = answer.headers.get('x-request-id')
        expectThat(seen !== null && seen !== id, 'an id of the service', seen)
      }),
    ),
  ],
}
