// node clients/compare/sync.ts: each package follows 30 releases with a copy, 6 of the sample and 24 synthetic ones. After each the
// copy must be the published file, byte for byte. Prints the bytes that were fetched for each, beside the size of the changes.
import { connect, createServer } from 'node:net'
import path from 'node:path'
import { findFreePort } from '../../dev/postgres.ts'
import { type Published, publishSample, publishSynthetic, python, runProgram, withService } from '../service.ts'

const clients = path.resolve(import.meta.dirname, '..')
const programs: Record<string, string[]> = {
  Python: [python, path.join(clients, 'python/programs/sync.py')],
  R: ['Rscript', path.join(clients, 'r/programs/sync.R')],
  TypeScript: [process.execPath, path.join(clients, 'typescript/programs/sync.ts')],
}

/** A line that a program prints after each release. */
interface Step {
  readonly release: number
  /** Whether the SHA-256 of the copy is that of the NDJSON file of the release. */
  readonly right: boolean
  readonly changes: number
}

/** Forwards connections and counts the bytes of the answers. */
async function startCounter(port: number, target: number): Promise<{ take(): number; close(): void }> {
  let bytes = 0
  const server = createServer((socket) => {
    const upstream = connect(target, '127.0.0.1')
    upstream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    socket.pipe(upstream).pipe(socket)
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const)
      one.on('error', () => other.destroy())
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    take() {
      const taken = bytes
      bytes = 0
      return taken
    },
    close: () => void server.close(),
  }
}

let [passed, failed] = [0, 0]

async function follow(name: string, published: Published): Promise<void> {
  const [port, target] = [await findFreePort(), await findFreePort()]
  const overrides = { OUTBREAKS_PORT: String(target), OUTBREAKS_BASE_URL: `http://127.0.0.1:${port}` }
  const counter = await startCounter(port, target)
  const use = async (environment: Record<string, string>) => {
    for (const [language, command] of Object.entries(programs)) {
      console.log(`${name}, ${language}: release, changes, KB fetched, bytes for each change`)
      counter.take()
      const settings = { ...environment, SYNC_RELEASES: String(published.releases) }
      for await (const line of runProgram(command, settings)) {
        const { release, right, changes } = JSON.parse(line) as Step
        const bytes = counter.take()
        if (right) passed += 1
        else failed += 1
        const each = release === 1 ? 'downloaded' : Math.round(bytes / Math.max(1, changes))
        console.log(`  ${release} ${changes} ${Math.round(bytes / 1000)} ${each}${right ? '' : ' WRONG'}`)
      }
    }
  }
  await withService(published, use, overrides).finally(counter.close)
}

await follow('sample', await publishSample())
await follow('synthetic', await publishSynthetic({ records: 20_000, releases: 24 }))
console.log(`sync: ${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
