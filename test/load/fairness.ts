// One hostile client asks one kind of dear question on 64 connections: another client is never refused, the node stays ready, and the
// response times of the other client stay near the quiet ones. Quiet and hostile phases alternate in one run, so that a change of
// the machine does not decide.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Credentials } from '../../dev/service.ts'
import { requestToken } from '../fixtures/api-client.ts'
import { ask, publishSyntheticData, tokenFor, waitForIndex } from '../fixtures/security/synthetic-node.ts'
import type { AttackOptions, AttackResult } from './attack.ts'

const RECORDS = Number(process.env['FAIRNESS_RECORDS'] ?? 60_000)
const ROUNDS = Number(process.env['FAIRNESS_ROUNDS'] ?? 5)
const PHASE_MS = 2000
const CONNECTIONS = 64
const PAUSE_MS = 20
/** The last questions of the attack end. */
const SETTLE_MS = 500
const MESSAGE_TIMEOUT_MS = 60_000
/** Of the p95 beside the attack and the quiet one, as the median of the rounds. */
const MAX_RATIO = Number(process.env['FAIRNESS_RATIO'] ?? 4)
const PROBES = ['page', 'filtered', 'token', 'ready'] as const
type Probe = (typeof PROBES)[number]
type Times = Record<Probe, number[]>

const data = await publishSyntheticData(RECORDS)
after(data.stop)
const hostile = await data.createClient('Hostile')
const other = await data.createClient('Other')
// Without the limits of a client: 64 dear questions wait at a time. With them most are rejected, and the run would measure rejections.
const service = await data.startNode()
const token = await tokenFor(service, other)
const hostileToken = await tokenFor(service, hostile)
await waitForIndex(service, token)

let asked = 0
/** Sends questions, each as soon as the one before is answered, until it is stopped. Waits for the first answer. */
async function startAttack(kind: string) {
  const workerData: AttackOptions = {
    baseUrl: service.baseUrl,
    token: hostileToken,
    kind,
    connections: CONNECTIONS,
    pauseMs: PAUSE_MS,
    firstQuestion: asked,
  }
  const thread = new Worker(new URL('./attack.ts', import.meta.url), { workerData })
  const nextMessage = () => once(thread, 'message', { signal: AbortSignal.timeout(MESSAGE_TIMEOUT_MS) })
  await nextMessage()
  return async (): Promise<AttackResult> => {
    thread.postMessage('stop')
    const [result]: AttackResult[] = await nextMessage()
    assert.ok(result)
    asked += result.asked
    return result
  }
}

let filtered = 0
async function observe(client: Credentials, refused: string[]): Promise<Times> {
  const times: Times = { page: [], filtered: [], token: [], ready: [] }
  const agent = new Agent({ keepAlive: true })
  const read = (path: string) => ask(service, token, { path }, agent)
  const senders: Record<Probe, () => Promise<number>> = {
    page: () => read('/v2/hed-outbreaks/outbreaks?num=100'),
    filtered: () => read(`/v2/hed-outbreaks/outbreaks?num=10&cases_min=${filtered++}`),
    ready: () => read('/ready'),
    token: async () => (await requestToken(client, `${service.baseUrl}/oauth/token`, service.baseUrl)).status,
  }
  const end = performance.now() + PHASE_MS
  await Promise.all(
    PROBES.map(async (probe) => {
      while (performance.now() < end) {
        const startedAt = performance.now()
        const status = await senders[probe]()
        times[probe].push(performance.now() - startedAt)
        if (status !== 200) refused.push(`${probe}: ${status}`)
        await wait(PAUSE_MS)
      }
    }),
  )
  agent.destroy()
  return times
}

const quantile = (values: readonly number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? Number.NaN

for (const kind of ['event search', 'search', 'facets', 'coverage'])
  test(`64 connections of ${kind}: another client is not refused, and its p95 is at most ${MAX_RATIO} times the quiet one`, async (t) => {
    const refused: string[] = []
    const quiet: Times[] = []
    const loud: Times[] = []
    const statuses = new Map<number, number>()
    await observe(other, refused)
    for (let round = 0; round < ROUNDS; round++) {
      quiet.push(await observe(other, refused))
      const stopAttack = await startAttack(kind)
      loud.push(await observe(other, refused))
      for (const [status, count] of (await stopAttack()).statuses)
        statuses.set(status, (statuses.get(status) ?? 0) + count)
      await wait(SETTLE_MS)
    }
    t.diagnostic(`hostile: ${[...statuses].map(([status, times]) => `${times} times ${status}`).join(', ')}`)
    const tooSlow: string[] = []
    for (const probe of PROBES) {
      const p95 = (phases: readonly Times[]) => phases.map((phase) => quantile(phase[probe], 0.95))
      const ratios = p95(loud).map((value, i) => value / (p95(quiet)[i] ?? Number.NaN))
      const ratio = quantile(ratios, 0.5)
      const report = `${probe}: p95 ${quantile(p95(quiet), 0.5).toFixed(1)} ms quiet, ${quantile(p95(loud), 0.5).toFixed(1)} ms beside the attack, ratio ${ratio.toFixed(2)} [${Math.min(...ratios).toFixed(2)}..${Math.max(...ratios).toFixed(2)}]`
      t.diagnostic(report)
      if (ratio > MAX_RATIO) tooSlow.push(report)
    }
    assert.deepEqual(refused, [])
    assert.ok((statuses.get(200) ?? 0) > 0, 'the hostile client is served too')
    assert.deepEqual(tooSlow, [])
  })
