// npm run build:image: builds an OCI image without a daemon, from the package, Node and the libraries that both need. The same
// commit on the same system gives the same image. Needs buildah. Writes dist/image.tar and dist/sbom.json.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
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
const USER = 65532
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
  const work = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-image-'))
  try {
    const tree = path.join(work, 'root')
    const app = path.join(tree, 'app')
    cpSync(await buildPackage(), app, { recursive: true })
    // --ignore-scripts: no dependency needs its install script.
    run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], app)
    rmSync(path.join(app, 'node_modules/.package-lock.json'), { force: true })
    const libraries = addNode(tree)
    addFiles(tree)
    const { version } = JSON.parse(readFileSync(path.join(app, 'package.json'), 'utf8')) as { version: string }
    mkdirSync(output, { recursive: true })
    const sbom = path.join(output, 'sbom.json')
    writeFileSync(sbom, createImageSbom(app, libraries))
    copyFileSync(sbom, path.join(app, 'sbom.json'))
    return build(work, output, version, sbom)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Copies Node, and the libraries that Node and its add-ons load. Returns the libraries. */
function addNode(tree: string): string[] {
  const node = realpathSync(process.execPath)
  mkdirSync(path.join(tree, 'usr/bin'), { recursive: true })
  copyFileSync(node, path.join(tree, 'usr/bin/node'))
  chmodSync(path.join(tree, 'usr/bin/node'), 0o755)
  const addons = globSync('app/node_modules/**/*.{node,so}', { cwd: tree }).map((file) => path.join(tree, file))
  const libraries = new Set<string>()
  for (const file of [node, ...addons])
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

function build(work: string, output: string, version: string, sbom: string): BuiltImage {
  const name = `localhost/outbreak-data-service:${version}`
  const archive = path.join(output, 'image.tar')
  const git = (...args: string[]) => run('git', ['-c', `safe.directory=${root}`, ...args]).trim()
  const [revision, time] = [git('rev-parse', 'HEAD'), git('log', '-1', '--format=%ct')]
  run('tar', [
    ...['--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner', '--format=gnu'],
    ...['-C', path.join(work, 'root'), '-cf', path.join(work, 'root.tar'), '.'],
  ])
  rmSync(path.join(work, 'root'), { recursive: true, force: true })
  const file = path.join(root, 'deploy/Containerfile')
  run('buildah', [
    ...[...STORAGE, 'build', '--isolation', 'chroot', '--timestamp', time, '--no-cache'],
    ...['--build-arg', `VERSION=${version}`, '--build-arg', `REVISION=${revision}`, '--tag', name],
    ...['--file', file, work],
  ])
  const id = run('buildah', [...STORAGE, 'inspect', '--type', 'image', '--format', '{{.FromImageID}}', name]).trim()
  rmSync(archive, { force: true })
  run('buildah', [...STORAGE, 'push', name, `docker-archive:${archive}:${name}`])
  return { name, id, archive, sbom }
}

if (import.meta.main) {
  const { name, id, archive } = await buildImage()
  console.log(`${name}\n${id}\n${path.relative(process.cwd(), archive)}`)
}
