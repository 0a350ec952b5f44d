// Runs test files repeatedly, each time with another seed, and prints the seeds that failed:
// node test/repeat.ts --times 20 [--load 2] [--seed 1] FILE…
// With --load N, N processes keep the processors busy meanwhile.
import { type ChildProcess, spawn } from 'node:child_process'
import { run } from 'node:test'
import { parseArgs } from 'node:util'
import { globalSetup, globalTeardown } from './database.ts'

const { values, positionals: globPatterns } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: 'string', default: '20' },
    load: { type: 'string', default: '0' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
if (globPatterns.length === 0) throw new Error('name one or more test files')

const loadProcesses: ChildProcess[] = Array.from({ length: Number(values.load) }, () =>
  spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
)
const failures: string[] = []
// A signal cleans up too. It may arrive twice, from a terminal and from timeout(1).
let cleanup: Promise<void> | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    cleanup ??= cleanUp().then(() => process.exit(1))
  })
await globalSetup()
try {
  for (let i = 0; i < Number(values.times); i++) {
    const seed = String(Number(values.seed) + i)
    // The processes of the test files inherit it.
    process.env['TEST_SEED'] = seed
    const startedAt = performance.now()
    const failed = await runOnce()
    for (const test of failed) failures.push(`TEST_SEED=${seed}: ${test}`)
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    console.log(`${i + 1} of ${values.times}: TEST_SEED=${seed}, ${seconds} s, ${failed.length} failed`)
  }
} finally {
  await cleanUp()
}
for (const failure of failures) console.log(failure)
console.log(`${values.times} times: ${failures.length} failures`)
process.exitCode = failures.length === 0 ? 0 : 1

async function cleanUp(): Promise<void> {
  for (const child of loadProcesses) child.kill('SIGKILL')
  await globalTeardown()
}

async function runOnce(): Promise<string[]> {
  const failed: string[] = []
  let passed = 0
  const tests = run({ globPatterns, concurrency: 1 })
  tests.on('test:pass', () => {
    passed += 1
  })
  tests.on('test:fail', ({ name, details }) => {
    const { cause } = details.error
    failed.push(`${name}: ${cause instanceof Error ? cause.message : String(cause ?? details.error.message)}`)
  })
  // The stream emits its events only while it is read.
  tests.resume()
  await new Promise((resolve) => tests.once('end', resolve))
  return passed === 0 && failed.length === 0 ? ['no test was found'] : failed
}
