// Runs outbreakctl as a process and measures what it takes: time, CPU time and the peak of its memory (Linux: /proc).
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'

const cli = path.resolve(import.meta.dirname, '../../../src/cli.ts')
const POLL_MS = 20
/** The unit of CPU times in /proc on every Linux architecture that Node supports. */
const TICK_MS = 10
const MIB = 1 << 20

export interface Measured {
  /** Null if it was killed: because of one of the limits, or by the kernel. */
  code: number | null
  output: string
  wallMs: number
  cpuMs: number
  peakMib: number
}

/** Kills the process when it takes more than the limits, so that a failed guard does not take the machine down. */
export async function runMeasured(
  args: readonly string[],
  { maxMs = 20_000, maxMib = 3000, env = {} }: { maxMs?: number; maxMib?: number; env?: Record<string, string> } = {},
): Promise<Measured> {
  const started = performance.now()
  const child = spawn(process.execPath, [cli, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  let [peakMib, cpuMs] = [0, 0]
  const timer = setInterval(() => {
    const usage = readUsage(child.pid ?? 0)
    if (usage === null) return
    ;({ peakMib, cpuMs } = usage)
    if (peakMib > maxMib || performance.now() - started > maxMs) child.kill('SIGKILL')
  }, POLL_MS)
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  clearInterval(timer)
  return { code, output, wallMs: performance.now() - started, cpuMs, peakMib }
}

function readUsage(pid: number): Pick<Measured, 'peakMib' | 'cpuMs'> | null {
  try {
    const peakKib = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
    // After the name of the program, which may contain spaces: utime and stime are the 12th and 13th fields.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    if (Number.isNaN(peakKib)) return null
    return { peakMib: (peakKib * 1024) / MIB, cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS }
  } catch {
    return null
  }
}
