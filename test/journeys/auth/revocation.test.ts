// Two nodes on one database, as behind a balancer: what the operator takes back ends on both within two seconds,
// what stays good is never refused, and no node ever writes down what it was told in confidence.
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
import { startWitness } from '../../machine-delay.ts'

const PUBLIC_URL = 'http://outbreaks.example'
const witness = await startWitness()
after(witness.stop)
const settings = newSettings(await createTestDatabase())
const credentials = await prepareDatabase(settings, 'sample')
const nodes = await Promise.all(
  [1, 2].map(() => startService(settings, { OUTBREAKS_BASE_URL: PUBLIC_URL, OUTBREAKS_LOG_LEVEL: 'debug' })),
)
const addresses = nodes.map((node) => node.baseUrl)
for (const node of nodes) after(node.stop)

/** Everything the nodes were told, and must not repeat. */
const confidences = new Set([settings.secret, credentials.client_secret])
const operate = async <Answer>(...args: string[]): Promise<Answer> => {
  const answer = await outbreakctl<Answer & { client_secret?: string }>(settings, ...args)
  if (answer.client_secret !== undefined) confidences.add(answer.client_secret)
  return answer
}
const tokenFrom = async (address: string, given: Credentials = credentials): Promise<string> => {
  const token = await obtainToken(given, `${address}/oauth/token`, PUBLIC_URL)
  confidences.add(token)
  return token
}
const tokenFromEach = (given?: Credentials) => Promise.all(addresses.map((address) => tokenFrom(address, given)))

const opensOn = async (address: string, token: string) => (await readRecord(address, token)).status
const grantsOn = async (address: string, given: Credentials) => {
  const response = await requestToken(given, `${address}/oauth/token`, PUBLIC_URL)
  const { access_token } = (await response.json()) as TokenResponse
  if (access_token !== undefined) confidences.add(access_token)
  return response.status
}
const statusesOf = (ask: (address: string) => Promise<number>) => Promise.all(addresses.map(ask))
const everywhere = (status: number) => addresses.map(() => status)

/** Milliseconds until every node answers so. Fails after `limit` and what the machine is late by, or where a node answers anything but before or after. */
async function untilEverywhere(status: number, limit: number, ask: (address: string) => Promise<number>) {
  witness.forget()
  const began = performance.now()
  for (;;) {
    const seen = await statusesOf(ask)
    const elapsed = Math.round(performance.now() - began)
    assert.ok(elapsed <= witness.allow(limit), `the nodes answer ${seen} after ${elapsed} ms`)
    if (seen.every((one) => one === status)) return elapsed
    assert.ok(
      seen.every((one) => [200, 401].includes(one)),
      `a node answers ${seen}`,
    )
    await wait(10)
  }
}

test('a token of either node opens the data on both', async () => {
  for (const token of await tokenFromEach()) for (const address of addresses) await assertTokenAccepted(address, token)
})

test('a client created while the nodes run gets a token from both within a second', async (t) => {
  const created = await operate<Credentials>('client', 'create', '--name', 'Newcomer')
  const ms = await untilEverywhere(200, 1000, (address) => grantsOn(address, created))
  t.diagnostic(`both nodes grant ${ms} ms after the command ended`)
  for (const token of await tokenFromEach(created))
    assert.deepEqual(await statusesOf((a) => opensOn(a, token)), [200, 200])
})

test('disabling a client ends its tokens and grants on both nodes within 2 seconds', async (t) => {
  const token = await tokenFrom(addresses[0] ?? '')
  const other = await operate<Credentials>('client', 'create', '--name', 'Bystander')
  await untilEverywhere(200, 1000, (address) => grantsOn(address, other))
  const bystanders = await tokenFromEach(other)

  await operate('client', 'disable', credentials.client_id)
  const ms = await untilEverywhere(401, 2000, (address) => opensOn(address, token))
  t.diagnostic(`both nodes refuse ${ms} ms after the command ended`)
  assert.deepEqual(await statusesOf((address) => grantsOn(address, credentials)), everywhere(401))
  for (const one of bystanders) assert.deepEqual(await statusesOf((address) => opensOn(address, one)), everywhere(200))

  await operate('client', 'enable', credentials.client_id)
  await untilEverywhere(200, 2000, (address) => grantsOn(address, credentials))
  assert.deepEqual(await statusesOf((address) => opensOn(address, token)), everywhere(401), 'old tokens stay dead')
  for (const fresh of await tokenFromEach()) for (const address of addresses) await assertTokenAccepted(address, fresh)
})

