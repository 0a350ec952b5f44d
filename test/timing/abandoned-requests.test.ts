// A client sends dear requests and closes the connections at once: PostgreSQL and DuckDB end their work, and the queue is empty.
import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import {
  ask,
  dearQuestions,
  publishSyntheticData,
  readCpu,
  tokenFor,
  waitForIndex,
} from '../fixtures/security/synthetic-node.ts'
import { LIVENESS_MS } from '../liveness.ts'

const RECORDS = Number(process.env['ABANDONED_RECORDS'] ?? 8000)
const REQUESTS = 60
/** Processor time, because others share the machine. The requests of the control take more. */
const MAX_WORK_MS = 1000
const MAX_WAIT_MS = 30_000
/** A node that uses a fifth of it is idle: the watcher asks twice a second. */
const WINDOW_MS = 250

const data = await publishSyntheticData(RECORDS, 2)
after(data.stop)
const client = await data.createClient('Leaving')
const service = await data.startNode()
const token = await tokenFor(service, client)
await waitForIndex(service, token)
const admin = new pg.Client(data.databaseUrl)
await admin.connect()
after(() => admin.end())

async function readActive(): Promise<string[]> {
  const { rows } = await admin.query<{ query: string }>(
    `select query from pg_stat_activity
       where application_name = 'outbreaks_api' and state = 'active' and query not like '%watched_topic%'`,
  )
  return rows.map(({ query }) => query)
}

async function waitUntilBusy(cpuBefore: number): Promise<void> {
  const deadline = performance.now() + 5000
  while ((await readCpu(service)) - cpuBefore < 50) {
    assert.ok(performance.now() < deadline, 'the requests do not start')
    await wait(5)
  }
}

/** The processor time of the node, in milliseconds, until it uses nearly none. */
async function measureWork(): Promise<number> {
  const deadline = performance.now() + MAX_WAIT_MS
  const before = await readCpu(service)
  for (let cpu = before, used = Number.POSITIVE_INFINITY; used > WINDOW_MS / 5; ) {
    assert.ok(performance.now() < deadline, 'the node does not become idle')
    await wait(WINDOW_MS)
    const now = await readCpu(service)
    used = now - cpu
    cpu = now
  }
  return (await readCpu(service)) - before
}

let asked = 1
function sendMany(kind: string, agent: Agent): Promise<number>[] {
  const create = dearQuestions[kind] ?? assert.fail(kind)
  return Array.from({ length: REQUESTS }, () => ask(service, token, create(asked++), agent))
}

/** The question is valid: an answer, or the counts of the records that match must not be added up. */
async function requireAnswer(kind: string): Promise<void> {
  const { path, headers } = dearQuestions[kind]?.(asked++) ?? assert.fail()
  const request = { headers: { authorization: `Bearer ${token}`, ...headers }, signal: AbortSignal.timeout(20_000) }
  const response = await fetch(service.baseUrl + path, request)
  const body = await response.text()
  assert.ok(response.status === 200 || body.includes('"not_comparable"'), body.slice(0, 300))
}

for (const kind of Object.keys(dearQuestions)) {
  test(`${REQUESTS} closed requests leave less than a second of work: ${kind}`, async (t) => {
    await requireAnswer(kind)
    const cpu = await readCpu(service)
    const agent = new Agent({ maxSockets: REQUESTS })
    const pending = sendMany(kind, agent)
    await waitUntilBusy(cpu)
    agent.destroy()
    await Promise.all(pending)
    const workMs = await measureWork()
    t.diagnostic(`${workMs} ms of processor time`)
    assert.ok(workMs < MAX_WORK_MS, `${workMs} ms`)
    // A query whose client has left ends by the statement timeout at the latest.
    const deadline = performance.now() + LIVENESS_MS
    for (let active = await readActive(); active.length > 0; active = await readActive()) {
      assert.ok(performance.now() < deadline, active.join())
      await wait(20)
    }
  })
}

test('control: the same requests left open keep the node busy for longer', async (t) => {
  const used: number[] = []
  for (const isClosed of [true, false]) {
    // Four at a time are not rejected, so each of them is work.
    const agent = new Agent({ maxSockets: isClosed ? REQUESTS : 4 })
    const cpu = await readCpu(service)
    const pending = sendMany('facets', agent)
    await waitUntilBusy(cpu)
    if (isClosed) agent.destroy()
    await Promise.all(pending)
    await measureWork()
    used.push((await readCpu(service)) - cpu)
    agent.destroy()
  }
  t.diagnostic(`processor time: closed ${used[0]} ms, open ${used[1]} ms`)
  assert.ok((used[0] ?? 0) < (used[1] ?? 0) / 2)
})

test('queries that wait in PostgreSQL end when their connections are closed; control: before that they are active', async () => {
  const blocker = new pg.Client(data.databaseUrl)
  await blocker.connect()
  after(() => blocker.end())
  await blocker.query('begin; lock table hed_outbreak_chunk in access exclusive mode')
  const agent = new Agent({ maxSockets: REQUESTS })
  const pending = Array.from({ length: 20 }, (_, i) =>
    ask(service, token, { path: `/v2/hed-outbreaks/outbreaks?num=${i + 1}` }, agent),
  )
  const deadline = performance.now() + 5000
  while ((await readActive()).length < 5) {
    assert.ok(performance.now() < deadline, 'no query is active')
    await wait(10)
  }
  agent.destroy()
  await Promise.all(pending)
  // Less than the statement timeout of 1.5 s.
  await wait(700)
  assert.deepEqual(await readActive(), [])
  await blocker.query('rollback')
  assert.equal(await ask(service, token, { path: '/v2/hed-outbreaks/outbreaks?num=7' }, new Agent()), 200)
})
