// A cursor is read back as it was written; every other text is rejected.
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

function assertProblem(text: string, walk = WALK, withKey = key): void {
  assert.throws(
    () => readCursor(withKey, walk, text),
    (error) => error instanceof Problem && error.code === 'invalid_parameter' && error.parameter === 'page',
    text,
  )
}

test('every cursor is read back unchanged, and its text needs no encoding in a URL', () => {
  fc.assert(
    fc.property(cursors, (cursor) => {
      const text = writeCursor(key, WALK, cursor)
      assert.match(text, cursor.from === undefined ? /^[\w-]{38}$/ : /^[\w-]{43}$/)
      assert.deepEqual(readCursor(key, WALK, text), cursor)
    }),
  )
})

test('a cursor of another walk or of another key is rejected', () => {
  fc.assert(
    fc.property(cursors, (cursor) => {
      const text = writeCursor(key, WALK, cursor)
      for (const walk of ['', `${WALK}/`, WALK.slice(0, -1), '/v2/other/records']) assertProblem(text, walk)
      assertProblem(text, WALK, newKey())
    }),
  )
})

const samples: Record<string, Cursor> = {
  'one release': { release: 7, fromId: 123_456 },
  'two releases': { release: 7, from: 5, fromId: 123_456 },
}
for (const [kind, cursor] of Object.entries(samples)) {
  const sample = writeCursor(key, WALK, cursor)

  test(`a cursor of ${kind} with any changed byte is rejected`, () => {
    const bytes = Buffer.from(sample, 'base64url')
    for (const i of bytes.keys()) {
      for (let mask = 1; mask < 256; mask++) {
        const damaged = Buffer.from(bytes)
        damaged[i] = (damaged[i] ?? 0) ^ mask
        assertProblem(damaged.toString('base64url'))
      }
    }
  })

  test(`a cursor of ${kind} with any changed character is rejected, even if it decodes to the same bytes`, () => {
    for (let i = 0; i < sample.length; i++) {
      for (const character of `${ALPHABET}+/= .%\0é`) {
        if (character !== sample[i]) assertProblem(sample.slice(0, i) + character + sample.slice(i + 1))
      }
    }
  })

  test(`a cursor of ${kind} that is shortened or extended is rejected`, () => {
    for (let length = 0; length < sample.length; length++) {
      assertProblem(sample.slice(0, length))
      assertProblem(sample.slice(length + 1))
      assertProblem(sample.slice(0, length) + sample.slice(length + 1))
    }
    for (const extra of ['A', 'AA', '=', '==', ' ', '\n', '\0', sample]) {
      assertProblem(sample + extra)
      assertProblem(extra + sample)
    }
  })

  test(`a position of ${kind} with the signature of another cursor is rejected`, () => {
    const other = Buffer.from(writeCursor(key, WALK, { ...cursor, release: 8 }), 'base64url')
    const signed = Buffer.from(sample, 'base64url')
    assertProblem(Buffer.concat([other.subarray(0, -16), signed.subarray(-16)]).toString('base64url'))
  })
}

test('any other text is rejected with invalid_parameter', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.base64String()), (text) => assertProblem(text)),
    {
      numRuns: 1000,
    },
  )
})

test('while the secret changes, cursors of all keys are read and the first key signs', () => {
  const cursor = { release: 7, fromId: 51 }
  const [before, current, other] = [newKey(), newKey(), newKey()]
  const keys = [current, before] as const
  assert.deepEqual(readCursor(keys, WALK, writeCursor(before, WALK, cursor)), cursor)
  assert.equal(writeCursor(keys, WALK, cursor), writeCursor(current, WALK, cursor))
  assert.throws(() => readCursor(keys, WALK, writeCursor(other, WALK, cursor)), Problem)
})
