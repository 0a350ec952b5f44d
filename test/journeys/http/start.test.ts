// What a node refuses to start on, in one sentence and with code 2, and what does not end one that runs.
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

const NEWER =
  /^The database schema is newer than this program, .* 9999_from_the_future: run the version of the program/m
const OLDER = /^The database schema is older than this program, .* \d{4}_\w+: run outbreakctl migrate\.$/m
const WAIT_MS = 60_000
const home = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-start-'))
after(() => rmSync(home, { recursive: true, force: true }))

async function ask(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  await client.connect()
  await client.query(text)
  await client.end()
}

const addUnknown = (url: string) =>
  ask(url, `insert into migration (name, run_on) values ('9999_from_the_future', now())`)
const removeLast = (url: string) => ask(url, 'delete from migration where id = (select max(id) from migration)')

async function until(isSo: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + WAIT_MS
  while (!isSo()) {
    assert.ok(Date.now() < deadline, what)
    await wait(20)
  }
}

/** It leaves by itself, with code 2, one sentence and no stack. */
async function assertNodeRefuses(settings: Settings, sentence: RegExp, overrides: Record<string, string> = {}) {
  const failure = await startService(settings, { OUTBREAKS_LOG_LEVEL: 'silent', ...overrides }).catch(
    (error: Error) => error,
  )
  assert.ok(failure instanceof Error, 'it started')
  assert.match(failure.message, sentence)
  assert.match(failure.message, /left with code 2:/)
  assert.doesNotMatch(failure.message, /\n {4}at /)
}

test('a schema that is older: neither a node nor a command begins, and migrate mends it', async () => {
  // On a server where not even the roles are there.
  const cluster = await createCluster()
  after(() => cluster.stop())
  const settings = newSettings(cluster.url)
  await assertNodeRefuses(settings, OLDER)
  await assert.rejects(outbreakctl(settings, 'client', 'create', '--name', 'Somebody'), /older than this program/)
  await outbreakctl(settings, 'migrate')
  await removeLast(settings.databaseUrl)
  await assertNodeRefuses(settings, OLDER)
  await assert.rejects(outbreakctl(settings, 'client', 'create', '--name', 'Somebody'), /older than this program/)
})

test('a table of migrations that the node may not read is one of an older schema', async () => {
  const settings = newSettings(await createTestDatabase())
  await ask(settings.databaseUrl, 'revoke select on migration from outbreaks_api')
  await assertNodeRefuses(settings, OLDER)
})

test('a schema that is newer: neither a node nor a command begins; a node that runs goes on and leaves in order', async () => {
  const settings = newSettings(await createTestDatabase())
  await prepareDatabase(settings)
  const node = await startService(settings)
  after(() => node.process.kill('SIGKILL'))
  await addUnknown(settings.databaseUrl)
  await assertNodeRefuses(settings, NEWER)
  await assert.rejects(outbreakctl(settings, 'client', 'create', '--name', 'Somebody'), /newer than this program/)
  // A change of a watched table makes the node read it again.
  await ask(settings.databaseUrl, `insert into client (client_id, name, scopes) values ('a', 'a', '{}')`)
  await wait(1500)
  assert.equal((await fetch(`${node.baseUrl}/live`)).status, 200)
  assert.equal(await node.stop(), 0)
})

test('a node that starts while the database is away leaves when it comes back with a schema it does not know', async () => {
  const cluster = await createCluster()
  after(() => cluster.stop())
  const settings = newSettings(cluster.url)
  await outbreakctl(settings, 'migrate')
  await addUnknown(cluster.url)
  await cluster.stopServer()
  const port = await findFreePort()
  const refused = assertNodeRefuses(settings, NEWER, { OUTBREAKS_PORT: String(port) })
  const statusOf = (address: string) =>
    fetch(`http://127.0.0.1:${port}${address}`).then(
      (response) => response.status,
      () => 0,
    )
  const deadline = Date.now() + WAIT_MS
  while ((await statusOf('/live')) !== 200) {
    assert.ok(Date.now() < deadline, 'it does not live without a database')
    await wait(50)
  }
  assert.equal(await statusOf('/ready'), 503)
  await cluster.start()
  await refused
})

test('a files directory that is not there, or is none, is refused by a node and before a release is published', async () => {
  const settings = newSettings(await createTestDatabase())
  await prepareDatabase(settings)
  const file = path.join(home, 'file')
  writeFileSync(file, '')
  for (const place of [path.join(home, 'nowhere'), file]) {
    await assertNodeRefuses(
      settings,
      /OUTBREAKS_FILES must be a directory that exists and that this process may read/,
      {
        OUTBREAKS_FILES: place,
      },
    )
    process.env['OUTBREAKS_FILES'] = place
    await assert.rejects(outbreakctl(settings, 'release', 'publish', 'sample'), /OUTBREAKS_FILES must be a directory/)
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
  await until(
    () => node.output().includes('SIGHUP is ignored') || node.process.signalCode !== null,
    'nothing is logged',
  )
  assert.equal((await fetch(`${node.baseUrl}/live`)).status, 200)
  assert.equal(node.output().split('SIGHUP').length, 2)
  assert.equal(await node.stop(), 0)
})
