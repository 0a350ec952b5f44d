// Runs test files side by side, then up to twice the files that failed, one after the other:
// node test/run-files.ts [--concurrency 3] PATTERN…
// A shared machine can stall for seconds, which fails tests with time limits. A later run has the same seed, so most
// other causes fail again. A race may not: each run prints its failures, and the slowest files.
import { randomInt } from 'node:crypto'
import path from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import { globalSetup, globalTeardown } from './database.ts'

/** More failures than this are not caused by a stall. */
const MAX_FAILED_FILES = 12
const MAX_RUNS = 3
const SLOWEST_SHOWN = 15

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { concurrency: { type: 'string', default: '1' } },
})
// Without a pattern the runner of Node would look for tests by itself.
if (positionals.length === 0) throw new Error('name one or more test files')
// The processes of the test files inherit it.
process.env['TEST_SEED'] ??= String(randomInt(2 ** 31))

await globalSetup()
let failed: string[]
try {
  failed = await runFiles(positionals, Number(values.concurrency))
  for (let number = 2; number <= MAX_RUNS && failed.length > 0 && failed.length <= MAX_FAILED_FILES; number++) {
    console.log(`these files failed and run again, one after the other:\n${failed.join('\n')}`)
    failed = await runFiles(failed, 1)
    if (failed.length === 0) console.log(`they passed in run ${number}`)
  }
  if (failed.length > 0) console.log(`these files failed each time:\n${failed.join('\n')}`)
} finally {
  await globalTeardown()
}
process.exitCode = failed.length === 0 ? 0 : 1

async function runFiles(globPatterns: readonly string[], concurrency: number): Promise<string[]> {
  const failedFiles = new Set<string>()
  let passed = 0
  const tests = run({ globPatterns, concurrency })
  tests.on('test:pass', () => {
    passed += 1
  })
  // A file whose process fails is reported by its name.
  tests.on('test:fail', ({ file, name }) => failedFiles.add(file ?? name))
  const durations: [seconds: number, file: string][] = []
  tests.on('test:summary', ({ file, duration_ms }) => {
    if (file !== undefined) durations.push([Math.round(duration_ms / 1000), path.relative('', file)])
  })
  for await (const text of tests.compose(spec)) process.stdout.write(String(text))
  const slowest = durations.sort(([a], [b]) => b - a).slice(0, SLOWEST_SHOWN)
  for (const [seconds, file] of slowest) console.log(`${seconds} s ${file}`)
  if (passed === 0 && failedFiles.size === 0) throw new Error(`no test was found: ${globPatterns.join(' ')}`)
  return [...failedFiles]
}
