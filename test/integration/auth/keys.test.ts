// Rotating, listing and disabling signing keys on a real database.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { calculateJwkThumbprint, decodeProtectedHeader, jwtVerify } from 'jose'
import sql from 'sql-template-tag'
import { issueToken } from '../../../src/auth/access-tokens.ts'
import { algorithms, findSigner, loadKeyRing } from '../../../src/auth/key-ring.ts'
import { disableKey, generateKey, listKeys, resealKeys, rotateKey } from '../../../src/auth/provisioning/keys.ts'
import { OperatorError } from '../../../src/platform/operator-error.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { createTestDatabase } from '../../database.ts'

const sealingKey = randomBytes(32)
const DAY = 86_400_000

/** Rotations depend on the existing keys, so each test has its own database. */
async function openKeyDatabase() {
  const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator', connections: 2 })
  after(database.close)
  return {
    database,
    rotate: (notice?: number) => rotateKey(database, [sealingKey], 'ES256', notice),
    disable: (kid: string) => disableKey(database, kid),
    listStates: async () => (await listKeys(database)).map(({ kid, state }) => [kid, state]),
    loadRing: () => loadKeyRing([sealingKey])(database),
  }
}

test('the first key signs at once and ignores its notice', async () => {
  const { rotate, loadRing, listStates } = await openKeyDatabase()
  const { kid } = await rotate(600)
  assert.deepEqual(await listStates(), [[kid, 'signing']])
  assert.equal(findSigner(await loadRing(), Date.now())?.kid, kid)
})

test('a later key signs after its notice, and older keys verify until their last token expires', async () => {
  const { rotate, loadRing, listStates } = await openKeyDatabase()
  const { kid: first } = await rotate()
  const { kid: second } = await rotate(600)
  assert.deepEqual(await listStates(), [
    [first, 'signing'],
    [second, 'next'],
  ])
  const [older, newer] = await loadRing()
  assert.ok(older && newer)
  const signsFrom = newer.signsFrom
  assert.ok(Math.abs(signsFrom - Date.now() - 600_000) < 60_000)
  assert.equal(findSigner([older, newer], signsFrom - 1), older)
  assert.equal(findSigner([older, newer], signsFrom), newer)
  assert.ok(older.verifiesUntil >= signsFrom + DAY, 'the last token that the older key signed stays valid for a day')
  assert.equal(newer.verifiesUntil, Number.POSITIVE_INFINITY)
})

test('a third rotation does not change the end of the first key', async () => {
  const { rotate, loadRing } = await openKeyDatabase()
  await rotate()
  await rotate(1)
  const [earlier] = await loadRing()
  await rotate(3600)
  const [later] = await loadRing()
  assert.equal(later?.verifiesUntil, earlier?.verifiesUntil)
})

test('a disabled key is listed as ended and is not loaded', async () => {
  const { rotate, disable, loadRing, listStates } = await openKeyDatabase()
  const { kid: first } = await rotate()
  const { kid: second } = await rotate(0)
  await disable(first)
  assert.deepEqual(await listStates(), [
    [first, 'ended'],
    [second, 'signing'],
  ])
  assert.deepEqual(
    (await loadRing()).map((key) => key.kid),
    [second],
  )
})

test('after the only key is disabled, the next key signs at once', async () => {
  const { rotate, disable, loadRing } = await openKeyDatabase()
  const { kid: only } = await rotate()
  assert.deepEqual(await disable(only), { kid: only, disabled: true, next: 'outbreakctl key rotate' })
  assert.deepEqual(await loadRing(), [])
  const { kid } = await rotate(600)
  assert.equal(findSigner(await loadRing(), Date.now())?.kid, kid)
})

test('two concurrent first rotations give one key that signs and one that signs next', async () => {
  const { rotate, listStates } = await openKeyDatabase()
  await Promise.all([rotate(600), rotate(600)])
  assert.deepEqual(
    (await listStates()).map(([, state]) => state),
    ['signing', 'next'],
  )
})

for (const kid of ['', 'unknown', "' or true --"])
  test(`disabling the unknown key ${JSON.stringify(kid)} is an OperatorError`, async () => {
    const { disable } = await openKeyDatabase()
    await assert.rejects(disable(kid), OperatorError)
  })

test('disabling a key twice is an OperatorError', async () => {
  const { rotate, disable } = await openKeyDatabase()
  const { kid } = await rotate()
  await disable(kid)
  await assert.rejects(disable(kid), OperatorError)
})

test('no key id looks like an option of a command line', async () => {
  // One in 64 thumbprints starts with a hyphen.
  const keys = await Promise.all(Array.from({ length: 500 }, () => generateKey('ES256')))
  assert.deepEqual(
    keys.filter(({ kid }) => kid.startsWith('-')),
    [],
  )
})

