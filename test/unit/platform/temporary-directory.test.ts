// Temporary directories of processes that were killed are removed; those of running processes stay.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { createTemporaryDirectory } from '../../../src/platform/temporary-directory.ts'

const MODULE = path.resolve(import.meta.dirname, '../../../src/platform/temporary-directory.ts')
const CREATE = `
  import { createTemporaryDirectory } from ${JSON.stringify(MODULE)}
  console.log(await createTemporaryDirectory())
  process.stdin.resume()`

const home = mkdtempSync(path.join(os.tmpdir(), 'temporary-test-'))
process.env['TMPDIR'] = home
after(() => rmSync(home, { recursive: true, force: true }))

async function startHolder() {
  const child = spawn(process.execPath, ['--input-type=module', '-e', CREATE], { stdio: ['pipe', 'pipe', 'inherit'] })
  // A test that fails leaves no process behind.
  after(() => child.kill('SIGKILL'))
  const [output] = (await once(child.stdout, 'data')) as [Buffer]
  return { child, directory: String(output).trim() }
}

test('what a killed process left is removed, nothing else', async () => {
  const running = await startHolder()
  const killed = await startHolder()
  writeFileSync(path.join(killed.directory, 'index.duckdb'), 'left')
  killed.child.kill('SIGKILL')
  await once(killed.child, 'exit')
  const foreign = mkdtempSync(path.join(home, 'foreign-'))
  const [own, second] = await Promise.all([createTemporaryDirectory(), createTemporaryDirectory()])
  // Unit tests share a process, so others may have their directories here, too.
  const isOurs = (name: string) => name.startsWith('foreign-') || name.startsWith(`outbreaks-${os.hostname()}-`)
  assert.deepEqual(
    (await readdir(home)).filter(isOurs).toSorted(),
    [running.directory, foreign, own, second].map((directory) => path.basename(directory)).toSorted(),
  )
})
