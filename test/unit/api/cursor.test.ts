// The cursor: reads back what was written, and nothing else.
import assert from 'node:assert/strict'
import { generateKeySync } from 'node:crypto'
import { test } from 'node:test'
import { type Cursor, readCursor, writeCursor } from '../../../src/api/paging/cursor.ts'
import { Problem } from '../../../src/platform/problem.ts'
import { fc } from '../../seed.ts'

const newKey = () => generateKeySync('hmac', { length: 256 })
const key = newKey()
const WALK = '/v2/things/records'
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const cursors: fc.Arbitrary<Cursor> = fc.record(
  {
    release: fc.integer({ min: 1, max: 2_147_483_647 }),
    from: fc.integer({ min: 1, max: 2_147_483_647 }),
    fromId: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  },
  { noNullPrototype: true, requiredKeys: ['release', 'fromId'] },
)

function assertRefused(text: string, walk = WALK, withKey = key): void {
  assert.throws(
    () => readCursor(withKey, walk, text),
    (error) => error instanceof Problem && error.code === 'invalid_parameter' && error.parameter === 'page',
    text,
  )
}

test('every cursor comes back as it was, and fits into an address', () => {
  fc.assert(
    fc.property(cursors, (cursor) => {
      const text = writeCursor(key, WALK, cursor)
      assert.match(text, cursor.from === undefined ? /^[\w-]{38}$/ : /^[\w-]{43}$/)
      assert.deepEqual(readCursor(key, WALK, text), cursor)
    }),
  )
})

test('a cursor of another walk or under another key is refused', () => {
  fc.assert(
    fc.property(cursors, (cursor) => {
      const text = writeCursor(key, WALK, cursor)
      for (const walk of ['', `${WALK}/`, WALK.slice(0, -1), '/v2/other/records']) assertRefused(text, walk)
      assertRefused(text, WALK, newKey())
    }),
  )
})

const places: Record<string, Cursor> = {
  'one release': { release: 7, fromId: 123_456 },
  'two releases': { release: 7, from: 5, fromId: 123_456 },
}
for (const [kind, place] of Object.entries(places)) {
  const sample = writeCursor(key, WALK, place)

  test(`every byte with any other value is refused, with ${kind}`, () => {
    const bytes = Buffer.from(sample, 'base64url')
    for (const i of bytes.keys()) {
      for (let change = 1; change < 256; change++) {
        const damaged = Buffer.from(bytes)
        damaged[i] = (damaged[i] ?? 0) ^ change
        assertRefused(damaged.toString('base64url'))
      }
    }
  })

  test(`every character replaced by any other is refused, also where it would decode to the same bytes, with ${kind}`, () => {
    for (let i = 0; i < sample.length; i++) {
      for (const character of `${ALPHABET}+/= .%\0é`) {
        if (character !== sample[i]) assertRefused(sample.slice(0, i) + character + sample.slice(i + 1))
      }
    }
  })

  test(`every truncation and every extension is refused, with ${kind}`, () => {
    for (let length = 0; length < sample.length; length++) {
      assertRefused(sample.slice(0, length))
      assertRefused(sample.slice(length + 1))
      assertRefused(sample.slice(0, length) + sample.slice(length + 1))
    }
    for (const more of ['A', 'AA', '=', '==', ' ', '\n', '\0', sample]) {
      assertRefused(sample + more)
      assertRefused(more + sample)
    }
  })

  test(`the place of one cursor under the signature of another is refused, with ${kind}`, () => {
    const other = Buffer.from(writeCursor(key, WALK, { ...place, release: 8 }), 'base64url')
    const ours = Buffer.from(sample, 'base64url')
    assertRefused(Buffer.concat([other.subarray(0, -16), ours.subarray(-16)]).toString('base64url'))
  })
}

test('whatever text comes, it is refused and nothing else happens', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.base64String()), (text) => assertRefused(text)),
    {
      numRuns: 1000,
    },
  )
})