const parties = { issuer: 'https://issuer.example', audience: 'https://data.example' }
const client = { clientId: 'a', scopes: [], generation: 1, disabled: false, secrets: [] }
for (const algorithm of algorithms)
  test(`an ${algorithm} key is loaded, signs, and its JWK has no private part`, async () => {
    const { database, loadRing } = await openKeyDatabase()
    const { kid } = await rotateKey(database, [sealingKey], algorithm)
    const [key] = await loadRing()
    assert.ok(key)
    const token = await issueToken(key, client, 'read', parties)
    assert.deepEqual(decodeProtectedHeader(token), { alg: algorithm, typ: 'at+jwt', kid })
    await jwtVerify(token, key.publicKey, { ...parties, typ: 'at+jwt', subject: 'a' })
    assert.equal(key.kid, await calculateJwkThumbprint(key.publicJwk))
    assert.deepEqual(
      ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'].filter((name) => name in key.publicJwk),
      [],
    )
    assert.ok(key.algorithm !== 'RS256' || Buffer.from(key.publicJwk.n ?? '', 'base64url').length >= 384)
  })

test('private keys are stored encrypted, and another secret does not decrypt them', async () => {
  const { database, rotate } = await openKeyDatabase()
  await rotate()
  const [row] = await database.query<{ text: string }>(
    sql`select encode(sealed_private_key, 'escape') || signing_key::text as text from signing_key`,
  )
  assert.doesNotMatch(row?.text ?? assert.fail(), /PRIVATE|"d"/)
  await assert.rejects(loadKeyRing([randomBytes(32)])(database), /another OUTBREAKS_SECRET/)
})

for (const [moment, notice] of Object.entries({ 'before it signed': 600, 'after it signed': 0 }))
  test(`disabling a rotated key ${moment} leaves the older key to sign without an end`, async () => {
    const { rotate, disable, loadRing } = await openKeyDatabase()
    await rotate()
    await disable((await rotate(notice)).kid)
    assert.ok(findSigner(await loadRing(), Date.now() + 30 * DAY))
  })

test('disabling the newest of three keys lets the second sign, not the first', async () => {
  const { rotate, disable, listStates } = await openKeyDatabase()
  const [first, second, third] = [await rotate(0), await rotate(0), await rotate(0)]
  await disable(third.kid)
  assert.deepEqual(await listStates(), [
    [first.kid, 'verifying'],
    [second.kid, 'signing'],
    [third.kid, 'ended'],
  ])
  await disable(first.kid)
  assert.deepEqual(Object.fromEntries(await listStates())[second.kid], 'signing')
})

test('the key that signs after another was disabled has no end, and the others keep theirs', async () => {
  const { rotate, disable, loadRing } = await openKeyDatabase()
  const [first, second, third] = [await rotate(0), await rotate(0), await rotate(0)]
  await disable(third.kid)
  const ends = new Map((await loadRing()).map(({ kid, verifiesUntil }) => [kid, verifiesUntil]))
  assert.equal(ends.get(second.kid), Number.POSITIVE_INFINITY)
  assert.ok((ends.get(first.kid) ?? 0) < Date.now() + 3 * DAY)
})

test('resealing encrypts every key with the first secret, also an ended one, and changes nothing the second time', async () => {
  const { database, rotate, disable, loadRing } = await openKeyDatabase()
  const [first, second] = [await rotate(0), await rotate(0)]
  await disable(first.kid)
  const next = randomBytes(32)
  assert.deepEqual(await resealKeys(database, [next, sealingKey]), { resealed: 2, unchanged: 0, unreadable: [] })
  assert.deepEqual(await resealKeys(database, [next]), { resealed: 0, unchanged: 2, unreadable: [] })
  assert.deepEqual(
    (await loadKeyRing([next])(database)).map(({ kid }) => kid),
    [second.kid],
  )
  await assert.rejects(loadRing(), /another OUTBREAKS_SECRET/)
})

test('resealing leaves keys that no secret reads, and names those that are needed', async () => {
  const { database, rotate, disable } = await openKeyDatabase()
  await disable((await rotate()).kid)
  const { kid } = await rotate()
  assert.deepEqual(await resealKeys(database, [randomBytes(32)]), { resealed: 0, unchanged: 0, unreadable: [kid] })
  assert.equal((await loadKeyRing([sealingKey])(database)).length, 1)
})

test('a rotation seals with the first secret and accepts that another one reads the keys', async () => {
  const { database, rotate } = await openKeyDatabase()
  await rotate()
  const next = randomBytes(32)
  const { kid } = await rotateKey(database, [next, sealingKey], 'ES256', 0)
  const unreadable: string[][] = []
  const ring = await loadKeyRing([next], (kids) => unreadable.push(kids))(database)
  assert.deepEqual(
    ring.map((key) => key.kid),
    [kid],
  )
  assert.equal(unreadable[0]?.length, 1)
})

test('a rotation with another secret is an OperatorError, and needs force', async () => {
  const { database, rotate } = await openKeyDatabase()
  await rotate()
  const other = [randomBytes(32)] as const
  await assert.rejects(rotateKey(database, other, 'ES256'), OperatorError)
  await assert.rejects(rotateKey(database, [sealingKey], 'ES256', 0, { force: true }), OperatorError)
  await rotateKey(database, other, 'ES256', 0, { force: true })
  assert.equal((await listKeys(database)).length, 2)
})
