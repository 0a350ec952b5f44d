// npm run verify:soak: three nodes behind HAProxy at half of their capacity for an hour (SOAK_MINUTES). A release is published
// every minute, a node restarts every five, and the replica is lost in the middle. Every answer is compared with the first answer
// to the same question about the same release, and whole releases are compared with their digests. Not part of npm test.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '../../dev/postgres.ts'
import { createReplica } from '../../dev/replica.ts'
import { verifyReleases } from '../fixtures/api-client.ts'
import { startPlainHaproxy } from '../fixtures/operate/plain-haproxy.ts'
import { createDirectory, startProgram, withoutPrograms, writeIn } from '../fixtures/operate/program.ts'
import { quantile, sendInTurn } from './open-loop.ts'
import { chooseAddress, type LoadedNode, openStage } from './stage.ts'

const MINUTES = Number(process.env['SOAK_MINUTES'] ?? 60)
const RECORDS = 20_000
/** Questions repeat, so that each is compared many times. */
const QUESTIONS = 400
/** As the clients of this repository do, but with the shortest wait that a node asks for. */
const ATTEMPTS = 5
const RETRY_MS = 1000
const MAX_GROWTH = 0.2
/** While more requests than this wait, no further ones are sent: the test would run out of memory. */
const MAX_PENDING = 5000
/** More mean that the nodes do not keep up. Fewer come from a machine whose processors others use for some seconds: 2.3 % in one run. */
const MAX_UNSENT = 0.05

