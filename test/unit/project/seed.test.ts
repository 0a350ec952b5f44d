// Random test data comes from test/seed.ts only, which prints its seed, so that a failure can be repeated.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const root = path.resolve(import.meta.dirname, '../../..')
/** Joined from parts, so that this file does not match. */
const RANDOM_CALLS = [['from', "'fast-check'"].join(' '), ['Math', 'random('].join('.')]

const findRandomCalls = (text: string): string[] => RANDOM_CALLS.filter((call) => text.includes(call))

test('only test/seed.ts generates random test data', () => {
  const files = globSync('test/**/*.ts', { cwd: root }).filter((file) => file !== 'test/seed.ts')
  assert.ok(files.length > 50)
  const found = files.flatMap((file) =>
    findRandomCalls(readFileSync(path.join(root, file), 'utf8')).map((call) => `${file}: ${call}`),
  )
  assert.deepEqual(found, [])
})

test('a random call in another file is found', () => {
  for (const call of RANDOM_CALLS) assert.deepEqual(findRandomCalls(`import fc ${call}`), [call])
})
