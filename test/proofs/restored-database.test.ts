// A database is replaced by a backup with other changes and the same version counters: the running node serves the
// records and accepts the clients of the restored database.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { type Credentials, newSettings, outbreakctl, prepareDatabase, startService } from '../../dev/service.ts'
import { createTestDatabase } from '../database.ts'
import { obtainToken, readRecord } from '../fixtures/api-client.ts'
import { writeNdjson } from '../fixtures/releases.ts'
import { LIVENESS_MS } from '../liveness.ts'

const url = await createTestDatabase()
const live = new URL(url).pathname.slice(1)
const backup = `backup_of_${live}`
const urlOf = (name: string) => url.replace(/\/[^/]*$/, `/${name}`)

async function administer(...statements: string[]): Promise<void> {
  const client = new pg.Client(urlOf('postgres'))
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

const settings = newSettings(url)
const publish = async (databaseUrl: string, cases: number) =>
  outbreakctl({ ...settings, databaseUrl }, 'release', 'publish', await writeNdjson([{ key: 'a', cases }]))
const credentials = await prepareDatabase(settings, await writeNdjson([{ key: 'a', cases: 1 }]))
const revoked = await outbreakctl<Credentials>(settings, 'client', 'create', '--name', 'Revoked in the backup')
await administer(`create database ${backup} template ${live}`)
await publish(url, 2)
await outbreakctl(settings, 'client', 'disable', credentials.client_id)
await outbreakctl(settings, 'client', 'enable', credentials.client_id)
const restored = { ...settings, databaseUrl: urlOf(backup) }
await publish(restored.databaseUrl, 3)
await outbreakctl(restored, 'client', 'disable', revoked.client_id)
await outbreakctl(restored, 'client', 'enable', credentials.client_id)

const node = await startService(settings)
after(node.stop)
const issueToken = (client: Credentials) => obtainToken(client, `${node.baseUrl}/oauth/token`, node.baseUrl)

const readCases = async (token: string) => {
  const response = await readRecord(node.baseUrl, token)
  const { data } = (await response.json()) as { data?: { cases: number }[] }
  return { status: response.status, cases: data?.[0]?.cases, etag: response.headers.get('etag') }
}

/** Replaces the database like a restore, while no session is connected. */
const swapDatabases = () =>
  administer(
    ...[live, backup].flatMap((name) => [
      `alter database ${name} allow_connections false`,
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
    ]),
    `alter database ${live} rename to gone_${backup}`,
    `alter database ${backup} rename to ${live}`,
    `alter database ${live} allow_connections true`,
  )

test('both databases have the same version counters', async () => {
  const read = async (name: string) => {
    const client = new pg.Client(urlOf(name))
    await client.connect()
    const { rows } = await client.query('select topic, version from watched_topic order by topic')
    await client.end()
    return rows
  }
  assert.deepEqual(await read(live), await read(backup))
})

test('after the restore the node serves the restored records and rejects the client that is disabled there', async (t) => {
  const token = await issueToken(credentials)
  const other = await issueToken(revoked)
  const before = await readCases(token)
  assert.deepEqual([before.status, before.cases], [200, 2])
  assert.equal((await readCases(other)).status, 200)
  await swapDatabases()
  const startedAt = performance.now()
  const isRestored = async () => {
    const [first, second] = [await readCases(token), await readCases(other)]
    return (first.status === 401 || (first.cases === 3 && first.etag !== before.etag)) && second.status === 401
  }
  while (!(await isRestored())) {
    assert.ok(
      performance.now() - startedAt < LIVENESS_MS,
      `the node still returns ${JSON.stringify(await readCases(token))}`,
    )
    await wait(20)
  }
  t.diagnostic(`${Math.round(performance.now() - startedAt)} ms after the restore`)
  assert.equal((await readCases(await issueToken(credentials))).cases, 3)
})
