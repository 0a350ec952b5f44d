// Receives NDJSON line by line, all of one release, and notices an altered or missing line.
import { readLines } from './copy.ts'
import { damaged } from './errors.ts'
import type { Query } from './query.ts'
import { Sha256 } from './sha256.ts'
import { Attempts, type Transport } from './transport.ts'

const NDJSON = { accept: 'application/x-ndjson' }

/** A response that cannot be resumed is requested again, of the same release, and the lines that were given are skipped. */
export async function* receiveLines(
  transport: Transport,
  toPath: (query: Query) => string,
  query: Query,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  const attempts = new Attempts()
  let pinned = query
  let given = 0
  for (;;) {
    const request = { path: toPath(pinned), headers: NDJSON, signal }
    const response = await transport.open(request, attempts)
    const release = response.headers.get('outbreaks-release')
    if (query['to'] === undefined) pinned = { ...query, release }
    const expected = response.headers.get('outbreaks-count')
    const hash = new Sha256()
    let position = 0
    try {
      for await (const line of readLines(hashBytes(response.body, hash))) {
        position += 1
        if (position <= given) continue
        attempts.reset()
        given = position
        yield line
      }
      if (expected !== null && position !== Number(expected))
        throw damaged(`${position} records arrived, not ${expected}`)
      const published = response.trailers()?.['content-digest']
      if (published !== undefined && published !== `sha-256=:${btoa(String.fromCharCode(...hash.digest()))}:`)
        throw damaged('The SHA-256 of the lines is not the one that follows them')
      if (position < given) throw damaged(`${position} lines arrived, but ${given} before`)
      return
    } catch (cause) {
      await transport.retryBody(request, attempts, cause)
    }
  }
}

async function* hashBytes(body: AsyncIterable<Uint8Array>, hash: Sha256): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const bytes of body) {
    hash.update(bytes)
    yield bytes
  }
}
