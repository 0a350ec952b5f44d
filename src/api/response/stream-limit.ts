// Limits the streamed responses of this node. Each of them reads from the database until its end, so a download of a file that
// exists costs less.
import { Problem } from '../../platform/problem.ts'

interface StreamLimits {
  /** Of one node. Encoding uses the thread that serves all requests. */
  maxStreams?: number
  maxClientStreams?: number
}

/** Returns a function that gives the place back. Throws a Problem if there is no place. */
export type TakePlace = (clientId: string | null) => () => void

export function createStreamLimit({ maxStreams = 4, maxClientStreams = 2 }: StreamLimits = {}): TakePlace {
  const running: (string | null)[] = []
  return (clientId) => {
    if (running.filter((other) => other === clientId).length >= maxClientStreams)
      throw new Problem(
        'concurrency_exceeded',
        `The client already has ${maxClientStreams} responses in a file format, which is the limit. Wait until one of them ends.`,
        { headers: { 'retry-after': '5' } },
      )
    if (running.length >= maxStreams)
      throw new Problem('overloaded', 'The node already sends as many files as it can. Try again shortly.', {
        headers: { 'retry-after': '5' },
      })
    running.push(clientId)
    let isTaken = true
    return () => {
      if (isTaken) running.splice(running.indexOf(clientId), 1)
      isTaken = false
    }
  }
}
