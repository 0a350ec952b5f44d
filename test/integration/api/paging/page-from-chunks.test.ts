// Pages from chunks: for any ids, dense or sparse, and any position, a page has exactly its records.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sql from 'sql-template-tag'
import { estimateChunks, type Page, type PageQuery, slicePage } from '../../../../src/api/paging/page-from-chunks.ts'
import { readPage, readRecords } from '../../../../src/api/paging/read-chunks.ts'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../../src/platform/postgres/database.ts'
import { encodeChunk, SEPARATOR, type StoredChunk, slotOf } from '../../../../src/storage/chunk.ts'
import { writeIdentity } from '../../../../src/storage/gzip-splice.ts'
import { createTestDatabase, openApiDatabase } from '../../../database.ts'
import { fc } from '../../../seed.ts'

const bodyOf = (id: number) => `{"id":${id},"note":"${'x'.repeat(id % 13)}"}`

/** Runs of ids with different densities, from one in each hundred to all. */
function spreadIds(seed: number): number[] {
  const ids: number[] = []
  let random = seed
  const next = (limit: number) => {
    random = (random * 48_271) % 2_147_483_647
    return random % limit
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

const createChunks = (ids: readonly number[]): Promise<StoredChunk[]> =>
  Promise.all(
    [...Map.groupBy(ids, slotOf)].map(async ([slot, members]) => {
      const { bytes, crc32, deflated } = await encodeChunk(members.map(bodyOf).join(SEPARATOR))
      return { slot, records: members.length, bytes, crc32, deflated }
    }),
  )

function assertPage({ parts, nextId }: Page, ids: readonly number[], { fromId, skip, limit }: PageQuery) {
  const remaining = ids.filter((id) => id >= fromId).slice(skip)
  const expected = remaining.slice(0, limit)
  const text = parts.flatMap((part, i) => (i === 0 ? [part] : [SEPARATOR, part]))
  assert.equal(writeIdentity(text).toString(), expected.map(bodyOf).join(SEPARATOR))
  const following = remaining[limit]
  if (following === undefined) assert.equal(nextId, null)
  else assert.ok(nextId !== null && nextId > (expected.at(-1) ?? 0) && nextId <= following, `${nextId}, ${following}`)
}

const seeds = [1, 2, 3, 4, 5]
const spreads = await Promise.all(
  seeds.map(async (seed) => {
    const ids = spreadIds(seed)
    return { ids, chunks: await createChunks(ids) }
  }),
)
const queries = fc.record({
  release: fc.constant(1),
  fromId: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 40_000 })),
  skip: fc.oneof(fc.constant(0), fc.nat(1000)),
  limit: fc.oneof(fc.constantFrom(1, 100, 1000), fc.integer({ min: 1, max: 1000 })),
})

test('any page of any distribution of ids has its records, and is read in few rounds with few surplus chunks', () => {
  let maxRounds = 0
  fc.assert(
    fc.property(fc.constantFrom(...spreads), queries, ({ ids, chunks }, query) => {
      const available = chunks.filter(({ slot }) => slot >= slotOf(query.fromId))
      const read: StoredChunk[] = []
      for (let round = 0; ; round++) {
        const requested = estimateChunks(round, read, query)
        assert.ok(requested >= 1)
        const batch = available.slice(read.length, read.length + requested)
        read.push(...batch)
        const page = slicePage(read, query)
        if (page.nextId === null && batch.length === requested) continue
        assertPage(page, ids, query)
        maxRounds = Math.max(maxRounds, round + 1)
        const needed = available.findIndex((_, i) => slicePage(available.slice(0, i + 1), query).nextId !== null) + 1
        if (needed > 0) assert.ok(read.length <= Math.max(needed * 5, 12), `${read.length} for ${needed}`)
        return
      }
    }),
    { numRuns: 500 },
  )
  assert.ok(maxRounds >= 3 && maxRounds <= 7, `${maxRounds} rounds`)
})

