// A file is named after the one thing it owns, and begins by saying what that is.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const root = path.resolve(import.meta.dirname, '../..')
const DRAWERS = ['util', 'utils', 'helper', 'helpers', 'common', 'shared', 'misc', 'types', 'index', 'lib']
const LONGEST = 400

function findFaults(file: string, text: string): string[] {
  const name = path.basename(file).replace(/(\.test)?\.ts$/, '')
  const [first = '', second = ''] = text.split('\n')
  const header = first.startsWith('#!') ? second : first
  return [
    ...(DRAWERS.includes(name) ? ['is a drawer, not the name of a thing'] : []),
    ...(/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) ? [] : ['is not kebab-case']),
    ...(header.startsWith('// ') ? [] : ['does not begin with what it owns']),
    ...(text.split('\n').length > LONGEST ? ['is too long to own one thing'] : []),
  ]
}

test('every source file has a name of its own, a header and a bearable length', () => {
  const files = globSync('{src,dev,conformance,test,bench}/**/*.ts', { cwd: root })
  assert.ok(files.length > 100)
  const faults = files.flatMap((file) =>
    findFaults(file, readFileSync(path.join(root, file), 'utf8')).map((fault) => `${file} ${fault}`),
  )
  assert.deepEqual(faults, [])
})

test('each fault is noticed', () => {
  assert.deepEqual(findFaults('src/a/utils.ts', '// Owns nothing.\n'), ['is a drawer, not the name of a thing'])
  assert.deepEqual(findFaults('src/a/clientAuth.ts', '// Owns a thing.\n'), ['is not kebab-case'])
  assert.deepEqual(findFaults('src/a/client.ts', "import 'x'\n"), ['does not begin with what it owns'])
  assert.deepEqual(findFaults('src/a/client.ts', `// Owns a thing.${'\n'.repeat(401)}`), [
    'is too long to own one thing',
  ])
})

/** Files of a folder that the code map names as a whole need no line of their own. */
const findUnmapped = (files: readonly string[], map: string): string[] =>
  files.filter(
    (file) => !map.includes(path.basename(file)) && !map.includes(`\`${path.basename(path.dirname(file))}/\``),
  )

test('the code map knows every source file', () => {
  const map = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8')
  assert.deepEqual(findUnmapped(globSync('src/**/*.ts', { cwd: root }), map), [])
})

test('a file the code map does not know is noticed', () => {
  const map = '| `oauth/guard.ts` | … | `synth/` | … |'
  assert.deepEqual(findUnmapped(['src/oauth/guard.ts', 'src/synth/world.ts', 'src/oauth/new.ts'], map), [
    'src/oauth/new.ts',
  ])
})
