// A persistent PostgreSQL cluster: created in a directory the first time and started from it afterwards. Its settings fit
// the memory of the machine, and it is durable because publishing is measured too.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Cluster, openCluster } from '../dev/postgres.ts'

/** shared_buffers is a small share of the memory: the page cache of the system has the rest, and pages in both are stored twice. */
export function chooseSettings() {
  const gigabytes = Math.max(1, Math.min(8, Math.floor(os.totalmem() / 2 ** 30 / 8)))
  return {
    shared_buffers: `${gigabytes}GB`,
    max_wal_size: '4GB',
    checkpoint_timeout: '30min',
    maintenance_work_mem: '512MB',
    max_connections: '200',
    jit: 'off',
  }
}

/** The embedded server of the tests has neither pgbench nor psql. */
export function findBinaries(): string {
  const given = process.env['POSTGRES_BIN']
  const bin = given || execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim()
  for (const name of ['initdb', 'pg_ctl', 'pgbench', 'psql']) {
    if (!existsSync(path.join(bin, name)))
      throw new Error(`${name} was not found: set POSTGRES_BIN to the directory of a PostgreSQL server with pgbench`)
  }
  return bin
}

/** `postmaster` is the id of the first process of the server. */
export async function openPersistentCluster(home: string): Promise<Cluster & { postmaster: number }> {
  mkdirSync(home, { recursive: true })
  const cluster = await openCluster({
    home,
    bin: findBinaries(),
    settings: chooseSettings(),
    timeoutSeconds: 300,
    shutdownMode: 'fast',
  })
  const [postmaster] = readFileSync(path.join(home, 'data/postmaster.pid'), 'utf8').split('\n')
  return { ...cluster, postmaster: Number(postmaster) }
}
