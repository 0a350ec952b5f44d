// Publishes with outbreakctl and measures its time, CPU time and memory. Writes corrections of synthetic records.
import { spawn } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Settings } from '../dev/service.ts'
import { type SynthRow, synthesise } from '../dev/synth/synthesise.ts'
import { readClusterSeconds, readCpuSeconds, readPeakMegabytes } from './usage.ts'

export interface Publication {
  seconds: number
  /** CPU time of outbreakctl and of PostgreSQL. */
  cpuSeconds: number
  peakMegabytes: number
}

const cli = path.resolve(import.meta.dirname, '../src/cli.ts')

/** The time includes the start of the program. The flag is the one in the first line of the command. */
export async function publish(
  { databaseUrl, secret }: Settings,
  directory: string,
  postmaster: number,
): Promise<Publication> {
  const [before, began] = [readClusterSeconds(postmaster), performance.now()]
  const child = spawn(process.execPath, ['--max-semi-space-size=8', cli, 'release', 'publish', directory], {
    env: { ...process.env, DATABASE_URL: databaseUrl, OUTBREAKS_SECRET: secret },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-2000)
  })
  const [peaks, cpu]: [number[], number[]] = [[0], [0]]
  const sampling = setInterval(() => {
    peaks.push(readPeakMegabytes(child.pid ?? 0))
    cpu.push(readCpuSeconds(child.pid ?? 0))
  }, 50)
  const code = await new Promise((resolve) => child.on('exit', resolve))
  clearInterval(sampling)
  if (code !== 0) throw new Error(`publishing failed: ${stderr}`)
  return {
    seconds: (performance.now() - began) / 1000,
    cpuSeconds: readClusterSeconds(postmaster) - before + Math.max(...cpu.filter(Number.isFinite)),
    peakMegabytes: Math.max(...peaks),
  }
}

/** The records of release 1. */
export const synthesiseBase = (records: number) => synthesise({ records, seed: 1, release: 1 })

/** Writes records with other counts, as changes to release `base`. */
export async function writeCorrections(scratch: string, rows: Iterable<SynthRow>, base: number): Promise<string> {
  const directory = path.join(scratch, `corrections-${base}`)
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory)
  const lines = Iterator.from(rows)
    .map((row) => ({
      ...row,
      cases: typeof row['cases'] === 'number' ? row['cases'] + base : null,
      note: `Recount ${base}`,
    }))
    .map((row) => `${JSON.stringify(row)}\n`)
  await writeFile(path.join(directory, 'outbreaks.ndjson'), lines)
  const manifest = { title: 'Corrections', licence: 'CC0-1.0', base }
  await writeFile(path.join(directory, 'release.json'), JSON.stringify(manifest))
  return directory
}
