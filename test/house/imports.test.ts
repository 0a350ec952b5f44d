// The rules of the house bite: a planted fault of each kind makes the check fail.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'

const root = path.resolve(import.meta.dirname, '../..')
const copy = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-house-'))
after(() => rmSync(copy, { recursive: true, force: true }))
for (const name of ['src', 'dev', 'conformance', 'bench', 'package.json', 'tsconfig.json', '.dependency-cruiser.mjs']) {
  cpSync(path.join(root, name), path.join(copy, name), { recursive: true })
}
symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'))

const check = () =>
  spawnSync(
    process.execPath,
    [
      path.join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'),
      ...['--config', '.dependency-cruiser.mjs', 'src', 'dev', 'conformance', 'bench'],
    ],
    { cwd: copy, encoding: 'utf8' },
  )

const faults = [
  {
    kind: 'a floor that climbs into a room',
    rule: 'platform-does-not-climb',
    plant: { 'src/platform/planted.ts': "import '../oauth/guard.ts'" },
  },
  {
    kind: 'a floor that climbs by a type alone',
    rule: 'datasets-does-not-climb',
    plant: { 'src/datasets/planted.ts': "import type { Page } from '../query/run.ts'\nexport type Planted = Page" },
  },
  {
    kind: 'a room that crosses into another',
    rule: 'query-does-not-cross',
    plant: { 'src/query/planted.ts': "import '../releases/publish.ts'" },
  },
  {
    kind: 'a circle',
    rule: 'no-circle',
    plant: { 'src/synth/planted.ts': "import './planted-too.ts'", 'src/synth/planted-too.ts': "import './planted.ts'" },
  },
  {
    kind: 'a room that reads the configuration',
    rule: 'only-doors-read-the-configuration',
    plant: { 'src/oauth/planted.ts': "import '../config.ts'" },
  },
  {
    kind: 'a check that looks inside the service',
    rule: 'conformance-is-a-black-box',
    plant: { 'conformance/planted.ts': "import '../src/app.ts'" },
  },
  {
    kind: 'a service that needs a development tool',
    rule: 'no-development-dependency-in-the-service',
    plant: { 'src/records/planted.ts': "import 'fast-check'" },
  },
  {
    kind: 'a folder without a floor',
    rule: 'every-folder-of-the-source-has-its-floor',
    plant: { 'src/attic/planted.ts': 'export {}', 'dev/planted.ts': "import '../src/attic/planted.ts'" },
  },
]

test('no import of the house climbs, crosses or circles', () => {
  const { status, stdout } = check()
  assert.equal(status, 0, stdout)
})

// All at once, because each look at the house takes seconds; the line of each rule names what breaks it.
describe('planted', () => {
  let judged: ReturnType<typeof check>
  before(() => {
    for (const [name, text] of faults.flatMap(({ plant }) => Object.entries(plant))) {
      const file = path.join(copy, name)
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, `${text}\n`)
    }
    judged = check()
  })

  for (const { kind, rule, plant } of faults) {
    test(`${kind} is refused`, () => {
      assert.notEqual(judged.status, 0)
      assert.match(judged.stdout, new RegExp(`error ${rule}: .*(${Object.keys(plant).join('|')})`))
    })
  }
})
