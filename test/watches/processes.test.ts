// Watches with real processes: a node that forwards, notifiers that are killed while they judge, and the operator's commands.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { findFreePort } from '../../dev/postgres.ts'
import { newSettings, outbreakctl, prepareDatabase, startNotifier, startService } from '../../dev/service.ts'
import { writeSynthRelease } from '../../dev/synth/synthesise.ts'
import { createEmptyDatabase } from '../database.ts'
import { WATCHES } from '../fixtures/watches/open-notifier.ts'
import { LIVENESS_MS } from '../liveness.ts'

const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-watches-'))
after(() => rm(directory, { recursive: true, force: true }))
const stateOf = (state: number) => path.join(directory, String(state))
for (const state of [1, 2, 3]) await writeSynthRelease({ records: 3000, seed: 1, release: state }, stateOf(state))

const settings = newSettings(await createEmptyDatabase())
const credentials = await prepareDatabase(settings, stateOf(1))
const database = new pg.Client(settings.databaseUrl)
await database.connect()
after(() => database.end())

const ports = { node: await findFreePort(), notifier: await findFreePort() }
const baseUrl = `http://127.0.0.1:${ports.node}`
const notifierUrl = `http://127.0.0.1:${ports.notifier}`
const nodeSettings = { OUTBREAKS_PORT: String(ports.node), OUTBREAKS_NOTIFIER_URL: notifierUrl }
const CLI = path.resolve(import.meta.dirname, '../../src/cli.ts')
const COMMAND_ENVIRONMENT = {
  ...process.env,
  DATABASE_URL: settings.databaseUrl,
  OUTBREAKS_SECRET: settings.secret,
  OUTBREAKS_BASE_URL: baseUrl,
}
const open = (port = ports.notifier) =>
  startNotifier(settings, { OUTBREAKS_BASE_URL: baseUrl, OUTBREAKS_PORT: String(port) })
const node = await startService(settings, nodeSettings)
after(() => node.stop())

