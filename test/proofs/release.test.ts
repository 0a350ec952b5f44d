// npm run release: each check rejects what it is there for, and the artefact holds what a node needs, in the same bytes each time.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { buildArtefacts } from '../../dev/build/artefacts.ts'
import { findFaults, findSection, type ReleaseState } from '../../dev/build/release.ts'

const root = path.resolve(import.meta.dirname, '../..')
const CHANGELOG = `# Changelog

## Unreleased

## 1.2.0 - 2026-11-15

- New.

### For operators

- Faster.

## 1.1.0 - 2026-10-01

- Old.
`
const SOUND: ReleaseState = {
  version: '1.2.0',
  versions: { 'clients/r/DESCRIPTION': '1.2.0' },
  changelog: CHANGELOG,
  changes: '',
  branch: 'main',
  tags: ['v1.0.0', 'v1.1.0'],
  today: '2026-11-15',
}
const TAGGED: ReleaseState = { ...SOUND, tag: 'v1.2.0', branch: '', tags: ['v1.2.0'], today: '2026-11-16' }

test('a version that is prepared has no faults, before its tag and with it', () => {
  assert.deepEqual(findFaults(SOUND), [])
  assert.deepEqual(findFaults(TAGGED), [])
})

for (const [title, state, fault] of [
  ['a changed file', { ...SOUND, changes: ' M src/app.ts' }, /not committed:\n M src\/app\.ts/],
  ['a changed file with a tag', { ...TAGGED, changes: '?? new.ts' }, /not committed/],
  [
    'a package with another version',
    { ...SOUND, versions: { 'clients/r/DESCRIPTION': '1.1.0' } },
    /DESCRIPTION has version 1\.1\.0, and package\.json has 1\.2\.0/,
  ],
  ['a version without a section', { ...SOUND, version: '1.3.0', versions: {} }, /no section "## 1\.3\.0 - YYYY-MM-DD"/],
  ['a section without a date', { ...SOUND, changelog: '## 1.2.0\n\n- New.\n' }, /no section "## 1\.2\.0/],
  ['an empty section', { ...SOUND, changelog: '## 1.2.0 - 2026-11-15\n\n## 1.1.0 - 2026-10-01\n\n- Old.' }, /is empty/],
  ['the date of another day', { ...SOUND, today: '2026-11-16' }, /dates 1\.2\.0 2026-11-15, and today is 2026-11-16/],
  ['a tag that is used', { ...SOUND, tags: ['v1.2.0'] }, /tag v1\.2\.0 exists already/],
  ['another branch', { ...SOUND, branch: 'faster' }, /branch main, and this is faster/],
  ['a tag of another version', { ...TAGGED, tag: 'v1.2.1' }, /tag is v1\.2\.1, and package\.json has version 1\.2\.0/],
  ['a tag without its v', { ...TAGGED, tag: '1.2.0' }, /tag is 1\.2\.0/],
  [
    'a version that is none',
    { ...SOUND, version: '1.2', versions: {}, changelog: '## 1.2 - 2026-11-15\n\n- New.' },
    /version like 1/,
  ],
] as const) {
  test(`${title} is refused`, () => {
    const faults = findFaults(state)
    assert.equal(faults.length, 1, faults.join('\n'))
    assert.match(faults[0] ?? '', fault)
  })
}

test('the notes of a release are its section of the changelog and no other', () => {
  const section = findSection(CHANGELOG, '1.2.0')
  assert.deepEqual(section, { date: '2026-11-15', text: '- New.\n\n### For operators\n\n- Faster.' })
})

test('the package holds what a node needs, starts as it is installed, and is built the same twice', async () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-artefact-'))
  after(() => rmSync(directory, { recursive: true, force: true }))
  const first = path.join(directory, 'first')
  const sums = await buildArtefacts(first, ['service'])
  assert.deepEqual(await buildArtefacts(path.join(directory, 'second'), ['service']), sums)
  assert.equal(readFileSync(path.join(first, 'SHA256SUMS'), 'utf8'), `${sums.join('\n')}\n`)
  const [archive = ''] = globSync('*.tgz', { cwd: first })
  const file = path.join(first, archive)
  const digest = createHash('sha256').update(readFileSync(file)).digest('hex')
  assert.ok(sums.includes(`${digest}  ${archive}`))
  assert.match(readFileSync(file.replace(/\.tgz$/, '.cdx.json'), 'utf8'), /"purl": "pkg:npm\/fastify@/)

  // Inside node_modules, where Node runs no TypeScript.
  const modules = path.join(directory, 'node_modules')
  mkdirSync(modules)
  execFileSync('tar', ['-xzf', file, '-C', modules])
  const home = path.join(modules, 'outbreak-data-service')
  renameSync(path.join(modules, 'package'), home)
  const unpacked = globSync('**/*.*', { cwd: home })
  const tops = new Set(unpacked.map((name) => name.split(path.sep)[0]))
  for (const needed of [
    ...['src', 'migrations', 'reference', 'sample', 'sources', 'docs', 'explorer'],
    ...['package.json', 'npm-shrinkwrap.json', 'README.md'],
  ])
    assert.ok(tops.has(needed), `${needed} is missing`)
  for (const left of ['test', 'bench', 'dev', '.github', 'node_modules']) assert.ok(!tops.has(left), `${left} is in it`)
  assert.deepEqual(globSync('**/*.ts', { cwd: home }), [])

  symlinkSync(path.join(root, 'node_modules'), path.join(home, 'node_modules'))
  const { bin, version } = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8'))
  const run = (name: string, ...args: string[]) =>
    spawnSync(process.execPath, [path.join(home, bin[name]), ...args], {
      ...{ cwd: home, env: {}, encoding: 'utf8', timeout: 60_000 },
    })
  assert.equal(run('outbreakctl', '--version').stdout.trim(), version)
  assert.match(run('outbreakctl', '--help').stdout, /outbreakctl/)
  // Without a configuration it says what is missing, which is after all its modules were loaded.
  assert.match(run('outbreaks-server').stderr, /DATABASE_URL/)
})
