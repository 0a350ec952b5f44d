// The lock files: a digest for every package, no address of a registry, and only licences that allow distribution.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const root = path.resolve(import.meta.dirname, '../../..')

interface Entry {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly license?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
  readonly hasInstallScript?: boolean
}
type Packages = Readonly<Record<string, Entry>>

/** SPDX identifiers of permissive licences. */
const ALLOWED_LICENCES = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0']
/**
 * Binaries of development tools for systems that we do not build on. The registry that wrote the lock file does not serve them,
 * so their digests are unknown to it. node dev/build/complete-lock.ts adds those that a registry has.
 */
const WITHOUT_DIGEST =
  /^node_modules\/@(biomejs\/cli|oxc-parser\/binding|oxlint\/binding|oxlint-tsgolint\/)-?[a-z0-9-]+$/
/** Only fewer are allowed. */
const MAX_WITHOUT_DIGEST = 40
const MAX_WITHOUT_DIGEST_IN_SITE = 25

const isBuildPlatform = ({ os, cpu, libc }: Entry) =>
  (os?.includes('linux') ?? true) && (cpu?.includes('x64') ?? true) && (libc?.includes('glibc') ?? true)

function findFaults(packages: Packages): string[] {
  const entries = Object.entries(packages).filter(([name]) => name !== '')
  const undigested = entries.filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''))
  return [
    ...undigested
      .filter(([name, entry]) => !WITHOUT_DIGEST.test(name) || !entry.dev || !entry.optional || isBuildPlatform(entry))
      .map(([name]) => `${name} has no digest`),
    ...(undigested.length > MAX_WITHOUT_DIGEST ? [`${undigested.length} packages have no digest`] : []),
    ...entries.filter(([, { resolved }]) => resolved !== undefined).map(([name]) => `${name} has an address`),
    ...entries
      .filter(([, { version }]) => !/^\d+\.\d+\.\d+/.test(version ?? ''))
      .map(([name]) => `${name} has no version`),
    ...entries
      .filter(([, { dev, license }]) => !dev && !ALLOWED_LICENCES.includes(license ?? ''))
      .map(([name, { license }]) => `${name} has the licence ${license}`),
    ...entries
      .filter(([, { dev, hasInstallScript }]) => !dev && hasInstallScript)
      .map(([name]) => `${name} runs a script when it is installed`),
  ]
}

const read = (name: string) => JSON.parse(readFileSync(path.join(root, name), 'utf8')) as { packages: Packages }

test('every package has a digest, no address, an allowed licence, and no install script in production', (t) => {
  const { packages } = read('package-lock.json')
  assert.deepEqual(findFaults(packages), [])
  const entries = Object.values(packages)
  t.diagnostic(`${entries.length - 1} packages, ${entries.filter(({ dev }) => !dev).length - 1} in production`)
  assert.ok(entries.length > 300)
})

test('every package of the documentation site has no address, and a digest unless it is for another system', () => {
  const entries = Object.entries(read('site/package-lock.json').packages).filter(([name]) => name !== '')
  assert.ok(entries.length > 100)
  const undigested = entries.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))
  assert.deepEqual(
    undigested.filter(([, entry]) => !entry.optional || isBuildPlatform(entry)),
    [],
  )
  assert.ok(undigested.length <= MAX_WITHOUT_DIGEST_IN_SITE, `${undigested.length} packages have no digest`)
  assert.deepEqual(
    entries.filter(([, { resolved }]) => resolved !== undefined),
    [],
  )
  assert.match(readFileSync(path.join(root, '.github/dependabot.yml'), 'utf8'), /directory: \/site\n/)
})

const GOOD: Entry = { version: '1.2.3', integrity: `sha512-${'A'.repeat(86)}==`, license: 'MIT' }
const OTHER: Entry = { version: '1.2.3', license: 'MIT', dev: true, optional: true, os: ['darwin'], cpu: ['arm64'] }
const planted: [title: string, name: string, entry: Entry, faults: string[]][] = [
  ['a complete entry', 'node_modules/a', GOOD, []],
  ['a binary for another system', 'node_modules/@oxlint/binding-darwin-arm64', OTHER, []],
  ['no digest', 'node_modules/a', { ...GOOD, integrity: '' }, ['node_modules/a has no digest']],
  ['a SHA-1 digest', 'node_modules/a', { ...GOOD, integrity: 'sha1-abc=' }, ['node_modules/a has no digest']],
  [
    'a tool for Linux without a digest',
    'node_modules/@oxlint/binding-linux-x64-gnu',
    { ...OTHER, os: ['linux'], cpu: ['x64'], libc: ['glibc'] },
    ['node_modules/@oxlint/binding-linux-x64-gnu has no digest'],
  ],
  [
    'a binary without a digest in production',
    'node_modules/@oxlint/binding-darwin-arm64',
    { ...OTHER, dev: false },
    ['node_modules/@oxlint/binding-darwin-arm64 has no digest'],
  ],
  ['an address', 'node_modules/a', { ...GOOD, resolved: 'https://host.test/a.tgz' }, ['node_modules/a has an address']],
  ['a branch as version', 'node_modules/a', { ...GOOD, version: 'main' }, ['node_modules/a has no version']],
  [
    'a licence that is not in the list',
    'node_modules/a',
    { ...GOOD, license: 'AGPL-3.0' },
    ['node_modules/a has the licence AGPL-3.0'],
  ],
  ['that licence in development', 'node_modules/a', { ...GOOD, license: 'AGPL-3.0', dev: true }, []],
  [
    'an install script',
    'node_modules/a',
    { ...GOOD, hasInstallScript: true },
    ['node_modules/a runs a script when it is installed'],
  ],
]
for (const [title, name, entry, faults] of planted)
  test(`${title}: ${faults.length === 0 ? 'no fault' : 'found'}`, () =>
    assert.deepEqual(findFaults({ [name]: entry }), faults))

test('one binary more without a digest is found', () => {
  const many = Array.from({ length: MAX_WITHOUT_DIGEST + 1 }, (_, i) => [`node_modules/@oxlint/binding-x${i}`, OTHER])
  assert.deepEqual(findFaults(Object.fromEntries(many) as Packages), ['41 packages have no digest'])
})
