// A row of the table signing_key that a node cannot read, or whose public key was exchanged, changes nothing for other keys and
// makes no forged token valid. A rotation with another secret is rejected.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { decodeJwt, exportJWK, generateKeyPair, importJWK, type JWK, jwtVerify, SignJWT } from 'jose'
import sql from 'sql-template-tag'
import { findFreePort } from '../../../dev/postgres.ts'
import { newSettings, outbreakctl, prepareDatabase, startService } from '../../../dev/service.ts'
import { generateKey } from '../../../src/auth/provisioning/keys.ts'
import { seal } from '../../../src/auth/sealing.ts'
import { deriveKey } from '../../../src/platform/derive-key.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { createTestDatabase } from '../../database.ts'
import { assertTokenAccepted, obtainToken, readRecord } from '../../fixtures/api-client.ts'

const settings = newSettings(await createTestDatabase())
const credentials = await prepareDatabase(settings, 'sample/releases/1')
const metricsPort = await findFreePort()
const service = await startService(settings, { OUTBREAKS_METRICS_PORT: String(metricsPort) })
after(service.stop)
const { baseUrl } = service
const database = openDatabase({ url: settings.databaseUrl, role: 'outbreaks_operator', connections: 1 })
after(database.close)
// The operator may not delete keys.
const owner = openDatabase({ url: settings.databaseUrl, role: null, connections: 1 })
after(owner.close)

const sealingKey = deriveKey(Buffer.from(settings.secret, 'base64url'), 'signing keys')
const obtain = () => obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl)
const tokenBefore = await obtain()

interface KeyRow {
  kid: string
  algorithm?: string
  publicJwk: JWK
  sealed: Buffer
}

const insertKey = ({ kid, algorithm = 'ES256', publicJwk, sealed }: KeyRow) =>
  database.transaction((client) =>
    client.query(sql`
      insert into signing_key (kid, algorithm, public_jwk, sealed_private_key, signs_from)
      values (${kid}, ${algorithm}, ${publicJwk}, ${sealed}, now())`),
  )
const removeKey = (kid: string) =>
  owner.transaction((client) => client.query(sql`delete from signing_key where kid = ${kid}`))

/** Waits until the node has loaded the keys: it logs the key that it cannot read. */
async function waitForWarning(kid: string): Promise<string> {
  const deadline = Date.now() + 10_000
  for (;;) {
    const line = service
      .output()
      .split('\n')
      .find((text) => text.includes('could not be decrypted') && text.includes(kid) && text.endsWith('}'))
    if (line !== undefined) return line
    assert.ok(Date.now() < deadline, 'the node did not report the key')
    await wait(50)
  }
}
const readMetric = async () =>
  /^outbreaks_unreadable_keys (\d+)$/m.exec(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text())?.[1]
const readKeySet = async () =>
  ((await (await fetch(`${baseUrl}/.well-known/jwks.json`)).json()) as { keys: JWK[] }).keys
const diagnose = () =>
  outbreakctl<{ check: string; status: string; message: string }[]>(
    { ...settings, variables: { OUTBREAKS_BASE_URL: baseUrl } },
    'doctor',
  ).catch((error: Error & { cause?: { stdout?: string } }) => JSON.parse(error.cause?.stdout ?? '[]'))

const [original] = await database.query<{ kid: string; public_jwk: JWK; sealed_private_key: Buffer }>(
  sql`select kid, public_jwk, sealed_private_key from signing_key`,
)
assert.ok(original)

