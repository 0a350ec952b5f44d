// Content encoding and conditional requests (RFC 9110, sections 12 and 13).
import { type Check, check, type Section } from '../../check.ts'
import {
  expectEqual,
  expectHeader,
  expectProblem,
  expectStatus,
  expectThat,
  type ServiceResponse,
  Skipped,
} from '../../expect.ts'
import { DATA_PATHS, RELEASES, type Service, V1, V2 } from '../../service.ts'

const PATHS = [...DATA_PATHS, RELEASES]
const onEachPath = (title: string, run: (service: Service, path: string) => Promise<void>): Check[] =>
  PATHS.map((path) => check(`${title}: ${path}`, (service) => run(service, path)))

const FULL = '?num=1000'
const encodingOf = (response: ServiceResponse) => response.headers.get('content-encoding') ?? 'identity'
const tagOf = (response: ServiceResponse) => response.headers.get('etag') ?? ''
const getAs = (service: Service, path: string, encoding: string) => service.get(path, { 'accept-encoding': encoding })

async function readTag(service: Service, path: string, encoding = 'identity'): Promise<string> {
  const response = await getAs(service, path, encoding)
  expectStatus(response, 200)
  return tagOf(response)
}

const choices: [accepted: string, encoding: string][] = [
  ['gzip', 'gzip'],
  ['br, gzip;q=0.5', 'gzip'],
  ['*', 'gzip'],
  ['identity;q=0, gzip', 'gzip'],
  ['gzip;q=0', 'identity'],
  ['gzip;q=0, *', 'identity'],
  ['gzip;q=0.1, identity', 'identity'],
  ['identity', 'identity'],
]

async function expectNotModified(service: Service, path: string, tag: string, ifNoneMatch: string): Promise<void> {
  const response = await service.get(path, { 'accept-encoding': 'identity', 'if-none-match': ifNoneMatch })
  expectStatus(response, 304)
  expectEqual('length of the body', response.text.length, 0)
  expectEqual('ETag', tagOf(response), tag)
}

export const transfer: Section = {
  name: 'transfer',
  checks: [
    ...choices.map(([accepted, encoding]) =>
      check(`Accept-Encoding: ${accepted} gives a page in ${encoding}`, async (service) =>
        expectEqual('Content-Encoding', encodingOf(await getAs(service, V2 + FULL, accepted)), encoding),
      ),
    ),
    ...[V1, V2].map((path) =>
      check(`a page has the same text with and without gzip: ${path}`, async (service) => {
        const [compressed, plain] = [
          await getAs(service, path + FULL, 'gzip'),
          await getAs(service, path + FULL, 'identity'),
        ]
        expectThat(compressed.text === plain.text, 'the same text', 'different texts')
        expectThat(compressed.text.length > 0, 'a text', 'none')
      }),
    ),
    ...onEachPath('a response has Vary: Accept-Encoding, compressed or not', async (service, path) => {
      for (const encoding of ['gzip', 'identity'])
        expectHeader(await getAs(service, path, encoding), 'vary', /\baccept-encoding\b/i, 'Accept-Encoding')
    }),
    ...onEachPath('a response has a strong ETag, and a repeated request the same ETag', async (service, path) => {
      const tag = await readTag(service, path)
      expectThat(/^"[\x21\x23-\x7e]+"$/.test(tag), 'a strong ETag', tag)
      expectEqual('ETag', await readTag(service, path), tag)
    }),
    ...onEachPath('HEAD has the ETag of GET', async (service, path) => {
      const head = await service.request('HEAD', path, { 'accept-encoding': 'identity' })
      expectEqual('ETag', tagOf(head), await readTag(service, path))
    }),
    ...onEachPath(
      '304 without a body if If-None-Match has the ETag, strong, weak or in a list',
      async (service, path) => {
        const tag = await readTag(service, path)
        for (const ifNoneMatch of [tag, `W/${tag}`, `"another", ${tag}`])
          await expectNotModified(service, path, tag, ifNoneMatch)
      },
    ),
    ...onEachPath('200 if If-None-Match has another ETag', async (service, path) =>
      expectStatus(await service.get(path, { 'if-none-match': '"another"' }), 200),
    ),
    check('another encoding, number of records or offset gives another ETag', async (service) => {
      const tags = [
        await readTag(service, V2 + FULL),
        await readTag(service, V2 + FULL, 'gzip'),
        await readTag(service, `${V2}?num=1`),
        await readTag(service, `${V1}?num=1`),
        await readTag(service, `${V1}?num=1&offset=1`),
      ]
      expectEqual('number of ETags', new Set(tags).size, tags.length)
    }),
    check('another release gives another ETag', async (service) => {
      const newest = (await service.get(V2)).headers.get('outbreaks-release')
      if (newest === '1') throw new Skipped('there is one release')
      const [now, before] = [await service.get(`${V1}?release=latest`), await service.get(`${V1}?release=1`)]
      if (before.status !== 200) throw new Skipped('the first release was pruned')
      expectThat(tagOf(now) !== tagOf(before), 'two ETags', tagOf(now))
    }),
    check('only the client may store a response, and must revalidate it', async (service) => {
      const response = await service.get(V2)
      expectHeader(response, 'cache-control', /\bprivate\b/i, 'private')
      expectHeader(response, 'cache-control', /\bno-cache\b/i, 'no-cache')
    }),
    check(
      'only the client may store a response of a release that the URL names, and need not revalidate it',
      async (service) => {
        const release = (await service.get(V2)).headers.get('outbreaks-release')
        const response = await service.get(`${V2}?release=${release}`)
        for (const directive of ['private', 'immutable', 'max-age=\\d+'])
          expectHeader(response, 'cache-control', new RegExp(`\\b${directive}\\b`, 'i'), directive)
      },
    ),
    check('an ETag without a token is 401', async (service) => {
      const headers = { 'if-none-match': await readTag(service, V2), authorization: undefined }
      expectProblem(await service.get(V2, headers), 401)
    }),
    check('an error is never 304', async (service) =>
      expectProblem(await service.get(`${V2}?num=0`, { 'if-none-match': '*' }), 400),
    ),
  ],
}
