// Which key signs and which keys verify, from the first day of a key to its last.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { findSigner, findVerifier, type KeyRing, openKey, type SigningKey } from '../../../src/auth/key-ring.ts'
import { generateKey } from '../../../src/auth/provisioning/keys.ts'
import { seal } from '../../../src/auth/sealing.ts'

const key = (kid: string, signsFrom: number, verifiesUntil = Number.POSITIVE_INFINITY) =>
  ({ kid, signsFrom, verifiesUntil }) as SigningKey

// Rotated twice: `a` from the start, `b` announced at 90 to sign from 100, `c` announced at 290 to sign from 300.
const rotated: KeyRing = [key('a', 0, 200), key('b', 100, 400), key('c', 300)]
const rings: Record<string, KeyRing> = {
  empty: [],
  first: [key('a', 0)],
  rotated,
  'with a key disabled': [key('a', 0, 200), key('b', 100, 150)],
  'with its only key disabled': [key('a', 0, 50)],
  'with two keys of the same time': [key('a', 0), key('b', 0)],
}

const cases: [ring: keyof typeof rings, now: number, signer: string | undefined, verifiers: string][] = [
  ['empty', 0, undefined, ''],
  ['first', -1, undefined, 'a'],
  ['first', 0, 'a', 'a'],
  ['first', 1e12, 'a', 'a'],
  ['rotated', 0, 'a', 'a b c'],
  ['rotated', 99, 'a', 'a b c'],
  ['rotated', 100, 'b', 'a b c'],
  ['rotated', 199, 'b', 'a b c'],
  ['rotated', 200, 'b', 'b c'],
  ['rotated', 299, 'b', 'b c'],
  ['rotated', 300, 'c', 'b c'],
  ['rotated', 400, 'c', 'c'],
  ['with a key disabled', 149, 'b', 'a b'],
  ['with a key disabled', 150, 'a', 'a'],
  ['with a key disabled', 200, undefined, ''],
  ['with its only key disabled', 49, 'a', 'a'],
  ['with its only key disabled', 50, undefined, ''],
  ['with two keys of the same time', 0, 'b', 'a b'],
]
for (const [name, now, signer, verifiers] of cases)
  test(`key ring ${name} at ${now}: ${signer ?? 'no key'} signs, ${verifiers || 'no key'} verifies`, () => {
    const ring = rings[name] ?? []
    assert.equal(findSigner(ring, now)?.kid, signer)
    const accepted = ['a', 'b', 'c'].filter((kid) => findVerifier(ring, kid, now)?.kid === kid)
    assert.equal(accepted.join(' '), verifiers)
  })

test('the signing key verifies at all times', () => {
  for (let now = 0; now <= 500; now++) {
    const signer = findSigner(rotated, now)
    assert.ok(signer !== undefined && findVerifier(rotated, signer.kid, now) === signer, `at ${now}`)
  }
})

for (const kid of [undefined, '', 'A', 'a ', '__proto__', 'constructor', 'toString', '0'])
  test(`the id ${JSON.stringify(kid) ?? 'undefined'} finds no key`, () => {
    assert.equal(findVerifier(rotated, kid, 0), undefined)
  })

test('a row whose public or private key is that of another key is not opened', async () => {
  const secret = randomBytes(32)
  const [own, other] = [await generateKey('ES256'), await generateKey('ES256')]
  const open = (publicKey: typeof own, privateKey: typeof own) =>
    openKey(
      {
        ...{ kid: own.kid, algorithm: 'ES256', public_jwk: publicKey.publicJwk },
        sealed_private_key: seal(privateKey.privateKey, secret, own.kid),
        ...{ signs_from: new Date(), verifies_until: null },
      },
      [secret],
    )
  assert.equal((await open(own, own)).kid, own.kid)
  await assert.rejects(open(other, own), /is not that of its private key/)
  await assert.rejects(open(own, other), /is not that of its private key/)
})
