// A PostgreSQL cluster that is kept: made in a directory the first time, started from it again afterwards. Set up as a
// server with this much memory would be, and durable, because publishing is measured on it too.
import { execFile, execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { findFreePort } from '../dev/postgres.ts'

const run = promisify(execFile)
const START_SECONDS = '300'

export interface KeptCluster {
  /** The superuser's address of a database. */
  urlOf(database: string): string
  stop(): Promise<void>
}

/**
 * A small share of memory: the system's own cache holds the rest, and what lies in both is held twice. Autovacuum would
 * start in the midst of one round and not of another; whoever fills a table vacuums it.
 */
export function chooseSettings() {
  const gigabytes = Math.max(1, Math.min(8, Math.floor(os.totalmem() / 2 ** 30 / 8)))
  return {
    shared_buffers: `${gigabytes}GB`,
    max_wal_size: '4GB',
    checkpoint_timeout: '30min',
    maintenance_work_mem: '512MB',
    max_connections: '200',
    jit: 'off',
    autovacuum: 'off',
  }
}

/** The embedded server of the tests has neither pgbench nor psql. */
export function findBinaries(): string {
  const given = process.env['POSTGRES_BIN']
  const bin = given || execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim()
  for (const name of ['initdb', 'pg_ctl', 'pgbench', 'psql']) {
    if (!existsSync(path.join(bin, name)))
      throw new Error(`${name} is not there: let POSTGRES_BIN name the programs of a PostgreSQL server with pgbench`)
  }
  return bin
}

export async function openCluster(home: string): Promise<KeptCluster> {
  const bin = findBinaries()
  const account = unprivilegedAccount()
  mkdirSync(home, { recursive: true })
  if (account !== null) chownSync(home, account.uid, account.gid)
  const data = path.join(home, 'data')
  const as = { ...account, cwd: home, env: { PATH: process.env['PATH'], LC_ALL: 'C' } }
  if (!existsSync(path.join(data, 'PG_VERSION'))) {
    const how = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
    await run(path.join(bin, 'initdb'), ['-D', data, ...how], as)
  }
  const port = await findFreePort()
  const settings = Object.entries(chooseSettings()).map(([name, value]) => `-c ${name}=${value}`)
  const control = path.join(bin, 'pg_ctl')
  const log = path.join(home, 'log')
  const options = [`-p ${port} -k ${home} -h 127.0.0.1`, ...settings].join(' ')
  // pg_ctl hands its pipes on to the server, so waiting for them would never end.
  const starting = spawn(control, ['-D', data, '-w', '-t', START_SECONDS, '-l', log, '-o', options, 'start'], {
    ...as,
    stdio: 'ignore',
  })
  const code = await new Promise((resolve) => starting.on('exit', resolve))
  if (code !== 0) throw new Error(`PostgreSQL did not start:\n${readFileSync(log, 'utf8').slice(-2000)}`)
  return {
    urlOf: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    stop: async () => void (await run(control, ['-D', data, '-w', '-t', START_SECONDS, '-m', 'fast', 'stop'], as)),
  }
}

/** PostgreSQL refuses to run as root. */
function unprivilegedAccount(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}
