// CPU time and memory of processes are read from /proc.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import {
  readClusterSeconds,
  readCpuSeconds,
  readPeakMegabytes,
  readResidentMegabytes,
  readThreadsMs,
} from '../../../bench/usage.ts'

const LINUX = { skip: process.platform !== 'linux', timeout: 20_000 }
const BUSY = 'const end = process.cpuUsage().user + 3e5; while (process.cpuUsage().user < end);'

const runBusyChild = () =>
  new Promise<void>((resolve, reject) =>
    spawn(process.execPath, ['-e', BUSY])
      .on('exit', () => resolve())
      .on('error', reject),
  )

test('CPU time grows by the work of the process', LINUX, () => {
  const [seconds, milliseconds, start] = [readCpuSeconds(process.pid), readThreadsMs(process.pid), process.cpuUsage()]
  while (process.cpuUsage(start).user < 200_000);
  assert.ok(readCpuSeconds(process.pid) - seconds >= 0.18)
  assert.ok(readThreadsMs(process.pid) - milliseconds >= 180)
})

test('the CPU time of a server contains its processes that have ended', LINUX, async () => {
  const before = readClusterSeconds(process.pid)
  await runBusyChild()
  assert.ok(readClusterSeconds(process.pid) - before >= 0.28)
})

test('the peak of the memory is at least its present size', LINUX, () => {
  const resident = readResidentMegabytes(process.pid)
  assert.ok(resident > 10)
  assert.ok(readPeakMegabytes(process.pid) >= resident * 0.9)
})

test('a process that does not exist has no CPU time and no memory', LINUX, () => {
  const [pid] = [2 ** 22 + 1]
  assert.deepEqual([readCpuSeconds(pid), readPeakMegabytes(pid)], [Number.NaN, 0])
})
