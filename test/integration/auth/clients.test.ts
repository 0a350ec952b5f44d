// Creating, listing, rotating, disabling and enabling clients on a real database.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sql from 'sql-template-tag'
import { authenticate, type Client, digestSecret, loadClients } from '../../../src/auth/client-registry.ts'
import {
  type ClientSummary,
  createClient,
  createKeyClient,
  listClients,
  rotateSecret,
  setClientDisabled,
  setPublicKeys,
} from '../../../src/auth/provisioning/clients.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { createTestDatabase, openApiDatabase } from '../../database.ts'

const url = await createTestDatabase()
const database = openDatabase({ url, role: 'outbreaks_operator', connections: 2 })
const reader = openApiDatabase(url, 1)
after(() => Promise.all([database.close(), reader.close()]))

const SCOPES = ['read:one', 'read:two']
const create = (name: string) => createClient(database, name, SCOPES)
const readSummary = async (id: string): Promise<ClientSummary> =>
  (await listClients(database)).find((client) => client.client_id === id) ?? assert.fail('not listed')
/** Loads the client with the role of the nodes. */
const loadClient = async (id: string): Promise<Client> =>
  (await loadClients(reader)).get(id) ?? assert.fail('not loaded')
const isAccepted = async (id: string, secret: string, now = Date.now()) =>
  authenticate(await loadClients(reader), id, secret, now) !== null
const topicVersion = async () => {
  const [row] = await reader.query<{ version: string }>(sql`select version from watched_topic where topic = 'client'`)
  return Number(row?.version)
}

test('a new client authenticates with its secret', async () => {
  const created = await create('Analyst')
  assert.deepEqual(Object.keys(created), ['client_id', 'client_secret', 'name', 'scopes'])
  assert.match(created.client_id, /^[0-9a-f]{24}$/)
  assert.match(created.client_secret, /^ods_[\w-]{43}$/)
  assert.ok(await isAccepted(created.client_id, created.client_secret))
  assert.deepEqual((await loadClient(created.client_id)).scopes, SCOPES)
})

test('client ids and secrets are unique', async () => {
  const created = await Promise.all(Array.from({ length: 20 }, () => create('Many')))
  assert.equal(new Set(created.flatMap((client) => [client.client_id, client.client_secret])).size, 40)
})

test('the database stores only digests of secrets', async () => {
  const { client_id, client_secret } = await create('Careful')
  const { client_secret: second } = await rotateSecret(database, client_id, 3600)
  const rows = await database.query<{ text: string }>(sql`
    select client_secret::text as text from client_secret union all select client::text from client`)
  const dump = rows.map((row) => row.text).join('\n')
  for (const secret of [client_secret, second]) {
    const random = Buffer.from(secret.slice(4), 'base64url')
    for (const form of [secret, secret.slice(4), Buffer.from(secret).toString('hex'), random.toString('hex')])
      assert.ok(!dump.includes(form))
    assert.ok(dump.includes(digestSecret(secret).toString('hex')), 'the dump contains the digest')
  }
})

test('the list of clients has no digest', async () => {
  const { client_id } = await create('Listed')
  const { created_at, ...summary } = await readSummary(client_id)
  assert.deepEqual(summary, {
    client_id,
    name: 'Listed',
    scopes: SCOPES,
    disabled_at: null,
    ...{ live_secrets: 1, secret_expires_at: null, old_secret_expires_at: null, public_keys: 0 },
  })
  assert.ok(Math.abs(created_at.getTime() - Date.now()) < 60_000)
})

test('a rotation with overlap adds a secret, sets the expiry of the old one and keeps tokens valid', async () => {
  const { client_id, client_secret } = await create('Rotating')
  const rotated = await rotateSecret(database, client_id, 3600)
  const end = rotated.old_secret_expires_at?.getTime() ?? Number.NaN
  assert.ok(Math.abs(end - Date.now() - 3_600_000) < 60_000)
  assert.ok(await isAccepted(client_id, client_secret, end - 1))
  assert.ok(!(await isAccepted(client_id, client_secret, end)))
  assert.ok(await isAccepted(client_id, rotated.client_secret, end))
  const summary = await readSummary(client_id)
  assert.deepEqual([summary.live_secrets, summary.secret_expires_at], [2, null])
  assert.deepEqual(summary.old_secret_expires_at, rotated.old_secret_expires_at)
  assert.equal((await loadClient(client_id)).generation, 1)
})

test('a later rotation never extends the expiry of an older secret', async () => {
  const { client_id, client_secret } = await create('Rotating often')
  const first = await rotateSecret(database, client_id, 60)
  await rotateSecret(database, client_id, 3600)
  assert.ok(!(await isAccepted(client_id, client_secret, first.old_secret_expires_at?.getTime())))
})

test('a rotation without overlap revokes every older secret and every token', async () => {
  const { client_id, client_secret } = await create('Leaked')
  const second = await rotateSecret(database, client_id, 3600)
  const third = await rotateSecret(database, client_id, 0)
  for (const old of [client_secret, second.client_secret]) assert.ok(!(await isAccepted(client_id, old)))
  assert.ok(await isAccepted(client_id, third.client_secret))
  assert.equal((await readSummary(client_id)).live_secrets, 1)
  assert.equal((await loadClient(client_id)).generation, 2)
})

test('expired secrets are not loaded', async () => {
  const { client_id } = await create('Long-standing')
  for (let i = 0; i < 5; i++) await rotateSecret(database, client_id, 0)
  assert.equal((await loadClient(client_id)).secrets.length, 1)
})