const { access_token: token } = (await (
  await fetch(`${baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_id: credentials.client_id,
      client_secret: credentials.client_secret,
      audience: baseUrl,
      grant_type: 'client_credentials',
    }),
  })
).json()) as { access_token: string }

async function send(method: string, target: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(baseUrl + target, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
}

async function waitFor<Value>(what: string, find: () => Promise<Value | null>): Promise<Value> {
  const deadline = Date.now() + LIVENESS_MS
  for (;;) {
    const found = await find()
    if (found !== null) return found
    if (Date.now() > deadline) throw new Error(`still waiting for ${what}`)
    await wait(20)
  }
}

const countJudged = async () =>
  (await database.query<{ count: number }>('select count(*)::integer as count from watch where judged > 1')).rows[0]
    ?.count ?? 0

test('without a notifier a node says that it cannot be reached, and to try again', async () => {
  const { status, body, headers } = await send('GET', WATCHES)
  assert.deepEqual([status, body.code, headers.get('retry-after')], [503, 'unavailable', '1'])
})

test('a node forwards to the notifier, which verifies the token again; a request without one does not reach it', async () => {
  const notifier = await open()
  try {
    const created = await send('POST', WATCHES, { question: '', when: 'changes' })
    assert.equal(created.status, 201, JSON.stringify(created.body))
    assert.equal(created.headers.get('location'), `${baseUrl}${WATCHES}/${created.body.id}`)
    assert.equal((await send('PATCH', `${WATCHES}/${created.body.id}`, { state: 'paused' })).body.state, 'paused')
    assert.equal((await send('GET', `${WATCHES}/${created.body.id}`)).body.state, 'paused')
    const problem = await send('POST', WATCHES, { question: 'nothing=1', when: 'changes' })
    assert.deepEqual([problem.status, problem.body.parameter], [400, 'nothing'])
    assert.equal(problem.headers.get('content-type'), 'application/problem+json')
    assert.equal((await send('DELETE', `${WATCHES}/${created.body.id}`)).status, 204)
    assert.equal((await send('GET', WATCHES, undefined, { authorization: 'Bearer forged' })).status, 401)
    const direct = await fetch(notifierUrl + WATCHES)
    assert.equal(direct.status, 401)
    // The notifier serves nothing that needs no writing.
    const records = await fetch(`${notifierUrl}/v2/hed-outbreaks/outbreaks`, {
      headers: { authorization: `Bearer ${token}` },
    })
    assert.equal(records.status, 404)
  } finally {
    await notifier.stop()
  }
})

test('a node that knows no notifier says that there are no watches', async () => {
  const other = await startService(settings, { OUTBREAKS_BASE_URL: baseUrl })
  const response = await fetch(other.baseUrl + WATCHES, { headers: { authorization: `Bearer ${token}` } })
  const { code } = (await response.json()) as { code: string }
  await other.stop()
  assert.deepEqual([response.status, code], [404, 'watches_unavailable'])
})

test('two notifiers, and one of them killed again and again: each watch has each notice once', async () => {
  const { rows: events } = await database.query<{ event: string }>('select distinct event from hed_outbreak_event')
  const clients = ['a', 'b', 'c', 'd', 'e', 'f']
  for (const id of clients)
    await database.query(
      `insert into client (client_id, name, scopes, public_keys) select $1, $1, scopes, '[{}]' from client where client_id = $2`,
      [id, credentials.client_id],
    )
  // Each client watches 50 questions: 25 all releases, so that each has a notice, and 25 an event.
  for (const client of clients)
    await database.query(
      `insert into watch (id, client_id, place, dataset, name, question, condition, judged)
       select gen_random_uuid(), $1, place, 'hed-outbreaks', 'w',
         case when place <= 25 then '' else 'event=' || ($2::text[])[1 + place % cardinality($2)] end, 'changes', 1
       from generate_series(1, 50) as place`,
      [client, events.map(({ event }) => encodeURIComponent(event))],
    )
  await outbreakctl(settings, 'release', 'publish', stateOf(2))
  await outbreakctl(settings, 'release', 'publish', stateOf(3))
  const second = await open(await findFreePort())
  try {
    for (let kill = 0; kill < 3 && (await countJudged()) < 300; kill += 1) {
      const first = await open()
      await waitFor('a judged watch', async () => ((await countJudged()) > 0 ? true : null))
      first.process.kill('SIGKILL')
      await first.exited
    }
    await waitFor('all watches', async () => ((await countJudged()) === 300 ? true : null))
  } finally {
    await second.stop()
  }
  const { rows } = await database.query(`
    select count(*)::integer as notices, count(distinct (watch, release))::integer as different,
      count(*) filter (where question = '')::integer as of_all
    from delivery join watch on watch.id = watch`)
  const [{ notices, different, of_all: ofAll } = { notices: 0, different: 0, of_all: 0 }] = rows
  assert.equal(notices, different)
  assert.equal(ofAll, 6 * 25 * 2)
  assert.ok(notices > ofAll)
})

async function preview(when: string): Promise<{ type: string; data: { release: number } }[]> {
  const child = spawn(process.execPath, [CLI, 'watch', 'preview', '--question', '', '--when', when], {
    env: COMMAND_ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const text = await child.stdout.setEncoding('utf8').toArray()
  return text
    .join('')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

test('outbreakctl prints notices as lines, follows them, and manages watches', async () => {
  const operator = { ...settings, variables: { OUTBREAKS_BASE_URL: baseUrl } }
  const follow = spawn(process.execPath, [CLI, 'notices', '--follow', '--after', '1'], {
    env: COMMAND_ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: follow.stdout })
  const seen: { type: string; data: { seq: number; restores: number | null } }[] = []
  lines.on('line', (line) => seen.push(JSON.parse(line)))
  await outbreakctl(settings, 'release', 'rollback', '--to', '2', '--note', 'The third was wrong.')
  await outbreakctl(settings, 'release', 'prune', '--before', '3', '--confirm-pruned', '2')
  await waitFor('four notices', async () => (seen.length >= 4 ? true : null))
  follow.kill('SIGINT')
  await once(follow, 'exit')
  assert.deepEqual(
    seen.map(({ type, data }) => [data.seq, type, data.restores]),
    [
      [2, 'release.published', null],
      [3, 'release.published', null],
      [4, 'release.published', 2],
      [5, 'release.pruned', undefined],
    ],
  )
  const { data, next_after: next } = (await send('GET', '/v2/hed-outbreaks/notices?after=1')).body
  assert.deepEqual(data, seen)
  assert.equal(next, 5)

  const [question, when] = ['counts=cases', 'crosses:cases:10']
  const create = ['watch', 'create', '--client', credentials.client_id, '--question', question, '--when', when]
  const { id } = await outbreakctl<{ id: string }>(operator, ...create)
  await outbreakctl(operator, 'watch', 'pause', id)
  await assert.rejects(outbreakctl(operator, 'watch', 'pause', id), /No watch/)
  await outbreakctl(operator, 'watch', 'resume', id)
  const listed = await outbreakctl<{ id: string; state: string; judged: number }[]>(
    operator,
    'watch',
    'list',
    '--client',
    credentials.client_id,
  )
  assert.deepEqual(
    listed.map((watch) => [watch.id, watch.state, watch.judged]),
    [[id, 'active', 4]],
  )
  await outbreakctl(operator, 'watch', 'delete', id)
  // Releases 1 and 2 are pruned, and release 4 is all that can be compared with release 3.
  const lines4 = await preview('changes')
  assert.deepEqual(
    lines4.map(({ data: { release } }) => release),
    [2, 3, 4],
  )
})