/** Each is a newer key than that of the service, so it would sign. */
const unreadable: Record<string, () => Promise<KeyRow>> = {
  'sealed with another secret': async () => {
    const { kid, publicJwk, privateKey } = await generateKey('ES256')
    return { kid, publicJwk, sealed: seal(privateKey, randomBytes(32), kid) }
  },
  'with a damaged byte': async () => {
    const { kid, publicJwk, privateKey } = await generateKey('ES256')
    const sealed = seal(privateKey, sealingKey, kid)
    return { kid, publicJwk, sealed: Buffer.from(sealed.with(20, (sealed[20] ?? 0) ^ 1)) }
  },
  'without bytes': async () => {
    const { kid, publicJwk } = await generateKey('ES256')
    return { kid, publicJwk, sealed: Buffer.alloc(0) }
  },
  'that is not a key': async () => {
    const { kid, publicJwk } = await generateKey('ES256')
    return { kid, publicJwk, sealed: seal('not a key', sealingKey, kid) }
  },
  'of another algorithm': async () => {
    const { kid, publicJwk, privateKey } = await generateKey('EdDSA')
    return { kid, publicJwk, sealed: seal(privateKey, sealingKey, kid) }
  },
  'with a JWK that is not a key': async () => {
    const { kid, privateKey } = await generateKey('ES256')
    return { kid, publicJwk: { kty: 'none' } as unknown as JWK, sealed: seal(privateKey, sealingKey, kid) }
  },
  'whose key id is not its thumbprint': async () => {
    const { publicJwk, privateKey } = await generateKey('ES256')
    const kid = randomBytes(32).toString('hex')
    return { kid, publicJwk: { ...publicJwk, kid }, sealed: seal(privateKey, sealingKey, kid) }
  },
  'whose private key was exchanged': async () => {
    const { kid, publicJwk } = await generateKey('ES256')
    const { privateKey } = await generateKey('ES256')
    return { kid, publicJwk, sealed: seal(privateKey, sealingKey, kid) }
  },
}

describe('a key', () => {
  for (const [kind, create] of Object.entries(unreadable))
    test(`${kind} is not used, and the node continues with the other one`, async () => {
      const row = await create()
      await insertKey(row)
      try {
        const line = await waitForWarning(row.kid)
        assert.deepEqual(
          (await readKeySet()).map(({ kid }) => kid),
          [original.kid],
        )
        await assertTokenAccepted(baseUrl, tokenBefore)
        await assertTokenAccepted(baseUrl, await obtain())
        assert.equal(await readMetric(), '1')
        assert.equal((await fetch(`${baseUrl}/ready`)).status, 200)
        // Of the key only its id.
        assert.deepEqual(Object.keys(JSON.parse(line)).sort(), ['hostname', 'kid', 'level', 'msg', 'pid', 'time'])
      } finally {
        await removeKey(row.kid)
      }
    })

  test('that cannot be read is an error of outbreakctl doctor, which names it', async () => {
    const row = await (unreadable['sealed with another secret'] ?? assert.fail())()
    await insertKey(row)
    try {
      const findings = await diagnose()
      const found = findings.find(
        ({ check, status }: { check: string; status: string }) => check === 'signing keys' && status === 'error',
      )
      assert.match(found?.message ?? '', new RegExp(row.kid))
    } finally {
      await removeKey(row.kid)
    }
  })
})

