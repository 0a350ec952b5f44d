// Splits CSV text (strict RFC 4180), which arrives in pieces, into records and cells.
// Not a library: csv-parse takes about five times the CPU time, and uDSV reports no errors (docs/decisions/0006).
import { unreadable } from '../findings/findings.ts'
import { MAX_LINE_LENGTH } from './limits.ts'
import type { TableRecord } from './record-file.ts'

export class CsvError extends Error {
  override readonly name = 'CsvError'
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** The records of a file, each with the line on which it begins. An error names the file. */
export async function* readCsvRecords(
  pieces: AsyncIterable<string>,
  name: string,
): AsyncGenerator<TableRecord<string>[]> {
  const splitter = createCsvSplitter()
  try {
    for await (const piece of pieces) yield splitter.push(piece)
    yield splitter.end()
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw unreadable(name, error.line, 'csv', error.message)
  }
}

export function createCsvSplitter() {
  let text = ''
  let line = 1

  /** Removes the complete records from the text that has arrived. At the end, the last record needs no line end. */
  function takeRecords(ended: boolean): TableRecord<string>[] {
    const records: TableRecord<string>[] = []
    let at = 0
    let quote = text.indexOf('"')
    while (at < text.length) {
      let end = text.indexOf('\n', at)
      if (end === -1) {
        if (!ended) break
        end = text.length
      }
      requireLength(end - at, line)
      if (quote !== -1 && quote < at) quote = text.indexOf('"', at)
      if (quote === -1 || quote > end) {
        // Nearly every record: without a quote, the commas alone separate the cells.
        const stop = text.charCodeAt(end - 1) === CARRIAGE_RETURN ? end - 1 : end
        if (stop > at) records.push({ line, cells: text.slice(at, stop).split(',') })
        at = end + 1
        line += 1
        continue
      }
      const quoted = splitQuoted(text, at, ended, line)
      if (quoted === null) break
      requireLength(quoted.next - at, line)
      records.push({ line, cells: quoted.cells })
      at = quoted.next
      line += quoted.lines
    }
    text = text.slice(at)
    requireLength(text.length, line)
    return records
  }

  return {
    push(piece: string): TableRecord<string>[] {
      text += piece
      return takeRecords(false)
    },
    end: (): TableRecord<string>[] => takeRecords(true),
  }
}

const CARRIAGE_RETURN = 13

function requireLength(length: number, line: number): void {
  if (length > MAX_LINE_LENGTH)
    throw new CsvError(line, `has more than ${MAX_LINE_LENGTH} characters: is a quote never closed?`)
}

/** One record with at least one quote, or null if its end has not arrived yet. */
function splitQuoted(text: string, start: number, ended: boolean, line: number) {
  const cells: string[] = []
  let lines = 0
  let at = start
  let newline = -1
  for (;;) {
    if (text[at] === '"') {
      const quoted = readQuotedCell(text, at)
      if (quoted === null || (quoted.next === text.length && !ended)) {
        if (ended) throw new CsvError(line + lines, 'has a quote that is never closed')
        return null
      }
      cells.push(quoted.cell)
      lines += countNewlines(quoted.cell)
      at = quoted.next
    } else {
      if (newline < at) newline = indexOrEnd(text, '\n', at)
      let stop = Math.min(indexOrEnd(text, ',', at), newline)
      if (stop === newline && stop < text.length && stop > at && text[stop - 1] === '\r') stop -= 1
      const cell = text.slice(at, stop)
      if (cell.includes('"')) throw new CsvError(line + lines, 'has a quote inside an unquoted cell')
      cells.push(cell)
      at = stop
    }
    if (text[at] === ',') {
      at += 1
      continue
    }
    if (text[at] === '\r' && text[at + 1] === '\n') at += 1
    if (text[at] === '\n') return { cells, next: at + 1, lines: lines + 1 }
    if (at >= text.length - 1 && !ended) return null
    if (at >= text.length) return { cells, next: at, lines }
    throw new CsvError(line + lines, 'has text after a closing quote')
  }
}

/** The cell that begins with the quote at `start`, and the position after it; null without a closing quote. */
function readQuotedCell(text: string, start: number): { cell: string; next: number } | null {
  let cell = ''
  let from = start + 1
  for (;;) {
    const close = text.indexOf('"', from)
    if (close === -1) return null
    cell += text.slice(from, close)
    if (text[close + 1] !== '"') return { cell, next: close + 1 }
    cell += '"'
    from = close + 2
  }
}

function indexOrEnd(text: string, character: string, from: number): number {
  const index = text.indexOf(character, from)
  return index === -1 ? text.length : index
}

function countNewlines(cell: string): number {
  let count = 0
  for (let at = cell.indexOf('\n'); at !== -1; at = cell.indexOf('\n', at + 1)) count += 1
  return count
}
