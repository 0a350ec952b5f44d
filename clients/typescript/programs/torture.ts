// Reads a service that breaks all the time (clients/torture/run.ts) and compares everything with the files of the releases:
// each result must be exactly right, or an error of the client.
import { createHash } from 'node:crypto'
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type OutbreakRecord, Outbreaks, OutbreaksError, Unavailable } from '../src/client.ts'
import { saveFile, updateCopy } from '../src/node.ts'

const truth = process.env['OUTBREAKS_TRUTH'] ?? ''
const deadline = Date.now() + Number(process.env['TORTURE_SECONDS'] ?? 30) * 1000
const WORKERS = 4
const RELEASES = [1, 2, 3]
const FORMATS = ['csv', 'ndjson', 'parquet']

const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-torture-client-'))
const fileOf = (release: number, format: string) => path.join(truth, `hed-outbreaks-${release}.${format}`)
const sha256 = async (file: string) =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
const linesOf = async (release: number) => (await readFile(fileOf(release, 'ndjson'), 'utf8')).split('\n').slice(0, -1)
const lines = new Map(await Promise.all(RELEASES.map(async (release) => [release, await linesOf(release)] as const)))
const records = new Map(
  [...lines].map(([release, texts]) => [release, texts.map((text) => JSON.parse(text) as OutbreakRecord)]),
)

const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)] as Item
const at = <Value>(map: ReadonlyMap<number, Value>, release: number): Value => map.get(release) as Value

/** Each returns whether what it read is right. */
const operations: Record<string, (client: Outbreaks, worker: number) => Promise<boolean>> = {
  async records(client) {
    const release = pick(RELEASES)
    const read = await client.records({ release, num: pick([300, 700, 1000]) }).toArray()
    return isDeepStrictEqual(read, at(records, release))
  },
  async cursor(client) {
    const release = pick(RELEASES)
    const ids = new Set<number>()
    let cursor: string | null = null
    // As a program that crashes again and again and goes on with the cursor.
    for (;;) {
      const walk = client.records({ release, num: 500 }, { cursor })
      const stop = 200 + Math.random() * 1500
      let read = 0
      try {
        for await (const { id } of walk) {
          ids.add(id)
          read += 1
          if (read > stop) break
        }
      } catch (error) {
        if (!(error instanceof Unavailable) || Date.now() > deadline) throw error
      }
      const expected = at(records, release).map(({ id }) => id)
      if (walk.done) return isDeepStrictEqual([...ids], expected)
      cursor = walk.cursor
    }
  },
  async filter(client) {
    const release = pick(RELEASES)
    const { event } = pick(at(records, release))
    const expected = at(records, release).filter((record) => record.event === event)
    return isDeepStrictEqual(await client.records({ event, release }).toArray(), expected)
  },
  async recordLines(client) {
    const release = pick(RELEASES)
    return isDeepStrictEqual(await Array.fromAsync(client.recordLines({ release })), at(lines, release))
  },
  async saveFile(client, worker) {
    const release = pick(RELEASES)
    const format = pick(FORMATS)
    const target = path.join(directory, `file-${worker}`)
    await rm(target, { force: true })
    await saveFile(client, format, target, { release })
    return (await sha256(target)) === (await sha256(fileOf(release, format)))
  },
  async updateCopy(client, worker) {
    const [from, to] = pick([
      [1, 2],
      [2, 3],
      [1, 3],
    ] as const)
    const copy = path.join(directory, `copy-${worker}`)
    await copyFile(fileOf(from, 'ndjson'), copy)
    try {
      await updateCopy(client, copy, { from, to })
    } catch (error) {
      if ((await sha256(copy)) !== (await sha256(fileOf(from, 'ndjson')))) return false
      throw error
    }
    return (await sha256(copy)) === (await sha256(fileOf(to, 'ndjson')))
  },
  async verify(client) {
    const release = pick(RELEASES)
    return (await client.verify(release)).records === at(lines, release).length
  },
}

const right: Record<string, number> = {}
const errors: Record<string, number> = {}
const wrong: string[] = []
const count = (counts: Record<string, number>, name: string) => {
  counts[name] = (counts[name] ?? 0) + 1
}

async function work(worker: number): Promise<void> {
  const client = Outbreaks.fromEnv({ timeoutMs: 10_000 })
  while (Date.now() < deadline) {
    const name = pick(Object.keys(operations))
    try {
      if (await operations[name]?.(client, worker)) count(right, name)
      else wrong.push(name)
    } catch (error) {
      if (error instanceof OutbreaksError) count(errors, `${name}: ${error.name}`)
      else wrong.push(`${name}: ${String(error)}`)
    }
  }
}

await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)))
await rm(directory, { recursive: true, force: true })
console.log(JSON.stringify({ right, errors, wrong }))
process.exitCode = wrong.length === 0 && Object.keys(right).length > 0 ? 0 : 1
