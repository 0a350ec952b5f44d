// COPY … TO STDOUT as a query of pg like any other, so that the pool's bounds and its care for broken connections hold
// for it too; and the rows of its binary format. pg itself reads every value as text, which doubles compressed bytes.
import type { ClientBase, Connection, Submittable } from 'pg'
import type { Sql } from 'sql-template-tag'

/** The methods are those that pg calls on a query while it runs. */
export class CopyOut implements Submittable {
  /** Called by pg, which also puts its own around it. */
  callback?: (error: Error | null, messages?: Buffer[]) => void
  readonly #text: string
  readonly #received: Buffer[] = []

  constructor({ text, values }: Sql) {
    // What it answers to anything else would reach no method here, and nobody who waits.
    if (!/^\s*copy\b.*\bto stdout\b/is.test(text)) throw new Error('this is not COPY … TO STDOUT')
    if (values.length > 0) throw new Error('COPY takes no parameters')
    this.#text = text
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

  /** Copied, because pg uses its buffer again. */
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
const END = -1

/**
 * The columns of each row, as views into the messages. A message of the server holds whole rows, the first one also what
 * comes before them. No column may be null.
 */
export function readBinaryRows(messages: readonly Buffer[]): Buffer[][] {
  const rows: Buffer[][] = []
  let ended = false
  for (const [i, message] of messages.entries()) {
    for (let at = i === 0 ? skipHead(message) : 0; at < message.length; ) {
      if (ended) throw new Error('something follows the end of a binary COPY')
      const columns = message.readInt16BE(at)
      at += 2
      if (columns === END) ended = true
      else at = readRow(message, at, columns, rows)
    }
  }
  if (!ended) throw new Error('a binary COPY is cut off')
  return rows
}

function skipHead(message: Buffer): number {
  if (!message.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw new Error('this is not a binary COPY')
  const extensionAt = SIGNATURE.length + 4
  return extensionAt + 4 + message.readInt32BE(extensionAt)
}

/** Adds the row and gives where it ends. */
function readRow(message: Buffer, begins: number, columns: number, rows: Buffer[][]): number {
  const row: Buffer[] = []
  let at = begins
  for (let column = 0; column < columns; column++) {
    const from = at + 4
    at = from + message.readInt32BE(at)
    if (at < from || at > message.length) throw new Error('a column of a binary COPY is null or cut off')
    row.push(message.subarray(from, at))
  }
  rows.push(row)
  return at
}
