// Two nodes on one database: both reject revoked credentials within two seconds, never reject valid ones, and never
// log a secret.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { decodeProtectedHeader } from 'jose'
import sql from 'sql-template-tag'
import { type Credentials, newSettings, outbreakctl, prepareDatabase, startService } from '../../../dev/service.ts'
import { unseal } from '../../../src/auth/sealing.ts'
import { deriveKey } from '../../../src/platform/derive-key.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { createTestDatabase } from '../../database.ts'
import {
  assertTokenAccepted,
  obtainToken,
  readRecord,
  requestToken,
  type TokenResponse,
} from '../../fixtures/api-client.ts'
import { LIVENESS_MS } from '../../liveness.ts'

const PUBLIC_URL = 'http://outbreaks.example'
const settings = newSettings(await createTestDatabase())
const credentials = await prepareDatabase(settings, 'sample/releases/1')
const nodes = await Promise.all(
  [1, 2].map(() => startService(settings, { OUTBREAKS_BASE_URL: PUBLIC_URL, OUTBREAKS_LOG_LEVEL: 'debug' })),
)
const baseUrls = nodes.map((node) => node.baseUrl)
for (const node of nodes) after(node.stop)

/** All secrets and tokens of the test, which must not be logged. */
const secrets = new Set([settings.secret, credentials.client_secret])
const runOperator = async <Output>(...args: string[]): Promise<Output> => {
  const output = await outbreakctl<Output & { client_secret?: string }>(settings, ...args)
  if (output.client_secret !== undefined) secrets.add(output.client_secret)
  return output
}
const obtainTokenFrom = async (baseUrl: string, client: Credentials = credentials): Promise<string> => {
  const token = await obtainToken(client, `${baseUrl}/oauth/token`, PUBLIC_URL)
  secrets.add(token)
  return token
}
const obtainTokenFromEach = (client?: Credentials) =>
  Promise.all(baseUrls.map((baseUrl) => obtainTokenFrom(baseUrl, client)))

const readStatus = async (baseUrl: string, token: string) => (await readRecord(baseUrl, token)).status
const requestTokenStatus = async (baseUrl: string, client: Credentials) => {
  const response = await requestToken(client, `${baseUrl}/oauth/token`, PUBLIC_URL)
  const { access_token } = (await response.json()) as TokenResponse
  if (access_token !== undefined) secrets.add(access_token)
  return response.status
}
const collectStatuses = (send: (baseUrl: string) => Promise<number>) => Promise.all(baseUrls.map(send))
const onAllNodes = (status: number) => baseUrls.map(() => status)

/** Waits until every node gives the status; returns the milliseconds. Fails after `limit`, or on a status other than 200 and 401. */
async function waitForStatus(status: number, limit: number, send: (baseUrl: string) => Promise<number>) {
  const startedAt = performance.now()
  for (;;) {
    const statuses = await collectStatuses(send)
    const elapsed = Math.round(performance.now() - startedAt)
    assert.ok(elapsed <= LIVENESS_MS, `the nodes give ${statuses} after ${elapsed} ms`)
    if (statuses.every((one) => one === status)) return elapsed
    assert.ok(
      statuses.every((one) => [200, 401].includes(one)),
      `a node gives ${statuses}`,
    )
    await wait(10)
  }
}

test('a token of either node is accepted by both', async () => {
  for (const token of await obtainTokenFromEach())
    for (const baseUrl of baseUrls) await assertTokenAccepted(baseUrl, token)
})

test('a client created while the nodes run gets a token from both within a second', async (t) => {
  const created = await runOperator<Credentials>('client', 'create', '--name', 'Newcomer')
  const ms = await waitForStatus(200, 1000, (baseUrl) => requestTokenStatus(baseUrl, created))
  t.diagnostic(`both nodes issue tokens ${ms} ms after the command ended`)
  for (const token of await obtainTokenFromEach(created))
    assert.deepEqual(await collectStatuses((a) => readStatus(a, token)), [200, 200])
})

test('both nodes reject a disabled client and its tokens within 2 seconds', async (t) => {
  const token = await obtainTokenFrom(baseUrls[0] ?? '')
  const other = await runOperator<Credentials>('client', 'create', '--name', 'Bystander')
  await waitForStatus(200, 1000, (baseUrl) => requestTokenStatus(baseUrl, other))
  const bystanders = await obtainTokenFromEach(other)

  await runOperator('client', 'disable', credentials.client_id)
  const ms = await waitForStatus(401, 2000, (baseUrl) => readStatus(baseUrl, token))
  t.diagnostic(`both nodes reject the token ${ms} ms after the command ended`)
  assert.deepEqual(await collectStatuses((baseUrl) => requestTokenStatus(baseUrl, credentials)), onAllNodes(401))
  for (const bystander of bystanders)
    assert.deepEqual(await collectStatuses((baseUrl) => readStatus(baseUrl, bystander)), onAllNodes(200))

  await runOperator('client', 'enable', credentials.client_id)
  await waitForStatus(200, 2000, (baseUrl) => requestTokenStatus(baseUrl, credentials))
  assert.deepEqual(
    await collectStatuses((baseUrl) => readStatus(baseUrl, token)),
    onAllNodes(401),
    'old tokens stay revoked',
  )
  for (const fresh of await obtainTokenFromEach())
    for (const baseUrl of baseUrls) await assertTokenAccepted(baseUrl, fresh)
})

