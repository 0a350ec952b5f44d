// Sends one HTTP request: by fetch, or in Node by node:http. The fetch of Node 24 ends the process if a connection closes while
// the body waits to be read (nodejs/undici#5360), accepts a truncated gzip body, and has no trailers.

export interface Sent {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | null
  readonly signal: AbortSignal
}

export interface Received {
  readonly status: number
  readonly headers: Headers
  /** Fails if the connection breaks. */
  readonly body: AsyncIterable<Uint8Array>
  /** What followed the body; null if it cannot be known. */
  readonly trailers: () => Readonly<Record<string, string | undefined>> | null
}

export type Send = (url: string, sent: Sent) => Promise<Received>

export const sendByFetch =
  (fetchResponse: typeof fetch): Send =>
  async (url, sent) => {
    const { status, headers, body } = await fetchResponse(url, sent)
    return { status, headers, body: readStream(body), trailers: () => null }
  }

/** Not every browser can iterate over a stream. */
export async function* readStream(
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (body === null) return
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

interface Emitter {
  on(event: 'error', listener: (error: unknown) => void): void
}
interface Incoming extends AsyncIterable<Uint8Array> {
  readonly statusCode: number
  readonly headersDistinct: Record<string, string[]>
  readonly trailers: Record<string, string | undefined>
}
interface Http {
  request(
    url: string,
    options: object,
    listener: (incoming: Incoming) => void,
  ): Emitter & { end(body: string | null | undefined): void }
}
interface Zlib {
  createGunzip(): AsyncIterable<Uint8Array>
}
interface Streams {
  pipeline(from: unknown, to: unknown, done: (error: unknown) => void): void
}
type Builtin = (name: string) => unknown

const sendByNode =
  (builtin: Builtin): Send =>
  (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const { request } = builtin(url.startsWith('https:') ? 'node:https' : 'node:http') as Http
      const options = { method, headers: { 'accept-encoding': 'gzip', ...headers }, signal }
      const outgoing = request(url, options, (incoming) => {
        const received = new Headers()
        for (const [name, values] of Object.entries(incoming.headersDistinct))
          for (const value of values) received.append(name, value)
        resolve({
          status: incoming.statusCode,
          headers: received,
          body: received.get('content-encoding') === 'gzip' ? unzip(builtin, incoming) : incoming,
          trailers: () => incoming.trailers,
        })
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })

function unzip(builtin: Builtin, incoming: Incoming): AsyncIterable<Uint8Array> {
  const gunzip = (builtin('node:zlib') as Zlib).createGunzip()
  // An error of either ends both; the reader gets it.
  const { pipeline } = builtin('node:stream') as Streams
  pipeline(incoming, gunzip, () => {})
  return gunzip
}

/** node:http in Node, otherwise fetch. */
export function chooseSend(): Send {
  const { process } = globalThis as { process?: { versions?: { node?: string }; getBuiltinModule?: Builtin } }
  const builtin = process?.versions?.node === undefined ? undefined : process.getBuiltinModule
  // A browser's fetch must not be called as a method of another object.
  return builtin === undefined ? sendByFetch((input, init) => fetch(input, init)) : sendByNode(builtin)
}
