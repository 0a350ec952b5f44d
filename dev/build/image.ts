// npm run build:image: builds an OCI image without a daemon, from the package, Node and the libraries that both need. The same
// commit on the same system gives the same image. Needs buildah. Writes dist/image.tar and dist/sbom.json.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { buildPackage, root } from './package.ts'
import { type Component, createSbom } from './sbom.ts'

/** No one's number, as in other images without a shell. */
export const USER = 65532
/** Options without which buildah needs a daemon, or privileges that a build machine may not have. */
const STORAGE = ['--storage-driver', process.env['BUILDAH_STORAGE_DRIVER'] || 'vfs']
const PROGRAMS = { 'outbreaks-server': 'main.js', 'outbreaks-notifier': 'notifier.js', outbreakctl: 'cli.js' }

const run = (program: string, args: readonly string[], cwd = root): string =>
  execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 28 })

export interface BuiltImage {
  readonly name: string
  /** The digest of its configuration: equal for equal images. */
  readonly id: string
  readonly archive: string
  readonly sbom: string
}

export async function buildImage(output = path.join(root, 'dist')): Promise<BuiltImage> {
  return inTemporaryDirectory(async (work) => {
    const { tree, app, version, libraries } = await fillTree(work)
    mkdirSync(output, { recursive: true })
    const sbom = path.join(output, 'sbom.json')
    writeFileSync(sbom, createImageSbom(app, libraries))
    copyFileSync(sbom, path.join(app, 'sbom.json'))
    packTree(work, tree)
    const name = `localhost/outbreak-data-service:${version}`
    const archive = path.join(output, 'image.tar')
    return { ...buildArchive(work, { name, version, archive, file: 'deploy/Containerfile' }), sbom }
  })
}

export async function inTemporaryDirectory<Result>(use: (directory: string) => Promise<Result>): Promise<Result> {
  const work = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-image-'))
  try {
    return await use(work)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

interface Tree {
  readonly tree: string
  /** The package with its dependencies, inside the tree. */
  readonly app: string
  readonly version: string
  readonly libraries: readonly string[]
}

/**
 * The files of the image: the package with its dependencies, Node, and the libraries that they load. `addPrograms` copies other
 * programs into the tree and returns them.
 */
export async function fillTree(
  work: string,
  addPrograms: (tree: string) => readonly string[] = () => [],
): Promise<Tree> {
  const tree = path.join(work, 'root')
  const app = path.join(tree, 'app')
  await buildPackage(app)
  // --ignore-scripts: no dependency needs its install script.
  run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], app)
  rmSync(path.join(app, 'node_modules/.package-lock.json'), { force: true })
  const libraries = addNode(tree, addPrograms(tree))
  addFiles(tree)
  const { version } = JSON.parse(readFileSync(path.join(app, 'package.json'), 'utf8')) as { version: string }
  return { tree, app, version, libraries }
}

/** Copies Node, and the libraries that Node and its add-ons load. Returns the libraries. */
function addNode(tree: string, otherPrograms: readonly string[]): string[] {
  const node = realpathSync(process.execPath)
  mkdirSync(path.join(tree, 'usr/bin'), { recursive: true })
  copyFileSync(node, path.join(tree, 'usr/bin/node'))
  chmodSync(path.join(tree, 'usr/bin/node'), 0o755)
  const addons = globSync('app/node_modules/**/*.{node,so}', { cwd: tree }).map((file) => path.join(tree, file))
  const libraries = new Set<string>()
  for (const file of [node, ...addons, ...otherPrograms])
    for (const [, library] of run('ldd', [file]).matchAll(/(?:=> |^\s)(\/\S+)/gm))
      if (library !== undefined && !library.startsWith(tree)) libraries.add(library)
  for (const library of libraries) {
    const target = path.join(tree, library)
    mkdirSync(path.dirname(target), { recursive: true })
    copyFileSync(realpathSync(library), target)
    chmodSync(target, 0o755)
  }
  return [...libraries].sort()
}

