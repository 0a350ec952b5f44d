// Every example of docs/methods.md, answered by the second implementation. Each Python test is reported by itself.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { ORACLE, skipWithoutPython, writeSubdivisions } from './python.ts'

const names = [...readFileSync(path.join(ORACLE, 'test_methods.py'), 'utf8').matchAll(/def (test_\w+)\(/g)].map(
  ([, name = '']) => name,
)

test('the second implementation passes its own tests', { skip: skipWithoutPython }, async (t) => {
  const { stderr } = spawnSync('python3', ['-B', '-m', 'unittest', '-v', 'test_methods'], {
    cwd: ORACLE,
    encoding: 'utf8',
    env: { ...process.env, SUBDIVISIONS: writeSubdivisions() },
    timeout: 60_000,
  })
  assert.ok(names.length > 15)
  // A docstring of a test stands on a line of its own before the result.
  for (const name of names)
    await t.test(name.slice('test_'.length).replaceAll('_', ' '), () =>
      assert.match(stderr, new RegExp(`^${name} \\([^)]*\\)(?:\\n[^\\n]*)? \\.\\.\\. ok$`, 'm'), stderr),
    )
})
