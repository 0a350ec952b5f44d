// The data endpoints on a database, without authentication: v1 and v2 return the same order and stay on a release.

import assert from 'node:assert/strict'
import { generateKeySync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pino } from 'pino'
import { writeSynthRelease } from '../../../../dev/synth/synthesise.ts'
import { writeCursor } from '../../../../src/api/paging/cursor.ts'
import { createOffsetFinder } from '../../../../src/api/paging/offsets.ts'
import { MAX_NUM } from '../../../../src/api/requests/parameters.ts'
import { createResponseCache } from '../../../../src/api/response/response-cache.ts'
import { registerDataRoutes } from '../../../../src/api/routes.ts'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { createHttpServer } from '../../../../src/platform/http/http-server.ts'
import { openDatabase } from '../../../../src/platform/postgres/database.ts'
import { publishRelease } from '../../../../src/publish/publish.ts'
import { CHUNK_IDS, slotOf } from '../../../../src/storage/chunk.ts'
import { loadPublishedReleases } from '../../../../src/storage/published-releases.ts'
import { createPatientWatcher, createTestDatabase, openApiDatabase } from '../../../database.ts'
import { openTestIndex } from '../../../fixtures/column-index.ts'
import { readStoredRecords } from '../../../fixtures/stored-records.ts'
import { fc } from '../../../seed.ts'

const V1 = '/v1/hed-outbreaks/outbreaks'
const V2 = '/v2/hed-outbreaks/outbreaks'
const NAMES = '/v2/hed-outbreaks/event-names'
const RECORDS = 3400
const MAX = Number.MAX_SAFE_INTEGER

const home = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-routes-'))
after(() => Promise.all([app.close(), api.close(), operator.close(), rm(home, { recursive: true })]))
const url = await createTestDatabase()
const api = openApiDatabase(url)
const operator = openDatabase({ url, role: 'outbreaks_operator' })
// The watcher is not started: the routes know only releases that a test or a request has refreshed.
const watcher = createPatientWatcher(api)
const published = watcher.watch('release', loadPublishedReleases, new Map())
const cursorKey = generateKeySync('hmac', { length: 256 })
const app = createHttpServer({ baseUrl: 'https://api.test', log: pino({ level: 'silent' }) })
const index = openTestIndex(api, hedOutbreaks)
app.addHook('onClose', index.close)
registerDataRoutes(app, {
  dataset: hedOutbreaks,
  database: api,
  index,
  baseUrl: 'https://api.test',
  cursorKey,
  cache: createResponseCache(1),
  published: () => published.value,
  refresh: watcher.refresh,
})

async function publish(release: number) {
  const directory = path.join(home, String(release))
  await writeSynthRelease({ records: RECORDS, seed: 11, release }, directory)
  return publishRelease(operator, hedOutbreaks, directory)
}

/** The records of a release, read from the chunks. */
async function readOracle(release: number) {
  const bodies = await readStoredRecords(operator, release)
  const records = bodies.map((body) => JSON.parse(body) as { id: number; event: string })
  return { ids: records.map(({ id }) => id), bodies, events: records.map(({ event }) => event) }
}

type Query = Record<string, string | number>
const inject = (address: string, query: Query = {}) =>
  app.inject({ url: address, query: Object.fromEntries(Object.entries(query).map(([k, v]) => [k, String(v)])) })

async function get(address: string, query: Query = {}) {
  const response = await inject(address, query)
  assert.equal(response.statusCode, 200, response.body)
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  return { text: response.body, release: Number(response.headers['outbreaks-release']), headers: response.headers }
}

interface Page {
  data: unknown[]
  has_more: boolean
  next_page: string | null
}

/** One v2 page: the records as text, and the cursor of the next page. */
async function getPage(query: Query) {
  const { text, release } = await get(V2, query)
  const page = JSON.parse(text) as Page
  assert.deepEqual(Object.keys(page), ['data', 'has_more', 'next_page'])
  assert.equal(page.has_more, page.next_page !== null)
  const records = text.slice('{"data":'.length, text.lastIndexOf(',"has_more":'))
  return { records, count: page.data.length, next: page.next_page, release }
}

const arrayOf = (bodies: string[]) => `[${bodies.join(',\n')}]`

