// Specification section 4, v2: cursor-based paging, and the decisions on cursors and order.
import { type Check, check, dataCheck, type Section } from '../../check.ts'
import {
  expectEqual,
  expectProblem,
  expectSameRecords,
  expectStatus,
  expectThat,
  idsOf,
  readEnvelope,
  readObject,
  readRecords,
} from '../../expect.ts'
import { type Service, V1, V2 } from '../../service.ts'
import { PAGE_SIZE, readCompleteWalk, readTail, v2Query, type WalkedPage } from '../../walk.ts'

const readPage = async (service: Service, num: number, cursor?: string) =>
  readEnvelope(await service.get(v2Query(num, cursor)))

/** The cursor after the first two records. */
async function readCursor(service: Service): Promise<string> {
  const { next_page: cursor } = await readPage(service, 2)
  expectThat(typeof cursor === 'string' && cursor !== '', 'a cursor after the first two records', cursor)
  return cursor
}

const onEachPage = (title: string, test: (page: WalkedPage) => boolean, expected: string): Check =>
  dataCheck(title, ({ pages }) => {
    const failed = pages.findIndex((page) => !test(page))
    const { hasMore, nextPage, data } = pages[failed] ?? {}
    expectThat(failed === -1, `on page ${failed + 1} ${expected}`, { hasMore, nextPage, records: data?.length })
  })

const isCursor = (value: unknown) => typeof value === 'string' && value !== ''
const changeCharacter = (text: string, index: number) =>
  text.slice(0, index) + (text[index] === 'A' ? 'B' : 'A') + text.slice(index + 1)

const damages: [title: string, damage: (cursor: string) => string][] = [
  ['with its first character changed', (cursor) => changeCharacter(cursor, 0)],
  ['with a character in the middle changed', (cursor) => changeCharacter(cursor, Math.floor(cursor.length / 2))],
  ['cut in half', (cursor) => cursor.slice(0, Math.ceil(cursor.length / 2))],
  ['with a character added', (cursor) => `${cursor}A`],
  ['written twice', (cursor) => cursor + cursor],
]
const invalidCursors: [title: string, cursor: string][] = [
  ['an empty page', ''],
  ['a page number', '2'],
  ['a word', 'next'],
  ['base64 of guessed content', Buffer.from('{"id":1,"release":1}').toString('base64url')],
  ['a page of control characters', '\u0000\u0001'],
  ['a page of 2,000 characters', 'A'.repeat(2000)],
]

export const v2Paging: Section = {
  name: 'v2-paging',
  checks: [
    check('the response is an object with exactly data, has_more and next_page', async (service) => {
      const body = readObject(await service.get(`${V2}?num=2`))
      expectEqual('keys', Object.keys(body).sort(), ['data', 'has_more', 'next_page'])
    }),
    check('the first page needs no page parameter', async (service) =>
      expectThat((await readPage(service, 1)).data.length === 1, 'a record', 'none'),
    ),
    onEachPage('has_more is a boolean', (page) => typeof page.hasMore === 'boolean', 'has_more to be a boolean'),
    onEachPage(
      'when has_more is true, next_page is a cursor',
      (page) => page.hasMore !== true || isCursor(page.nextPage),
      'a cursor',
    ),
    onEachPage(
      'when has_more is false, next_page is null',
      (page) => page.hasMore !== false || page.nextPage === null,
      'next_page null',
    ),
    onEachPage('a page has at most num records', (page) => page.data.length <= PAGE_SIZE, `at most ${PAGE_SIZE}`),
    onEachPage('no page is empty', (page) => page.data.length > 0, 'a record'),
    dataCheck('the last page has has_more false and next_page null', async (_walk, service) => {
      const { hasMore, nextPage } = (await readCompleteWalk(service)).pages.at(-1) ?? {}
      expectEqual('has_more and next_page', [hasMore, nextPage], [false, null])
    }),
    dataCheck('next_page sent as page returns the next records', async (walk, service) => {
      const { data } = await readPage(service, 2, await readCursor(service))
      expectEqual('ids', idsOf(data), idsOf(walk.records.slice(2, 4)))
    }),
    dataCheck('a cursor is valid with another num', async (walk, service) => {
      const { data } = await readPage(service, 3, await readCursor(service))
      expectEqual('ids', idsOf(data), idsOf(walk.records.slice(2, 5)))
    }),
    check('a repeated cursor returns the same bytes', async (service) => {
      const path = v2Query(2, await readCursor(service))
      const [first, second] = [await service.get(path), await service.get(path)]
      expectStatus(first, 200)
      expectThat(first.text === second.text, 'equal bodies', 'different ones')
    }),
    check('a cursor is valid with another token', async (service) => {
      const path = v2Query(2, await readCursor(service))
      const other = await service.get(path, { authorization: `Bearer ${await service.newToken()}` })
      expectSameRecords(readEnvelope(other).data, readEnvelope(await service.get(path)).data)
    }),
    dataCheck('a walk returns no record twice', ({ records }) => {
      const ids = new Set()
      const duplicate = records.find(({ id }) => ids.size === ids.add(id).size)
      expectThat(duplicate === undefined, 'each id once', duplicate?.id)
    }),
    dataCheck('a complete walk returns as many records as v1', async (_walk, service) => {
      const { records, release } = await readCompleteWalk(service)
      const lastPage = await service.get(`${V1}?offset=${records.length - 1}&num=2&release=${release}`)
      expectEqual('ids from the last offset', idsOf(readRecords(lastPage)), idsOf(records.slice(-1)))
    }),
    dataCheck('records ascend by id', ({ records }) => {
      const at = records.findIndex(({ id }, index) => index > 0 && Number(id) <= Number(records[index - 1]?.id))
      expectThat(at === -1, 'ascending ids', idsOf(records.slice(Math.max(at - 1, 0), at + 1)))
    }),
    dataCheck('v1 and v2 return the same records in the same order', async (walk, service) => {
      const first = walk.records.slice(0, 1000)
      const v1 = await service.get(`${V1}?offset=0&num=${first.length}&release=${walk.release}`)
      expectSameRecords(readRecords(v1), first)
    }),
    check('a page that ends with the last record has has_more false', async (service) => {
      const { cursor, remaining } = readTail(await readCompleteWalk(service))
      const page = await readPage(service, remaining, cursor)
      expectEqual('has_more and next_page', [page.has_more, page.next_page], [false, null])
    }),
    check('a page that ends one record before the last has has_more true', async (service) => {
      const { cursor, remaining } = readTail(await readCompleteWalk(service))
      expectEqual('has_more', (await readPage(service, remaining - 1, cursor)).has_more, true)
    }),
    ...damages.map(([title, damage]) =>
      check(`a cursor ${title} is 400 with parameter page`, async (service) => {
        const cursor = damage(await readCursor(service))
        expectProblem(await service.get(v2Query(2, cursor)), 400, { parameter: 'page' })
      }),
    ),
    ...invalidCursors.map(([title, cursor]) =>
      check(`${title} is not a cursor: 400 with parameter page`, async (service) =>
        expectProblem(await service.get(v2Query(2, cursor)), 400, { parameter: 'page' }),
      ),
    ),
    check('a cursor sent twice is 400 with parameter page', async (service) => {
      const path = v2Query(2, await readCursor(service))
      const response = await service.get(path + path.slice(path.indexOf('&page=')))
      expectProblem(response, 400, { code: 'repeated_parameter', parameter: 'page' })
    }),
  ],
}