test('a walk returns every record once', () => {
  for (const { ids, chunks } of spreads) {
    for (const limit of [7, 100, 999]) {
      const texts: string[] = []
      for (let fromId: number | null = 1; fromId !== null; ) {
        const from = fromId
        const page = slicePage(chunks.slice(chunks.findIndex(({ slot }) => slot >= slotOf(from))), {
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

test('only the chunks at the start and end of a page are decompressed', async () => {
  const chunks = await createChunks(Array.from({ length: 500 }, (_, i) => i + 1))
  const kinds = (fromId: number, skip: number, limit: number) =>
    slicePage(chunks, { release: 1, fromId, skip, limit })
      .parts.map((part) => (chunks.some((chunk) => chunk === part) ? 'c' : 't'))
      .join('')
  assert.equal(kinds(1, 0, 300), 'cccccc')
  assert.equal(kinds(1, 100, 400), 'cccccccc')
  assert.equal(kinds(50, 0, 400), 'tccccccct')
  assert.equal(kinds(1, 125, 100), 'tct')
  assert.equal(kinds(1, 225, 25), 't')
  assert.equal(kinds(460, 0, 1000), 't')
  assert.equal(kinds(501, 0, 1000), '')
})

test('a chunk with a wrong number of records or a wrong checksum is an error', async () => {
  const [chunk] = await createChunks([1, 2, 3])
  assert.ok(chunk)
  const query = { release: 1, fromId: 2, skip: 0, limit: 10 }
  assert.throws(() => slicePage([{ ...chunk, records: 4 }], query), /chunk 0 has 3 records instead of 4/)
  assert.throws(() => slicePage([{ ...chunk, crc32: 0 }], query), /damaged/)
})

test('pages from the database have the records of their release', async () => {
  const url = await createTestDatabase()
  const api = openApiDatabase(url)
  const operator = openDatabase({ url, role: 'outbreaks_operator' })
  after(() => Promise.all([api.close(), operator.close()]))
  for (const [i, { chunks, ids }] of spreads.slice(1, 4).entries()) {
    await operator.transaction(async (client) => {
      for (const { slot, records, bytes, crc32, deflated } of chunks)
        await client.query(sql`
          insert into hed_outbreak_chunk (slot, from_release, to_release, records, bytes, crc32, deflated)
          values (${slot}, ${i + 1}, ${i + 2}, ${records}, ${bytes}, ${crc32}, ${deflated})`)
      await client.query(sql`
        insert into release (dataset, number, title, licence, as_of, records, added, corrected, withdrawn, last_id, digest, reasons, warnings)
        values (${hedOutbreaks.name}, ${i + 1}, 'A test', 'CC0-1.0', '2026-01-01', ${ids.length}, 0, 0, 0, 0, ${Buffer.alloc(32)}, '{}', '{}')`)
    })
  }
  await fc.assert(
    fc.asyncProperty(fc.nat(2), queries, async (i, query) => {
      assertPage(await readPage(api, hedOutbreaks, { ...query, release: i + 1 }), spreads[i + 1]?.ids ?? [], query)
    }),
    { numRuns: 100 },
  )
  const missing = { release: 9, fromId: 1, skip: 0, limit: 10 }
  await assert.rejects(readPage(api, hedOutbreaks, missing), { code: 'unavailable' })
  for (const invalid of [{ fromId: Number.NaN }, { limit: 0.5, skip: Number.NaN }, { release: 2 ** 60 }])
    await assert.rejects(readPage(api, hedOutbreaks, { ...missing, ...invalid }), /not a whole number/)
  // The column index names a record of which the release has no chunk: a page without it would be silently short.
  const [first = 0] = spreads[1]?.ids ?? []
  await assert.rejects(readRecords(api, hedOutbreaks, 1, [first, 10_000_000]), /no chunk with record 10000000/)
})