test(`${MINUTES} minutes at half of the capacity`, { skip: withoutPrograms('haproxy') }, async (t) => {
  const stage = await openStage(RECORDS)
  after(() => stage.close())
  const replica = await createReplica(stage.primary)
  after(() => replica.stop())
  const port = await findFreePort()
  const baseUrl = `http://127.0.0.1:${port}`
  const databaseUrl = await proxyDatabase(replica.url, stage.primary.url)
  const ports = [await findFreePort(), await findFreePort(), await findFreePort()]
  const start = (number: number) =>
    stage.startNode({
      ...{ OUTBREAKS_BASE_URL: baseUrl, OUTBREAKS_PORT: String(ports[number]), DATABASE_URL: databaseUrl },
      OUTBREAKS_DRAIN_SECONDS: '2',
    })
  const nodes: LoadedNode[] = [await start(0), await start(1), await start(2)]
  after(async () => {
    for (const node of nodes) await node.stop()
  })
  await startPlainHaproxy(createDirectory(), port, ports)

  const steady = nodes[2] ?? assert.fail()
  const headers = { authorization: `Bearer ${steady.token}` }
  let calls = 0
  const nextAddress = () => chooseAddress((calls++ * 13) % QUESTIONS, RECORDS)
  const { perSecond: capacity, failed: failedBefore } = await sendInTurn(
    () => ({ url: baseUrl + nextAddress(), headers }),
    16,
    10,
  )
  assert.ok(capacity > 0, failedBefore[0])
  t.diagnostic(`capacity ${capacity.toFixed(0)} requests/s`)

  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const expected = new Map<string, string>()
  const times: number[] = []
  const [wrong, failed]: [string[], string[]] = [[], []]
  let [compared, retried, unsent] = [0, 0, 0]

  const read = (address: string) =>
    new Promise<{ status: number; release: string; digest: string }>((resolve, reject) => {
      const outgoing = request(baseUrl + address, { agent, headers, timeout: 10_000 }, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part)).on('error', reject)
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            release: String(response.headers['outbreaks-release'] ?? ''),
            digest: hash('sha256', Buffer.concat(parts)),
          }),
        )
      })
      outgoing.on('error', reject).on('timeout', () => outgoing.destroy(new Error('no response in time')))
      outgoing.end()
    })

  async function ask(address: string): Promise<void> {
    const startedAt = performance.now()
    const tryOnce = () => read(address).catch((error: Error) => ({ status: error.message, release: '', digest: '' }))
    let answer = await tryOnce()
    for (let attempt = 1; answer.status !== 200 && attempt < ATTEMPTS; attempt++) {
      if (attempt === 1) retried += 1
      await wait(RETRY_MS)
      answer = await tryOnce()
    }
    if (answer.status !== 200) return void failed.push(`${answer.status} ${address}`)
    times.push(performance.now() - startedAt)
    // v1 reads the release of the token, which does not change here.
    const question = `${address.startsWith('/v1') ? 'token' : answer.release} ${address}`
    const first = expected.get(question)
    if (first === undefined) expected.set(question, answer.digest)
    else compared += 1
    if (first !== undefined && first !== answer.digest) wrong.push(question)
  }

  const end = performance.now() + MINUTES * 60_000
  const isStopped = new AbortController()
  const isOver = () => isStopped.signal.aborted || performance.now() >= end
  /** Returns early when the test is over. */
  async function pause(ms: number): Promise<void> {
    const dueAt = performance.now() + ms
    while (performance.now() < dueAt && !isOver()) await wait(200)
  }
  /** Does something again and again, first after one period. */
  async function repeat(periodMs: number, work: (round: number) => Promise<void>): Promise<void> {
    for (let round = 0; ; round++) {
      await pause(periodMs)
      if (isOver()) return
      await work(round)
    }
  }

  const memory: number[] = []
  const descriptors: number[] = []
  const pending = new Set<Promise<void>>()
  async function load(): Promise<void> {
    const startedAt = performance.now()
    for (let sent = 0; !isOver(); await wait(5))
      for (; sent < ((performance.now() - startedAt) / 1000) * (capacity / 2); sent++) {
        if (pending.size >= MAX_PENDING) {
          unsent += 1
          continue
        }
        const asked: Promise<void> = ask(nextAddress()).finally(() => pending.delete(asked))
        pending.add(asked)
      }
  }
  let walks = 0
  const parts = [
    load(),
    repeat(60_000, async (round) => {
      console.log(
        `minute ${round + 1}: ${times.length} answers, ${retried} retried, ${failed.length} failed, ${unsent} unsent, ${pending.size} wait; ` +
          `this test uses ${Math.round(process.memoryUsage.rss() / 1e6)} MB`,
      )
    }),
    repeat(60_000, () => stage.publish()),
    repeat(5 * 60_000, async (round) => {
      const number = round % 2
      await nodes[number]?.stop()
      nodes[number] = await start(number)
    }),
    (async () => {
      await pause(MINUTES * 24_000)
      await replica.kill()
      console.log('the replica is lost')
      await pause(MINUTES * 12_000)
      await replica.start()
    })(),
    // One release of six each time: at the end there are sixty, and reading all of them would take more than the load.
    repeat(90_000, async (round) => {
      const isWanted = (release: number) => release % 6 === (round + 1) % 6
      const found = await verifyReleases(baseUrl, steady.token, isWanted).catch(({ message }: Error) => message)
      if (typeof found === 'number') walks += found
      else if (/release \d+/.test(found)) wrong.push(found)
    }),
    repeat(30_000, async () => {
      const about = `/proc/${steady.service.process.pid}`
      memory.push(Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(path.join(about, 'status'), 'utf8'))?.[1]) / 1024)
      descriptors.push(readdirSync(path.join(about, 'fd')).length)
    }),
  ]
  try {
    await Promise.all(parts)
  } finally {
    isStopped.abort()
    await Promise.allSettled(parts)
  }
  await Promise.all(pending)
  agent.destroy()

  times.sort((a, b) => a - b)
  const [early, late] = [memory.slice(memory.length / 4, memory.length / 2), memory.slice(-memory.length / 4)]
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  t.diagnostic(
    `${times.length} answers, ${compared} compared with an earlier one, ${wrong.length} wrong; ${retried} retried, ${failed.length} failed, ${unsent} unsent; ` +
      `${walks} walks through whole releases`,
  )
  t.diagnostic(
    `p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms, p99.9 ${quantile(times, 0.999).toFixed(1)} ms`,
  )
  t.diagnostic(
    `memory of the node that never restarts: second quarter ${mean(early).toFixed(0)} MB, last quarter ${mean(late).toFixed(0)} MB; ` +
      `descriptors ${descriptors.slice(0, 3).join(' ')} … ${descriptors.slice(-3).join(' ')}`,
  )
  assert.deepEqual(wrong, [])
  assert.deepEqual(failed, [])
  assert.ok(unsent < times.length * MAX_UNSENT, 'the nodes do not keep up')
  assert.ok(compared > times.length / 4 && walks > 0, 'too little was compared')
  assert.ok(mean(late) < mean(early) * (1 + MAX_GROWTH), 'the memory grows')
})

/** One address for the nodes, as with deploy/haproxy-postgres.cfg. Behind it is the replica, or the primary while that is gone. */
async function proxyDatabase(replica: string, primary: string): Promise<string> {
  const port = await findFreePort()
  const text = `
defaults
    mode tcp
    timeout connect 2s
    timeout client 1h
    timeout server 1h
    option redispatch 1
    default-server check inter 500ms fall 2 rise 2 on-marked-down shutdown-sessions
listen database
    bind 127.0.0.1:${port}
    balance first
    server replica ${new URL(replica).host}
    server primary ${new URL(primary).host}
`
  await startProgram('haproxy', ['-W', '-db', '-f', writeIn(createDirectory(), 'database.cfg', text)], { port })
  return `postgres://postgres@127.0.0.1:${port}/postgres`
}
