// CPU time and memory of processes, from /proc (Linux only). On a busy machine the CPU time of a request says more than its
// duration.
import { readdirSync, readFileSync } from 'node:fs'
import { load } from './client.ts'

/** The unit in which Linux counts the CPU time of a process. */
const TICKS_PER_SECOND = 100

export interface Rate {
  perSecond: number
  /** CPU time of the server for one request; NaN if it is not known. */
  cpuMs: number
}

/** Sends requests for some seconds. */
export async function measureRate(
  { address, pid }: { address: string; pid: number },
  next: () => string,
  plan: { connections: number; duration: number },
): Promise<Rate> {
  const before = readCpuSeconds(pid)
  const { perSecond, times } = await load(address, next, plan)
  return { perSecond, cpuMs: ((readCpuSeconds(pid) - before) * 1000) / times.length }
}

export const perSecondOf = (rounds: readonly Rate[]): number[] => rounds.map(({ perSecond }) => perSecond)
export const cpuMsOf = (rounds: readonly Rate[]): number[] => rounds.map(({ cpuMs }) => cpuMs)

/** The CPU time of a process, all threads together; NaN if it has ended. */
export function readCpuSeconds(pid: number): number {
  const [user = Number.NaN, system = Number.NaN] = readTimes(pid)
  return (user + system) / TICKS_PER_SECOND
}

/**
 * The CPU time of the threads of a process, exact enough for a single request. Threads that have ended are left out; those of the
 * service do not end.
 */
export const readThreadsMs = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`)
    .map((thread) => Number(readProc(pid, `task/${thread}/schedstat`).split(' ')[0]))
    .reduce((sum, nanoseconds) => sum + nanoseconds / 1e6, 0)

/** The CPU time of a PostgreSQL server: of its running processes and of those that have ended. */
export function readClusterSeconds(postmaster: number): number {
  const ended = readTimes(postmaster).reduce((sum, ticks) => sum + ticks, 0) / TICKS_PER_SECOND
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'latin1').trim().split(' ')
  return children
    .map((pid) => readCpuSeconds(Number(pid)))
    .filter(Number.isFinite)
    .reduce((sum, seconds) => sum + seconds, ended)
}

/** User time and system time, of the process and then of its children that have ended. */
function readTimes(pid: number): number[] {
  // After the name, which may contain anything, these are fields 12 to 15.
  return readProc(pid, 'stat').split(') ').at(-1)?.split(' ').slice(11, 15).map(Number) ?? []
}

/** The peak memory of a process so far; 0 if it has ended. */
export const readPeakMegabytes = (pid: number): number => readMemory(pid, 'VmHWM')

/** The memory that a process uses now. */
export const readResidentMegabytes = (pid: number): number => readMemory(pid, 'VmRSS')

const readMemory = (pid: number, name: string) =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readProc(pid, 'status'))?.[1] ?? 0) / 1024

function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch {
    return ''
  }
}
