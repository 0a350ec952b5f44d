// Errors at the start of a node give one sentence and exit code 2; later schema changes and SIGHUP do not end it.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { createCluster, findFreePort } from '../../../dev/postgres.ts'
import { newSettings, outbreakctl, prepareDatabase, type Settings, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'

const NEWER = /^The database schema is newer than this version, .* 9999_from_the_future\. Run a newer version/m
const OLDER =
  /^The database schema is older than this version: .* \d{4}_\w+ is missing\. Run outbreakctl migrate with the migration login\.$/m
const TIMEOUT_MS = 60_000
const home = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-start-'))
after(() => rmSync(home, { recursive: true, force: true }))

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  await client.connect()
  await client.query(text)
  await client.end()
}

const addUnknown = (url: string) =>
  query(url, `insert into migration (name, run_on) values ('9999_from_the_future', now())`)
const removeLast = (url: string) => query(url, 'delete from migration where id = (select max(id) from migration)')

async function waitUntil(condition: () => boolean, message: string): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MS
  while (!condition()) {
    assert.ok(Date.now() < deadline, message)
    await wait(20)
  }
}

/** Asserts that the node exits with code 2, one sentence and no stack trace. */
async function assertStartFails(settings: Settings, sentence: RegExp, overrides: Record<string, string> = {}) {
  const failure = await startService(settings, { OUTBREAKS_LOG_LEVEL: 'silent', ...overrides }).catch(
    (error: Error) => error,
  )
  assert.ok(failure instanceof Error, 'it started')
  assert.match(failure.message, sentence)
  assert.match(failure.message, /exited with code 2:/)
  assert.doesNotMatch(failure.message, /\n {4}at /)
}

test('with an older schema neither a node nor a command starts, except migrate', async () => {
  // On a server without the roles.
  const cluster = await createCluster()
  after(() => cluster.stop())
  const settings = newSettings(cluster.url)
  await assertStartFails(settings, OLDER)
  await assert.rejects(outbreakctl(settings, 'client', 'create', '--name', 'Client'), /older than this version/)
  await outbreakctl(settings, 'migrate')
  await removeLast(settings.databaseUrl)
  await assertStartFails(settings, OLDER)
  await assert.rejects(outbreakctl(settings, 'client', 'create', '--name', 'Client'), /older than this version/)
})

test('a migration table that the node may not read is reported as an older schema', async () => {
  const settings = newSettings(await createTestDatabase())
  await query(settings.databaseUrl, 'revoke select on migration from outbreaks_api')
  await assertStartFails(settings, OLDER)
})

test('with a newer schema neither a node nor a command starts; a running node continues and shuts down cleanly', async () => {
  const settings = newSettings(await createTestDatabase())
  await prepareDatabase(settings)
  const node = await startService(settings)
  after(() => node.process.kill('SIGKILL'))
  await addUnknown(settings.databaseUrl)
  await assertStartFails(settings, NEWER)
  await assert.rejects(outbreakctl(settings, 'client', 'create', '--name', 'Client'), /newer than this version/)
  // The node reloads a watched table after a change.
  await query(settings.databaseUrl, `insert into client (client_id, name, scopes) values ('a', 'a', '{}')`)
  await wait(1500)
  assert.equal((await fetch(`${node.baseUrl}/live`)).status, 200)
  assert.equal(await node.stop(), 0)
})

test('a node that starts without the database exits when the database returns with a newer schema', async () => {
  const cluster = await createCluster()
  after(() => cluster.stop())
  const settings = newSettings(cluster.url)
  await outbreakctl(settings, 'migrate')
  await addUnknown(cluster.url)
  await cluster.stopServer()
  const port = await findFreePort()
  const failedStart = assertStartFails(settings, NEWER, { OUTBREAKS_PORT: String(port) })
  const readStatus = (pathname: string) =>
    fetch(`http://127.0.0.1:${port}${pathname}`).then(
      (response) => response.status,
      () => 0,
    )
  const deadline = Date.now() + TIMEOUT_MS
  while ((await readStatus('/live')) !== 200) {
    assert.ok(Date.now() < deadline, 'the node is not live without a database')
    await wait(50)
  }
  assert.equal(await readStatus('/ready'), 503)
  await cluster.start()
  await failedStart
})

test('a files directory that does not exist, or is a file, is an error for a node and for publishing', async () => {
  const settings = newSettings(await createTestDatabase())
  await prepareDatabase(settings)
  const file = path.join(home, 'file')
  writeFileSync(file, '')
  for (const directory of [path.join(home, 'nowhere'), file]) {
    await assertStartFails(settings, /OUTBREAKS_FILES must be an existing directory that this process can read/, {
      OUTBREAKS_FILES: directory,
    })
    process.env['OUTBREAKS_FILES'] = directory
    await assert.rejects(
      outbreakctl(settings, 'release', 'publish', 'sample/releases/1'),
      /OUTBREAKS_FILES must be an existing directory/,
    )
    delete process.env['OUTBREAKS_FILES']
  }
  assert.deepEqual(await outbreakctl(settings, 'release', 'list'), [])
})

test('SIGHUP does not end a node, and is logged in one line', async () => {
  const settings = newSettings(await createTestDatabase())
  await prepareDatabase(settings)
  const node = await startService(settings)
  after(() => node.process.kill('SIGKILL'))
  node.process.kill('SIGHUP')
  await waitUntil(
    () => node.output().includes('SIGHUP is ignored') || node.process.signalCode !== null,
    'SIGHUP is not logged',
  )
  assert.equal((await fetch(`${node.baseUrl}/live`)).status, 200)
  assert.equal(node.output().split('SIGHUP').length, 2)
  assert.equal(await node.stop(), 0)
})
