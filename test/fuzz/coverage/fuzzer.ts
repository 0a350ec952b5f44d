// A small mutation fuzzer, guided by the precise coverage of V8: an input that executes something new in a watched file is kept and
// mutated further. Why not Jazzer.js: docs/decisions/0037-limits-and-fuzzing-of-inputs.md.
import { Session } from 'node:inspector'
import { drawInt as int } from '../../seed.ts'

export interface Target {
  name: string
  /** Parts of the names of the files whose coverage guides the fuzzer. */
  files: readonly string[]
  seeds: readonly Buffer[]
  /** Throws for an input that the program handles wrongly. An input that it rejects with its own error is handled. */
  run: (input: Buffer) => Promise<void> | void
  /** Pieces that mutations insert, because they mean something to the reader. */
  words: readonly string[]
}

export interface FuzzResult {
  executions: number
  corpus: number
  /** Every fourth character of the watched files that the seeds executed, and that all inputs executed. */
  coveredBySeeds: number
  covered: number
  crashes: { error: string; input: string }[]
}

interface BlockCount {
  startOffset: number
  endOffset: number
  count: number
}
interface ScriptCoverage {
  url: string
  functions: { ranges: BlockCount[] }[]
}

const BATCH_MS = 100
/** Every block has more characters than this. */
const STEP = 4
const MAX_LENGTH = 1 << 14
const MAX_CRASHES = 10

export async function fuzz({ files, seeds, run, words }: Target, milliseconds: number): Promise<FuzzResult> {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  const reached = new Set<string>()
  const crashes: FuzzResult['crashes'] = []

  /** The characters of the watched files that were executed since the last call, each with its function. */
  function takeCovered(): string[] {
    const covered: string[] = []
    session.post('Profiler.takePreciseCoverage', (_, { result }: { result: ScriptCoverage[] }) => {
      for (const { url, functions } of result) {
        if (!files.some((file) => url.endsWith(file))) continue
        for (const { ranges } of functions) covered.push(...listCovered(url, ranges))
      }
    })
    return covered
  }

  /** An input of the batch that reaches one of the places, by halving it; null if running it again reaches none. */
  async function findInput(batch: readonly Buffer[], places: ReadonlySet<string>): Promise<Buffer | null> {
    const middle = batch.length >> 1
    for (const half of [batch.slice(0, middle), batch.slice(middle)]) {
      if (half.length === 0) continue
      for (const input of half) await execute(input)
      if (takeCovered().some((name) => places.has(name)))
        return half.length === 1 ? (half[0] ?? null) : findInput(half, places)
    }
    return null
  }

  async function execute(input: Buffer): Promise<void> {
    try {
      await run(input)
    } catch (error) {
      crashes.push({
        error: error instanceof Error ? (error.stack ?? '') : String(error),
        input: input.toString('hex'),
      })
    }
  }

  for (const seed of seeds) await execute(seed)
  for (const name of takeCovered()) reached.add(name)
  const coveredBySeeds = reached.size
  const corpus = [...seeds]
  let executions = seeds.length
  const deadline = performance.now() + milliseconds
  while (performance.now() < deadline && crashes.length < MAX_CRASHES) {
    const batch: Buffer[] = []
    // Taking the coverage takes some 20 ms, so many inputs share it.
    for (const end = performance.now() + BATCH_MS; performance.now() < end; ) {
      const input = mutate(pick(corpus), corpus, words)
      batch.push(input)
      await execute(input)
    }
    executions += batch.length
    const unseen = new Set(takeCovered().filter((name) => !reached.has(name)))
    if (unseen.size === 0) continue
    const found = await findInput(batch, unseen)
    if (found !== null) corpus.push(found)
    for (const name of unseen) reached.add(name)
  }
  session.post('Profiler.stopPreciseCoverage')
  session.disconnect()
  return { executions, corpus: corpus.length, coveredBySeeds, covered: reached.size, crashes }
}

/** V8 reports a block only if its count differs from that of the block around it, so the blocks with count 0 decide. */
function* listCovered(url: string, [whole, ...blocks]: readonly BlockCount[]): Generator<string> {
  if (whole === undefined || whole.count === 0) return
  const skipped = blocks.filter(({ count }) => count === 0)
  const isSkipped = (at: number) => skipped.some(({ startOffset, endOffset }) => at >= startOffset && at < endOffset)
  for (let at = whole.startOffset; at < whole.endOffset; at += STEP)
    if (!isSkipped(at)) yield `${url} ${whole.startOffset} ${at}`
}

const pick = <Item>(items: readonly Item[]): Item => items[int(items.length)] as Item

function mutate(input: Buffer, corpus: readonly Buffer[], words: readonly string[]): Buffer {
  let mutated = Buffer.from(input)
  for (let i = int(4); i >= 0; i--) {
    const at = int(mutated.length + 1)
    const cut = pick([0, 0, 1, int(8), int(64)])
    const insert = pick([
      () => Buffer.from(pick(words)),
      () => Buffer.from([int(256)]),
      () => Buffer.from([(mutated[at] ?? 0) ^ (1 << int(8))]),
      () => mutated.subarray(at, at + int(32)),
      () => {
        const other = pick(corpus)
        const from = int(other.length + 1)
        return other.subarray(from, from + int(64))
      },
      () => Buffer.alloc(0),
    ])()
    mutated = Buffer.concat([mutated.subarray(0, at), insert, mutated.subarray(at + cut)])
  }
  return mutated.subarray(0, MAX_LENGTH)
}