async function assertProblem(address: string, query: Query, status: number, code: string, parameter?: string) {
  const response = await inject(address, query)
  const body = response.json()
  assert.deepEqual([response.statusCode, body.code, body.parameter], [status, code, parameter], response.body)
}

describe('without a release', () => {
  for (const address of [V1, V2, NAMES]) {
    test(`503 nothing_published: ${address}`, () => assertProblem(address, {}, 503, 'nothing_published'))
    test(`400 for release=1: ${address}`, () =>
      assertProblem(address, { release: 1 }, 400, 'invalid_parameter', 'release'))
  }
})

describe('one release', () => {
  let oracle: Awaited<ReturnType<typeof readOracle>>
  before(async () => {
    assert.equal((await publish(1)).records, RECORDS)
    oracle = await readOracle(1)
  })

  test('it is read without a refresh, and num defaults to 100', async () => {
    const { text, release, headers } = await get(V1)
    assert.equal(text, arrayOf(oracle.bodies.slice(0, 100)))
    assert.deepEqual([release, headers['cache-control']], [1, 'private, no-cache'])
    assert.equal(headers['link'], `<https://api.test${V2}>; rel="successor-version"`)
    assert.equal((await getPage({})).records, text)
  })

  test('event names are distinct and sorted by code point', async () => {
    assert.deepEqual(JSON.parse((await get(NAMES)).text), [...new Set(oracle.events)].sort())
  })

  const edges = [0, 1, 999, 1000, 1001, 2000, 2999, 3000, RECORDS - 1, RECORDS, RECORDS + 1, 1_000_000, MAX]
  const offsets = fc.oneof(fc.constantFrom(...edges), fc.integer({ min: 0, max: RECORDS + 200 }))
  const nums = fc.oneof(fc.constantFrom(1, 2, MAX_NUM - 1, MAX_NUM), fc.integer({ min: 1, max: MAX_NUM }))

  test('v1 returns the records from offset on, for any offset and num', () =>
    fc.assert(
      fc.asyncProperty(offsets, nums, async (offset, num) => {
        assert.equal((await get(V1, { offset, num })).text, arrayOf(oracle.bodies.slice(offset, offset + num)))
      }),
      { numRuns: 150 },
    ))

  test('v2 returns the same records in the same order, for any sizes of pages', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 100, max: 1000 }), { minLength: 1, maxLength: 4 }), async (sizes) => {
        let offset = 0
        let page: string | null | undefined
        for (let i = 0; page !== null; i++) {
          const num = sizes[i % sizes.length] ?? 1
          const { records, count, next } = await getPage(page === undefined ? { num } : { num, page })
          assert.equal(records, (await get(V1, { offset, num })).text)
          offset += count
          page = next
        }
        assert.equal(offset, RECORDS)
      }),
      { numRuns: 8 },
    ))

  test('a cursor can be used again with another num', async () => {
    const { next } = await getPage({ num: 7 })
    const first = await getPage({ page: next ?? '', num: 3 })
    assert.deepEqual(await getPage({ page: next ?? '', num: 3 }), first)
    assert.equal(first.records, arrayOf(oracle.bodies.slice(7, 10)))
  })

  test('a full last page has has_more false', async () => {
    const { next } = await getPage({ num: RECORDS - 3000 })
    let page = next
    for (let i = 0; i < 3; i++) page = (await getPage({ num: 1000, page: page ?? '' })).next
    assert.equal(page, null)
  })

  test('an offset starts at the chunk of its first record', async () => {
    const findOffset = createOffsetFinder(api, hedOutbreaks)
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: RECORDS - 1 }), async (offset) => {
        const { fromId, skip } = await findOffset({ number: 1, digest: 'one' }, offset)
        assert.equal(oracle.ids.filter((id) => id < fromId).length + skip, offset)
        assert.equal(slotOf(oracle.ids[offset] ?? 0), slotOf(fromId))
      }),
      { numRuns: 50, examples: [0, 999, 1000, 1001, 2000, 3000].map((offset): [number] => [offset]) },
    )
    // The sizes of chunks are cached by the digest of a release, not by its number.
    assert.deepEqual(await findOffset({ number: 99, digest: 'one' }, 0), { fromId: 1, skip: 0 })
    await assert.rejects(findOffset({ number: 99, digest: 'other' }, 5), { code: 'unavailable' })
    // More concurrent releases than the cache has room for: each request still gets the sizes it waits for.
    const many = Array.from({ length: 40 }, (_, i) => findOffset({ number: 1, digest: `copy ${i}` }, RECORDS - 1))
    for (const { skip } of await Promise.all(many)) assert.ok(skip < CHUNK_IDS)
  })
})

