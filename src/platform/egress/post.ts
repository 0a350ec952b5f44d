// POST to an address that a client chose: one connection, no redirect, a deadline for everything, and little of the response.
import { request } from 'node:http'
import { type EgressPolicy, openCheckedConnection } from './checked-connection.ts'

interface PostOptions {
  readonly headers: Record<string, string>
  readonly body: string
  readonly timeoutMs: number
}

export interface PostResponse {
  readonly status: number
  readonly retryAfter: string | null
  /** The beginning of the body, at most MAX_RESPONSE_BYTES. */
  readonly text: string
}

/** More is not read: the connection is closed. */
const MAX_RESPONSE_BYTES = 4096
const MAX_HEADER_BYTES = 8192

/** Rejects if there was no response. What fails after the status changes nothing. */
export async function post(url: URL, options: PostOptions, policy: EgressPolicy): Promise<PostResponse> {
  const { headers, body, timeoutMs } = options
  const signal = AbortSignal.timeout(timeoutMs)
  const socket = await openCheckedConnection(url, policy, signal)
  try {
    return await new Promise<PostResponse>((resolve, reject) => {
      // The connection is TLS already, so the request only writes to it.
      const sent = request({
        createConnection: () => socket,
        method: 'POST',
        path: `${url.pathname}${url.search}`,
        headers: {
          ...headers,
          host: url.host,
          'content-length': Buffer.byteLength(body),
          connection: 'close',
        },
        maxHeaderSize: MAX_HEADER_BYTES,
      })
      sent.on('error', (error) => reject(signal.aborted ? signal.reason : error))
      sent.on('response', (response) => {
        // An error of the connection reaches both: the status counts.
        sent.removeAllListeners('error').on('error', () => {})
        const chunks: Buffer[] = []
        let bytes = 0
        const finish = () =>
          resolve({
            status: response.statusCode ?? 0,
            retryAfter: response.headers['retry-after'] ?? null,
            text: Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES).toString('utf8'),
          })
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk)
          bytes += chunk.length
          if (bytes >= MAX_RESPONSE_BYTES) finish()
        })
        response.on('error', finish)
        response.on('close', finish)
      })
      sent.end(body)
    })
  } finally {
    socket.destroy()
  }
}
