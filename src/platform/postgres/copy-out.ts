// COPY … TO STDOUT as a pg query, so that the timeouts and the error handling of the pool apply, and a parser of its
// binary format. A normal pg query reads every value as text, which doubles the size of compressed bytes.
import type { ClientBase, Connection, Submittable } from 'pg'
import type { Sql } from 'sql-template-tag'

/** The server cancels the statement first, so that it does not run on without a client. */
const CLIENT_MARGIN_MS = 500

/** pg calls these methods while the query runs. */
export class CopyOut implements Submittable {
  /** pg wraps this callback in its own. */
  callback?: (error: Error | null, messages?: Buffer[]) => void
  /** pg waits this long for the query instead of the time of its pool. */
  readonly query_timeout: number | undefined
  readonly #text: string
  readonly #received: Buffer[] = []

  /** With `timeoutMs` the server gives the statement this time instead of that of the role. */
  constructor({ text, values }: Sql, timeoutMs?: number) {
    // For another statement the server sends messages that this class does not handle, and run() would never resolve.
    if (!/^\s*copy\b.*\bto stdout\b/is.test(text)) throw new Error('this is not COPY … TO STDOUT')
    if (values.length > 0) throw new Error('COPY takes no parameters')
    // Two statements in one message are one transaction, to which the setting is limited, even behind a pooler.
    this.#text = timeoutMs === undefined ? text : `set local statement_timeout = ${timeoutMs}; ${text}`
    this.query_timeout = timeoutMs === undefined ? undefined : timeoutMs + CLIENT_MARGIN_MS
  }

  run(client: ClientBase): Promise<Buffer[]> {
    return new Promise((resolve, reject) => {
      this.callback = (error, messages = []) => (error === null ? resolve(messages) : reject(error))
      client.query(this)
    })
  }

  submit(connection: Connection): void {
    connection.query(this.#text)
  }

  /** Copied, because pg reuses its buffer. */
  handleCopyData({ chunk }: { chunk: Buffer }): void {
    this.#received.push(Buffer.from(chunk))
  }

  handleError(error: Error): void {
    this.callback?.(error)
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback?.(null, this.#received)
  }
}

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1')
const TRAILER = -1

/**
 * The columns of each row, as views into the messages. Each message contains complete rows; the first one starts with
 * the header. No column can be null.
 */
export function readBinaryRows(messages: readonly Buffer[]): Buffer[][] {
  const rows: Buffer[][] = []
  let ended = false
  for (const [i, message] of messages.entries()) {
    for (let offset = i === 0 ? skipHeader(message) : 0; offset < message.length; ) {
      if (ended) throw new Error('a binary COPY has data after its trailer')
      const columnCount = message.readInt16BE(offset)
      offset += 2
      if (columnCount === TRAILER) ended = true
      else offset = readRow(message, offset, columnCount, rows)
    }
  }
  if (!ended) throw new Error('a binary COPY is truncated')
  return rows
}

function skipHeader(message: Buffer): number {
  if (!message.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw new Error('this is not a binary COPY')
  const extensionAt = SIGNATURE.length + 4
  return extensionAt + 4 + message.readInt32BE(extensionAt)
}

/** Adds the row and returns the offset of its end. */
function readRow(message: Buffer, start: number, columnCount: number, rows: Buffer[][]): number {
  const row: Buffer[] = []
  let offset = start
  for (let column = 0; column < columnCount; column++) {
    const valueStart = offset + 4
    offset = valueStart + message.readInt32BE(offset)
    if (offset < valueStart || offset > message.length)
      throw new Error('a column of a binary COPY is null or truncated')
    row.push(message.subarray(valueStart, offset))
  }
  rows.push(row)
  return offset
}
