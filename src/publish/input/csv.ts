// Strict RFC 4180, from text that comes in pieces. Knows cells and lines, not what they mean.
// Our own because csv-parse takes about five times the CPU time and uDSV reports no errors (docs/decisions/0006).
import { unreadable } from '../findings/findings.ts'
import type { TableRecord } from './record-file.ts'

export class CsvError extends Error {
  override readonly name = 'CsvError'
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** A record this long is a quote that was never closed, or no CSV at all. */
const LONGEST_RECORD = 1 << 24

/** The records of a file, each with the line it begins on; a fault is said with the name of the file. */
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

  /** The records that are whole in what came so far; at the end, all of them. */
  function take(ended: boolean): TableRecord<string>[] {
    const records: TableRecord<string>[] = []
    let at = 0
    let quote = text.indexOf('"')
    while (at < text.length) {
      let end = text.indexOf('\n', at)
      if (end === -1) {
        if (!ended) break
        end = text.length
      }
      if (quote !== -1 && quote < at) quote = text.indexOf('"', at)
      if (quote === -1 || quote > end) {
        // Nearly every record: no quote, so the commas alone divide it.
        const stop = text.charCodeAt(end - 1) === CARRIAGE_RETURN ? end - 1 : end
        if (stop > at) records.push({ line, cells: text.slice(at, stop).split(',') })
        at = end + 1
        line += 1
        continue
      }
      const quoted = splitQuoted(text, at, ended, line)
      if (quoted === null) break
      records.push({ line, cells: quoted.cells })
      at = quoted.next
      line += quoted.lines
    }
    text = text.slice(at)
    if (text.length > LONGEST_RECORD) throw new CsvError(line, 'the record does not end: is a quote left open?')
    return records
  }

  return {
    push(piece: string): TableRecord<string>[] {
      text += piece
      return take(false)
    },
    end: (): TableRecord<string>[] => take(true),
  }
}

const CARRIAGE_RETURN = 13

/** One record with at least one quote in it, or null where its end has not come yet. */
function splitQuoted(text: string, start: number, ended: boolean, line: number) {
  const cells: string[] = []
  let lines = 0
  let at = start
  let newline = -1
  for (;;) {
    if (text[at] === '"') {
      const quoted = readQuotedCell(text, at)
      if (quoted === null || (quoted.next === text.length && !ended)) {
        if (ended) throw new CsvError(line + lines, 'a quote is left open')
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
      if (cell.includes('"'))
        throw new CsvError(line + lines, 'a quote stands inside a cell that does not begin with one')
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
    throw new CsvError(line + lines, 'text stands behind a closing quote')
  }
}

/** The cell that begins with the quote at `start`, and where it ends; null where its closing quote is not there. */
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
