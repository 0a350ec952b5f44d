// Attempts to authenticate that fail are limited by address; whoever has a valid secret or token is served, also from the address
// of an attacker. Tokens that name unknown keys cause few transactions.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { decodeJwt, generateKeyPair, SignJWT } from 'jose'
import pg from 'pg'
import { newSettings, prepareDatabase, type Service, startService } from '../../../dev/service.ts'
import { buildExplorer } from '../../../explorer/build.ts'
import { loadKeyRing } from '../../../src/auth/key-ring.ts'
import { deriveKeys } from '../../../src/platform/derive-key.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'
import { postForm, SESSION } from '../../journeys/explorer/browser-session.ts'

const LIMIT = 20
const PAGE = '/v2/hed-outbreaks/outbreaks?num=1'
const FLOOD_MS = 3000
const FLOOD_CONNECTIONS = 32

await buildExplorer()
const settings = newSettings(await createTestDatabase())
const credentials = await prepareDatabase(settings, 'sample/releases/1')
const limits = { OUTBREAKS_LOG_LEVEL: 'error', OUTBREAKS_TRUSTED_PROXIES: '127.0.0.1' }
const [service, unlimited] = await Promise.all([
  startService(settings, { ...limits, OUTBREAKS_FAILED_ATTEMPTS: String(LIMIT) }),
  startService(settings, { ...limits, OUTBREAKS_FAILED_ATTEMPTS: '0' }),
])
for (const { process } of [service, unlimited]) after(() => process.kill('SIGKILL'))
const admin = new pg.Client(settings.databaseUrl)
await admin.connect()
after(() => admin.end())
const token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
const { privateKey } = await generateKeyPair('ES256')

type Send = (node: Service, address: string, isValid: boolean) => Promise<Response>

