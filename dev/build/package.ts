// npm run build: writes dist/package, the service as a package to install. It has JavaScript, because Node does not run
// TypeScript inside node_modules, and the exact versions of its dependencies (npm-shrinkwrap.json).
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { buildMcp } from '../../clients/mcp/build.ts'
import { buildExplorer } from '../../explorer/build.ts'

export const root = path.resolve(import.meta.dirname, '../..')
/** What an operator needs to install, run and upgrade a node, and to read about it. */
const COPIED = [
  ...[
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'clients/mcp/dist',
    'explorer/dist',
    'migrations',
    'reference',
    'sample',
    'sources',
  ],
  ...globSync(['docs/*.*', 'docs/operating/*.md'], { cwd: root }),
  // The documentation site, if it was built.
  ...globSync('site/dist', { cwd: root }),
  // Not all of deploy: it may have secrets.
  ...globSync('deploy/{systemd,prometheus,grafana,*.cfg,*.conf,create-*}', { cwd: root }),
  ...globSync('deploy/{cron,record-job,certificate-check,restore-drill}', { cwd: root }),
]
const PROGRAMS = {
  outbreakctl: 'src/cli.js',
  'outbreaks-notifier': 'src/notifier.js',
  'outbreaks-server': 'src/main.js',
}
const KEPT_FIELDS = ['name', 'version', 'description', 'license', 'type', 'engines', 'dependencies'] as const

interface Lock {
  readonly lockfileVersion: number
  readonly packages: Record<string, { readonly dev?: boolean }>
}

const readJson = (name: string): unknown => JSON.parse(readFileSync(path.join(root, name), 'utf8'))

/** Returns the directory of the package. */
export async function buildPackage(output = path.join(root, 'dist/package')): Promise<string> {
  rmSync(output, { recursive: true, force: true })
  await buildExplorer()
  await buildMcp()
  for (const name of COPIED) cpSync(path.join(root, name), path.join(output, name), { recursive: true })
  execFileSync(
    path.join(root, 'node_modules/.bin/tsc'),
    ['-p', 'tsconfig.build.json', '--outDir', path.join(output, 'src')],
    {
      cwd: root,
      stdio: 'inherit',
    },
  )
  for (const program of Object.values(PROGRAMS)) chmodSync(path.join(output, program), 0o755)
  writeManifests(output)
  return output
}

/** package.json and npm-shrinkwrap.json. */
export function writeManifests(directory: string): void {
  const source = readJson('package.json') as Record<string, unknown>
  const manifest = {
    ...Object.fromEntries(KEPT_FIELDS.map((name) => [name, source[name]])),
    bin: PROGRAMS,
  }
  const write = (name: string, content: object) =>
    writeFileSync(path.join(directory, name), `${JSON.stringify(content, null, 2)}\n`)
  write('package.json', manifest)
  write('npm-shrinkwrap.json', createShrinkwrap(manifest))
}

/** The lock file without what only development needs. */
function createShrinkwrap(manifest: Record<string, unknown>) {
  const { lockfileVersion, packages } = readJson('package-lock.json') as Lock
  const kept = Object.entries(packages).filter(([name, { dev }]) => name !== '' && dev !== true)
  const { name, version } = manifest
  return { name, version, lockfileVersion, requires: true, packages: { '': manifest, ...Object.fromEntries(kept) } }
}

/** Packs the package as npm does. Returns the file. With `output` it does not disturb another build. */
export async function packPackage(directory: string, output?: string): Promise<string> {
  mkdirSync(directory, { recursive: true })
  const packed = execFileSync(
    'npm',
    ['pack', await buildPackage(output), '--json', '--ignore-scripts', '--pack-destination', directory],
    { cwd: directory, encoding: 'utf8' },
  )
  const [result] = JSON.parse(packed) as { filename: string }[]
  if (result === undefined) throw new Error('npm pack wrote no file')
  return path.join(directory, result.filename)
}

if (import.meta.main) console.log(path.relative(process.cwd(), await buildPackage()))
