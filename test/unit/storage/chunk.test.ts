// A chunk decodes to the text that was encoded. A damaged chunk is rejected and never gives wrong records.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { crc32, inflateRawSync } from 'node:zlib'
import {
  CHUNK_IDS,
  decodeChunk,
  encodeChunk,
  encodeGroup,
  firstIdOf,
  groupOf,
  groupOfSlot,
  slotOf,
  slotsOf,
} from '../../../src/storage/chunk.ts'
import { combineCrc32 } from '../../../src/storage/crc-combine.ts'
import { fc } from '../../seed.ts'

const records = fc.array(
  fc
    .record({ id: fc.nat(), note: fc.string({ unit: 'binary', maxLength: 200 }) })
    .map((record) => JSON.stringify(record)),
  { minLength: 1, maxLength: CHUNK_IDS },
)

test('a chunk has fifty ids, a group has a hundred; the first starts with id 1', () => {
  for (const [id, slot] of [
    [1, 0],
    [50, 0],
    [51, 1],
    [100, 1],
    [101, 2],
    [200, 3],
    [201, 4],
    [9_007_199_254_740_991, 180_143_985_094_819],
  ] as const) {
    assert.equal(slotOf(id), slot)
    assert.equal(groupOfSlot(slot), groupOf(id))
    assert.ok(slotsOf(groupOf(id)).includes(slot))
    assert.ok(firstIdOf(slot) <= id && id < firstIdOf(slot) + CHUNK_IDS)
  }
})

test('a group is encoded in chunks, and a chunk with the same text is used again', async () => {
  const group = [102, 150, 151, 199].map((id): [number, string] => [id, `{"id":${id}}`])
  const { chunks, sha256 } = await encodeGroup(group)
  assert.deepEqual(
    chunks.map((chunk) => [chunk.slot, chunk.records, decodeChunk(chunk).toString()]),
    [
      [2, 2, '{"id":102},\n{"id":150}'],
      [3, 2, '{"id":151},\n{"id":199}'],
    ],
  )
  const lines = group.map(([, body]) => `${body}\n`).join('')
  assert.equal(sha256.toString('hex'), createHash('sha256').update(lines).digest('hex'))
  const earlier = chunks.map((chunk) => ({ chunk, text: decodeChunk(chunk).toString() }))
  const changed = await encodeGroup([...group.slice(0, 3), [199, '{"id":199,"cases":1}']], earlier)
  assert.deepEqual(
    changed.chunks.map((chunk) => chunks.includes(chunk)),
    [true, false],
  )
  assert.deepEqual(await encodeGroup([]), { chunks: [], sha256: createHash('sha256').update('').digest() })
})

test('a chunk decodes to its text and has its length and its CRC', () =>
  fc.assert(
    fc.asyncProperty(records, async (bodies) => {
      const text = bodies.join(',\n')
      const chunk = await encodeChunk(text)
      assert.equal(decodeChunk(chunk).toString(), text)
      assert.deepEqual([chunk.bytes, chunk.crc32], [Buffer.byteLength(text), crc32(text)])
      assert.equal(chunk.deflated.subarray(-4).toString('hex'), '0000ffff')
    }),
  ))

test('a chunk with a changed bit is rejected or still decodes to the same text', async () => {
  const text = Array.from({ length: 40 }, (_, i) => JSON.stringify({ id: i + 1, event: `Event ${i % 7}` })).join(',\n')
  const chunk = await encodeChunk(text)
  let rejected = 0
  for (let at = 0; at < chunk.deflated.length * 8; at++) {
    const deflated = Buffer.from(chunk.deflated)
    deflated[at >> 3] = (deflated[at >> 3] ?? 0) ^ (1 << (at & 7))
    try {
      assert.equal(decodeChunk({ ...chunk, deflated }).toString(), text)
    } catch (error) {
      assert.equal((error as Error).message, 'a chunk is damaged')
      rejected += 1
    }
  }
  assert.ok(rejected > chunk.deflated.length * 7, `${rejected} rejected`)
})

test('a chunk that was truncated, extended or replaced, or has a wrong length or CRC, is rejected', async () => {
  const chunk = await encodeChunk('{"id":1},\n{"id":2}')
  const other = await encodeChunk('{"id":3},\n{"id":4}')
  const bomb = await encodeChunk('x'.repeat(10_000_000))
  for (const wrong of [
    { ...chunk, deflated: chunk.deflated.subarray(0, 5) },
    { ...chunk, deflated: Buffer.alloc(0) },
    { ...chunk, deflated: Buffer.concat([chunk.deflated, other.deflated]) },
    { ...chunk, deflated: other.deflated },
    { ...chunk, deflated: bomb.deflated },
    { ...chunk, bytes: chunk.bytes + 1 },
    { ...chunk, bytes: chunk.bytes - 1 },
    { ...chunk, crc32: chunk.crc32 ^ 1 },
  ]) {
    assert.throws(() => decodeChunk(wrong), { message: 'a chunk is damaged' })
  }
})

test('the CRC of two concatenated texts is computed from their CRCs, for any lengths', () => {
  const bytes = fc.uint8Array({ maxLength: 3000 })
  fc.assert(
    fc.property(bytes, bytes, (first, second) => {
      const whole = crc32(Buffer.concat([first, second]))
      assert.equal(combineCrc32(crc32(first), crc32(second), second.length), whole)
    }),
    { numRuns: 2000 },
  )
})

test('the CRC of two concatenated texts is correct beyond four gigabytes', () => {
  // Zeros only: doubling gives their CRC as well, and each step checks the previous one.
  let crc = crc32(Buffer.alloc(1024))
  for (let length = 1024; length < 2 ** 34; length *= 2) {
    const doubled = combineCrc32(crc, crc, length)
    const quarters = combineCrc32(combineCrc32(crc, crc, length), combineCrc32(crc, crc, length), 2 * length)
    assert.equal(combineCrc32(doubled, doubled, 2 * length), quarters)
    if (length <= 2 ** 24) assert.equal(doubled, crc32(Buffer.alloc(2 * length)))
    crc = doubled
  }
})

test('a chunk refers to no data outside itself: two concatenated chunks inflate to both texts', async () => {
  const texts = ['{"id":1,"event":"A"}', ',\n{"id":1,"event":"A"}']
  const chunks = await Promise.all(texts.map((text) => encodeChunk(text)))
  const both = Buffer.concat([...chunks.map((chunk) => chunk.deflated), Buffer.from([3, 0])])
  assert.equal(inflateRawSync(both).toString(), texts.join(''))
})
