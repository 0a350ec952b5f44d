// The runner of CI: a file that fails runs again alone and with the same seed, twice at most; one that fails each time fails the run.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'

const RUNNER = path.resolve(import.meta.dirname, '../../run-files.ts')
const folder = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-run-files-'))
after(() => rmSync(folder, { recursive: true }))

const environment: NodeJS.ProcessEnv = { ...process.env }
delete environment['TEST_SEED']
// Otherwise a runner that is started by a test runs nothing.
delete environment['NODE_TEST_CONTEXT']

const start = (files: string[]) =>
  spawnSync(process.execPath, [RUNNER, ...files], { env: environment, encoding: 'utf8', timeout: 120_000 })

function runFiles(sources: Record<string, string>) {
  const files = Object.entries(sources).map(([name, source]) => {
    const file = path.join(folder, name)
    writeFileSync(
      file,
      `import { test } from 'node:test'\nimport { appendFileSync, readFileSync } from 'node:fs'\n${source}`,
    )
    return file
  })
  return start(files)
}
const log = (name: string) => JSON.stringify(path.join(folder, name))
const readLog = (name: string) => readFileSync(path.join(folder, name), 'utf8').trim().split('\n')
const PASSES = `test('passes', () => appendFileSync(${log('passed')}, 'x'))`

test('a file that passes runs once', () => {
  assert.equal(runFiles({ 'passes.test.ts': `test('passes', () => appendFileSync(${log('once')}, 'x'))` }).status, 0)
  assert.deepEqual(readLog('once'), ['x'])
})

test('only a file that fails runs again, with the same seed', () => {
  const { status, stdout } = runFiles({
    'passes.test.ts': PASSES,
    'fails-once.test.ts': `test('fails once', () => {
      appendFileSync(${log('seeds')}, process.env.TEST_SEED + '\\n')
      if (readFileSync(${log('seeds')}, 'utf8').split('\\n').length === 2) throw new Error('a stall')
    })`,
  })
  assert.equal(status, 0, stdout)
  assert.match(stdout, /run again, one after the other:\n.*fails-once\.test\.ts\n/)
  assert.match(stdout, /a stall/)
  const [first, second, ...rest] = readLog('seeds')
  assert.match(first ?? '', /^\d+$/)
  assert.deepEqual([second, rest], [first, []])
  assert.deepEqual(readLog('passed'), ['x'])
})

test('a file that fails three times fails the run, also if its process ends', () => {
  for (const source of [`test('fails', () => { throw new Error('a defect') })`, 'process.exit(3)', 'not a program']) {
    const { status, stdout } = runFiles({ 'passes.test.ts': PASSES, 'fails.test.ts': source })
    assert.equal(status, 1, stdout)
    assert.match(stdout, /failed each time:\n.*fails\.test\.ts\n/)
  }
})

test('a file that fails twice and then passes does not', () => {
  const { status, stdout } = runFiles({
    'fails-twice.test.ts': `test('fails twice', () => {
      appendFileSync(${log('runs')}, 'x')
      if (readFileSync(${log('runs')}, 'utf8').length < 3) throw new Error('a long stall')
    })`,
  })
  assert.equal(status, 0, stdout)
  assert.match(stdout, /they passed in run 3/)
})

test('a run without tests fails', () => {
  for (const files of [[], [path.join(folder, 'missing/*.test.ts')]]) assert.equal(start(files).status, 1)
})
