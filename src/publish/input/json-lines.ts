// NDJSON: objects and the lines they stand on. Knows no fields of a record.
import { type RowError, unreadable } from '../findings/findings.ts'
import { describeLostNumber, findLostNumber, isDeeper } from './json-value.ts'
import { type Encoding, readText } from './read-text.ts'

export interface JsonLine {
  line: number
  values: Record<string, unknown>
  /** What is wrong with it: then its values are not looked at. */
  faults: readonly RowError[]
}

/** So deep is no record, and programs that walk it would run out of stack. */
const DEEPEST = 100

/** Empty lines are left out. */
export async function* readJsonLines(file: string, name: string, encoding?: Encoding): AsyncGenerator<JsonLine[]> {
  let rest = ''
  let line = 0
  const toObjects = (lines: string[]) =>
    lines.flatMap((text): JsonLine[] => {
      line += 1
      return text.trim() === '' ? [] : [readLine(text, name, line)]
    })
  for await (const piece of readText(file, name, encoding)) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    yield toObjects(lines)
  }
  yield toObjects([rest])
}

function readLine(text: string, name: string, line: number): JsonLine {
  const values = readObject(text, name, line)
  // What names the record can still be read of it.
  const flat = Object.entries(values).filter(([, value]) => typeof value !== 'object')
  const fault = (rule: string, message: string) => ({
    line,
    values: Object.fromEntries(flat),
    faults: [{ column: null, rule, message }],
  })
  if (isDeeper(values, DEEPEST)) return fault('depth', `is nested deeper than ${DEEPEST} levels`)
  const lost = findLostNumber(text)
  if (lost !== null) return fault('number', describeLostNumber(lost))
  return { line, values, faults: [] }
}

function readObject(text: string, file: string, line: number): Record<string, unknown> {
  try {
    const values: unknown = JSON.parse(text)
    if (typeof values === 'object' && values !== null && !Array.isArray(values))
      return values as Record<string, unknown>
  } catch {
    // said below
  }
  throw unreadable(file, line, 'json', 'is not a JSON object')
}
