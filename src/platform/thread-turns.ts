// Runs long work on the thread that serves all requests: searches, and large tables as text. One step runs at a time, and clients
// take turns. After a step the thread is free for as long as the step took, so this work uses at most half of it. The client
// pays for its steps.
import { yieldToEventLoop } from './cancellation.ts'
import { measureWork } from './client-work.ts'
import { createFairQueue } from './fair-queue.ts'

/** One for the process, as it has one thread. */
const queue = createFairQueue({ maxRunning: 1 })

export async function runInTurn<Result>(step: () => Result): Promise<Result> {
  const endTurn = await queue.takeTurn()
  let busyMs = 0
  try {
    await yieldToEventLoop()
    const startedAt = performance.now()
    const result = measureWork(step)
    busyMs = performance.now() - startedAt
    return result
  } finally {
    setTimeout(endTurn, busyMs)
  }
}