describe('an exchanged public key', () => {
  test('makes no forged token valid, neither while it is there nor after it was restored', async () => {
    const attacker = await generateKeyPair('ES256', { extractable: true })
    const swapped = { ...(await exportJWK(attacker.publicKey)), kid: original.kid, alg: 'ES256', use: 'sig' }
    const { releases: _, ...claims } = decodeJwt(tokenBefore)
    const forged = await new SignJWT({ ...claims, jti: 'forged' })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: original.kid })
      .sign(attacker.privateKey)
    // Another readable key, so that the node accepts the new state of the table.
    const other = await generateKey('ES256')
    await insertKey({ ...other, sealed: seal(other.privateKey, sealingKey, other.kid) })
    const setJwk = (jwk: JWK) =>
      database.transaction((client) =>
        client.query(sql`update signing_key set public_jwk = ${jwk} where kid = ${original.kid}`),
      )
    try {
      await setJwk(swapped)
      await waitForWarning(original.kid)
      assert.equal((await readRecord(baseUrl, forged)).status, 401)
      assert.deepEqual(
        (await readKeySet()).map(({ kid }) => kid),
        [other.kid],
      )
    } finally {
      await setJwk(original.public_jwk)
    }
    const deadline = Date.now() + 10_000
    while ((await readKeySet()).length < 2) assert.ok(Date.now() < deadline)
    assert.equal((await readRecord(baseUrl, forged)).status, 401)
    await assertTokenAccepted(baseUrl, tokenBefore)
    await removeKey(other.kid)
  })

  test('is not published with members that the operator did not write', async () => {
    await database.transaction((client) =>
      client.query(sql`
        update signing_key set public_jwk = public_jwk || '{"x5u": "http://127.0.0.1:9/attacker"}' where kid = ${original.kid}`),
    )
    const marker = await (unreadable['sealed with another secret'] ?? assert.fail())()
    await insertKey(marker)
    await waitForWarning(marker.kid)
    const [published] = await readKeySet()
    assert.equal(published?.kid, original.kid)
    assert.equal(published?.x5u, undefined)
    await removeKey(marker.kid)
  })

  test('control: a verifier that trusts the JWK of the row would accept the forged token', async () => {
    const attacker = await generateKeyPair('ES256', { extractable: true })
    const swapped = { ...(await exportJWK(attacker.publicKey)), kid: original.kid }
    const forged = await new SignJWT(decodeJwt(tokenBefore))
      .setProtectedHeader({ alg: 'ES256', kid: original.kid })
      .sign(attacker.privateKey)
    await jwtVerify(forged, await importJWK(swapped, 'ES256'), { issuer: baseUrl, audience: baseUrl })
  })
})

describe('outbreakctl key rotate', () => {
  const otherSecret = { ...settings, secret: randomBytes(32).toString('base64url') }
  const listKids = async () =>
    (await outbreakctl<{ kid: string }[]>(settings, 'key', 'list')).map(({ kid }) => kid).sort()

  test('is refused with a secret that does not read the keys, and changes nothing', async () => {
    const before = await listKids()
    await assert.rejects(
      outbreakctl(otherSecret, 'key', 'rotate', '--notice', '0'),
      new RegExp(`OUTBREAKS_SECRET does not decrypt key ${original.kid}`),
    )
    assert.deepEqual(await listKids(), before)
    await assertTokenAccepted(baseUrl, await obtain())
  })

  test('is refused with --force while a key can be read', async () => {
    await assert.rejects(outbreakctl(settings, 'key', 'rotate', '--force'), /--force/)
  })

  test('is refused while one of several keys cannot be read', async () => {
    const row = await (unreadable['with a damaged byte'] ?? assert.fail())()
    await insertKey(row)
    try {
      await assert.rejects(
        outbreakctl(settings, 'key', 'rotate'),
        new RegExp(`does not decrypt key ${row.kid}, although`),
      )
      await assert.rejects(outbreakctl(settings, 'key', 'rotate', '--force'), /--force/)
    } finally {
      await removeKey(row.kid)
    }
  })

  test('adds a key with another secret and --force, and the running node continues with its own', async () => {
    const { kid } = await outbreakctl<{ kid: string }>(otherSecret, 'key', 'rotate', '--force', '--notice', '0')
    await waitForWarning(kid)
    await assertTokenAccepted(baseUrl, tokenBefore)
    await assertTokenAccepted(baseUrl, await obtain())
    await removeKey(kid)
  })
})

describe('without any key that can be read', () => {
  test('a node keeps the keys that it has, and doctor names the key', async () => {
    const damaged = Buffer.from(original.sealed_private_key.with(20, (original.sealed_private_key[20] ?? 0) ^ 1))
    await database.transaction((client) =>
      client.query(sql`update signing_key set sealed_private_key = ${damaged} where kid = ${original.kid}`),
    )
    await waitForFailure()
    await assertTokenAccepted(baseUrl, tokenBefore)
    const findings = await diagnose()
    assert.ok(
      findings.some(
        ({ check, status, message }: { check: string; status: string; message: string }) =>
          check === 'signing keys' && status === 'error' && message.includes(original.kid),
      ),
    )
  })

  async function waitForFailure(): Promise<void> {
    const deadline = Date.now() + 10_000
    while (!service.output().includes('could not read changes from the database')) {
      assert.ok(Date.now() < deadline)
      await wait(50)
    }
  }
})
