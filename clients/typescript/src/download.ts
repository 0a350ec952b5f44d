// A file of a release as a stream: resumed where the connection broke off, and verified by its SHA-256.

import { damaged, NotFound, OutbreaksError } from './errors.ts'
import type { ReleaseFile } from './generated/answers.ts'
import { readStream } from './send.ts'
import { Sha256, toHex } from './sha256.ts'
import { Attempts, type Transport } from './transport.ts'

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

export interface DownloadOptions {
  readonly onProgress?: ((done: number, total: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Iterate it for bytes. The iteration fails before its end if a byte is missing or altered: then discard what it gave. */
export class Download implements AsyncIterable<Uint8Array> {
  readonly name: string
  readonly size: number
  readonly sha256: string
  readonly release: number
  readonly #transport: Transport
  readonly #path: string
  readonly #options: DownloadOptions

  constructor(
    transport: Transport,
    file: ReleaseFile,
    place: { path: string; release: number },
    options: DownloadOptions,
  ) {
    this.name = file.name
    this.size = file.bytes
    this.sha256 = file.sha256
    this.release = place.release
    this.#transport = transport
    this.#path = place.path
    this.#options = options
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    return this.after([])
  }

  /** The bytes after those that an earlier download has left. Fails at the end if these are not of the same file. */
  async *after(have: Bytes): AsyncGenerator<Uint8Array, void, undefined> {
    const { onProgress } = this.#options
    const hash = new Sha256()
    let position = 0
    for await (const bytes of have) {
      hash.update(bytes)
      position += bytes.length
    }
    const attempts = new Attempts()
    while (position < this.size) {
      const range = { range: `bytes=${position}-`, 'if-range': `"${this.sha256}"` }
      const request = { path: this.#path, headers: position === 0 ? {} : range, signal: this.#options.signal }
      const response = await this.#transport.open(request, attempts)
      const begin = response.status === 206 ? readBegin(response.headers) : 0
      try {
        for await (const bytes of skipBytes(response.body, position - begin)) {
          if (begin > position) throw damaged(`The range begins at ${begin}, not at ${position}`)
          attempts.reset()
          position += bytes.length
          if (position > this.size) throw damaged(`${this.name} has more than ${this.size} bytes`)
          hash.update(bytes)
          onProgress?.(position, this.size)
          yield bytes
        }
        if (position < this.size) throw new Error('the body is shorter than the file')
      } catch (cause) {
        await this.#transport.retryBody(request, attempts, cause)
      }
    }
    if (position > this.size || toHex(hash.digest()) !== this.sha256)
      throw damaged(`${this.name} is not the published file: its SHA-256 differs`)
  }

  /** All bytes of the iteration in memory, verified. */
  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    const parts: Uint8Array[] = []
    for await (const bytes of this) parts.push(bytes)
    const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
    let position = 0
    for (const part of parts) {
      whole.set(part, position)
      position += part.length
    }
    return whole
  }

  /** The bytes of the iteration, decompressed if the name ends with `.gz`. */
  async *text(): AsyncGenerator<Uint8Array, void, undefined> {
    if (!this.name.endsWith('.gz')) return yield* this
    const compressed = this.stream() as ReadableStream<Uint8Array<ArrayBuffer>>
    try {
      yield* readStream(compressed.pipeThrough(new DecompressionStream('gzip')))
    } catch (error) {
      // Altered bytes may not be gzip any more, before the end shows that their SHA-256 differs.
      if (error instanceof OutbreaksError || this.#options.signal?.aborted) throw error
      throw damaged(`${this.name} is not the published file: it cannot be decompressed`)
    }
  }

  /** For `new Response(…)`, `pipeTo` and the like. An error of the stream means: discard what arrived. */
  stream(): ReadableStream<Uint8Array> {
    const iterator = this[Symbol.asyncIterator]()
    return new ReadableStream({
      async pull(controller) {
        const { done, value } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await iterator.return()
      },
    })
  }
}

/** RFC 9110, section 14.4. */
const readBegin = (headers: Headers) =>
  Number(/^bytes (\d+)-/.exec(headers.get('content-range') ?? '')?.[1] ?? Infinity)

async function* skipBytes(body: AsyncIterable<Uint8Array>, count: number): AsyncGenerator<Uint8Array, void, undefined> {
  let left = count
  for await (const bytes of body) {
    if (left < bytes.length) yield left === 0 ? bytes : bytes.subarray(left)
    left = Math.max(0, left - bytes.length)
  }
}

/** csv, ndjson or parquet. CSV and NDJSON are compressed: their names end with `.gz`. */
export function findFile(files: readonly ReleaseFile[], format: string): ReleaseFile {
  const found = files.find(({ name }) => [`.${format}`, `.${format}.gz`].some((end) => name.endsWith(end)))
  if (found !== undefined) return found
  const names = files.map(({ name }) => name).join(', ') || 'no files'
  throw new NotFound({
    status: 404,
    code: 'no_such_file',
    detail: `There is no file ${format}: the release has ${names}`,
  })
}
