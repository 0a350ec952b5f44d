// The second implementation of docs/methods.md as a process: it reads one question in each line and writes one answer.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { after } from 'node:test'
import { iso31662 } from 'iso-3166'

export const ORACLE = import.meta.dirname

/** The reason to skip a test if Python is missing; otherwise false. */
export const skipWithoutPython: string | false =
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))']).status === 0
    ? false
    : 'python3 (3.11 or later) is not installed'

export type Answer = Record<string, unknown>

export interface Oracle {
  ask(question: object): Promise<Answer>
  stop(): Promise<void>
}

const ANSWER_MS = 120_000

/** ISO 3166-2 as data: the oracle has its own code for it. */
export function writeSubdivisions(): string {
  const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'outbreaks-oracle-')), 'subdivisions.json')
  after(() => rmSync(path.dirname(file), { recursive: true, force: true }))
  writeFileSync(file, JSON.stringify(iso31662))
  return file
}

/** `files` has the records of each release, and the day up to which it is known. */
export function startOracle(files: readonly { release: number; file: string; as_of: string }[]): Oracle {
  const releases = files.map(({ release, file, as_of }) => `${release}=${file}=${as_of}`)
  const child: ChildProcessWithoutNullStreams = spawn('python3', ['-B', `${ORACLE}/serve.py`, ...releases], {
    env: { ...process.env, SUBDIVISIONS: writeSubdivisions() },
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const waiting: { resolve(answer: Answer): void; reject(error: Error): void; timer: NodeJS.Timeout }[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    const next = waiting.shift()
    clearTimeout(next?.timer)
    next?.resolve(JSON.parse(line) as Answer)
  })
  const exited = new Promise<void>((resolve) => {
    child.on('exit', () => {
      for (const { reject, timer } of waiting.splice(0)) {
        clearTimeout(timer)
        reject(new Error(`the oracle ended: ${errors}`))
      }
      resolve()
    })
  })
  // Writing to a process that has ended: the questions above are rejected.
  child.stdin.on('error', () => {})
  return {
    ask: (question) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => child.kill('SIGKILL'), ANSWER_MS)
        waiting.push({ resolve, reject, timer })
        child.stdin.write(`${JSON.stringify(question)}\n`)
      }),
    stop() {
      child.stdin.end()
      return exited
    },
  }
}
