// Sends requests at a fixed rate, whether or not the responses arrive in time. A response time counts from the moment at which the
// request was due, so a slow node cannot hide that requests wait.
import { Agent, request } from 'node:http'

const TICK_MS = 4
const TIMEOUT_MS = 10_000
const MAX_SOCKETS = 512

export interface Call {
  readonly url: string
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

export interface Outcome {
  readonly perSecond: number
  /** Times of responses with status 200, in milliseconds, in ascending order. */
  readonly goodMs: number[]
  /** Times of responses that reject the request and say when to try again: 429 and 503 with Retry-After. */
  readonly refusedMs: number[]
  /** Everything else: lost connections, no response in time, other statuses. */
  readonly failed: string[]
}

export type Answer = 'good' | 'refused' | { readonly failed: string }

/** Sends one request and reads the whole response. */
export function send({ url, method = 'GET', headers = {}, body }: Call, agent: Agent): Promise<Answer> {
  return new Promise((resolve) => {
    const fail = (reason: string) => resolve({ failed: reason })
    const outgoing = request(url, { agent, method, headers, timeout: TIMEOUT_MS }, (response) => {
      const { statusCode = 0 } = response
      response.resume().on('end', () => {
        if (!response.complete) fail('the response is incomplete')
        else if (statusCode === 200) resolve('good')
        else if ((statusCode === 429 || statusCode === 503) && response.headers['retry-after'] !== undefined)
          resolve('refused')
        else fail(`status ${statusCode}`)
      })
      response.on('error', (error) => fail(error.message))
    })
    outgoing.on('error', (error) => fail(error.message))
    outgoing.on('timeout', () => outgoing.destroy(new Error('no response in time')))
    outgoing.end(body)
  })
}

export const openAgent = (maxSockets = MAX_SOCKETS): Agent => new Agent({ keepAlive: true, maxSockets })

/** For some seconds, or as long as `duration` returns true. */
export async function sendAtRate(
  next: () => Call,
  perSecond: number,
  duration: number | (() => boolean),
): Promise<Outcome> {
  const agent = openAgent()
  const seconds = typeof duration === 'number' ? duration : Number.POSITIVE_INFINITY
  const { count, summarise } = countAnswers()
  const pending: Promise<void>[] = []
  const startedAt = performance.now()
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsedMs = performance.now() - startedAt
      while (pending.length < Math.min(elapsedMs / 1000, seconds) * perSecond) {
        const dueAt = startedAt + (pending.length * 1000) / perSecond
        pending.push(send(next(), agent).then((answer) => count(answer, performance.now() - dueAt)))
      }
      if (elapsedMs >= seconds * 1000 || (typeof duration === 'function' && !duration())) {
        clearInterval(timer)
        resolve()
      }
    }, TICK_MS)
  })
  const elapsedSeconds = (performance.now() - startedAt) / 1000
  await Promise.all(pending)
  agent.destroy()
  return summarise(elapsedSeconds)
}

/** Each connection sends the next request as soon as it has the response. */
export async function sendInTurn(next: () => Call, connections: number, seconds: number): Promise<Outcome> {
  const agent = openAgent(connections)
  const { count, summarise } = countAnswers()
  const end = performance.now() + seconds * 1000
  async function sendUntilOver(): Promise<void> {
    while (performance.now() < end) {
      const sentAt = performance.now()
      count(await send(next(), agent), performance.now() - sentAt)
    }
  }
  await Promise.all(Array.from({ length: connections }, sendUntilOver))
  agent.destroy()
  return summarise(seconds)
}

function countAnswers() {
  const [goodMs, refusedMs, failed]: [number[], number[], string[]] = [[], [], []]
  return {
    count(answer: Answer, ms: number): void {
      if (answer === 'good') goodMs.push(ms)
      else if (answer === 'refused') refusedMs.push(ms)
      else failed.push(answer.failed)
    },
    summarise: (seconds: number): Outcome => ({
      perSecond: goodMs.length / seconds,
      goodMs: goodMs.sort((a, b) => a - b),
      refusedMs: refusedMs.sort((a, b) => a - b),
      failed,
    }),
  }
}

/** The value below which this part of the sorted values is. */
export const quantile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
