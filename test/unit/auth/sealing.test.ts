// Private keys at rest: only the right key and the right id open them, and any change is noticed.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { seal, unseal } from '../../../src/auth/sealing.ts'
import { deriveKey } from '../../../src/platform/derive-key.ts'

const secret = randomBytes(32)
const key = deriveKey(secret, 'signing keys')
const plain = '-----BEGIN PRIVATE KEY-----\nMIGH\u00e4\n-----END PRIVATE KEY-----\n'
const sealed = seal(plain, key, 'kid')
const flip = (at: number) => Buffer.from(sealed.with(at, (sealed[at] ?? 0) ^ 1))

test('what was sealed is unsealed', () => assert.equal(unseal(sealed, key, 'kid'), plain))

test('an empty text is sealed as well', () => assert.equal(unseal(seal('', key, 'kid'), key, 'kid'), ''))

test('sealing twice gives different bytes, none of them the text', () => {
  assert.notDeepEqual(seal(plain, key, 'kid'), sealed)
  assert.ok(!sealed.includes('PRIVATE'))
})

const failures: Record<string, () => string> = {
  'with another secret': () => unseal(sealed, deriveKey(randomBytes(32), 'signing keys'), 'kid'),
  'with the key of another purpose': () => unseal(sealed, deriveKey(secret, 'cursor'), 'kid'),
  'under another id': () => unseal(sealed, key, 'kid2'),
  'under no id': () => unseal(sealed, key, ''),
  'cut by a byte': () => unseal(sealed.subarray(0, -1), key, 'kid'),
  'with a byte more': () => unseal(Buffer.concat([sealed, Buffer.of(0)]), key, 'kid'),
  'with the bytes of another sealing': () =>
    unseal(Buffer.concat([seal(plain, key, 'kid').subarray(0, 12), sealed.subarray(12)]), key, 'kid'),
}
for (const [kind, open] of Object.entries(failures))
  test(`nothing is unsealed ${kind}, and the error names the setting but not the text`, () => {
    assert.throws(open, (error) => {
      assert.ok(error instanceof Error)
      assert.match(error.message, /OUTBREAKS_SECRET/)
      assert.doesNotMatch(String(error.stack), /MIGH/)
      return true
    })
  })

test('a flipped bit is noticed in every byte', () => {
  for (let at = 0; at < sealed.length; at++) assert.throws(() => unseal(flip(at), key, 'kid'), `byte ${at}`)
})
