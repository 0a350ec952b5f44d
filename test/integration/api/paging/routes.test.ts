// The data endpoints on a real database, without authentication: both ways of paging give one order, and keep to a release.
import assert from 'node:assert/strict'
import { generateKeySync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pino } from 'pino'
import sql from 'sql-template-tag'
import { writeSynthRelease } from '../../../../dev/synth/synthesise.ts'
import { writeCursor } from '../../../../src/api/paging/cursor.ts'
import { createOffsetFinder } from '../../../../src/api/paging/offsets.ts'
import { createResponseCache } from '../../../../src/api/response/response-cache.ts'
import { registerDataRoutes } from '../../../../src/api/routes.ts'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { createHttpServer } from '../../../../src/platform/http/http-server.ts'
import { openDatabase } from '../../../../src/platform/postgres/database.ts'
import { createWatcher } from '../../../../src/platform/postgres/watcher.ts'
import { publishRelease } from '../../../../src/publish/publish.ts'
import { CHUNK_IDS } from '../../../../src/storage/chunk.ts'
import { loadPublishedReleases } from '../../../../src/storage/published-releases.ts'
import { CHECKPOINT_SPACING } from '../../../../src/storage/tables.ts'
import { createTestDatabase } from '../../../database.ts'
import { fc } from '../../../seed.ts'

const V1 = '/v1/hed-outbreaks/outbreaks'
const V2 = '/v2/hed-outbreaks/outbreaks'
const NAMES = '/v2/hed-outbreaks/event-names'
const RECORDS = 3400
const MAX = Number.MAX_SAFE_INTEGER

const home = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-routes-'))
after(() => Promise.all([app.close(), api.close(), operator.close(), rm(home, { recursive: true })]))
const url = await createTestDatabase()
const api = openDatabase({ url, role: 'outbreaks_api' })
const operator = openDatabase({ url, role: 'outbreaks_operator' })
// Never started: what the routes know beyond the beginning, they asked for themselves.
const watcher = createWatcher(api, assert.ifError)
const published = watcher.watch('release', loadPublishedReleases, new Map())
const cursorKey = generateKeySync('hmac', { length: 256 })
const app = createHttpServer({ baseUrl: 'https://api.test', log: pino({ level: 'silent' }) })
registerDataRoutes(app, {
  dataset: hedOutbreaks,
  database: api,
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

/** The records of a release, straight from the table. */
async function readOracle(release: number) {
  const rows = await operator.query<{ id: string; body: string; event: string }>(
    sql`select id, body, event from hed_outbreak_version where from_release <= ${release} and to_release > ${release} order by id`,
  )
  return {
    ids: rows.map((row) => Number(row.id)),
    bodies: rows.map((row) => row.body),
    events: rows.map((row) => row.event),
  }
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

/** One v2 page: the records as text, and where it goes on. */
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

describe('before anything is published', () => {
  for (const address of [V1, V2, NAMES]) {
    test(`503 nothing_published: ${address}`, () => assertProblem(address, {}, 503, 'nothing_published'))
    test(`400 for a release: ${address}`, () =>
      assertProblem(address, { release: 1 }, 400, 'invalid_parameter', 'release'))
  }
})

describe('one release', () => {
  let oracle: Awaited<ReturnType<typeof readOracle>>
  before(async () => {
    assert.equal((await publish(1)).records, RECORDS)
    oracle = await readOracle(1)
  })

  test('it is served at once, a hundred records where nothing is said', async () => {
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
  const nums = fc.oneof(fc.constantFrom(1, 2, 999, 1000), fc.integer({ min: 1, max: 1000 }))

  test('v1 gives the records from offset on, for any offset and num', () =>
    fc.assert(
      fc.asyncProperty(offsets, nums, async (offset, num) => {
        assert.equal((await get(V1, { offset, num })).text, arrayOf(oracle.bodies.slice(offset, offset + num)))
      }),
      { numRuns: 150 },
    ))

  test('v2 gives the same records in the same order, however the walk is cut', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 100, max: 1000 }), { minLength: 1, maxLength: 4 }), async (cuts) => {
        let offset = 0
        let page: string | null | undefined
        for (let i = 0; page !== null; i++) {
          const num = cuts[i % cuts.length] ?? 1
          const answer = await getPage(page === undefined ? { num } : { num, page })
          assert.equal(answer.records, (await get(V1, { offset, num })).text)
          offset += answer.count
          page = answer.next
        }
        assert.equal(offset, RECORDS)
      }),
      { numRuns: 8 },
    ))

  test('a cursor may be used again, with another num, and gives the same records', async () => {
    const { next } = await getPage({ num: 7 })
    const first = await getPage({ page: next ?? '', num: 3 })
    assert.deepEqual(await getPage({ page: next ?? '', num: 3 }), first)
    assert.equal(first.records, arrayOf(oracle.bodies.slice(7, 10)))
  })

  test('a last page that is exactly full says so', async () => {
    const { next } = await getPage({ num: RECORDS - 3000 })
    let page = next
    for (let i = 0; i < 3; i++) page = (await getPage({ num: 1000, page: page ?? '' })).next
    assert.equal(page, null)
  })

  test('a deep offset starts at the checkpoint before it', async () => {
    const findOffset = createOffsetFinder(api, hedOutbreaks)
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: RECORDS - 1 }), async (offset) => {
        const { fromId, skip } = await findOffset({ number: 1, digest: 'one' }, offset)
        assert.equal(oracle.ids.filter((id) => id < fromId).length + skip, offset)
        assert.ok(skip < CHECKPOINT_SPACING * CHUNK_IDS)
      }),
      { numRuns: 50 },
    )
    // What a release begins with is kept by what it holds, not by its number.
    assert.deepEqual(await findOffset({ number: 99, digest: 'one' }, 0), { fromId: 1, skip: 0 })
    await assert.rejects(findOffset({ number: 99, digest: 'other' }, 5), { code: 'unavailable' })
    // More releases at once than are kept: none is left without its checkpoints, which would be a walk from the beginning.
    const many = Array.from({ length: 40 }, (_, i) => findOffset({ number: 1, digest: `copy ${i}` }, RECORDS - 1))
    for (const { skip } of await Promise.all(many)) assert.ok(skip < CHECKPOINT_SPACING * CHUNK_IDS)
  })
})

