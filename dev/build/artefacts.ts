// npm run build:artefacts: everything that a version hands out, in dist/artefacts: the service with the explorer and the
// documentation inside, its images, the clients, SBOMs, SHA256SUMS and, with --sign, a signature. The same commit gives the same
// bytes, but for the demo image. Every program that is needed is looked for first; --without leaves artefacts out.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { buildDemoImage } from '../demo/image.ts'
import { buildImage } from './image.ts'
import { packPackage, root } from './package.ts'
import { createSbom } from './sbom.ts'

interface Artefact {
  /** The programs without which it cannot be built. */
  readonly needs: readonly string[]
  build(directory: string): Promise<void> | void
}

const readGit = (...options: string[]): string =>
  execFileSync('git', ['-c', `safe.directory=${root}`, ...options], { cwd: root, encoding: 'utf8' }).trim()

/** The time of the commit is that of every file in every archive. */
const commitTime = (): string => readGit('log', '-1', '--format=%ct')

function run(program: string, options: readonly string[], cwd = root): void {
  execFileSync(program, options, {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, SOURCE_DATE_EPOCH: commitTime(), TZ: 'UTC', LC_ALL: 'C.UTF-8' },
  })
}

const packClient = (name: string) => (directory: string) => {
  run('npm', ['pack', path.join(root, 'clients', name), '--loglevel=error', '--pack-destination', directory])
}

export const ARTEFACTS: Readonly<Record<string, Artefact>> = {
  service: { needs: ['npm'], build: packService },
  image: {
    needs: ['buildah'],
    async build(directory) {
      const { archive, sbom } = await buildImage(directory)
      const name = path.join(directory, `outbreak-data-service-${readVersion()}`)
      renameSync(archive, `${name}-image.tar`)
      renameSync(sbom, `${name}-image.cdx.json`)
    },
  },
  demo: {
    needs: ['buildah'],
    async build(directory) {
      const { archive } = await buildDemoImage(directory)
      renameSync(archive, path.join(directory, `outbreak-data-demo-${readVersion()}-image.tar`))
    },
  },
  typescript: { needs: ['npm'], build: packClient('typescript') },
  mcp: { needs: ['npm'], build: packClient('mcp') },
  python: {
    needs: ['python3'],
    build(directory) {
      const options = [
        '--quiet',
        '--disable-pip-version-check',
        '--no-deps',
        '--no-cache-dir',
        '--wheel-dir',
        directory,
      ]
      run('python3', ['-m', 'pip', 'wheel', ...options, path.join(root, 'clients/python')])
    },
  },
  r: { needs: ['R', 'gzip'], build: packR },
}

/** The documentation, which the service and its image have inside. */
export function buildDocumentation(): void {
  run('npm', ['ci', '--prefix', 'site', '--no-audit', '--no-fund', '--loglevel=error'])
  run('node', ['site/build.ts'])
}

/** With the SBOM of its lock file. */
async function packService(directory: string): Promise<void> {
  const file = await packPackage(directory)
  writeFileSync(file.replace(/\.tgz$/, '.cdx.json'), createSbom(path.join(root, 'dist/package'), 'lock file'))
}

/** R writes the time and the user into DESCRIPTION, and the times of the files into the archive. */
function packR(directory: string): void {
  const work = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-r-'))
  try {
    run('R', ['CMD', 'build', '--no-build-vignettes', path.join(root, 'clients/r')], work)
    const [name = ''] = globSync('*.tar.gz', { cwd: work })
    run('tar', ['-xzf', name], work)
    const description = path.join(work, 'outbreakdata/DESCRIPTION')
    const day = new Date(Number(commitTime()) * 1000).toISOString().slice(0, 10)
    const text = readFileSync(description, 'utf8').replace(/^Packaged: .*$/m, `Packaged: ${day} 00:00:00 UTC; release`)
    writeFileSync(description, text)
    const archive = name.replace(/\.gz$/, '')
    const same = [
      '--sort=name',
      `--mtime=@${commitTime()}`,
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--mode=go=rX',
    ]
    run('tar', [...same, '--format=ustar', '-cf', archive, 'outbreakdata'], work)
    run('gzip', ['-9', '-n', '--force', archive], work)
    copyFileSync(path.join(work, name), path.join(directory, name))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

const readVersion = (): string =>
  (JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }).version

/** The programs that are missing, as sentences. */
export function findMissing(chosen: readonly string[]): string[] {
  return chosen.flatMap((name) => {
    const missing = (ARTEFACTS[name]?.needs ?? []).filter(
      (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error !== undefined,
    )
    return missing.map(
      (program) => `${name} needs ${program}. Install it, or leave the artefact out: --without ${name}`,
    )
  })
}

/** Builds the artefacts and SHA256SUMS. Returns the lines of SHA256SUMS. */
export async function buildArtefacts(directory: string, chosen: readonly string[]): Promise<string[]> {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  for (const name of chosen) {
    console.error(`Building ${name} …`)
    await ARTEFACTS[name]?.build(directory)
  }
  const lines = globSync('*', { cwd: directory })
    .sort()
    .map((file) => {
      const digest = createHash('sha256').update(readFileSync(path.join(directory, file)))
      return `${digest.digest('hex')}  ${file}`
    })
  writeFileSync(path.join(directory, 'SHA256SUMS'), `${lines.join('\n')}\n`)
  return lines
}

/** An SSH signature, which `ssh-keygen -Y verify` checks. */
function sign(directory: string, key: string): void {
  run('ssh-keygen', ['-q', '-Y', 'sign', '-f', key, '-n', 'file', path.join(directory, 'SHA256SUMS')])
}

export const ARTEFACT_OPTIONS = {
  without: { type: 'string', default: '' },
  sign: { type: 'string' },
} as const

interface ArtefactOptions {
  /** Names of artefacts, separated by commas. */
  readonly without: string
  /** The file of an SSH key. */
  readonly sign?: string | undefined
}

/** Builds what `options` leave, with the documentation, in dist/artefacts. Ends the process if a program is missing. */
export async function buildChosen({ without, sign: key }: ArtefactOptions): Promise<string> {
  const names = Object.keys(ARTEFACTS)
  const left = without.split(',').filter((name) => name !== '')
  const chosen = names.filter((name) => !left.includes(name))
  const faults = [
    ...left
      .filter((name) => !names.includes(name))
      .map((name) => `No artefact ${name}. Choose from ${names.join(', ')}.`),
    ...findMissing(chosen),
  ]
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) process.exit(1)
  const directory = path.join(root, 'dist/artefacts')
  console.error('Building the documentation …')
  buildDocumentation()
  const lines = await buildArtefacts(directory, chosen)
  if (key !== undefined) sign(directory, key)
  console.log(lines.join('\n'))
  return directory
}

if (import.meta.main) await buildChosen(parseArgs({ options: ARTEFACT_OPTIONS }).values)
