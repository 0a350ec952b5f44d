// A queue before work of which only a little can run at the same time, such as queries of DuckDB. Clients take turns, and the last of
// several places is for another client, so one that asks much waits for itself. Its length is fixed, so every wait is bounded. A full
// queue rejects the latest request of the client that has the most waiting: a flood costs its sender requests, and no one else.
import { currentSignal } from './cancellation.ts'
import { currentWork } from './client-work.ts'
import { clientClosedRequest, Problem } from './problem.ts'

interface QueueLimits {
  readonly maxRunning?: number | undefined
  readonly maxWaiting?: number | undefined
}

/** A query or a batch occupies a thread of Node's pool of four, which compression and files need too. */
const MAX_RUNNING = 2
const MAX_WAITING = 64

export interface FairQueue {
  /** Waits for the turn of the running request; the returned function ends it. */
  takeTurn(): Promise<() => void>
}

interface Waiter {
  readonly begin: () => void
  readonly leave: (reason: Problem) => void
}

export function createFairQueue({ maxRunning = MAX_RUNNING, maxWaiting = MAX_WAITING }: QueueLimits = {}): FairQueue {
  /** By client, in the order of their turns. */
  const queues = new Map<string, Waiter[]>()
  /** The clients whose work runs, once for each. */
  const running: string[] = []
  let waiting = 0

  /** The last place is for another client, so that no one's small query waits for two large ones of the same client. */
  function mayBegin(client: string): boolean {
    if (running.length >= maxRunning) return false
    return running.length === 0 || running.length < maxRunning - 1 || running.some((other) => other !== client)
  }

  function begin(client: string): () => void {
    running.push(client)
    return () => {
      running.splice(running.indexOf(client), 1)
      beginNext()
    }
  }

  function beginNext(): void {
    for (const [client, queue] of queues) {
      if (!mayBegin(client)) continue
      const waiter = queue.shift()
      // The client goes to the end of the turns, where the loop comes to it again.
      queues.delete(client)
      if (queue.length > 0) queues.set(client, queue)
      waiting -= 1
      waiter?.begin()
    }
  }

  /** Among clients with equally many, the one whose turn comes last. */
  function rejectLatest(): void {
    let mostWaiting: Waiter[] = []
    for (const queue of queues.values()) if (queue.length >= mostWaiting.length) mostWaiting = queue
    mostWaiting
      .at(-1)
      ?.leave(new Problem('overloaded', 'This node is overloaded. Try again in 1 s, with fewer concurrent requests.'))
  }

  function wait(client: string): Promise<() => void> {
    const signal = currentSignal()
    return new Promise((resolve, reject) => {
      const leaveClosed = () => waiter.leave(clientClosedRequest())
      const waiter: Waiter = {
        begin() {
          signal?.removeEventListener('abort', leaveClosed)
          resolve(begin(client))
        },
        leave(reason) {
          signal?.removeEventListener('abort', leaveClosed)
          const queue = queues.get(client) ?? []
          queue.splice(queue.indexOf(waiter), 1)
          if (queue.length === 0) queues.delete(client)
          waiting -= 1
          reject(reason)
        },
      }
      const queue = queues.get(client) ?? []
      queues.set(client, queue)
      queue.push(waiter)
      waiting += 1
      signal?.addEventListener('abort', leaveClosed, { once: true })
      if (waiting > maxWaiting) rejectLatest()
    })
  }

  return {
    async takeTurn() {
      if (currentSignal()?.aborted) throw clientClosedRequest()
      const client = currentWork()?.clientId ?? ''
      return mayBegin(client) ? begin(client) : wait(client)
    },
  }
}
