// Publishing as the operator does it, with the time and the memory it took.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Settings } from '../dev/service.ts'

export interface Publication {
  seconds: number
  peakMegabytes: number
}

const cli = path.resolve(import.meta.dirname, '../src/cli.ts')

/** The start of the program included. Its flag is that of the command's first line. */
export async function publish({ databaseUrl, secret }: Settings, directory: string): Promise<Publication> {
  const began = performance.now()
  const child = spawn(process.execPath, ['--max-semi-space-size=8', cli, 'release', 'publish', directory], {
    env: { ...process.env, DATABASE_URL: databaseUrl, OUTBREAKS_SECRET: secret },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let faults = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    faults = (faults + text).slice(-2000)
  })
  let peak = 0
  const watch = setInterval(() => {
    peak = Math.max(peak, readPeak(child.pid ?? 0))
  }, 50)
  const code = await new Promise((resolve) => child.on('exit', resolve))
  clearInterval(watch)
  if (code !== 0) throw new Error(`publishing failed: ${faults}`)
  return { seconds: (performance.now() - began) / 1000, peakMegabytes: peak }
}

/** The most memory a process ever had, as Linux keeps it; 0 elsewhere. */
function readPeak(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
