// Rules for source files: name, header, length, files of a folder, and a line of each folder in the code map.
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
    ...(/^\/\/ \S+( \S+){2}/.test(header) ? [] : ['has no header comment of three words or more']),
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
  assert.deepEqual(findErrors('src/a/utils.ts', '// Owns nothing at all.\n'), ['has a vague name'])
  assert.deepEqual(findErrors('src/a/clientAuth.ts', '// Owns a single thing.\n'), ['is not kebab-case'])
  assert.deepEqual(findErrors('src/a/client.ts', '// Owns nothing.\n'), [
    'has no header comment of three words or more',
  ])
  assert.deepEqual(findErrors('src/a/client.ts', `// Owns a single thing.${'\n'.repeat(401)}`), ['has too many lines'])
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

const readMap = () => readFileSync(path.join(root, 'docs/architecture.md'), 'utf8')

/** The folders that have a line of their own: "- `src/api/` – what it has". */
const listFolders = (map: string): string[] =>
  [...map.matchAll(/^- `(src\/[^`]*)` – \S/gm)].map(([, folder = '']) => folder)

test('every folder of src has one line in the code map', () => {
  const folders = globSync('src/**/*.ts', { cwd: root }).map((file) => `${path.dirname(file)}/`)
  assert.deepEqual(listFolders(readMap()).sort(), [...new Set(folders)].sort())
})

test('a folder without words about it has no line', () => {
  assert.deepEqual(listFolders('- `src/api/` – endpoints\n- `src/auth/`\nsee `src/columns/` – x'), ['src/api/'])
})

test('the code map names no file of src that does not exist', () => {
  const named = [...readMap().matchAll(/`(?:src\/)?([a-z/-]+\.ts)`/g)].map(([, name = '']) => name)
  assert.ok(named.length > 5)
  assert.deepEqual(
    named.filter((name) => !['src', '.'].some((base) => existsSync(path.join(root, base, name)))),
    [],
  )
})
