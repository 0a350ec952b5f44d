// The database dies, comes back, freezes and thaws under load: the service stays up, answers in time, and mends itself.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { createCluster, findFreePort } from '../../../dev/postgres.ts'
import { newSettings, prepareDatabase, startService } from '../../../dev/service.ts'
import { startWitness } from '../../machine-delay.ts'

/** What is promised, on a machine that has nothing else to do; the witness says what it may be now. */
const LONGEST_MS = 3000
/** After this a request has got no answer at all. */
const ANSWER_MS = 30_000
const DOWN_MS = 4000
const LOOPS = 8
/** What is asked, and what it answers when all is well. The last one makes the node ask for news of releases. */
const requests: [path: string, status: number][] = [
  ['/v1/hed-outbreaks/outbreaks?offset=50&num=20', 200],
  ['/v2/hed-outbreaks/outbreaks?num=20', 200],
  ['/v2/hed-outbreaks/event-names', 200],
  ['/v1/hed-outbreaks/outbreaks?release=99', 400],
]

const witness = await startWitness()
after(witness.stop)
const cluster = await createCluster()
after(() => cluster.stop())
const settings = newSettings(cluster.url)
const { client_id, client_secret } = await prepareDatabase(
  settings,
  path.resolve(import.meta.dirname, '../../../sample'),
)
const service = await startService(settings)
after(() => service.process.kill('SIGKILL'))
const { pid } = service.process
const dataDirectory = await readDataDirectory()
const askForToken = (baseUrl = service.baseUrl) =>
  fetch(`${baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id, client_secret, audience: service.baseUrl, grant_type: 'client_credentials' }),
    signal: AbortSignal.timeout(ANSWER_MS),
  })
const { access_token: token } = (await (await askForToken()).json()) as { access_token: string }

interface Answer {
  status: number
  usual: number
  code: string | undefined
  ms: number
  endedAt: number
  proper: boolean
}

async function ask(baseUrl: string, [address, usual]: (typeof requests)[number]): Promise<Answer> {
  const began = performance.now()
  const response = await fetch(baseUrl + address, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(ANSWER_MS),
  })
  const body = await response.text()
  const endedAt = performance.now()
  const code = response.status === 503 ? (JSON.parse(body) as { code: string }).code : undefined
  const refusal =
    response.status === 503 &&
    response.headers.get('content-type') === 'application/problem+json' &&
    response.headers.get('retry-after') !== null &&
    // A busy machine may make the node late enough to shed load.
    (code === 'unavailable' || code === 'overloaded')
  const proper = response.status === usual || refusal
  return { status: response.status, usual, code, ms: endedAt - began, endedAt, proper }
}

/** Steady parallel requests until it is stopped. A request that gets no answer at all fails the test. */
function startLoad() {
  const answers: Answer[] = []
  const stopped = new AbortController()
  const loops = Array.from({ length: LOOPS }, async (_, loop) => {
    for (let i = loop; !stopped.signal.aborted; i++) {
      answers.push(await ask(service.baseUrl, requests[i % requests.length] ?? ['/live', 200]))
      await wait(10)
    }
  })
  return {
    answers,
    async stop() {
      stopped.abort()
      await Promise.all(loops)
    },
  }
}

const statusOf = async (address: string, baseUrl = service.baseUrl) => {
  const response = await fetch(baseUrl + address, { signal: AbortSignal.timeout(ANSWER_MS) })
  await response.arrayBuffer()
  return response.status
}

async function untilReady(status: number, within: number): Promise<number> {
  const began = performance.now()
  while ((await statusOf('/ready')) !== status) {
    assert.ok(performance.now() - began < witness.allow(within), `readiness is not ${status} within ${within} ms`)
    await wait(20)
  }
  return Math.round(performance.now() - began)
}

async function readDataDirectory(): Promise<string> {
  const client = new pg.Client(cluster.url)
  await client.connect()
  const { rows } = await client.query<{ data_directory: string }>('show data_directory')
  await client.end()
  return rows[0]?.data_directory ?? ''
}

/** To the postmaster first, so that it starts no further process, and then to its children. */
function signalCluster(signal: NodeJS.Signals): void {
  const [postmaster = ''] = readFileSync(path.join(dataDirectory, 'postmaster.pid'), 'utf8').split('\n')
  process.kill(Number(postmaster), signal)
  const children = execFileSync('pgrep', ['-P', postmaster], { encoding: 'utf8' }).trim().split('\n')
  for (const child of children) {
    try {
      process.kill(Number(child), signal)
    } catch {
      // It ended since it was listed.
    }
  }
}

/** While it is away: no traffic is wanted, but the process lives and tokens are still issued. */
async function observeLoss() {
  const unready = await untilReady(503, DOWN_MS)
  return { unready, live: await statusOf('/live'), token: (await askForToken()).status }
}

const lose: [title: string, away: () => Promise<void>, back: () => Promise<void>][] = [
  ['is killed', cluster.kill, cluster.start],
  ['is killed again', cluster.kill, cluster.start],
  ['freezes', async () => signalCluster('SIGSTOP'), async () => signalCluster('SIGCONT')],
]

for (const [title, away, back] of lose) {
  test(`the database ${title} for ${DOWN_MS / 1000} s under load`, async (t) => {
    witness.forget()
    const load = startLoad()
    t.after(load.stop)
    await wait(700)
    const lostAt = performance.now()
    await away()
    const seen = await observeLoss().finally(async () => {
      await wait(DOWN_MS - (performance.now() - lostAt))
      await back()
    })
    const backAt = performance.now()
    const ready = await untilReady(200, LONGEST_MS)
    await wait(LONGEST_MS - (performance.now() - backAt))
    await load.stop()
    const mended = await Promise.all(requests.map((request) => ask(service.baseUrl, request)))
    const bound = witness.allow(LONGEST_MS)

    const { answers } = load
    const count = (good: boolean) => answers.filter((answer) => (answer.status === answer.usual) === good).length
    const longest = Math.round(Math.max(...answers.map((answer) => answer.ms)))
    const served = answers.find((answer) => answer.status === 200 && answer.endedAt > backAt)?.endedAt ?? Number.NaN
    const lastRefused = answers.findLast((answer) => answer.code === 'unavailable')?.endedAt ?? Number.NaN
    t.diagnostic(`${answers.length} answers: ${count(true)} as usual, ${count(false)} times 503; longest ${longest} ms`)
    t.diagnostic(`the machine added at most ${Math.round(bound - LONGEST_MS)} ms`)
    t.diagnostic(`unready after ${seen.unready} ms; ready ${ready} ms after the return`)
    t.diagnostic(
      `first data ${Math.round(served - backAt)} ms after the return, last refusal ${Math.round(lastRefused - backAt)} ms`,
    )

    assert.deepEqual(answers.filter((answer) => !answer.proper).slice(0, 5), [])
    assert.deepEqual([seen.live, seen.token], [200, 200])
    assert.ok(count(false) > 0, 'the loss was felt')
    assert.ok(longest < bound, `a request took ${longest} ms`)
    assert.ok(served - backAt < bound)
    assert.ok(Number.isNaN(lastRefused) || lastRefused - backAt < bound - 500, 'refusals stop')
    assert.deepEqual(
      mended.map(({ status }) => status),
      requests.map(([, usual]) => usual),
    )
    assert.deepEqual([service.process.exitCode, service.process.pid], [null, pid])
  })
}

test('a node that starts while the database is away refuses, and becomes ready by itself', async (t) => {
  await cluster.kill()
  const lostAt = performance.now()
  const port = await findFreePort()
  const baseUrl = `http://127.0.0.1:${port}`
  const starting = startService(settings, { OUTBREAKS_PORT: String(port), OUTBREAKS_BASE_URL: service.baseUrl })
  starting.catch(() => {})
  while ((await statusOf('/live', baseUrl).catch(() => 0)) !== 200) {
    assert.ok(performance.now() - lostAt < ANSWER_MS, 'it does not even live')
    await wait(50)
  }
  assert.equal(await statusOf('/ready', baseUrl), 503)
  for (const request of requests) {
    const { status, proper } = await ask(baseUrl, request)
    assert.deepEqual([status, proper], [503, true])
  }
  assert.equal((await askForToken(baseUrl)).status, 503)
  await wait(DOWN_MS - (performance.now() - lostAt))
  await cluster.start()
  const back = performance.now()
  witness.forget()
  const node = await starting
  t.after(() => node.process.kill('SIGKILL'))
  t.diagnostic(`ready ${Math.round(performance.now() - back)} ms after the database`)
  assert.ok(performance.now() - back < witness.allow(LONGEST_MS))
  for (const request of requests) assert.equal((await ask(baseUrl, request)).status, request[1])
  assert.equal(await node.stop(), 0)
})

test('a node leaves in order although its database is frozen', async (t) => {
  signalCluster('SIGSTOP')
  witness.forget()
  const began = performance.now()
  const code = await service.stop().finally(() => signalCluster('SIGCONT'))
  t.diagnostic(`left after ${Math.round(performance.now() - began)} ms with code ${code}`)
  assert.equal(code, 0)
  assert.ok(performance.now() - began < witness.allow(8000))
})
