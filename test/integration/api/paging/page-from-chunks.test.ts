// Pages cut out of chunks: for any ids, dense or sparse, and any cut, exactly the records that belong there.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sql from 'sql-template-tag'
import {
  type Chunk,
  estimateChunks,
  type Page,
  type PageQuery,
  slicePage,
} from '../../../../src/api/paging/page-from-chunks.ts'
import { readPage } from '../../../../src/api/paging/read-chunks.ts'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../../src/platform/postgres/database.ts'
import { chunkOf, encodeChunk, SEPARATOR } from '../../../../src/storage/chunk.ts'
import { writeIdentity } from '../../../../src/storage/gzip-splice.ts'
import { createTestDatabase } from '../../../database.ts'
import { fc } from '../../../seed.ts'

const bodyOf = (id: number) => `{"id":${id},"note":"${'x'.repeat(id % 13)}"}`

/** Runs of ids of every density, from one in each hundred to all. */
function spreadIds(seed: number): number[] {
  const ids: number[] = []
  let random = seed
  const next = (below: number) => {
    random = (random * 48_271) % 2_147_483_647
    return random % below
  }
  for (let run = 0, id = 1 + next(250); run < 12; run++) {
    const step = [1, 1, 2, 40, 130, 300][next(6)] ?? 1
    for (let i = next(700); i > 0; i--) {
      ids.push(id)
      id += step === 1 ? 1 : 1 + next(2 * step)
    }
  }
  return ids
}

const makeChunks = (ids: readonly number[]): Promise<Chunk[]> =>
  Promise.all(
    [...Map.groupBy(ids, chunkOf)].map(async ([number, held]) => {
      const { bytes, crc32, deflated } = await encodeChunk(held.map(bodyOf).join(SEPARATOR))
      return { number, records: held.length, bytes, crc32, deflated }
    }),
  )

function assertPage({ parts, nextId }: Page, ids: readonly number[], { fromId, skip, limit }: PageQuery) {
  const rest = ids.filter((id) => id >= fromId).slice(skip)
  const wanted = rest.slice(0, limit)
  const text = parts.flatMap((part, i) => (i === 0 ? [part] : [SEPARATOR, part]))
  assert.equal(writeIdentity(text).toString(), wanted.map(bodyOf).join(SEPARATOR))
  const behind = rest[limit]
  if (behind === undefined) assert.equal(nextId, null)
  else assert.ok(nextId !== null && nextId > (wanted.at(-1) ?? 0) && nextId <= behind, `${nextId}, ${behind}`)
}

const seeds = [1, 2, 3, 4, 5]
const spreads = await Promise.all(
  seeds.map(async (seed) => {
    const ids = spreadIds(seed)
    return { ids, chunks: await makeChunks(ids) }
  }),
)
const queries = fc.record({
  release: fc.constant(1),
  fromId: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 40_000 })),
  skip: fc.oneof(fc.constant(0), fc.nat(1000)),
  limit: fc.oneof(fc.constantFrom(1, 100, 1000), fc.integer({ min: 1, max: 1000 })),
})

test('any cut of any spread of ids gives its records, with a few questions and not many chunks too many', () => {
  let most = 0
  fc.assert(
    fc.property(fc.constantFrom(...spreads), queries, ({ ids, chunks }, query) => {
      const there = chunks.filter(({ number }) => number >= chunkOf(query.fromId))
      const read: Chunk[] = []
      for (let round = 0; ; round++) {
        const asked = estimateChunks(round, read, query)
        assert.ok(asked >= 1)
        const more = there.slice(read.length, read.length + asked)
        read.push(...more)
        const page = slicePage(read, query)
        if (page.nextId === null && more.length === asked) continue
        assertPage(page, ids, query)
        most = Math.max(most, round + 1)
        const needed = there.findIndex((_, i) => slicePage(there.slice(0, i + 1), query).nextId !== null) + 1
        if (needed > 0) assert.ok(read.length <= Math.max(needed * 5, 12), `${read.length} for ${needed}`)
        return
      }
    }),
    { numRuns: 3000 },
  )
  assert.ok(most >= 3 && most <= 7, `${most} rounds`)
})

