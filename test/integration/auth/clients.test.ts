// What the operator does to clients, on a real database.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sql from 'sql-template-tag'
import { authenticate, type Client, digestSecret, loadClients } from '../../../src/auth/client-registry.ts'
import {
  type ClientSummary,
  createClient,
  listClients,
  rotateSecret,
  setClientDisabled,
} from '../../../src/auth/provisioning/clients.ts'
import { OperatorError } from '../../../src/platform/operator-error.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { createTestDatabase } from '../../database.ts'

const url = await createTestDatabase()
const database = openDatabase({ url, role: 'outbreaks_operator', connections: 2 })
const reader = openDatabase({ url, role: 'outbreaks_api', connections: 1 })
after(() => Promise.all([database.close(), reader.close()]))

const SCOPES = ['read:one', 'read:two']
const create = (name: string) => createClient(database, name, SCOPES)
const summaryOf = async (id: string): Promise<ClientSummary> =>
  (await listClients(database)).find((client) => client.client_id === id) ?? assert.fail('not listed')
/** As a node sees it, with its role. */
const loaded = async (id: string): Promise<Client> => (await loadClients(reader)).get(id) ?? assert.fail('not loaded')
const opens = async (id: string, secret: string, now = Date.now()) =>
  authenticate(await loadClients(reader), id, secret, now) !== null
const topicVersion = async () => {
  const [row] = await reader.query<{ version: string }>(sql`select version from watched_topic where topic = 'client'`)
  return Number(row?.version)
}

test('a created client opens with the secret it was shown', async () => {
  const created = await create('Analyst')
  assert.match(created.client_id, /^[0-9a-f]{24}$/)
  assert.match(created.client_secret, /^ods_[\w-]{43}$/)
  assert.ok(await opens(created.client_id, created.client_secret))
  assert.deepEqual((await loaded(created.client_id)).scopes, SCOPES)
})

test('ids and secrets never repeat', async () => {
  const created = await Promise.all(Array.from({ length: 20 }, () => create('Many')))
  assert.equal(new Set(created.flatMap((one) => [one.client_id, one.client_secret])).size, 40)
})

test('the database keeps digests only', async () => {
  const { client_id, client_secret } = await create('Careful')
  const { client_secret: second } = await rotateSecret(database, client_id, 3600)
  const rows = await database.query<{ text: string }>(sql`
    select client_secret::text as text from client_secret union all select client::text from client`)
  const dump = rows.map((row) => row.text).join('\n')
  for (const secret of [client_secret, second]) {
    const random = Buffer.from(secret.slice(4), 'base64url')
    for (const form of [secret, secret.slice(4), Buffer.from(secret).toString('hex'), random.toString('hex')])
      assert.ok(!dump.includes(form))
    assert.ok(dump.includes(digestSecret(secret).toString('hex')), 'the dump shows what is kept')
  }
})

test('clients are listed with what the operator asks about, and no digest', async () => {
  const { client_id } = await create('Listed')
  const { created_at, ...summary } = await summaryOf(client_id)
  assert.deepEqual(summary, { client_id, name: 'Listed', scopes: SCOPES, disabled_at: null, live_secrets: 1 })
  assert.ok(Math.abs(created_at.getTime() - Date.now()) < 60_000)
})

test('a rotation with overlap adds a secret, bounds the old one and keeps tokens', async () => {
  const { client_id, client_secret } = await create('Rotating')
  const rotated = await rotateSecret(database, client_id, 3600)
  const end = rotated.old_secret_expires_at?.getTime() ?? Number.NaN
  assert.ok(Math.abs(end - Date.now() - 3_600_000) < 60_000)
  assert.ok(await opens(client_id, client_secret, end - 1))
  assert.ok(!(await opens(client_id, client_secret, end)))
  assert.ok(await opens(client_id, rotated.client_secret, end))
  assert.equal((await summaryOf(client_id)).live_secrets, 2)
  assert.equal((await loaded(client_id)).generation, 1)
})

test('a later rotation never prolongs the life of an older secret', async () => {
  const { client_id, client_secret } = await create('Rotating often')
  const first = await rotateSecret(database, client_id, 60)
  await rotateSecret(database, client_id, 3600)
  assert.ok(!(await opens(client_id, client_secret, first.old_secret_expires_at?.getTime())))
})

test('a rotation without overlap ends every older secret and every token', async () => {
  const { client_id, client_secret } = await create('Leaked')
  const second = await rotateSecret(database, client_id, 3600)
  const third = await rotateSecret(database, client_id, 0)
  for (const old of [client_secret, second.client_secret]) assert.ok(!(await opens(client_id, old)))
  assert.ok(await opens(client_id, third.client_secret))
  assert.equal((await summaryOf(client_id)).live_secrets, 1)
  assert.equal((await loaded(client_id)).generation, 2)
})

test('a secret that has ended is not even loaded: it would only cost time', async () => {
  const { client_id } = await create('Long-standing')
  for (let i = 0; i < 5; i++) await rotateSecret(database, client_id, 0)
  assert.equal((await loaded(client_id)).secrets.length, 1)
})

test('disabling and enabling each end the tokens; the secret lives on', async () => {
  const { client_id, client_secret } = await create('Suspended')
  await setClientDisabled(database, client_id, true)
  const { disabled_at } = await summaryOf(client_id)
  assert.ok(disabled_at !== null && !(await opens(client_id, client_secret)))
  await setClientDisabled(database, client_id, true)
  assert.deepEqual((await summaryOf(client_id)).disabled_at, disabled_at, 'since when stays as it was')
  await setClientDisabled(database, client_id, false)
  assert.ok(await opens(client_id, client_secret))
  const { generation, disabled } = await loaded(client_id)
  assert.deepEqual({ generation, disabled }, { generation: 4, disabled: false })
})

const changes: Record<string, (id: string) => Promise<unknown>> = {
  'rotating with overlap': (id) => rotateSecret(database, id, 60),
  'rotating without overlap': (id) => rotateSecret(database, id, 0),
  disabling: (id) => setClientDisabled(database, id, true),
  enabling: (id) => setClientDisabled(database, id, false),
}
for (const [kind, change] of Object.entries(changes)) {
  test(`${kind} is noticed by running nodes`, async () => {
    const { client_id } = await create('Watched')
    const before = await topicVersion()
    await change(client_id)
    assert.ok((await topicVersion()) > before)
  })

  for (const id of ['', 'nobody', "' or true --", 'null'])
    test(`${kind} the unknown client ${JSON.stringify(id)} is the operator's fault and changes nothing`, async () => {
      const before = await listClients(database)
      await assert.rejects(change(id), new OperatorError('there is no such client'))
      assert.deepEqual(await listClients(database), before)
    })
}

test('the role of the nodes can read clients and change nothing', async () => {
  const before = await listClients(database)
  await assert.rejects(createClient(reader, 'Intruder', SCOPES))
  // Not even where the session was talked out of being read-only.
  await assert.rejects(
    reader.transaction(async (client) => {
      await client.query('set transaction read write')
      await client.query('update client set generation = generation + 1')
    }),
    /permission denied/,
  )
  assert.deepEqual(await listClients(database), before)
})
