// Directories for temporary files. Their names have the machine and the process, so that what a killed process left is removed
// when another one first needs a directory.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { OperatorError } from './operator-error.ts'

/** Containers that share a directory repeat process ids, but not host names. */
const PREFIX = `outbreaks-${os.hostname()}-`
let cleaned: Promise<void> | undefined

/** The caller removes it. */
export async function createTemporaryDirectory(): Promise<string> {
  // Only once, before this process has a directory: the process before it in a container had the same id.
  cleaned ??= removeAbandoned()
  await cleaned
  return mkdtemp(path.join(os.tmpdir(), `${PREFIX}${process.pid}-`)).catch((cause: Error) => {
    throw new OperatorError(`No temporary file can be written to ${os.tmpdir()} (${cause.message}).`, {
      cause,
      remedy: 'Create the directory, free some space, or set TMPDIR to another directory.',
    })
  })
}

async function removeAbandoned(): Promise<void> {
  const names = await readdir(os.tmpdir()).catch(() => [])
  for (const name of names.filter((found) => found.startsWith(PREFIX))) {
    const pid = /^(\d+)-/.exec(name.slice(PREFIX.length))?.[1]
    if (pid === undefined || isRunning(Number(pid))) continue
    // What belongs to another user stays.
    await rm(path.join(os.tmpdir(), name), { recursive: true, force: true }).catch(() => {})
  }
}

function isRunning(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