test('old and new secret are both accepted after a rotation, until a rotation without overlap revokes both and all tokens', async (t) => {
  const tokens = await obtainTokenFromEach()
  const second = await runOperator<Credentials>('client', 'rotate', credentials.client_id, '--overlap', '1')
  await waitForStatus(200, 2000, (baseUrl) => requestTokenStatus(baseUrl, second))
  assert.deepEqual(await collectStatuses((baseUrl) => requestTokenStatus(baseUrl, credentials)), onAllNodes(200))
  for (const token of [...tokens, ...(await obtainTokenFromEach(second))])
    assert.deepEqual(await collectStatuses((baseUrl) => readStatus(baseUrl, token)), onAllNodes(200))

  const third = await runOperator<Credentials>('client', 'rotate', credentials.client_id, '--overlap', '0')
  const ms = await Promise.all([
    ...[credentials, second].map((old) => waitForStatus(401, 2000, (baseUrl) => requestTokenStatus(baseUrl, old))),
    ...tokens.map((token) => waitForStatus(401, 2000, (baseUrl) => readStatus(baseUrl, token))),
  ])
  t.diagnostic(`both nodes reject old secrets and tokens ${Math.max(...ms)} ms after the command ended`)
  for (const fresh of await obtainTokenFromEach(third))
    for (const baseUrl of baseUrls) await assertTokenAccepted(baseUrl, fresh)
  Object.assign(credentials, third)
})

const readKid = (token: string) => decodeProtectedHeader(token).kid ?? ''
const readPublishedKids = async (baseUrl: string) => {
  const { keys } = (await (await fetch(`${baseUrl}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] }
  return keys.map(({ kid }) => kid).sort()
}

test('a key rotation rejects no valid token on either node, and tokens of a disabled key are rejected within 2 seconds', async (t) => {
  const tokens = await obtainTokenFromEach()
  const oldKid = readKid(tokens[0] ?? '')
  const rejected: string[] = []
  const switched = new Set<string>()
  const changing = new AbortController()
  let reads = 0
  const reading = (async () => {
    while (!changing.signal.aborted) {
      // The other node must accept a new token at once, with the old and with the new key.
      const fresh = await obtainTokenFromEach()
      for (const [i, token] of fresh.entries()) if (readKid(token) !== oldKid) switched.add(baseUrls[i] ?? '')
      for (const token of [...tokens, ...fresh]) {
        const statuses = await collectStatuses((baseUrl) => readStatus(baseUrl, token))
        reads += statuses.length
        if (statuses.some((status) => status !== 200)) rejected.push(`${readKid(token)}: ${statuses}`)
      }
    }
  })()

  const { kid } = await runOperator<{ kid: string }>('key', 'rotate', '--notice', '8')
  const published = Date.now() + 30_000
  for (const baseUrl of baseUrls)
    while (!(await readPublishedKids(baseUrl)).includes(kid))
      assert.ok(Date.now() < published, 'the key is not published')
  for (const baseUrl of baseUrls) assert.deepEqual(await readPublishedKids(baseUrl), [oldKid, kid].sort())
  assert.equal(switched.size, 0, 'the new key is published before it signs')
  const deadline = Date.now() + 30_000
  while (switched.size < baseUrls.length && Date.now() < deadline) await wait(20)
  await wait(500)
  changing.abort()
  await reading
  t.diagnostic(`${reads} reads while the key changed, ${rejected.length} rejected`)
  assert.deepEqual(rejected, [])
  assert.equal(switched.size, baseUrls.length)

  const fresh = await obtainTokenFromEach()
  assert.deepEqual(fresh.map(readKid), [kid, kid])
  await runOperator('key', 'disable', oldKid)
  const ms = await Promise.all(tokens.map((token) => waitForStatus(401, 2000, (baseUrl) => readStatus(baseUrl, token))))
  t.diagnostic(`both nodes reject its tokens ${Math.max(...ms)} ms after the command ended`)
  for (const token of fresh)
    assert.deepEqual(await collectStatuses((baseUrl) => readStatus(baseUrl, token)), onAllNodes(200))
  for (const baseUrl of baseUrls) assert.deepEqual(await readPublishedKids(baseUrl), [kid])
})

test('no node logs a secret, a token or a private key', async (t) => {
  const database = openDatabase({ url: settings.databaseUrl, role: 'outbreaks_operator', connections: 1 })
  after(database.close)
  const sealingKey = deriveKey(Buffer.from(settings.secret, 'base64url'), 'signing keys')
  const keys = await database.query<{ kid: string; sealed: Buffer }>(
    sql`select kid, sealed_private_key as sealed from signing_key`,
  )
  const privateLines = keys.flatMap(({ kid, sealed }) => unseal(sealed, sealingKey, kid).split('\n').slice(1, -1))
  assert.ok(privateLines.length >= keys.length * 2)
  const signatures = [...secrets].flatMap((text) => text.split('.')[2] ?? [])
  const forbidden = [...secrets, ...signatures, ...privateLines].filter((text) => text.length >= 20)
  t.diagnostic(`${forbidden.length} texts searched in ${nodes.map((node) => node.output().length)} characters`)
  for (const node of nodes) {
    const output = node.output()
    // The output is the complete log: it contains the client id.
    assert.ok(output.includes(credentials.client_id))
    assert.deepEqual(
      forbidden.filter((text) => output.includes(text)),
      [],
    )
  }
})
