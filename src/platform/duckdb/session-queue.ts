// Who may open the next session of DuckDB. Clients take turns, so one that asks much waits for itself and not the others for it.
// A request that nobody waits for any more leaves the queue. While the queue does not get shorter, further requests are refused.
import { currentSignal } from '../cancellation.ts'
import { currentWork } from '../client-work.ts'
import { clientClosedRequest, Problem } from '../problem.ts'

interface QueueLimits {
  readonly maxSessions: number
  readonly maxWaiting: number
  /** A queue in which requests wait for longer than this … */
  readonly targetWaitMs?: number
  /** … all the time for this long is overload and not a burst. */
  readonly burstMs?: number
  /** Also in a burst nothing waits for longer than this. */
  readonly maxWaitMs?: number
  /** After a refusal no burst may wait for this long. Otherwise, in overload, the queue would be short and long in turn. */
  readonly recoveryMs?: number
}

export interface SessionQueue {
  /** Waits for a session; the returned function frees it. */
  takeTurn(): Promise<() => void>
  /** How many requests wait. */
  waiting(): number
}

interface Waiter {
  readonly begin: () => void
}

const TARGET_WAIT_MS = 40
const BURST_MS = 500
const MAX_WAIT_MS = 1000
const RECOVERY_MS = 2000
/** How long another client counts as active after its last request. */
const SHARED_MS = 5000
/** The part of the newest session in the mean duration of sessions. */
const NEWEST_PART = 0.1

export function createSessionQueue(limits: QueueLimits): SessionQueue {
  const { maxSessions, maxWaiting, targetWaitMs = TARGET_WAIT_MS, burstMs = BURST_MS } = limits
  const { maxWaitMs = MAX_WAIT_MS, recoveryMs = RECOVERY_MS } = limits
  /** By client, in the order of their turns. */
  const queues = new Map<string, Waiter[]>()
  const open = new Map<string, number>()
  let [opened, waiting] = [0, 0]
  let meanMs = 0
  let calmAt = performance.now()
  let refusedAt = Number.NEGATIVE_INFINITY
  let lastClient = ''
  let changedAt = Number.NEGATIVE_INFINITY

  /** A client alone may use all sessions. If there are others, one session is left for them. */
  function mayOpen(client: string): boolean {
    if (opened >= maxSessions) return false
    const isShared = performance.now() - changedAt < SHARED_MS
    return !isShared || (open.get(client) ?? 0) < Math.max(1, maxSessions - 1)
  }

  /** Requests that begin before the next one of this client: its own, and as many of each other client. */
  function countAhead(client: string): number {
    const own = (queues.get(client)?.length ?? 0) + 1
    let ahead = own - 1
    for (const [other, { length }] of queues) if (other !== client) ahead += Math.min(length, own)
    return ahead
  }

  function refuseInOverload(client: string): void {
    const now = performance.now()
    const waitMs = (countAhead(client) * meanMs) / maxSessions
    if (waitMs <= targetWaitMs) calmAt = now
    const mayLastMs = now - refusedAt < recoveryMs ? 0 : burstMs
    const isOverload = waitMs > maxWaitMs || now - calmAt > mayLastMs
    // The first waiting request of a client is not refused because of the other clients.
    if (waiting < maxWaiting && !(isOverload && queues.has(client))) return
    refusedAt = now
    throw new Problem('overloaded', 'The node is overloaded. Try again shortly.')
  }

  function begin(client: string): () => void {
    const startedAt = performance.now()
    opened += 1
    open.set(client, (open.get(client) ?? 0) + 1)
    return () => {
      meanMs += NEWEST_PART * (performance.now() - startedAt - meanMs)
      opened -= 1
      const remaining = (open.get(client) ?? 1) - 1
      if (remaining > 0) open.set(client, remaining)
      else open.delete(client)
      beginNext()
    }
  }

  function beginNext(): void {
    for (const [client, queue] of queues) {
      if (!mayOpen(client)) continue
      const waiter = queue.shift()
      // The client goes to the end of the turns, and the loop comes to it again if there is a further session.
      queues.delete(client)
      if (queue.length > 0) queues.set(client, queue)
      waiting -= 1
      waiter?.begin()
    }
  }

  function wait(client: string): Promise<() => void> {
    const signal = currentSignal()
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        begin() {
          signal?.removeEventListener('abort', leave)
          resolve(begin(client))
        },
      }
      function leave(): void {
        const queue = queues.get(client) ?? []
        queue.splice(queue.indexOf(waiter), 1)
        if (queue.length === 0) queues.delete(client)
        waiting -= 1
        reject(clientClosedRequest())
      }
      const queue = queues.get(client) ?? []
      queues.set(client, queue)
      queue.push(waiter)
      waiting += 1
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  return {
    async takeTurn() {
      if (currentSignal()?.aborted) throw clientClosedRequest()
      const client = currentWork()?.clientId ?? ''
      if (client !== lastClient) {
        changedAt = performance.now()
        lastClient = client
      }
      if (!queues.has(client) && mayOpen(client)) return begin(client)
      refuseInOverload(client)
      return wait(client)
    },
    waiting: () => waiting,
  }
}
