// What a release is made of: the SBOM is complete and valid, no known vulnerability is in production, the registry has signed the
// packages. What needs a registry is skipped, with its reason, where the registry does not answer.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { writeManifests } from '../../../dev/build/package.ts'
import { createSbom } from '../../../dev/build/sbom.ts'
import { createDirectory } from '../../fixtures/operate/program.ts'

const root = path.resolve(import.meta.dirname, '../../..')
const TIMEOUT_MS = 20_000

interface Component {
  'bom-ref'?: string
  type?: string
  name?: string
  version?: string
  purl?: string
  hashes?: { alg: string; content: string }[]
  licenses?: unknown[]
}
interface Bom {
  bomFormat?: string
  specVersion?: string
  version?: number
  components: Component[]
  dependencies: { ref: string; dependsOn?: string[] }[]
}

/** The parts that the schema of CycloneDX requires, and those that make the list useful: digests and licences. */
function findFaults({ bomFormat, specVersion, version, components, dependencies }: Bom): string[] {
  const refs = new Set(components.map((component) => component['bom-ref']))
  const isComplete = ({ type, name, version: own, purl, hashes, licenses }: Component) =>
    type === 'library' &&
    Boolean(name && own && purl?.startsWith('pkg:npm/')) &&
    hashes?.some(({ alg, content }) => alg === 'SHA-512' && /^[0-9a-f]{128}$/.test(content)) &&
    (licenses?.length ?? 0) > 0
  const targets = dependencies.flatMap(({ dependsOn = [] }) => dependsOn)
  return [
    ...(bomFormat === 'CycloneDX' && /^1\.\d$/.test(specVersion ?? '') && Number.isInteger(version)
      ? []
      : ['it is not CycloneDX']),
    ...(refs.size === components.length ? [] : ['a reference occurs twice']),
    ...components.filter((component) => !isComplete(component)).map(({ name }) => `${name} is incomplete`),
    ...targets.filter((target) => !refs.has(target)).map((target) => `${target} is no component`),
  ]
}

const packaged = createDirectory()
writeManifests(packaged)
const bom = JSON.parse(createSbom(packaged, 'lock file')) as Bom

test('the SBOM is valid, and every component has a version, a digest and a licence', (t) => {
  assert.deepEqual(findFaults(bom), [])
  t.diagnostic(`${bom.components.length} components, CycloneDX ${bom.specVersion}`)
})

test('the SBOM has every package of the lock file that is not for development, and no other', () => {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; dev?: boolean; name?: string }>
  }
  const locked = Object.entries(packages)
    .filter(([location, { dev }]) => location !== '' && !dev)
    .map(([location, { version, name }]) => `${name ?? location.split('node_modules/').at(-1)}@${version}`)
  const listed = new Set(bom.components.map(({ name, version }) => `${name}@${version}`))
  assert.ok(locked.length > 100)
  // npm leaves binaries for other systems out.
  const missing = locked.filter((name) => !listed.has(name) && !/^@duckdb\/node-bindings-/.test(name))
  assert.deepEqual(missing, [])
  assert.deepEqual(
    [...listed].filter((name) => !locked.includes(name)),
    [],
  )
})

test('the SBOM is the same each time', () => {
  assert.deepEqual(JSON.parse(createSbom(packaged, 'lock file')), bom)
})

const planted: [title: string, change: (copy: Bom) => unknown][] = [
  ['a component without a digest', ({ components: [first] }) => delete first?.hashes],
  ['a component without a licence', ({ components: [first] }) => delete first?.licenses],
  ['a component without a version', ({ components: [first] }) => delete first?.version],
  ['a component that occurs twice', ({ components }) => components.push(components[0] ?? {})],
  ['a dependency that is no component', ({ components }) => components.pop()],
  ['another format', (copy) => Object.assign(copy, { bomFormat: 'SPDX' })],
]
for (const [title, change] of planted)
  test(`control: ${title} is found`, () => {
    const copy = structuredClone(bom)
    change(copy)
    assert.notDeepEqual(findFaults(copy), [])
  })

interface AuditReport {
  readonly vulnerabilities?: Readonly<Record<string, { severity: string }>>
}

const findSevere = ({ vulnerabilities = {} }: AuditReport) =>
  Object.entries(vulnerabilities).filter(([, { severity }]) => severity === 'high' || severity === 'critical')

const npm = (cwd: string, ...args: string[]) =>
  spawnSync('npm', args, { cwd, encoding: 'utf8', timeout: TIMEOUT_MS, killSignal: 'SIGKILL' })

test('npm audit knows no severe vulnerability of a production dependency', (t) => {
  const { stdout } = npm(root, 'audit', '--omit=dev', '--json', '--fetch-retries=0')
  const report = (stdout.startsWith('{') ? JSON.parse(stdout) : {}) as AuditReport
  if (report.vulnerabilities === undefined) return t.skip('the registry does not answer npm audit')
  assert.deepEqual(findSevere(report), [])
})

test('control: a severe vulnerability in the report is found', () => {
  const report = { vulnerabilities: { a: { severity: 'high' }, b: { severity: 'low' } } }
  assert.deepEqual(
    findSevere(report).map(([name]) => name),
    ['a'],
  )
})

test('npm audit signatures verifies the packages', (t) => {
  const { stdout, stderr, status } = npm(root, 'audit', 'signatures', '--omit=dev', '--fetch-retries=0')
  if (!/verified registry signature|missing registry signature|invalid/.test(stdout + stderr))
    return t.skip('the registry, or the list of its keys, does not answer npm audit signatures')
  assert.equal(status, 0, stdout + stderr)
})

test('npm install --min-release-age chooses no version that is younger', (t) => {
  const install = (age: number) => {
    const directory = createDirectory()
    writeFileSync(path.join(directory, 'package.json'), '{"dependencies":{"fresh":"^2.0.0"}}')
    const options = ['--package-lock-only', '--no-audit', '--fetch-retries=0', `--min-release-age=${age}`]
    return npm(directory, 'install', ...options)
  }
  if (install(7).status !== 0)
    return t.skip('the registry does not answer, or does not say when a version was published')
  // fresh 2.0.0 is from 2024: a hundred years of age exclude every version.
  assert.notEqual(install(36_500).status, 0)
})
