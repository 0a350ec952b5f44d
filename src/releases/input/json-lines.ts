// NDJSON: objects and the lines they stand on. Knows no fields of a record.
import { unreadable } from '../finding.ts'
import { type Encoding, readText } from './read-text.ts'

export interface JsonLine {
  line: number
  values: Record<string, unknown>
}

/** Empty lines are left out. */
export async function* readJsonLines(file: string, name: string, encoding?: Encoding): AsyncGenerator<JsonLine[]> {
  let rest = ''
  let line = 0
  const toObjects = (lines: string[]) =>
    lines.flatMap((text): JsonLine[] => {
      line += 1
      return text.trim() === '' ? [] : [{ line, values: readObject(text, name, line) }]
    })
  for await (const piece of readText(file, name, encoding)) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    yield toObjects(lines)
  }
  yield toObjects([rest])
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