const requestToken: Send = ({ baseUrl }, address, isValid) =>
  fetch(`${baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
    body: JSON.stringify({
      ...{ client_id: credentials.client_id, audience: baseUrl, grant_type: 'client_credentials' },
      client_secret: isValid ? credentials.client_secret : randomBytes(32).toString('base64url'),
    }),
    signal: AbortSignal.timeout(10_000),
  })

const readPage = ({ baseUrl }: Service, address: string, accessToken: string) =>
  fetch(baseUrl + PAGE, {
    headers: { authorization: `Bearer ${accessToken}`, 'x-forwarded-for': address },
    signal: AbortSignal.timeout(10_000),
  })

/** The header and the claims of a valid token, with a signature of no one. */
const damage = (text: string) => `${text.slice(0, text.lastIndexOf('.') + 1)}${randomBytes(64).toString('base64url')}`
const useToken: Send = (node, address, isValid) => readPage(node, address, isValid ? token : damage(token))

const signIn: Send = ({ baseUrl }, address, isValid) =>
  postForm(
    baseUrl + SESSION,
    { ...credentials, ...(isValid ? {} : { client_secret: 'wrong' }) },
    { 'x-forwarded-for': address },
  )

async function failOften(send: Send, node: Service, nextAddress: (i: number) => string) {
  const responses: Response[] = []
  for (let i = 0; i < 2 * LIMIT; i++) responses.push(await send(node, nextAddress(i), false))
  return responses
}

const kinds: [name: string, send: Send, valid: number][] = [
  ['token requests', requestToken, 200],
  ['access tokens', useToken, 200],
  ['sign-ins', signIn, 303],
]
for (const [i, [name, send, valid]] of kinds.entries()) {
  const address = `203.0.113.${i}`
  test(`${name}: failures beyond the limit get 429 with Retry-After, and a valid one from the same address passes`, async () => {
    const responses = await failOften(send, service, () => address)
    const statuses = responses.map(({ status }) => status)
    assert.deepEqual(statuses, [...Array(LIMIT).fill(401), ...Array(LIMIT).fill(429)])
    const last = responses.at(-1)
    const seconds = Number(last?.headers.get('retry-after'))
    assert.ok(seconds > 0 && seconds <= 60, `Retry-After: ${seconds}`)
    if (name !== 'sign-ins') {
      const body = (await last?.json()) as { error?: string; code?: string }
      assert.equal(body.error ?? body.code, name === 'access tokens' ? 'attempts_exceeded' : 'temporarily_unavailable')
    }
    for (let round = 0; round < 2 * LIMIT; round++) assert.equal((await send(service, address, true)).status, valid)
    assert.equal((await send(service, `198.51.100.${i}`, false)).status, 401, 'another address')
  })

  test(`${name}: control: without the limit every failure gets 401`, async () => {
    const responses = await failOften(send, unlimited, () => address)
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([401]))
  })
}

test('an expired token gets 401 beyond the limit too, so that its client renews it', async () => {
  const database = openDatabase({ url: settings.databaseUrl, role: 'outbreaks_operator', connections: 1 })
  const keys = deriveKeys([Buffer.from(settings.secret, 'base64url')], 'signing keys')
  const [key] = await loadKeyRing(keys)(database)
  await database.close()
  assert.ok(key)
  const expired = await new SignJWT({ ...decodeJwt(token), iat: Date.now() / 1000 - 7200, exp: Date.now() / 1000 - 60 })
    .setProtectedHeader({ alg: key.algorithm, typ: 'at+jwt', kid: key.kid })
    .sign(key.privateKey)
  const address = '203.0.113.50'
  await failOften(useToken, service, () => address)
  for (let i = 0; i < 2 * LIMIT; i++) {
    const response = await readPage(service, address, expired)
    assert.equal(response.status, 401)
    assert.match(((await response.json()) as { detail: string }).detail, /it has expired/)
  }
  assert.equal((await useToken(service, address, false)).status, 429)
})

test('the addresses of one IPv6 network count together; an attacker cannot choose another address itself', async () => {
  const one = await failOften(requestToken, service, (i) => `2001:db8:7:7::${i.toString(16)}`)
  assert.equal(one.filter(({ status }) => status === 429).length, LIMIT)
  // The proxy appends the address that it sees to what the client wrote.
  const forged = await failOften(requestToken, service, (i) => `192.0.2.${i}, 203.0.113.77`)
  assert.equal(forged.filter(({ status }) => status === 429).length, LIMIT)
})

async function countTransactions(): Promise<number> {
  // A connection reports its counts at most once a second.
  await wait(1500)
  const { rows } = await admin.query<{ count: string }>(
    'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()',
  )
  return Number(rows[0]?.count)
}

test('tokens with unknown keys cause a bounded number of transactions, and a valid token passes meanwhile', async (t) => {
  const before = await countTransactions()
  const startedAt = performance.now()
  const forge = (kid: string) =>
    new SignJWT({ client_id: credentials.client_id, gen: 1 })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid })
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey)
  // 503: a node without a free processor may wait in vain for one of its connections.
  let sent = 0
  let served = 0
  const readWhileFlooded = async (nextToken: () => Promise<string>, allowed: number[]) => {
    while (performance.now() - startedAt < FLOOD_MS) {
      const { status } = await readPage(service, '203.0.113.99', await nextToken())
      assert.ok(allowed.includes(status), `${status}`)
      if (status === 200) served++
    }
  }
  await Promise.all([
    ...Array.from({ length: FLOOD_CONNECTIONS }, () =>
      readWhileFlooded(() => forge(`unknown-${sent++}`), [401, 429, 503]),
    ),
    readWhileFlooded(async () => token, [200, 503]),
  ])
  const transactions = (await countTransactions()) - before
  const seconds = (performance.now() - startedAt) / 1000
  t.diagnostic(
    `${sent} tokens, ${transactions} transactions in ${seconds.toFixed(1)} s; a valid token was served ${served} times`,
  )
  // Two nodes poll twice a second, and the flooded one refreshes four times a second at most.
  assert.ok(transactions < 12 * seconds + 10, `${transactions} transactions`)
  assert.ok(sent > FLOOD_CONNECTIONS)
  assert.ok(served > 0)
})

test('control: the count sees transactions', async () => {
  const before = await countTransactions()
  for (let i = 0; i < 60; i++) await admin.query('select 1')
  await admin.query('select pg_stat_force_next_flush()')
  assert.ok((await countTransactions()) - before >= 60)
})
