// The readers of files and requests with inputs that coverage guides: no error but those that a reader declares. A second for each
// of them; COVERAGE_FUZZ_SECONDS sets more. docs/security-fuzz.md has the result of a longer run.
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, test } from 'node:test'
import { fuzz } from './coverage/fuzzer.ts'
import { targets, workDirectory } from './coverage/targets.ts'

const SECONDS = Number(process.env['COVERAGE_FUZZ_SECONDS'] ?? 1)
after(() => rm(workDirectory, { recursive: true, force: true }))

for (const target of targets) {
  test(target.name, { timeout: 60_000 + SECONDS * 2000 }, async (t) => {
    const { executions, corpus, coveredBySeeds, covered, crashes } = await fuzz(target, SECONDS * 1000)
    t.diagnostic(
      `${executions} executions, covered ${coveredBySeeds} by the seeds and ${covered} in all, corpus of ${corpus}`,
    )
    assert.deepEqual(crashes, [])
    assert.ok(executions > 0 && covered >= coveredBySeeds)
  })
}

test('control: a fault behind three conditions is found, because coverage leads to it', async () => {
  const { planted } = await import('./coverage/planted.ts')
  const target = { name: 'planted', files: ['planted.ts'], seeds: [Buffer.from('aaaa')], words: ['a'], run: planted }
  const { crashes } = await fuzz(target, 20_000)
  assert.match(crashes[0]?.error ?? 'no crash', /planted fault/)
})
