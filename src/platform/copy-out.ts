// COPY … TO STDOUT as a query of pg like any other, so that the pool's bounds and its care for broken connections hold
// for it too; and the rows of its binary format. pg itself reads every value as text, which doubles compressed bytes.
import type { Connection, Submittable } from 'pg'
import type { Sql } from 'sql-template-tag'

/** The methods are those that pg calls on a query while it runs. */
export class CopyOut implements Submittable {
  /** Set by pg. */
  callback?: (error: Error | null, bytes?: Buffer) => void
  readonly #text: string
  readonly #received: Buffer[] = []

  constructor({ text, values }: Sql) {
    // What it answers to anything else would reach no method here, and nobody who waits.
    if (!/^\s*copy\b.*\bto stdout\b/is.test(text)) throw new Error('this is not COPY … TO STDOUT')
    if (values.length > 0) throw new Error('COPY takes no parameters')
    this.#text = text
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
    this.callback?.(null, Buffer.concat(this.#received))
  }
}

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1')
const END = -1

/** The columns of each row, as views into `bytes`. None may be null. */
export function readBinaryRows(bytes: Buffer): Buffer[][] {
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw new Error('this is not a binary COPY')
  const extensionAt = SIGNATURE.length + 4
  let at = extensionAt + 4 + bytes.readInt32BE(extensionAt)
  const rows: Buffer[][] = []
  for (;;) {
    const columns = bytes.readInt16BE(at)
    at += 2
    if (columns === END) return rows
    const row: Buffer[] = []
    for (let column = 0; column < columns; column++) {
      const begins = at + 4
      at = begins + bytes.readInt32BE(at)
      if (at < begins || at > bytes.length) throw new Error('a column of a binary COPY is null or cut off')
      row.push(bytes.subarray(begins, at))
    }
    rows.push(row)
  }
}
