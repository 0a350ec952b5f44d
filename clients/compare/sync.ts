// node clients/compare/sync.ts: each package follows 30 releases with a copy, 6 of the sample and 24 synthetic ones. After each the
// copy must be the published file, byte for byte. Prints the bytes that were fetched for each, beside the size of the changes.
import { connect, createServer } from 'node:net'
import path from 'node:path'
import { findFreePort } from '../../dev/postgres.ts'
import { addFindings, type Findings, reportFindings } from '../report.ts'
import { type Published, publishSample, publishSynthetic, python, runProgram, withService } from '../service.ts'
import { compareCopies, describeLines, type Step } from './copies.ts'

const clients = path.resolve(import.meta.dirname, '..')
const programs: Record<string, string[]> = {
  Python: [python, path.join(clients, 'python/programs/sync.py')],
  R: ['Rscript', path.join(clients, 'r/programs/sync.R')],
  TypeScript: [process.execPath, path.join(clients, 'typescript/programs/sync.ts')],
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

async function follow(name: string, published: Published): Promise<Findings> {
  const files = await Promise.all(
    Array.from({ length: published.releases }, (_, index) =>
      describeLines(path.join(published.files, `hed-outbreaks-${index + 1}.ndjson`)),
    ),
  )
  const [port, target] = [await findFreePort(), await findFreePort()]
  const overrides = { OUTBREAKS_PORT: String(target), OUTBREAKS_BASE_URL: `http://127.0.0.1:${port}` }
  const counter = await startCounter(port, target)
  const use = async (environment: Record<string, string>) => {
    const findings: Findings[] = []
    for (const [language, command] of Object.entries(programs)) {
      console.log(`${name}, ${language}: release, changes, KB fetched, bytes for each change`)
      counter.take()
      const settings = { ...environment, SYNC_RELEASES: String(published.releases) }
      const steps: Step[] = []
      for await (const line of runProgram(command, settings)) {
        const step = JSON.parse(line) as Step
        const bytes = counter.take()
        const each = step.release === 1 ? 'downloaded' : Math.round(bytes / Math.max(1, step.changes))
        console.log(`  ${step.release} ${step.changes} ${Math.round(bytes / 1000)} ${each}`)
        steps.push(step)
      }
      findings.push(compareCopies(`${name}, ${language}`, steps, files))
    }
    return addFindings(findings)
  }
  return withService(published, use, overrides).finally(counter.close)
}

const sample = await follow('sample', await publishSample())
const synthetic = await follow('synthetic', await publishSynthetic({ records: 20_000, releases: 24 }))
reportFindings('sync', addFindings([sample, synthetic]))
