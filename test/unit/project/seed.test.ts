// What a test draws at random comes from test/seed.ts, so that it is printed and can be drawn again.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const root = path.resolve(import.meta.dirname, '../../..')
/** Assembled, so that this file is not one of those it looks for. */
const DRAWS = [['from', "'fast-check'"].join(' '), ['Math', 'random('].join('.')]

const findDraws = (text: string): string[] => DRAWS.filter((draw) => text.includes(draw))

test('no test draws at random but by test/seed.ts', () => {
  const files = globSync('test/**/*.ts', { cwd: root }).filter((file) => file !== 'test/seed.ts')
  assert.ok(files.length > 50)
  const found = files.flatMap((file) =>
    findDraws(readFileSync(path.join(root, file), 'utf8')).map((draw) => `${file}: ${draw}`),
  )
  assert.deepEqual(found, [])
})

test('a draw of another kind is noticed', () => {
  for (const draw of DRAWS) assert.deepEqual(findDraws(`import fc ${draw}`), [draw])
})
