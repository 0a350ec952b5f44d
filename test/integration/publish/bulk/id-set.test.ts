// The id set behaves like a Set and takes little memory, for dense and for scattered ids.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createIdSet } from '../../../../src/publish/validate/id-set.ts'
import { fc } from '../../../seed.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function readMemory(): number {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** The bytes that a set of these ids takes. */
function measure(count: number, idAt: (i: number) => number): number {
  const before = readMemory()
  const ids = createIdSet()
  for (let i = 0; i < count; i++) ids.add(idAt(i))
  const bytes = readMemory() - before
  assert.ok(ids.has(idAt(0)) && ids.has(idAt(count - 1)))
  return bytes
}

const MB = 1e6
const SAFE = Number.MAX_SAFE_INTEGER
/** A bitmap for each page would take 400 MB. Buffers are freed late, so the limits allow several megabytes more. */
const sizes: [title: string, count: number, idAt: (i: number) => number, limit: number][] = [
  ['ten million dense ids', 10_000_000, (i) => i + 1, 20 * MB],
  ['50,000 ids over all safe integers', 50_000, (i) => Math.floor((SAFE / 50_000) * i) + 1, 20 * MB],
  ['50,000 ids, two to a page', 50_000, (i) => 1 + i * 32_768, 20 * MB],
  ['50,000 ids, 257 to a page', 50_000, (i) => 1 + i * 255, 20 * MB],
]
for (const [title, count, idAt, limit] of sizes) {
  test(`${title} take at most ${limit / MB} MB`, (t) => {
    const bytes = measure(count, idAt)
    t.diagnostic(`${(bytes / MB).toFixed(2)} MB`)
    assert.ok(bytes <= limit, `${(bytes / MB).toFixed(2)} MB`)
  })
}

test('add and has give the same results as a Set', () => {
  const low = fc.integer({ min: 1, max: 3000 })
  const anywhere = fc.oneof(
    low,
    low.map((id) => id + 65_536),
    fc.integer({ min: 1, max: SAFE }),
  )
  fc.assert(
    fc.property(fc.array(anywhere, { maxLength: 1500, size: 'max' }), fc.array(anywhere), (added, queried) => {
      const [ids, expected] = [createIdSet(), new Set<number>()]
      for (const id of added) {
        assert.equal(ids.add(id), !expected.has(id))
        expected.add(id)
      }
      for (const id of [...added, ...queried]) assert.equal(ids.has(id), expected.has(id))
    }),
    { numRuns: 40 },
  )
})
