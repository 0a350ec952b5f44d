// Publishes with outbreakctl and measures its time and memory.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Settings } from '../dev/service.ts'

export interface Publication {
  seconds: number
  peakMegabytes: number
}

const cli = path.resolve(import.meta.dirname, '../src/cli.ts')

/** The time includes the start of the program. The flag is the one in the first line of the command. */
export async function publish({ databaseUrl, secret }: Settings, directory: string): Promise<Publication> {
  const began = performance.now()
  const child = spawn(process.execPath, ['--max-semi-space-size=8', cli, 'release', 'publish', directory], {
    env: { ...process.env, DATABASE_URL: databaseUrl, OUTBREAKS_SECRET: secret },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-2000)
  })
  let peak = 0
  const sampling = setInterval(() => {
    peak = Math.max(peak, readPeakMegabytes(child.pid ?? 0))
  }, 50)
  const code = await new Promise((resolve) => child.on('exit', resolve))
  clearInterval(sampling)
  if (code !== 0) throw new Error(`publishing failed: ${stderr}`)
  return { seconds: (performance.now() - began) / 1000, peakMegabytes: peak }
}

/** The peak memory of a process (Linux only; 0 elsewhere). */
function readPeakMegabytes(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
