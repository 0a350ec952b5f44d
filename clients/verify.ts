// npm run verify:clients: the tests and checks of all client packages, and a minute of the torture test for each. Prints how
// many tests passed and failed. A language that is not installed is skipped, and named.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

interface Outcome {
  readonly code: number | null
  readonly output: string
}

/** Runs a program in the root of the repository, shows what it prints and returns it. */
async function run([command = '', ...programArguments]: readonly string[], settings = {}): Promise<Outcome> {
  console.log(`== ${[command, ...programArguments].join(' ')}`)
  const child = spawn(command, programArguments, {
    cwd: path.resolve(import.meta.dirname, '..'),
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...settings },
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    process.stdout.write(text)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

let [passed, failed] = [0, 0]

function add(outcome: Outcome, passes: number, failures: number): void {
  passed += passes
  // A program that fails without saying how many tests failed counts as one failure.
  failed += outcome.code === 0 ? failures : Math.max(1, failures)
}

/** Adds the last numbers that a program prints. */
async function check(program: readonly string[], passes: RegExp, failures: RegExp): Promise<void> {
  const outcome = await run(program)
  const last = (pattern: RegExp) => Number([...outcome.output.matchAll(pattern)].at(-1)?.[1] ?? 0)
  add(outcome, last(passes), last(failures))
}

async function torture(program: readonly string[], settings = {}): Promise<void> {
  const seconds = process.env['TORTURE_SECONDS'] ?? '60'
  const outcome = await run(['node', 'clients/torture/run.ts', '--seconds', seconds, '--', ...program], settings)
  const line = outcome.output.split('\n').findLast((text) => text.startsWith('{"right"'))
  const {
    right = {},
    errors = {},
    wrong = [],
  } = JSON.parse(line ?? '{}') as {
    right?: Record<string, number | number[]>
    errors?: Record<string, number | number[]>
    wrong?: string[]
  }
  // When an answer is broken, an error of the client is right too.
  const counts = [...Object.values(right), ...Object.values(errors)].flat()
  add(
    outcome,
    counts.reduce((sum, one) => sum + one, 0),
    wrong.length,
  )
}

await check(
  [
    ...['node', '--test', '--test-reporter=spec', '--test-global-setup=test/database.ts'],
    ...['clients/typescript/test/**/*.test.ts', 'test/unit/clients/*.test.ts'],
  ],
  /^ℹ pass (\d+)/gm,
  /^ℹ fail (\d+)/gm,
)
add(await run(['npm', '--prefix', 'clients/typescript', 'run', 'check:package']), 1, 0)
await torture(['node', 'clients/typescript/programs/torture.ts'], { TORTURE_TRAILERS: '1' })

await check(['clients/python/check.sh'], /(\d+) passed/g, /(\d+) failed/g)
// check.sh has made it. The HTTP library of Python has no trailers.
const python = path.join(os.tmpdir(), 'outbreaks-python-client/bin/python')
if (existsSync(python)) await torture([python, 'clients/python/programs/torture.py'])

const hasR = spawnSync('Rscript', ['--version']).status === 0
if (hasR) {
  await check(['clients/r/check.sh'], /\| PASS (\d+) \]/g, /\[ FAIL (\d+) \|/g)
  await torture(['Rscript', 'clients/r/programs/torture.R'], { TORTURE_TRAILERS: '1' })
} else console.log('skipped: R is not installed; clients/r/check.sh says what it needs')

const languages = ['typescript', ...(existsSync(python) ? ['python'] : []), ...(hasR ? ['r'] : [])]
const compare = (...program: string[]) => check(['node', ...program], /^\w+: (\d+) passed/gm, /^\w+: .* (\d+) failed/gm)
await compare('clients/gallery/run.ts', ...languages)
if (languages.length === 3) for (const name of ['frames', 'sync', 'ease']) await compare(`clients/compare/${name}.ts`)

console.log(`clients: ${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