describe('a second release', () => {
  let old: Awaited<ReturnType<typeof readOracle>>
  let fresh: Awaited<ReturnType<typeof readOracle>>
  let begun: string | null
  before(async () => {
    old = await readOracle(1)
    begun = (await getPage({ num: 1000 })).next
    const summary = await publish(2)
    assert.ok(summary.added > 0 && summary.corrected > 0 && summary.withdrawn > 0)
    fresh = await readOracle(2)
    await watcher.refresh()
  })

  test('the newest is given where nothing is said, and an older one to whoever names it', async () => {
    for (const [query, release, oracle] of [
      [{}, 2, fresh],
      [{ release: 2 }, 2, fresh],
      [{ release: 1 }, 1, old],
    ] as const) {
      const v1 = await get(V1, { ...query, offset: 950, num: 1000 })
      assert.deepEqual([v1.release, v1.text], [release, arrayOf(oracle.bodies.slice(950, 1950))])
      assert.equal((await getPage({ ...query, num: 1000 })).records, arrayOf(oracle.bodies.slice(0, 1000)))
      const names = await get(NAMES, query)
      assert.deepEqual([names.release, JSON.parse(names.text)], [release, [...new Set(oracle.events)].sort()])
    }
  })

  test('a walk that began before it ends on the release it began on', async () => {
    let seen = 1000
    for (let page = begun; page !== null; ) {
      const answer = await getPage({ page, num: 1000 })
      assert.deepEqual([answer.release, answer.records], [1, arrayOf(old.bodies.slice(seen, seen + 1000))])
      seen += answer.count
      page = answer.next
    }
    assert.equal(seen, RECORDS)
  })

  test('a cursor may name its release, and no other', async () => {
    assert.equal((await getPage({ page: begun ?? '', release: 1 })).release, 1)
    await assertProblem(V2, { page: begun ?? '', release: 2 }, 400, 'invalid_parameter', 'release')
  })

  const walkTo = (walk: string, release: number) => writeCursor(cursorKey, walk, { release, fromId: 1 })
  const refused: [address: string, query: Query, code: string, parameter: string][] = [
    [V1, { release: 3 }, 'invalid_parameter', 'release'],
    [V2, { release: 3 }, 'invalid_parameter', 'release'],
    [NAMES, { release: 2_147_483_647 }, 'invalid_parameter', 'release'],
    [V1, { release: 0 }, 'invalid_parameter', 'release'],
    [V1, { release: 2_147_483_648 }, 'invalid_parameter', 'release'],
    [V1, { num: 1001 }, 'invalid_parameter', 'num'],
    [V2, { num: 0 }, 'invalid_parameter', 'num'],
    [V1, { page: 'x' }, 'unknown_parameter', 'page'],
    [V2, { offset: 5 }, 'unknown_parameter', 'offset'],
    [NAMES, { num: 5 }, 'unknown_parameter', 'num'],
    [V2, { page: '' }, 'invalid_parameter', 'page'],
    [V2, { page: 'nonsense' }, 'invalid_parameter', 'page'],
    [V2, { page: 'x'.repeat(201) }, 'invalid_parameter', 'page'],
    [V2, { page: walkTo('/v2/other/records', 1) }, 'invalid_parameter', 'page'],
  ]
  for (const [address, query, code, parameter] of refused) {
    test(`400 ${code} ${parameter}: ${address} ${JSON.stringify(query).slice(0, 40)}`, () =>
      assertProblem(address, query, 400, code, parameter))
  }

  // The signature says that it was given out: this node's database lags, and the walk goes on once it has caught up.
  test('503 with Retry-After for a cursor of a release that has not reached this node', async () => {
    const response = await inject(V2, { page: walkTo(V2, 3) })
    assert.deepEqual([response.statusCode, response.json().code], [503, 'unavailable'])
    assert.equal(response.headers['retry-after'], '1')
  })
})
