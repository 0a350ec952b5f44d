// How answers travel: packed for whoever takes it, and not at all for whoever has them already (RFC 9110, sections 12 and 13).
import { type Check, check, type Section } from '../../check.ts'
import {
  type Answer,
  expectEqual,
  expectHeader,
  expectProblem,
  expectStatus,
  expectThat,
  Skipped,
} from '../../expect.ts'
import { DATA_PATHS, RELEASES, type Service, V1, V2 } from '../../service.ts'

const PATHS = [...DATA_PATHS, RELEASES]
const onEachPath = (title: string, run: (service: Service, path: string) => Promise<void>): Check[] =>
  PATHS.map((path) => check(`${title}: ${path}`, (service) => run(service, path)))

const FULL = '?num=1000'
const codingOf = (answer: Answer) => answer.headers.get('content-encoding') ?? 'identity'
const tagOf = (answer: Answer) => answer.headers.get('etag') ?? ''
const getAs = (service: Service, path: string, coding: string) => service.get(path, { 'accept-encoding': coding })

async function readTag(service: Service, path: string, coding = 'identity'): Promise<string> {
  const answer = await getAs(service, path, coding)
  expectStatus(answer, 200)
  return tagOf(answer)
}

const choices: [accepted: string, coding: string][] = [
  ['gzip', 'gzip'],
  ['br, gzip;q=0.5', 'gzip'],
  ['*', 'gzip'],
  ['identity;q=0, gzip', 'gzip'],
  ['gzip;q=0', 'identity'],
  ['gzip;q=0, *', 'identity'],
  ['gzip;q=0.1, identity', 'identity'],
  ['identity', 'identity'],
]

async function expectUnchanged(service: Service, path: string, tag: string, held: string): Promise<void> {
  const answer = await service.get(path, { 'accept-encoding': 'identity', 'if-none-match': held })
  expectStatus(answer, 304)
  expectEqual('length of the body', answer.text.length, 0)
  expectEqual('ETag', tagOf(answer), tag)
}

export const transfer: Section = {
  name: 'transfer',
  checks: [
    ...choices.map(([accepted, coding]) =>
      check(`a page for whoever sends Accept-Encoding: ${accepted} is in ${coding}`, async (service) =>
        expectEqual('Content-Encoding', codingOf(await getAs(service, V2 + FULL, accepted)), coding),
      ),
    ),
    ...[V1, V2].map((path) =>
      check(`a packed page has the text of a bare one: ${path}`, async (service) => {
        const [packed, bare] = [
          await getAs(service, path + FULL, 'gzip'),
          await getAs(service, path + FULL, 'identity'),
        ]
        expectThat(packed.text === bare.text, 'the same text', 'another')
        expectThat(packed.text.length > 0, 'a text', 'none')
      }),
    ),
    ...onEachPath('an answer varies with Accept-Encoding, packed or not', async (service, path) => {
      for (const coding of ['gzip', 'identity'])
        expectHeader(await getAs(service, path, coding), 'vary', /\baccept-encoding\b/i, 'Accept-Encoding')
    }),
    ...onEachPath('an answer has a strong ETag, the same for the same question', async (service, path) => {
      const tag = await readTag(service, path)
      expectThat(/^"[\x21\x23-\x7e]+"$/.test(tag), 'a strong ETag', tag)
      expectEqual('ETag', await readTag(service, path), tag)
    }),
    ...onEachPath('HEAD names the ETag that GET does', async (service, path) => {
      const head = await service.request('HEAD', path, { 'accept-encoding': 'identity' })
      expectEqual('ETag', tagOf(head), await readTag(service, path))
    }),
    ...onEachPath(
      '304 without a body for the ETag that was answered, in every form a client may send it',
      async (service, path) => {
        const tag = await readTag(service, path)
        for (const held of [tag, `W/${tag}`, `"another", ${tag}`]) await expectUnchanged(service, path, tag, held)
      },
    ),
    ...onEachPath('200 for another ETag', async (service, path) =>
      expectStatus(await service.get(path, { 'if-none-match': '"another"' }), 200),
    ),
    check('another coding, number of records or place is another ETag', async (service) => {
      const tags = [
        await readTag(service, V2 + FULL),
        await readTag(service, V2 + FULL, 'gzip'),
        await readTag(service, `${V2}?num=1`),
        await readTag(service, `${V1}?num=1`),
        await readTag(service, `${V1}?num=1&offset=1`),
      ]
      expectEqual('number of ETags', new Set(tags).size, tags.length)
    }),
    check('another release is another ETag', async (service) => {
      const newest = (await service.get(V2)).headers.get('outbreaks-release')
      if (newest === '1') throw new Skipped('there is one release')
      const [now, before] = [await service.get(`${V1}?release=latest`), await service.get(`${V1}?release=1`)]
      if (before.status !== 200) throw new Skipped('the first release is kept no longer')
      expectThat(tagOf(now) !== tagOf(before), 'two ETags', tagOf(now))
    }),
    check('an answer may be kept by the client alone, and is asked for again', async (service) => {
      const answer = await service.get(V2)
      expectHeader(answer, 'cache-control', /\bprivate\b/i, 'private')
      expectHeader(answer, 'cache-control', /\bno-cache\b/i, 'no-cache')
    }),
    check('an ETag opens nothing: without a token the answer is 401', async (service) => {
      const held = { 'if-none-match': await readTag(service, V2), authorization: undefined }
      expectProblem(await service.get(V2, held), 401)
    }),
    check('an error is never 304', async (service) =>
      expectProblem(await service.get(`${V2}?num=0`, { 'if-none-match': '*' }), 400),
    ),
  ],
}