describe('a second release', () => {
  let old: Awaited<ReturnType<typeof readOracle>>
  let current: Awaited<ReturnType<typeof readOracle>>
  let cursorOfFirst: string | null
  before(async () => {
    old = await readOracle(1)
    cursorOfFirst = (await getPage({ num: 1000 })).next
    const summary = await publish(2)
    assert.ok(summary.added > 0 && summary.corrected > 0 && summary.withdrawn > 0)
    current = await readOracle(2)
    await watcher.refresh()
  })

  test('the newest release is the default, and release= reads an earlier one', async () => {
    for (const [query, release, oracle] of [
      [{}, 2, current],
      [{ release: 2 }, 2, current],
      [{ release: 1 }, 1, old],
    ] as const) {
      const v1 = await get(V1, { ...query, offset: 950, num: 1000 })
      assert.deepEqual([v1.release, v1.text], [release, arrayOf(oracle.bodies.slice(950, 1950))])
      assert.equal((await getPage({ ...query, num: 1000 })).records, arrayOf(oracle.bodies.slice(0, 1000)))
      const names = await get(NAMES, query)
      assert.deepEqual([names.release, JSON.parse(names.text)], [release, [...new Set(oracle.events)].sort()])
    }
  })

  test('a walk that started before it stays on its release to the end', async () => {
    let offset = 1000
    for (let page = cursorOfFirst; page !== null; ) {
      const { release, records, count, next } = await getPage({ page, num: 1000 })
      assert.deepEqual([release, records], [1, arrayOf(old.bodies.slice(offset, offset + 1000))])
      offset += count
      page = next
    }
    assert.equal(offset, RECORDS)
  })

  test('a cursor is accepted with its own release, and 400 with another', async () => {
    assert.equal((await getPage({ page: cursorOfFirst ?? '', release: 1 })).release, 1)
    await assertProblem(V2, { page: cursorOfFirst ?? '', release: 2 }, 400, 'invalid_parameter', 'release')
  })

  const cursorOf = (walk: string, release: number) => writeCursor(cursorKey, walk, { release, fromId: 1 })
  const invalid: [address: string, query: Query, code: string, parameter: string][] = [
    [V1, { release: 3 }, 'invalid_parameter', 'release'],
    [V2, { release: 3 }, 'invalid_parameter', 'release'],
    [NAMES, { release: 2_147_483_647 }, 'invalid_parameter', 'release'],
    [V1, { release: 0 }, 'invalid_parameter', 'release'],
    [V1, { release: 2_147_483_648 }, 'invalid_parameter', 'release'],
    [V1, { num: MAX_NUM + 1 }, 'invalid_parameter', 'num'],
    [V2, { num: 0 }, 'invalid_parameter', 'num'],
    [V1, { page: 'x' }, 'unknown_parameter', 'page'],
    [V2, { offset: 5 }, 'unknown_parameter', 'offset'],
    [NAMES, { num: 5 }, 'unknown_parameter', 'num'],
    [V2, { page: '' }, 'invalid_parameter', 'page'],
    [V2, { page: 'nonsense' }, 'invalid_parameter', 'page'],
    [V2, { page: 'x'.repeat(201) }, 'invalid_parameter', 'page'],
    [V2, { page: cursorOf('/v2/other/records', 1) }, 'invalid_parameter', 'page'],
  ]
  for (const [address, query, code, parameter] of invalid) {
    test(`400 ${code} ${parameter}: ${address} ${JSON.stringify(query).slice(0, 40)}`, () =>
      assertProblem(address, query, 400, code, parameter))
  }

  // The signature shows that the service issued the cursor. The database of this node lags; the client can retry.
  test('503 with Retry-After for a cursor of a release that has not reached this node', async () => {
    const response = await inject(V2, { page: cursorOf(V2, 3) })
    assert.deepEqual([response.statusCode, response.json().code], [503, 'unavailable'])
    assert.equal(response.headers['retry-after'], '1')
  })
})
