// At least 500 forged access tokens and client assertions, each rejected with its status, between two requests that show that the
// unmodified token is accepted.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { type CryptoKey, exportJWK, generateKeyPair, jwtVerify } from 'jose'
import { type Credentials, newSettings, outbreakctl, prepareDatabase, startService } from '../../../dev/service.ts'
import { loadKeyRing } from '../../../src/auth/key-ring.ts'
import { deriveKeys } from '../../../src/platform/derive-key.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { createTestDatabase } from '../../database.ts'
import { assertTokenAccepted, obtainToken, openConnection } from '../../fixtures/api-client.ts'
import { claimsOf, forgeAssertions, signRaw } from './forged-assertions.ts'
import { forgeTokens } from './forgeries.ts'

const MINIMUM = 500
const settings = newSettings(await createTestDatabase())
const credentials = await prepareDatabase(settings, 'sample/releases/1')
const otherClient = await outbreakctl<Credentials>(settings, 'client', 'create', '--name', 'Another client')
const directory = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-keys-'))
after(() => rmSync(directory, { recursive: true }))

async function createKeyClient(name: string) {
  const pair = await generateKeyPair('ES256', { extractable: true })
  const publicJwk = { ...(await exportJWK(pair.publicKey)), kid: name }
  const file = path.join(directory, name)
  writeFileSync(file, JSON.stringify(publicJwk))
  const create = ['client', 'create', '--name', name, '--jwks', file]
  const { client_id } = await outbreakctl<{ client_id: string }>(settings, ...create)
  return { clientId: client_id, privateKey: pair.privateKey, publicKey: pair.publicKey, publicJwk }
}
const [signer, otherSigner] = [await createKeyClient('signer'), await createKeyClient('other')]
const service = await startService(settings)
after(service.stop)
const { baseUrl } = service
const tokenUrl = `${baseUrl}/oauth/token`
const connection = openConnection(baseUrl)
after(connection.close)

async function readSigningKey() {
  const database = openDatabase({ url: settings.databaseUrl, role: 'outbreaks_operator', connections: 1 })
  const keys = deriveKeys([Buffer.from(settings.secret, 'base64url')], 'signing keys')
  const [key] = await loadKeyRing(keys)(database)
  await database.close()
  return key ?? assert.fail('there is no key')
}
const key = await readSigningKey()
const valid = await obtainToken(credentials, tokenUrl, baseUrl)
const [head = '', payload = '', signature = ''] = valid.split('.')
const signatureBytes = Buffer.from(signature, 'base64url')

/** Every byte of the signature with one bit flipped, beside what forgeTokens makes of it. */
const flipped = [...signatureBytes.keys()].map((i) => ({
  title: `the highest bit of byte ${i} of the signature flipped`,
  token: `${head}.${payload}.${Buffer.from(signatureBytes.with(i, (signatureBytes[i] ?? 0) ^ 0x80)).toString('base64url')}`,
}))
const tokens = [
  ...(await forgeTokens({
    ...{ valid, privateKey: key.privateKey, publicJwk: key.publicJwk },
    second: await obtainToken(credentials, tokenUrl, baseUrl),
    foreign: await obtainToken(otherClient, tokenUrl, baseUrl),
  })),
  ...flipped,
].filter(({ token }, i, all) => all.findIndex((one) => one.token === token) === i)
const assertions = await forgeAssertions({ ...signer, other: otherSigner, issuer: baseUrl, tokenUrl })

const postAssertion = async (assertion: string) => {
  const body = new URLSearchParams({
    ...{ grant_type: 'client_credentials', audience: baseUrl, client_assertion: assertion },
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  })
  return connection.postToken({ 'content-type': 'application/x-www-form-urlencoded' }, body.toString())
}
const createAssertion = () =>
  signRaw(signer.privateKey, { alg: 'ES256', kid: 'signer' }, claimsOf({ ...signer, issuer: baseUrl }))

async function assertControls(): Promise<void> {
  await assertTokenAccepted(baseUrl, valid)
  assert.equal((await postAssertion(await createAssertion())).status, 200)
}

test('control: the unmodified token and an assertion are accepted before', assertControls)

/** 400 for what is not a token by RFC 6750, 431 for one that is too long, 401 for all others. */
const CODES: Record<number, string> = { 400: 'invalid_request', 401: 'invalid_token', 431: 'headers_too_large' }
for (const { title, token } of tokens)
  test(`access token, ${title}`, async () => {
    const { status, headers, body } = await connection.readRecord(token)
    assert.equal(JSON.parse(body).code, CODES[status], `${status} ${body}`)
    if (status !== 431) assert.match(String(headers['www-authenticate']), new RegExp(`error="${CODES[status]}"`))
  })

for (const { title, assertion } of assertions)
  test(`assertion, ${title}`, async () => {
    const { status, body } = await postAssertion(assertion)
    assert.equal(status, 401, body)
    assert.deepEqual(JSON.parse(body), {
      ...{ error: 'invalid_client', error_description: 'The client assertion is not valid.' },
    })
  })

test('control: the unmodified token and an assertion are accepted after', assertControls)

test(`there are at least ${MINIMUM} of them, and a verifier that checks only the signature accepts many`, async (t) => {
  const isAccepted = (text: string, publicKey: CryptoKey) =>
    jwtVerify(text, publicKey).then(
      () => true,
      () => false,
    )
  const weak = await Promise.all([
    ...tokens.map(({ token }) => isAccepted(token, key.publicKey)),
    ...assertions.map(({ assertion }) => isAccepted(assertion, signer.publicKey)),
  ])
  const count = weak.filter(Boolean).length
  t.diagnostic(
    `${tokens.length} access tokens and ${assertions.length} assertions; only the signature checked, ${count} are accepted`,
  )
  assert.ok(tokens.length + assertions.length >= MINIMUM)
  assert.ok(count >= 100)
})

test('the second form of an ECDSA signature (n - s) is a valid signature: the same token in another spelling', async () => {
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
  const s = BigInt(`0x${signatureBytes.subarray(32).toString('hex')}`)
  const other = Buffer.from((order - s).toString(16).padStart(64, '0'), 'hex')
  const second = Buffer.concat([signatureBytes.subarray(0, 32), other]).toString('base64url')
  await assertTokenAccepted(baseUrl, `${head}.${payload}.${second}`)
})
