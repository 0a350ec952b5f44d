// A real streaming replica of a durable cluster, for tests: replay can be paused, and the replica can be promoted.
// It is copied with the backup functions of the server, because not every PostgreSQL package has pg_basebackup.
import { execFile } from 'node:child_process'
import { appendFileSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { type Cluster, openCluster, unprivilegedAccount } from './postgres.ts'

const run = promisify(execFile)
const CATCH_UP_TIMEOUT_MS = 10_000

export interface Replica extends Cluster {
  /** WAL is received, but not replayed, until `resume`. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Waits until the replica has replayed what the primary has written so far. */
  catchUp(): Promise<void>
  /** Closes the connection to the primary; returns the argument of `connect`. */
  disconnect(): Promise<string>
  connect(conninfo: string): Promise<void>
  promote(): Promise<void>
}

export async function createReplica(primary: Cluster): Promise<Replica> {
  const home = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-replica-'))
  const bin = await copyCluster(primary, home)
  const cluster = await openCluster({ home, bin, settings: {}, timeoutSeconds: 30, shutdownMode: 'immediate' })
  const readLsn = async (url: string, expression: string) =>
    (await query<{ reached: string }>(url, `select ${expression} as reached`))[0]?.reached

  async function waitForCondition(condition: string, state: string): Promise<void> {
    const deadline = Date.now() + CATCH_UP_TIMEOUT_MS
    while ((await query<{ met: boolean }>(cluster.url, `select ${condition} as met`))[0]?.met !== true) {
      if (Date.now() > deadline) throw new Error(`the replica is not ${state} after ${CATCH_UP_TIMEOUT_MS} ms`)
      await wait(20)
    }
  }

  const setPrimary = (conninfo: string) =>
    query(cluster.url, `alter system set primary_conninfo = '${conninfo}'`).then(() =>
      query(cluster.url, 'select pg_reload_conf()'),
    )

  return {
    ...cluster,
    async disconnect() {
      const [row] = await query<{ primary_conninfo: string }>(cluster.url, 'show primary_conninfo')
      await setPrimary('')
      await waitForCondition('not exists (select from pg_stat_wal_receiver)', 'disconnected')
      return row?.primary_conninfo ?? ''
    },
    connect: async (conninfo) => void (await setPrimary(conninfo)),
    async pause() {
      await query(cluster.url, 'select pg_wal_replay_pause()')
      await waitForCondition(`pg_get_wal_replay_pause_state() = 'paused'`, 'paused')
    },
    resume: async () => void (await query(cluster.url, 'select pg_wal_replay_resume()')),
    async catchUp() {
      const written = await readLsn(primary.url, 'pg_current_wal_lsn()')
      await waitForCondition(`pg_last_wal_replay_lsn() >= '${written}'`, 'caught up with its primary')
    },
    promote: async () => void (await query(cluster.url, 'select pg_promote()')),
    // Not with pg_ctl: its binary may be in the directory of the primary, which may be removed first.
    async stop() {
      await cluster.kill().catch(() => {})
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Returns the directory of the PostgreSQL binaries of the primary. */
async function copyCluster(primary: Cluster, home: string): Promise<string> {
  const account = unprivilegedAccount()
  if (account !== null) chownSync(home, account.uid, account.gid)
  const data = path.join(home, 'data')
  const { host, port } = parseAddress(primary.url)
  const admin = new pg.Client({ connectionString: primary.url, connectionTimeoutMillis: 5000 })
  await admin.connect()
  try {
    const { rows } = await admin.query<{ data: string; bin: string }>(
      `select current_setting('data_directory') as data, setting as bin from pg_config where name = 'BINDIR'`,
    )
    const { data: source = '', bin = '' } = rows[0] ?? {}
    // A replica that was away for minutes still finds what it missed.
    await admin.query(`alter system set wal_keep_size = '1GB'`)
    await admin.query('select pg_reload_conf()')
    await admin.query(`select pg_backup_start('replica', true)`)
    await run('cp', ['-a', source, data], { ...account, cwd: home })
    const { rows: labels } = await admin.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    rmSync(path.join(data, 'postmaster.pid'), { force: true })
    const files = { backup_label: labels[0]?.labelfile ?? '', 'standby.signal': '' }
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(path.join(data, name), text)
      if (account !== null) chownSync(path.join(data, name), account.uid, account.gid)
    }
    appendFileSync(
      path.join(data, 'postgresql.auto.conf'),
      `primary_conninfo = 'host=${host} port=${port} user=postgres'\nwal_retrieve_retry_interval = 500ms\n`,
    )
    return bin
  } finally {
    await admin.end()
  }
}

function parseAddress(url: string): { host: string; port: string } {
  const { hostname, port } = new URL(url)
  return { host: hostname, port }
}

async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}
