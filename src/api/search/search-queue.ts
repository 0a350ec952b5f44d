// Searches use the thread that serves all requests. So one step of a search runs at a time, and clients take turns. After a step the
// thread is free for as long as the step took: searches use at most half of it. The client pays for its steps.
import { yieldToEventLoop } from '../../platform/cancellation.ts'
import { measureWork } from '../../platform/client-work.ts'
import { createFairQueue } from '../../platform/fair-queue.ts'

/** One for the process, as it has one thread. */
const queue = createFairQueue({ maxRunning: 1 })

export async function runSearchStep<Result>(step: () => Result): Promise<Result> {
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