function addFiles(tree: string): void {
  const write = (name: string, text: string, mode = 0o644) => {
    mkdirSync(path.dirname(path.join(tree, name)), { recursive: true })
    writeFileSync(path.join(tree, name), text, { mode })
  }
  write('etc/passwd', `outbreaks:x:${USER}:${USER}::/app:/\n`)
  write('etc/group', `outbreaks:x:${USER}:\n`)
  write('etc/nsswitch.conf', 'hosts: files dns\n')
  for (const [name, file] of Object.entries(PROGRAMS))
    write(`usr/bin/${name}`, `#!/usr/bin/node --max-semi-space-size=8\nimport('/app/src/${file}')\n`, 0o755)
  // A new volume at one of these gets its mode, so that the user can write.
  for (const name of ['tmp', 'index']) {
    mkdirSync(path.join(tree, name), { recursive: true })
    chmodSync(path.join(tree, name), 0o1777)
  }
}

/** What npm installed, Node, and the packages of the libraries. */
function createImageSbom(app: string, libraries: readonly string[]): string {
  const node: Component = {
    ...{ type: 'application', name: 'node', version: process.versions.node },
    purl: `pkg:generic/node@${process.versions.node}`,
  }
  return createSbom(app, 'installed', [node, ...listPackages(libraries)])
}

/** The Debian packages of the libraries; none on another system. */
function listPackages(libraries: readonly string[]): Component[] {
  const names = new Set<string>()
  for (const library of libraries)
    for (const file of [library, realpathSync(library)]) {
      try {
        names.add(execFileSync('dpkg-query', ['-S', file], { encoding: 'utf8', stdio: 'pipe' }).split(':')[0] ?? '')
      } catch {
        // A link may belong to no package, but its target does.
      }
    }
  if (names.size === 0) return []
  const format = '${Package} ${Version} ${Architecture}\n'
  return run('dpkg-query', ['-W', '-f', format, ...[...names].sort()])
    .trim()
    .split('\n')
    .map((line) => {
      const [name = '', version = '', architecture = ''] = line.split(' ')
      return { type: 'library', name, version, purl: `pkg:deb/debian/${name}@${version}?arch=${architecture}` }
    })
}

/** Writes work/root.tar, the same for the same files. */
export function packTree(work: string, tree: string): void {
  packDirectory(tree, path.join(work, 'root.tar'), 0)
  rmSync(tree, { recursive: true, force: true })
}

export function packDirectory(directory: string, file: string, owner: number): void {
  run('tar', [
    ...['--sort=name', `--mtime=@${readGit('log', '-1', '--format=%ct')}`, `--owner=${owner}`, `--group=${owner}`],
    ...['--numeric-owner', '--format=gnu', '-C', directory, '-cf', file, '.'],
  ])
}

interface ImageOptions {
  readonly name: string
  readonly version: string
  readonly archive: string
  /** The Containerfile, from the root of the repository. */
  readonly file: string
}

export function buildArchive(work: string, { name, version, archive, file }: ImageOptions): Omit<BuiltImage, 'sbom'> {
  run('buildah', [
    ...[...STORAGE, 'build', '--isolation', 'chroot', '--timestamp', readGit('log', '-1', '--format=%ct')],
    ...['--no-cache', '--build-arg', `VERSION=${version}`, '--build-arg', `REVISION=${readGit('rev-parse', 'HEAD')}`],
    ...['--tag', name, '--file', path.join(root, file), work],
  ])
  const id = run('buildah', [...STORAGE, 'inspect', '--type', 'image', '--format', '{{.FromImageID}}', name]).trim()
  rmSync(archive, { force: true })
  run('buildah', [...STORAGE, 'push', name, `docker-archive:${archive}:${name}`])
  return { name, id, archive }
}

const readGit = (...args: string[]): string => run('git', ['-c', `safe.directory=${root}`, ...args]).trim()

if (import.meta.main) {
  const { name, id, archive } = await buildImage()
  console.log(`${name}\n${id}\n${path.relative(process.cwd(), archive)}`)
}