test('a walk from page to page meets every record once', () => {
  for (const { ids, chunks } of spreads) {
    for (const limit of [7, 100, 999]) {
      const texts: string[] = []
      for (let fromId: number | null = 1; fromId !== null; ) {
        const from = fromId
        const page = slicePage(chunks.slice(chunks.findIndex(({ number }) => number >= chunkOf(from))), {
          release: 1,
          fromId: from,
          skip: 0,
          limit,
        })
        texts.push(...page.parts.map((part) => writeIdentity([part]).toString()))
        fromId = page.nextId
      }
      assert.equal(texts.join(SEPARATOR), ids.map(bodyOf).join(SEPARATOR))
    }
  }
})

test('whole chunks stay compressed: only the borders of a page are text', async () => {
  const chunks = await makeChunks(Array.from({ length: 500 }, (_, i) => i + 1))
  const kinds = (fromId: number, skip: number, limit: number) =>
    slicePage(chunks, { release: 1, fromId, skip, limit })
      .parts.map((part) => (typeof part === 'string' ? 't' : 'c'))
      .join('')
  assert.equal(kinds(1, 0, 300), 'ccc')
  assert.equal(kinds(1, 100, 400), 'cccc')
  assert.equal(kinds(50, 0, 400), 'tccct')
  assert.equal(kinds(1, 150, 100), 'tt')
  assert.equal(kinds(450, 0, 1000), 't')
  assert.equal(kinds(501, 0, 1000), '')
})

test('a chunk that does not hold what it says is refused where it is opened', async () => {
  const [chunk] = await makeChunks([1, 2, 3])
  assert.ok(chunk)
  const query = { release: 1, fromId: 2, skip: 0, limit: 10 }
  assert.throws(() => slicePage([{ ...chunk, records: 4 }], query), /chunk 0 has 3 records instead of 4/)
  assert.throws(() => slicePage([{ ...chunk, crc32: 0 }], query), /damaged/)
})

test('pages come out of the database as they were put in, each release its own chunks', async () => {
  const url = await createTestDatabase()
  const api = openDatabase({ url, role: 'outbreaks_api' })
  const operator = openDatabase({ url, role: 'outbreaks_operator' })
  after(() => Promise.all([api.close(), operator.close()]))
  for (const [i, { chunks, ids }] of spreads.slice(0, 3).entries()) {
    await operator.query(sql`
      insert into release (dataset, number, title, licence, records, added, corrected, withdrawn, last_id, digest, reasons, warnings)
      values (${hedOutbreaks.name}, ${i + 1}, 'A test', 'CC0-1.0', ${ids.length}, 0, 0, 0, 0, ${Buffer.alloc(32)}, '{}', '{}')`)
    for (const { number, records, bytes, crc32, deflated } of chunks)
      await operator.query(sql`
        insert into hed_outbreak_chunk (number, from_release, to_release, records, bytes, crc32, sha256, deflated)
        values (${number}, ${i + 1}, ${i + 2}, ${records}, ${bytes}, ${crc32}, ${Buffer.alloc(32)}, ${deflated})`)
  }
  await fc.assert(
    fc.asyncProperty(fc.nat(2), queries, async (i, query) => {
      assertPage(await readPage(api, hedOutbreaks, { ...query, release: i + 1 }), spreads[i]?.ids ?? [], query)
    }),
    { numRuns: 200 },
  )
  const nowhere = { release: 9, fromId: 1, skip: 0, limit: 10 }
  await assert.rejects(readPage(api, hedOutbreaks, nowhere), { code: 'unavailable' })
  for (const wrong of [{ fromId: Number.NaN }, { limit: 0.5, skip: Number.NaN }, { release: 2 ** 60 }])
    await assert.rejects(readPage(api, hedOutbreaks, { ...nowhere, ...wrong }), /not a whole number/)
})
