// Counts the records of a file that was downloaded for a question, to compare them with the number that the service announced.
import { parquetMetadata } from 'hyparquet'

export const FORMATS = {
  CSV: 'text/csv',
  NDJSON: 'application/x-ndjson',
  Parquet: 'application/vnd.apache.parquet',
} as const
export type Format = keyof typeof FORMATS

/** Throws if the file is not complete or is not of this format. */
export async function countRecords(format: Format, file: Blob): Promise<number> {
  switch (format) {
    case 'CSV':
      // The first line has the names of the fields.
      return (await countLines(file, true)) - 1
    case 'NDJSON':
      return countLines(file, false)
    case 'Parquet':
      return Number(parquetMetadata(await file.arrayBuffer()).num_rows)
  }
}

const [LINE_END, QUOTE] = ['\n'.charCodeAt(0), '"'.charCodeAt(0)]

/** A line end between quotes belongs to a value of CSV. */
async function countLines(file: Blob, hasQuotes: boolean): Promise<number> {
  let lines = 0
  let isQuoted = false
  let last = LINE_END
  const reader = file.stream().getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) break
    for (const byte of value) {
      if (byte === QUOTE && hasQuotes) isQuoted = !isQuoted
      else if (byte === LINE_END && !isQuoted) lines++
      last = byte
    }
  }
  if (last !== LINE_END || isQuoted) throw new Error('the last line is not complete')
  return lines
}
