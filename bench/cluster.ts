// A PostgreSQL cluster that is kept: made in a directory the first time, started from it again afterwards. Set up as a
// server with this much memory would be, and durable, because publishing is measured on it too.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Cluster, openCluster } from '../dev/postgres.ts'

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

export function openKeptCluster(home: string): Promise<Cluster> {
  mkdirSync(home, { recursive: true })
  return openCluster({
    home,
    bin: findBinaries(),
    settings: chooseSettings(),
    timeoutSeconds: 300,
    shutdownMode: 'fast',
  })
}
