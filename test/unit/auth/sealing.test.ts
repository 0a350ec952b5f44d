// Encryption of private keys at rest: only the right key and the right key id decrypt, and any change is detected.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { seal, unseal } from '../../../src/auth/sealing.ts'
import { deriveKey } from '../../../src/platform/derive-key.ts'

const secret = randomBytes(32)
const key = deriveKey(secret, 'signing keys')
const plain = '-----BEGIN PRIVATE KEY-----\nMIGH\u00e4\n-----END PRIVATE KEY-----\n'
const sealed = seal(plain, key, 'kid')
const flip = (index: number) => Buffer.from(sealed.with(index, (sealed[index] ?? 0) ^ 1))

test('unseal returns the sealed text', () => assert.equal(unseal(sealed, key, 'kid'), plain))

test('an empty text can be sealed', () => assert.equal(unseal(seal('', key, 'kid'), key, 'kid'), ''))

test('sealing twice gives different bytes, and the plain text is not in them', () => {
  assert.notDeepEqual(seal(plain, key, 'kid'), sealed)
  assert.ok(!sealed.includes('PRIVATE'))
})

const failures: Record<string, () => string> = {
  'with another secret': () => unseal(sealed, deriveKey(randomBytes(32), 'signing keys'), 'kid'),
  'with the key of another purpose': () => unseal(sealed, deriveKey(secret, 'cursor'), 'kid'),
  'with another key id': () => unseal(sealed, key, 'kid2'),
  'with an empty key id': () => unseal(sealed, key, ''),
  'without its last byte': () => unseal(sealed.subarray(0, -1), key, 'kid'),
  'with an extra byte': () => unseal(Buffer.concat([sealed, Buffer.of(0)]), key, 'kid'),
  'with the IV of another sealed text': () =>
    unseal(Buffer.concat([seal(plain, key, 'kid').subarray(0, 12), sealed.subarray(12)]), key, 'kid'),
}
for (const [kind, run] of Object.entries(failures))
  test(`unsealing ${kind} fails, and the error names the variable but not the text`, () => {
    assert.throws(run, (error) => {
      assert.ok(error instanceof Error)
      assert.match(error.message, /OUTBREAKS_SECRET/)
      assert.doesNotMatch(String(error.stack), /MIGH/)
      return true
    })
  })

test('a flipped bit is detected in every byte', () => {
  for (let index = 0; index < sealed.length; index++)
    assert.throws(() => unseal(flip(index), key, 'kid'), `byte ${index}`)
})
