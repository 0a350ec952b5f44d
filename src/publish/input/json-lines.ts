// Reads NDJSON: objects with their line numbers. Knows no fields of a record.
import { type RowError, unreadable } from '../findings/findings.ts'
import { findLoss, isDeeper } from './json-value.ts'
import { MAX_LINE_DEPTH, MAX_LINE_LENGTH } from './limits.ts'
import { type Encoding, readText } from './read-text.ts'

export interface JsonLine {
  line: number
  values: Record<string, unknown>
  /** The errors of the line. If there are any, its values are not validated. */
  errors: readonly RowError[]
}

/** Empty lines are skipped. */
export async function* readJsonLines(file: string, name: string, encoding?: Encoding): AsyncGenerator<JsonLine[]> {
  let rest = ''
  let line = 0
  const toObjects = (lines: string[]) =>
    lines.flatMap((text): JsonLine[] => {
      line += 1
      requireLineLength(text, name, line)
      return text.trim() === '' ? [] : [parseLine(text, name, line)]
    })
  for await (const piece of readText(file, name, encoding)) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    yield toObjects(lines)
    requireLineLength(rest, name, line + 1)
  }
  yield toObjects([rest])
}

function requireLineLength({ length }: string, name: string, line: number): void {
  if (length > MAX_LINE_LENGTH)
    throw unreadable(name, line, 'json', `has a line of more than ${MAX_LINE_LENGTH} characters`)
}

function parseLine(text: string, name: string, line: number): JsonLine {
  const values = parseObject(text, name, line)
  // The id or key of the record can still be read.
  const flat = Object.entries(values).filter(([, value]) => typeof value !== 'object')
  const reject = (rule: string, message: string) => ({
    line,
    values: Object.fromEntries(flat),
    errors: [{ column: null, rule, message }],
  })
  if (isDeeper(values, MAX_LINE_DEPTH)) return reject('depth', `is nested deeper than ${MAX_LINE_DEPTH} levels`)
  const loss = findLoss(text)
  if (loss !== null) return reject(loss.rule, loss.message)
  return { line, values, errors: [] }
}

function parseObject(text: string, file: string, line: number): Record<string, unknown> {
  try {
    const values: unknown = JSON.parse(text)
    if (typeof values === 'object' && values !== null && !Array.isArray(values))
      return values as Record<string, unknown>
  } catch {
    // reported below
  }
  throw unreadable(file, line, 'json', 'is not a JSON object')
}