test('a rotated secret works beside the old one, until a rotation without overlap ends both and all tokens', async (t) => {
  const tokens = await tokenFromEach()
  const second = await operate<Credentials>('client', 'rotate', credentials.client_id, '--overlap', '1')
  await untilEverywhere(200, 2000, (address) => grantsOn(address, second))
  assert.deepEqual(await statusesOf((address) => grantsOn(address, credentials)), everywhere(200))
  for (const token of [...tokens, ...(await tokenFromEach(second))])
    assert.deepEqual(await statusesOf((address) => opensOn(address, token)), everywhere(200))

  const third = await operate<Credentials>('client', 'rotate', credentials.client_id, '--overlap', '0')
  const ms = await Promise.all([
    ...[credentials, second].map((old) => untilEverywhere(401, 2000, (address) => grantsOn(address, old))),
    ...tokens.map((token) => untilEverywhere(401, 2000, (address) => opensOn(address, token))),
  ])
  t.diagnostic(`both nodes refuse old secrets and tokens ${Math.max(...ms)} ms after the command ended`)
  for (const fresh of await tokenFromEach(third))
    for (const address of addresses) await assertTokenAccepted(address, fresh)
  Object.assign(credentials, third)
})

const kidOf = (token: string) => decodeProtectedHeader(token).kid ?? ''
const publishedKids = async (address: string) => {
  const { keys } = (await (await fetch(`${address}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] }
  return keys.map(({ kid }) => kid).sort()
}

test('a key rotation refuses no good token on either node, and a disabled key ends its tokens within 2 seconds', async (t) => {
  const tokens = await tokenFromEach()
  const oldKid = kidOf(tokens[0] ?? '')
  const refused: string[] = []
  const turned = new Set<string>()
  const changing = new AbortController()
  let reads = 0
  const reading = (async () => {
    while (!changing.signal.aborted) {
      // A token fresh from one node must open the other at once, whichever key signed it.
      const fresh = await tokenFromEach()
      for (const [i, token] of fresh.entries()) if (kidOf(token) !== oldKid) turned.add(addresses[i] ?? '')
      for (const token of [...tokens, ...fresh]) {
        const statuses = await statusesOf((address) => opensOn(address, token))
        reads += statuses.length
        if (statuses.some((status) => status !== 200)) refused.push(`${kidOf(token)}: ${statuses}`)
      }
    }
  })()

  const { kid } = await operate<{ kid: string }>('key', 'rotate', '--notice', '8')
  const published = Date.now() + 30_000
  for (const address of addresses)
    while (!(await publishedKids(address)).includes(kid)) assert.ok(Date.now() < published, 'the key is not published')
  for (const address of addresses) assert.deepEqual(await publishedKids(address), [oldKid, kid].sort())
  assert.equal(turned.size, 0, 'the new key is published before it signs')
  const deadline = Date.now() + 30_000
  while (turned.size < addresses.length && Date.now() < deadline) await wait(20)
  await wait(500)
  changing.abort()
  await reading
  t.diagnostic(`${reads} reads while the key changed, ${refused.length} refused`)
  assert.deepEqual(refused, [])
  assert.equal(turned.size, addresses.length)

  const fresh = await tokenFromEach()
  assert.deepEqual(fresh.map(kidOf), [kid, kid])
  await operate('key', 'disable', oldKid)
  const ms = await Promise.all(tokens.map((token) => untilEverywhere(401, 2000, (address) => opensOn(address, token))))
  t.diagnostic(`both nodes refuse its tokens ${Math.max(...ms)} ms after the command ended`)
  for (const token of fresh) assert.deepEqual(await statusesOf((address) => opensOn(address, token)), everywhere(200))
  for (const address of addresses) assert.deepEqual(await publishedKids(address), [kid])
})

test('no node ever writes a secret, a token or a private key', async (t) => {
  const database = openDatabase({ url: settings.databaseUrl, role: 'outbreaks_operator', connections: 1 })
  after(database.close)
  const sealingKey = deriveKey(Buffer.from(settings.secret, 'base64url'), 'signing keys')
  const keys = await database.query<{ kid: string; sealed: Buffer }>(
    sql`select kid, sealed_private_key as sealed from signing_key`,
  )
  const privateLines = keys.flatMap(({ kid, sealed }) => unseal(sealed, sealingKey, kid).split('\n').slice(1, -1))
  assert.ok(privateLines.length >= keys.length * 2)
  const signatures = [...confidences].flatMap((text) => text.split('.')[2] ?? [])
  const forbidden = [...confidences, ...signatures, ...privateLines].filter((text) => text.length >= 20)
  t.diagnostic(`${forbidden.length} texts looked for in ${nodes.map((node) => node.output().length)} characters`)
  for (const node of nodes) {
    const output = node.output()
    // The output is the whole log: it names the client at work.
    assert.ok(output.includes(credentials.client_id))
    assert.deepEqual(
      forbidden.filter((text) => output.includes(text)),
      [],
    )
  }
})
