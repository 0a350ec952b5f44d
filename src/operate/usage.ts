// outbreakctl usage: what each client used on each day, added up from the log of the nodes. The nodes themselves write nothing to
// the database.

import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

export type Usage = {
  day: string
  client_id: string
  requests: number
  /** Requests that did not get what the client wanted: status 400 to 499, and 500 to 599. */
  rejected: number
  failed: number
  /** Milliseconds in which nodes worked for the client. */
  ms: number
  /** The time of the latest request. */
  last: string
}

interface ResponseLine {
  time: string
  client_id: string
  status: number
  ms: number
}

/** Lines that are not about a response of a client are skipped. Sorted by day and client. */
export async function addUpUsage(log: Readable): Promise<Usage[]> {
  const found = new Map<string, Usage>()
  for await (const text of createInterface({ input: log, crlfDelay: Number.POSITIVE_INFINITY })) {
    const line = readLine(text)
    if (line === null) continue
    const day = line.time.slice(0, 10)
    const key = `${day} ${line.client_id}`
    const usage = found.get(key) ?? {
      day,
      client_id: line.client_id,
      requests: 0,
      rejected: 0,
      failed: 0,
      ms: 0,
      last: line.time,
    }
    found.set(key, usage)
    usage.requests += 1
    if (line.time > usage.last) usage.last = line.time
    if (line.status >= 400 && line.status < 500) usage.rejected += 1
    if (line.status >= 500) usage.failed += 1
    usage.ms = Math.round((usage.ms + line.ms) * 10) / 10
  }
  return [...found.values()].sort((a, b) => (`${a.day} ${a.client_id}` < `${b.day} ${b.client_id}` ? -1 : 1))
}

function readLine(text: string): ResponseLine | null {
  // A collector may put its own words before the line.
  const start = text.indexOf('{')
  if (start === -1) return null
  try {
    const line = JSON.parse(text.slice(start)) as Partial<ResponseLine>
    const { time, client_id, status, ms } = line
    const isResponse = typeof client_id === 'string' && typeof status === 'number' && typeof time === 'string'
    return isResponse ? { time, client_id, status, ms: ms ?? 0 } : null
  } catch {
    return null
  }
}
