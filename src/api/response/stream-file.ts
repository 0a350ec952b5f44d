// Sends records as one file of unknown length. Trailers with the number of records and the digest end a complete response;
// after an error the connection is closed without the last chunk, which every HTTP/1.1 client reports as an error.
import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FileEncoder } from '../../formats/file-encoder.ts'
import { Problem, toProblem } from '../../platform/problem.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { cacheHeader, releaseHeader } from './responder.ts'
import type { StreamLimit } from './stream-limit.ts'
import { FORMAT_VARY } from './table-response.ts'

interface FileSpec<Encodable> {
  readonly encoder: FileEncoder<Encodable>
  readonly batches: AsyncIterable<readonly Encodable[]>
  /** The number of records, if it is known beforehand. */
  readonly expectedRecords: number | undefined
  readonly streamLimit: StreamLimit
  /** Called once, after the response or its failure. */
  readonly onEnd: () => void
  readonly timeoutMs?: number
}

interface FileResponse<Encodable> {
  readonly release: PublishedRelease
  /** As in the other responses of the resource. */
  readonly isImmutable: boolean
  readonly contentType: string
  readonly name: string
  readonly streamLimit: StreamLimit
  /** Starts to read the records. An error becomes a response with its status. */
  readonly open: () => Promise<Omit<FileSpec<Encodable>, 'streamLimit' | 'onEnd'>>
}

/** For a client that reads slowly but never stops. A client that stops is disconnected much earlier. */
export const STREAM_TIMEOUT_MS = 3_600_000
const TRAILERS = 'Outbreaks-Records, Content-Digest'

/** RFC 9112, 6.3: without chunks the end of the connection is the end of the body, so a broken response looks complete. */
export function requireChunks({ raw }: FastifyRequest): void {
  if (raw.httpVersion !== '1.0') return
  throw new Problem(
    'invalid_request',
    'This format needs HTTP/1.1. Over HTTP/1.0, a client cannot tell a broken response from a complete one.',
  )
}

export async function sendFile<Encodable>(
  request: FastifyRequest,
  reply: FastifyReply,
  { release, isImmutable, contentType, name, streamLimit, open }: FileResponse<Encodable>,
) {
  reply.type(contentType).headers({
    ...releaseHeader(release),
    vary: FORMAT_VARY,
    ...cacheHeader(isImmutable),
    'content-disposition': `attachment; filename="${name}"`,
  })
  if (request.method === 'HEAD') return reply.send(Readable.from([]))
  const onEnd = streamLimit.open(request.clientId)
  try {
    return streamFile(request, reply, { ...(await open()), streamLimit, onEnd })
  } catch (error) {
    onEnd()
    throw error
  }
}

export function streamFile<Encodable>(
  request: FastifyRequest,
  reply: FastifyReply,
  spec: FileSpec<Encodable>,
): FastifyReply {
  const { encoder, batches, expectedRecords, streamLimit, onEnd, timeoutMs = STREAM_TIMEOUT_MS } = spec
  const digest = createHash('sha256')
  let records = 0
  const digested = (bytes: Uint8Array) => {
    digest.update(bytes)
    return bytes
  }

  /** The bytes of the next batch, which may be none; null after the last one. */
  async function encodeNext(iterator: AsyncIterator<readonly Encodable[]>): Promise<Uint8Array | null> {
    const endTurn = await streamLimit.takeTurn()
    try {
      const { done, value: batch } = await iterator.next()
      if (done === true) return null
      restartSocketTimeout(request.raw.socket)
      records += batch.length
      return encoder.add(batch)
    } finally {
      endTurn()
    }
  }

  async function* encode(): AsyncGenerator<Uint8Array> {
    const iterator = batches[Symbol.asyncIterator]()
    try {
      for (let bytes = await encodeNext(iterator); bytes !== null; bytes = await encodeNext(iterator))
        if (bytes.length > 0) yield digested(bytes)
    } finally {
      await iterator.return?.()
    }
    if (expectedRecords !== undefined && records !== expectedRecords)
      throw new Error(`there are ${expectedRecords} records, but ${records} were read`)
    yield digested(encoder.end())
    reply.raw.addTrailers({
      'Outbreaks-Records': String(records),
      'Content-Digest': `sha-256=:${digest.digest('base64')}:`,
    })
  }

  const body = Readable.from(encode(), { objectMode: false })
  const timer = setTimeout(
    () => body.destroy(new Problem('unavailable', `The response took longer than ${timeoutMs / 1000} s.`)),
    timeoutMs,
  )
  body.once('error', (error) => {
    const { code } = toProblem(error)
    request.problem = code
    request.log.error({ request_id: request.id, code, records, err: error }, 'a streamed response failed')
  })
  body.once('close', () => {
    clearTimeout(timer)
    onEnd()
  })
  return reply.header('trailer', TRAILERS).send(body)
}

/** While records are searched for, the client gets no bytes. That is no reason to disconnect it. */
function restartSocketTimeout(socket: Socket): void {
  if (socket.timeout !== undefined) socket.setTimeout(socket.timeout)
}
