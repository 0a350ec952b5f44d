// Rules for source files: name, header, length, files of a folder, and a line in the code map.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const root = path.resolve(import.meta.dirname, '../../..')
const VAGUE_NAMES = ['util', 'utils', 'helper', 'helpers', 'common', 'shared', 'misc', 'types', 'index', 'lib']
const SOURCES = '{{src,dev,conformance,test,bench,clients,explorer}/**/*.{ts,tsx},site/*.ts}'
const MAX_LINES = 400
const MAX_FILES_IN_FOLDER = 15

function findErrors(file: string, text: string): string[] {
  const name = path.basename(file).replace(/(\.test)?\.tsx?$/, '')
  const [first = '', second = ''] = text.split('\n')
  const header = first.startsWith('#!') ? second : first
  return [
    ...(VAGUE_NAMES.includes(name) ? ['has a vague name'] : []),
    ...(/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) ? [] : ['is not kebab-case']),
    ...(header.startsWith('// ') ? [] : ['has no header comment']),
    ...(text.split('\n').length > MAX_LINES && !text.includes('do not edit by hand') ? ['has too many lines'] : []),
  ]
}

test('every source file has a specific name, a header comment and at most 400 lines', () => {
  const files = globSync(SOURCES, { cwd: root, exclude: ['clients/*/{dist,node_modules}/**'] })
  assert.ok(files.length > 100)
  const errors = files.flatMap((file) =>
    findErrors(file, readFileSync(path.join(root, file), 'utf8')).map((error) => `${file} ${error}`),
  )
  assert.deepEqual(errors, [])
})

test('each violation fails the check', () => {
  assert.deepEqual(findErrors('src/a/utils.ts', '// Owns nothing.\n'), ['has a vague name'])
  assert.deepEqual(findErrors('src/a/clientAuth.ts', '// Owns a thing.\n'), ['is not kebab-case'])
  assert.deepEqual(findErrors('src/a/client.ts', "import 'x'\n"), ['has no header comment'])
  assert.deepEqual(findErrors('src/a/client.ts', `// Owns a thing.${'\n'.repeat(401)}`), ['has too many lines'])
})

const findLargeFolders = (files: readonly string[]): string[] =>
  [...Map.groupBy(files, path.dirname)]
    .filter(([, members]) => members.length > MAX_FILES_IN_FOLDER)
    .map(([folder, members]) => `${folder} has ${members.length} files`)

test('no folder has more than 15 source files', () => {
  assert.deepEqual(
    findLargeFolders(globSync(SOURCES, { cwd: root, exclude: ['clients/*/{dist,node_modules}/**'] })),
    [],
  )
})

test('a folder with 16 files fails the check', () => {
  const files = Array.from({ length: 16 }, (_, i) => `src/a/${i}.ts`)
  assert.deepEqual(findLargeFolders([...files, 'src/b/1.ts']), ['src/a has 16 files'])
})

/** The paths in the first column of a table. A name without a folder is in the folder of the name before it. */
function listedPaths(map: string): string[] {
  return map.split('\n').flatMap((line) => {
    const names = [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
    let folder = ''
    const paths = names.map((name) => {
      if (!name.includes('/')) return path.join(folder, name)
      folder = path.dirname(`${name}.`)
      return name
    })
    // A row with a folder and names lists these files, not the whole folder.
    return paths.length > 1 ? paths.filter((listed) => !listed.endsWith('/')) : paths
  })
}

function findUnmapped(files: readonly string[], map: string): string[] {
  const listed = new Set(listedPaths(map))
  return files.filter((file) => {
    const name = path.relative('src', file)
    return !listed.has(name) && !listed.has(`${path.dirname(name)}/`)
  })
}

test('the code map lists every source file', () => {
  const map = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8')
  assert.deepEqual(findUnmapped(globSync('src/**/*.ts', { cwd: root }), map), [])
})

test('the code map lists no file that does not exist', () => {
  const map = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8')
  const listed = listedPaths(map).filter((name) => name.endsWith('.ts'))
  assert.ok(listed.length > 100)
  assert.deepEqual(
    listed.filter((name) => !existsSync(path.join(root, 'src', name))),
    [],
  )
})

test('a file that is missing in the code map fails the check', () => {
  const map = '| `auth/guard.ts`, `whoami.ts` | … |\n| `auth/provisioning/` | … |\n| `publish/input/`: `csv.ts` | … |'
  const files = ['auth/guard.ts', 'auth/whoami.ts', 'auth/provisioning/keys.ts', 'publish/input/csv.ts']
  const missing = ['auth/new.ts', 'api/guard.ts', 'publish/input/new.ts']
  const paths = [...files, ...missing].map((name) => `src/${name}`)
  assert.deepEqual(
    findUnmapped(paths, map),
    missing.map((name) => `src/${name}`),
  )
})
