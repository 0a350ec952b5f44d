// A copy of a release as lines: reads them from bytes, and applies the changes up to a later release. The bytes of a record stay
// as the service wrote them.
import { readId } from './digest.ts'
import { damaged } from './errors.ts'

type Lines = Iterable<string> | AsyncIterable<string>

export interface ChangeCounts {
  added: number
  corrected: number
  withdrawn: number
}

interface ChangeLine {
  readonly id: number
  readonly change: keyof ChangeCounts
  /** The record afterwards, as text; null if it was withdrawn. */
  readonly after: string | null
}

const CHANGES = ['added', 'corrected', 'withdrawn']
const AFTER = ',"after":'

function parseChange(line: string): ChangeLine {
  const { id, change } = parseJson(line)
  const from = line.indexOf(AFTER)
  const after = line.slice(from + AFTER.length, -1)
  const isValid = from >= 0 && CHANGES.includes(String(change)) && (after === 'null') === (change === 'withdrawn')
  if (!isValid || (after !== 'null' && readId(after) !== id)) throw damaged(`Not a change: ${line.slice(0, 80)}`)
  return { id: Number(id), change: change as keyof ChangeCounts, after: after === 'null' ? null : after }
}

function parseJson(line: string): { id?: unknown; change?: unknown } {
  try {
    return JSON.parse(line) as { id?: unknown; change?: unknown }
  } catch {
    throw damaged(`Not a change: ${line.slice(0, 80)}`)
  }
}

async function* inOrder<Item>(items: Iterable<Item> | AsyncIterable<Item>, idOf: (item: Item) => number) {
  let last = 0
  for await (const item of items) {
    const id = idOf(item)
    if (id <= last) throw damaged(`Record ${id} comes after record ${last}`)
    last = id
    yield { id, item }
  }
}

async function* parseChanges(lines: Lines) {
  for await (const line of lines) yield parseChange(line)
}

/** The records of the later release, line by line. Both inputs are in ascending order of id and are read once. */
export async function* applyChanges(
  copy: Lines,
  changes: Lines,
  counts?: ChangeCounts,
): AsyncGenerator<string, void, undefined> {
  const records = inOrder(copy, readId)
  const changed = inOrder(parseChanges(changes), ({ id }) => id)
  try {
    let record = await records.next()
    for await (const { id, item } of changed) {
      for (; !record.done && record.value.id < id; record = await records.next()) yield record.value.item
      const isPresent = !record.done && record.value.id === id
      if (isPresent === (item.change === 'added')) throw damaged(`The change of record ${id} does not fit the copy`)
      if (isPresent) record = await records.next()
      if (counts !== undefined) counts[item.change] += 1
      if (item.after !== null) yield item.after
    }
    for (; !record.done; record = await records.next()) yield record.value.item
  } finally {
    await records.return()
  }
}

/** Fails if the bytes are not UTF-8 or the last line has no end: then bytes are missing. */
export async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let rest = ''
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest + decoder.decode() !== '') throw new Error('the last line is incomplete')
}
