// PostGraphile 5 on the same table, started by its own command line. It is never a dependency of this package: the bench
// installs it once into a temporary directory.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { type Contender, startChild } from './child.ts'

const run = promisify(execFile)
const INSTALL_TIMEOUT_MS = 300_000
const home = path.join(os.tmpdir(), 'outbreaks-bench-postgraphile')
const installed = path.join(home, 'node_modules/postgraphile')

async function install(): Promise<void> {
  if (existsSync(path.join(installed, 'package.json'))) return
  await mkdir(home, { recursive: true })
  const options = ['--no-audit', '--no-fund', '--loglevel=error']
  await run('npm', ['install', '--prefix', home, ...options, 'postgraphile@5'], {
    cwd: home,
    timeout: INSTALL_TIMEOUT_MS,
  })
}

export async function startPostGraphile(databaseUrl: string): Promise<Contender & { version: string }> {
  await install()
  const { version, bin } = JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8')) as {
    version: string
    bin: string | Record<string, string>
  }
  const script = typeof bin === 'string' ? bin : Object.values(bin)[0]
  const contender = await startChild({
    program: process.execPath,
    args: (port) => [
      path.join(installed, script ?? ''),
      ...['-P', 'postgraphile/presets/amber', '-c', databaseUrl, '-s', 'public'],
      ...['-n', '127.0.0.1', '-p', String(port)],
    ],
    environment: () => ({ NODE_ENV: 'production', GRAPHILE_ENV: 'production' }),
    cwd: home,
  })
  return { ...contender, version }
}
