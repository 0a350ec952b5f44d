// Limits streamed responses: how many a client can have, and how many batches of records are read and encoded at a time. A client
// that reads slowly holds no turn while it reads, so it keeps no one else waiting.
import { createFairQueue, type FairQueue } from '../../platform/fair-queue.ts'
import { Problem } from '../../platform/problem.ts'

export interface StreamLimit extends FairQueue {
  /** Counts a streamed response until the returned function is called. Throws a Problem if the client has too many. */
  open(clientId: string | null): () => void
}

const MAX_CLIENT_STREAMS = 2

export function createStreamLimit(): StreamLimit {
  const streams = new Set<{ readonly clientId: string | null }>()
  // A response that has begun is never rejected, and each has at most one batch in the queue.
  const { takeTurn } = createFairQueue({ maxWaiting: Number.POSITIVE_INFINITY })
  return {
    takeTurn,
    open(clientId) {
      if ([...streams].filter((stream) => stream.clientId === clientId).length >= MAX_CLIENT_STREAMS)
        throw new Problem(
          'concurrency_exceeded',
          `The client is already reading ${MAX_CLIENT_STREAMS} queries as one file, which is the limit. Wait until one of them ends.`,
          { headers: { 'retry-after': '5' } },
        )
      const stream = { clientId }
      streams.add(stream)
      return () => void streams.delete(stream)
    },
  }
}
