// What the operator does to signing keys, on a real database.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { calculateJwkThumbprint, decodeProtectedHeader, jwtVerify } from 'jose'
import sql from 'sql-template-tag'
import { issueToken } from '../../../src/auth/access-tokens.ts'
import { algorithms, findSigner, loadKeyRing } from '../../../src/auth/key-ring.ts'
import { disableKey, generateKey, listKeys, rotateKey } from '../../../src/auth/provisioning/keys.ts'
import { OperatorError } from '../../../src/platform/operator-error.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { createTestDatabase } from '../../database.ts'

const sealingKey = randomBytes(32)
const DAY = 86_400_000

/** Rotations depend on what was there before, so each test has a database of its own. */
async function openKeys() {
  const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator', connections: 2 })
  after(database.close)
  return {
    database,
    rotate: (notice?: number) => rotateKey(database, sealingKey, 'ES256', notice),
    disable: (kid: string) => disableKey(database, kid),
    states: async () => (await listKeys(database)).map(({ kid, state }) => [kid, state]),
    ring: () => loadKeyRing(sealingKey)(database),
  }
}

test('the first key signs at once, whatever its notice', async () => {
  const { rotate, ring, states } = await openKeys()
  const { kid } = await rotate(600)
  assert.deepEqual(await states(), [[kid, 'signing']])
  assert.equal(findSigner(await ring(), Date.now())?.kid, kid)
})

test('a later key signs after its notice, and the older ones outlive their last token', async () => {
  const { rotate, ring, states } = await openKeys()
  const { kid: first } = await rotate()
  const { kid: second } = await rotate(600)
  assert.deepEqual(await states(), [
    [first, 'signing'],
    [second, 'next'],
  ])
  const [older, newer] = await ring()
  assert.ok(older && newer)
  const turn = newer.signsFrom
  assert.ok(Math.abs(turn - Date.now() - 600_000) < 60_000)
  assert.equal(findSigner([older, newer], turn - 1), older)
  assert.equal(findSigner([older, newer], turn), newer)
  assert.ok(older.verifiesUntil >= turn + DAY, 'a token signed at the last moment lives for its day')
  assert.equal(newer.verifiesUntil, Number.POSITIVE_INFINITY)
})

test('a third rotation leaves the end of the first key where it was', async () => {
  const { rotate, ring } = await openKeys()
  await rotate()
  await rotate(1)
  const [earlier] = await ring()
  await rotate(3600)
  const [later] = await ring()
  assert.equal(later?.verifiesUntil, earlier?.verifiesUntil)
})

test('a disabled key is listed as ended and is not loaded any more', async () => {
  const { rotate, disable, ring, states } = await openKeys()
  const { kid: first } = await rotate()
  const { kid: second } = await rotate(0)
  await disable(first)
  assert.deepEqual(await states(), [
    [first, 'ended'],
    [second, 'signing'],
  ])
  assert.deepEqual(
    (await ring()).map((key) => key.kid),
    [second],
  )
})

test('after its only key was disabled a rotation signs at once again', async () => {
  const { rotate, disable, ring } = await openKeys()
  await disable((await rotate()).kid)
  assert.deepEqual(await ring(), [])
  const { kid } = await rotate(600)
  assert.equal(findSigner(await ring(), Date.now())?.kid, kid)
})

test('two first rotations at one moment give one key that signs and one that waits', async () => {
  const { rotate, states } = await openKeys()
  await Promise.all([rotate(600), rotate(600)])
  assert.deepEqual(
    (await states()).map(([, state]) => state),
    ['signing', 'next'],
  )
})

for (const kid of ['', 'unknown', "' or true --"])
  test(`disabling the unknown key ${JSON.stringify(kid)} is the operator's fault`, async () => {
    const { disable } = await openKeys()
    await assert.rejects(disable(kid), OperatorError)
  })

test("disabling a key twice is the operator's fault", async () => {
  const { rotate, disable } = await openKeys()
  const { kid } = await rotate()
  await disable(kid)
  await assert.rejects(disable(kid), OperatorError)
})

test('no key has a name that a command line would take for an option', async () => {
  // One in 64 thumbprints begins with a dash.
  const keys = await Promise.all(Array.from({ length: 500 }, () => generateKey('ES256')))
  assert.deepEqual(
    keys.filter(({ kid }) => kid.startsWith('-')),
    [],
  )
})

const parties = { issuer: 'https://issuer.example', audience: 'https://data.example' }
const client = { clientId: 'a', scopes: [], generation: 1, disabled: false, secrets: [] }
for (const algorithm of algorithms)
  test(`an ${algorithm} key comes back from the database, signs, and shows its public half only`, async () => {
    const { database, ring } = await openKeys()
    const { kid } = await rotateKey(database, sealingKey, algorithm)
    const [key] = await ring()
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

test('private keys rest sealed, and another secret does not open them', async () => {
  const { database, rotate } = await openKeys()
  await rotate()
  const [row] = await database.query<{ text: string }>(
    sql`select encode(sealed_private_key, 'escape') || signing_key::text as text from signing_key`,
  )
  assert.doesNotMatch(row?.text ?? assert.fail(), /PRIVATE|"d"/)
  await assert.rejects(loadKeyRing(randomBytes(32))(database), /another OUTBREAKS_SECRET/)
})

for (const [moment, notice] of Object.entries({ 'before it signed': 600, 'after it signed': 0 }))
  test(`taking back a rotation ${moment} leaves a key that can sign for good`, async () => {
    const { rotate, disable, ring } = await openKeys()
    await rotate()
    await disable((await rotate(notice)).kid)
    assert.ok(findSigner(await ring(), Date.now() + 30 * DAY))
  })
