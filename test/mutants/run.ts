// npm run mutants: plants faults, one at a time, in a copy of the checkout, and runs the tests that must notice them.
// Writes docs/mutants.md. `--each N` plants N faults in each module, `--only TEXT` takes the modules whose path contains it.
import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { globalSetup, globalTeardown } from '../database.ts'
import { guardingModules } from './modules.ts'
import { findMutations, type Mutation } from './mutations.ts'
import { type Mutant, writeReport } from './report.ts'
import { reasonFor, staleReasons } from './survivors.ts'

const { values } = parseArgs({
  options: { each: { type: 'string', default: '2' }, only: { type: 'string', default: '' } },
})
const root = path.resolve(import.meta.dirname, '../..')
const NOT_COPIED = ['.git', 'node_modules']
const TEST_TIMEOUT_MS = 180_000
const WORKERS = 2
/** As in .ci/run. */
const FEWER_ROUNDS = { FILTER_RUNS: '100', KILL_ROUNDS: '3', REAL_DATA: 'small' }
const LEAST_MUTANTS = 60
const LEAST_SHARE = 0.9

const modules = guardingModules.filter(({ source }) => source.includes(values.only))
const planned = modules.flatMap((module) =>
  findMutations(module.source, readFileSync(path.join(root, module.source), 'utf8'))
    .slice(0, Number(values.each))
    .map((mutation) => ({ ...module, mutation })),
)
if (planned.length === 0) throw new Error('no fault is planned: check --only and --each')
const running = new Set<ChildProcess>()
const copies: string[] = []

function copyCheckout(): void {
  const copy = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-mutants-'))
  copies.push(copy)
  cpSync(root, copy, { recursive: true, filter: (file) => !NOT_COPIED.includes(path.relative(root, file)) })
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'))
}

/** True if all tests pass. Ends with the first failure. */
function runTests(copy: string, tests: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, ['--test', '--test-concurrency=1', '--test-reporter=tap', ...tests], {
    cwd: copy,
    env: { ...process.env, ...FEWER_ROUNDS },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  running.add(child)
  const kill = () => {
    const isRunning = child.exitCode === null && child.signalCode === null
    if (child.pid !== undefined && isRunning) process.kill(-child.pid, 'SIGKILL')
  }
  const timer = setTimeout(kill, TEST_TIMEOUT_MS)
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (/^\s*not ok /m.test(text)) kill()
  })
  return new Promise((resolve) => {
    child.once('close', (code) => {
      clearTimeout(timer)
      running.delete(child)
      resolve(code === 0)
    })
  })
}

/** A fault is noticed only by a test that passes without it. */
async function requirePassing(copy: string, tests: string[]): Promise<void> {
  for (let test = tests.shift(); test !== undefined; test = tests.shift())
    if (!(await runTests(copy, [test]))) throw new Error(`${test} fails without a planted fault`)
}

async function plant(copy: string, source: string, mutation: Mutation, tests: readonly string[]): Promise<boolean> {
  const file = path.join(copy, source)
  const original = readFileSync(file, 'utf8')
  writeFileSync(file, mutation.text)
  try {
    return !(await runTests(copy, tests))
  } finally {
    writeFileSync(file, original)
  }
}

async function work(copy: string, queue: typeof planned, mutants: Mutant[]): Promise<void> {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { area, source, mutation, tests } = next
    const killed = await plant(copy, source, mutation, tests)
    const { text: _text, ...planted } = { area, source, ...mutation }
    mutants.push({ ...planted, killed, reason: killed ? null : reasonFor(planted) })
    console.log(`${killed ? 'killed  ' : 'SURVIVED'} ${source}:${planted.line}  ${planted.mutant}`)
  }
}

let stopping: Promise<void> | undefined
async function stop(): Promise<void> {
  for (const { pid } of running) if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  for (const copy of copies) rmSync(copy, { recursive: true, force: true })
  await globalTeardown()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    stopping ??= stop().then(() => process.exit(1))
  })

await globalSetup()
const mutants: Mutant[] = []
const unchanged = [...new Set(modules.flatMap((module) => module.tests))]
try {
  for (let i = 0; i < WORKERS; i++) copyCheckout()
  await Promise.all(copies.map((copy) => requirePassing(copy, unchanged)))
  await Promise.all(copies.map((copy) => work(copy, planned, mutants)))
} finally {
  await (stopping ??= stop())
}
const killed = mutants.filter((mutant) => mutant.killed).length
const unexplained = mutants.filter((mutant) => !mutant.killed && mutant.reason === null)
const stale = staleReasons(mutants)
for (const { source, line } of unexplained) console.log(`no reason is given for the survivor ${source}:${line}`)
for (const { source, mutant } of stale) console.log(`a reason is given for a killed mutant: ${source}, ${mutant}`)
const complete = values.only === ''
if (complete) writeReport(mutants)
console.log(`mutants: ${killed} killed of ${mutants.length}`)
const enough = mutants.length >= LEAST_MUTANTS && killed / mutants.length >= LEAST_SHARE
process.exitCode = (enough || !complete) && unexplained.length === 0 && stale.length === 0 ? 0 : 1