test('disabling and enabling both revoke the tokens and keep the secret', async () => {
  const { client_id, client_secret } = await create('Suspended')
  await setClientDisabled(database, client_id, true)
  const { disabled_at } = await readSummary(client_id)
  assert.ok(disabled_at !== null && !(await isAccepted(client_id, client_secret)))
  await setClientDisabled(database, client_id, true)
  assert.deepEqual((await readSummary(client_id)).disabled_at, disabled_at, 'the time of the first call is kept')
  await setClientDisabled(database, client_id, false)
  assert.ok(await isAccepted(client_id, client_secret))
  const { generation, disabled } = await loadClient(client_id)
  assert.deepEqual({ generation, disabled }, { generation: 4, disabled: false })
})

const changes: Record<string, (id: string) => Promise<unknown>> = {
  'rotating with overlap': (id) => rotateSecret(database, id, 60),
  'rotating without overlap': (id) => rotateSecret(database, id, 0),
  'setting the keys of': (id) => setPublicKeys(database, id, [], 60),
  disabling: (id) => setClientDisabled(database, id, true),
  enabling: (id) => setClientDisabled(database, id, false),
}
for (const [kind, change] of Object.entries(changes)) {
  test(`${kind} changes the version that running nodes watch`, async () => {
    const { client_id } = await create('Watched')
    const before = await topicVersion()
    await change(client_id)
    assert.ok((await topicVersion()) > before)
  })

  for (const id of ['', 'nobody', "' or true --", 'null'])
    test(`${kind} the unknown client ${JSON.stringify(id)} is an OperatorError and changes nothing`, async () => {
      const before = await listClients(database)
      await assert.rejects(change(id), /^OperatorError: No client has the id /)
      assert.deepEqual(await listClients(database), before)
    })
}

test('the role of the nodes can read clients but not change them', async () => {
  const before = await listClients(database)
  await assert.rejects(createClient(reader, 'Intruder', SCOPES))
  // Also in a session that is not read-only any more.
  await assert.rejects(
    reader.transaction(async (client) => {
      await client.query('set transaction read write')
      await client.query('update client set generation = generation + 1')
    }),
    /permission denied/,
  )
  assert.deepEqual(await listClients(database), before)
})

test('a rotation returns the latest expiry of the older secrets', async () => {
  for (const overlaps of [
    [60, 3600],
    [3600, 60],
  ]) {
    const { client_id } = await create('Two older secrets')
    const [first, second] = overlaps as [number, number]
    await rotateSecret(database, client_id, first)
    const { old_secret_expires_at: end } = await rotateSecret(database, client_id, second)
    // The second rotation also shortens the first overlap.
    assert.ok(Math.abs((end?.getTime() ?? 0) - Date.now() - second * 1000) < 30_000)
  }
})

test('a secret with an expiry is accepted until then, and the list shows it', async () => {
  const expiresAt = new Date(Date.now() + 3_600_000)
  const { client_id, client_secret, ...created } = await createClient(database, 'Guest', SCOPES, expiresAt)
  assert.deepEqual(created, { name: 'Guest', scopes: SCOPES, secret_expires_at: expiresAt })
  assert.ok(await isAccepted(client_id, client_secret, expiresAt.getTime() - 1))
  assert.ok(!(await isAccepted(client_id, client_secret, expiresAt.getTime())))
  assert.deepEqual((await readSummary(client_id)).secret_expires_at, expiresAt)
})

test('a rotation gives the new secret an expiry, and never extends that of the old one', async () => {
  const [early, late] = [new Date(Date.now() + 60_000), new Date(Date.now() + 7_200_000)]
  const { client_id, client_secret } = await createClient(database, 'Guest', SCOPES, early)
  const rotated = await rotateSecret(database, client_id, 3600, late)
  assert.deepEqual(rotated.old_secret_expires_at, early)
  assert.ok(!(await isAccepted(client_id, client_secret, early.getTime())))
  assert.ok(await isAccepted(client_id, rotated.client_secret, late.getTime() - 1))
  assert.deepEqual((await readSummary(client_id)).secret_expires_at, late)
})

test('the list shows no expiry while one of two secrets never expires', async () => {
  const { client_id } = await create('Rotating')
  await rotateSecret(database, client_id, 3600)
  assert.equal((await readSummary(client_id)).secret_expires_at, null)
})

test('a client with public keys has no secret; public keys end secrets after the overlap', async () => {
  const jwk = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }
  const created = await createKeyClient(database, 'Signer', SCOPES, [jwk])
  assert.ok(!('client_secret' in created))
  const { live_secrets, public_keys } = await readSummary(created.client_id)
  assert.deepEqual({ live_secrets, public_keys }, { live_secrets: 0, public_keys: 1 })
  assert.deepEqual((await loadClient(created.client_id)).publicKeys, [jwk])

  const { client_id, client_secret } = await create('Changing')
  await setPublicKeys(database, client_id, [jwk], 3600)
  assert.ok(await isAccepted(client_id, client_secret))
  assert.equal((await loadClient(client_id)).generation, 1)
  await setPublicKeys(database, client_id, [jwk, jwk], 0)
  assert.ok(!(await isAccepted(client_id, client_secret)))
  assert.equal((await loadClient(client_id)).generation, 2)
  assert.equal((await readSummary(client_id)).public_keys, 2)
})
