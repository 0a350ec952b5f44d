// A thread that sends dear questions of one kind on many connections until it is told to stop. It has a thread of its own so that the
// response times of the other client do not include the work of sending. Started by fairness.ts.
import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { ask, dearQuestions } from '../fixtures/security/synthetic-node.ts'

export interface AttackOptions {
  readonly baseUrl: string
  readonly token: string
  /** One of `dearQuestions`. */
  readonly kind: string
  readonly connections: number
  /** After a rejection. The attack ignores Retry-After. */
  readonly pauseMs: number
  /** Questions have numbers; those of an earlier attack are in the cache. */
  readonly firstQuestion: number
}

export interface AttackResult {
  readonly asked: number
  /** Number of responses by status. */
  readonly statuses: ReadonlyMap<number, number>
}

assert.ok(parentPort, 'this file is the program of a thread')
const { baseUrl, token, kind, connections, pauseMs, firstQuestion } = workerData as AttackOptions
const isOver = new AbortController()
parentPort.once('message', () => isOver.abort())

let asked = 0
const statuses = new Map<number, number>()
const createQuestion = dearQuestions[kind]
assert.ok(createQuestion, 'there is no such kind of question')
const agents = Array.from({ length: connections }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
isOver.signal.addEventListener('abort', () => {
  for (const agent of agents) agent.destroy()
})
await Promise.all(
  agents.map(async (agent) => {
    while (!isOver.signal.aborted) {
      const status = await ask({ baseUrl }, token, createQuestion(firstQuestion + asked++), agent)
      if (statuses.size === 0) parentPort?.postMessage('started')
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status !== 200) await wait(pauseMs)
    }
  }),
)
parentPort.postMessage({ asked, statuses } satisfies AttackResult)
