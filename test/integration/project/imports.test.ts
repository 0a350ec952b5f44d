// The imports follow the rules of .dependency-cruiser.mjs, and a planted violation of each rule fails the check.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'

const root = path.resolve(import.meta.dirname, '../../..')
const SOURCES = ['src', 'dev', 'conformance', 'bench', 'clients', 'explorer']
// The tests of the clients import from test/, which is not copied.
const isCopied = (source: string) => !/^clients\/[^/]+\/(test|dist)$/.test(path.relative(root, source))
const copy = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-imports-'))
after(() => rmSync(copy, { recursive: true, force: true }))
for (const name of SOURCES.concat('package.json', 'tsconfig.json', '.dependency-cruiser.mjs')) {
  cpSync(path.join(root, name), path.join(copy, name), { recursive: true, filter: isCopied })
}
mkdirSync(path.join(copy, 'test'))
symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'))

const check = () =>
  spawnSync(
    process.execPath,
    [
      path.join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'),
      ...['--config', '.dependency-cruiser.mjs', ...SOURCES, 'test'],
    ],
    { cwd: copy, encoding: 'utf8' },
  )

const violations = [
  {
    title: 'an import from a higher layer',
    rule: 'platform-imports-only-lower-layers',
    plant: { 'src/platform/planted.ts': "import '../auth/guard.ts'" },
  },
  {
    title: 'an import of a type from a higher layer',
    rule: 'datasets-imports-only-lower-layers',
    plant: {
      'src/datasets/planted.ts': "import type { Tables } from '../storage/tables.ts'\nexport type Planted = Tables",
    },
  },
  {
    title: 'an import between folders of one layer',
    rule: 'api-imports-only-lower-layers',
    plant: { 'src/api/planted.ts': "import '../publish/publish.ts'" },
  },
  {
    title: 'an explorer that imports the data',
    rule: 'the-explorer-reads-data-only-in-the-browser',
    plant: { 'src/explorer/planted.ts': "import '../storage/tables.ts'" },
  },
  {
    title: 'an import from a higher subfolder',
    rule: 'api-paging-imports-only-lower-layers',
    plant: { 'src/api/paging/planted.ts': "import '../resources/changes.ts'" },
  },
  {
    title: 'an import of a subfolder by the bottom layer of its folder',
    rule: 'platform-files-are-the-bottom-layer',
    plant: { 'src/platform/planted-too.ts': "import './http/http-server.ts'" },
  },
  {
    title: 'an import cycle',
    rule: 'no-import-cycle',
    plant: {
      'src/methods/planted.ts': "import './planted-too.ts'",
      'src/methods/planted-too.ts': "import './planted.ts'",
    },
  },
  {
    title: 'a module that reads the configuration',
    rule: 'only-entry-points-read-the-configuration',
    plant: { 'src/auth/planted.ts': "import '../config.ts'" },
  },
  {
    title: 'a service that imports a development tool',
    rule: 'the-service-does-not-import-tools',
    plant: { 'src/planted.ts': "import '../dev/postgres.ts'" },
  },
  {
    title: 'a conformance check that imports the service',
    rule: 'conformance-is-a-black-box',
    plant: { 'conformance/planted.ts': "import '../src/app.ts'" },
  },
  {
    title: 'a client package that imports the service',
    rule: 'clients-know-only-the-interface',
    plant: { 'clients/vectors/planted.ts': "import '../../src/app.ts'" },
  },
  {
    title: 'a page that imports the service',
    rule: 'the-page-knows-only-the-interface',
    plant: { 'explorer/src/planted.ts': "import '../../src/app.ts'" },
  },
  {
    title: 'a part of the page that imports a page',
    rule: 'page-parts-import-only-lower-layers',
    plant: { 'explorer/src/parts/planted.ts': "import '../pages/start.tsx'" },
  },
  {
    title: 'a module of the page that imports a part',
    rule: 'page-files-are-the-bottom-layer',
    plant: { 'explorer/src/planted-too.ts': "import './parts/link.tsx'" },
  },
  {
    title: 'a service that needs a development dependency',
    rule: 'no-development-dependency-in-the-service',
    plant: { 'src/storage/planted.ts': "import 'fast-check'" },
  },
  {
    title: 'a unit test that needs a database',
    rule: 'unit-tests-need-no-database',
    plant: {
      'test/unit/planted.ts': "import '../fixtures/planted.ts'",
      'test/fixtures/planted.ts': "import '../../dev/postgres.ts'",
    },
  },
  {
    title: 'a folder that is not a layer',
    rule: 'every-folder-is-a-layer',
    plant: { 'src/attic/planted.ts': 'export {}', 'dev/planted.ts': "import '../src/attic/planted.ts'" },
  },
  {
    title: 'a subfolder that is not a layer',
    rule: 'every-folder-is-a-layer',
    plant: {
      'src/api/attic/planted.ts': 'export {}',
      'src/api/planted-too.ts': "import './attic/planted.ts'",
    },
  },
]

test('imports go only to lower layers and have no cycle', () => {
  const { status, stdout } = check()
  assert.equal(status, 0, stdout)
})

// All violations in one run, because each run takes seconds.
describe('a planted violation', () => {
  let result: ReturnType<typeof check>
  before(() => {
    for (const [name, text] of violations.flatMap(({ plant }) => Object.entries(plant))) {
      const file = path.join(copy, name)
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, `${text}\n`)
    }
    result = check()
  })

  for (const { title, rule, plant } of violations) {
    test(`${title} fails the check`, () => {
      assert.notEqual(result.status, 0)
      assert.match(result.stdout, new RegExp(`error ${rule}: .*(${Object.keys(plant).join('|')})`))
    })
  }
})
