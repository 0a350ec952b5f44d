// Three PostgreSQL servers under Patroni, and etcd, each on a machine of its own. A commit waits for a replica.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { createMachine, type Machine } from './network.ts'

/** Seconds until a leader that does not renew its lock loses it. The servers share a machine with the load, so it is not shorter. */
const TTL = 10
const READY_TIMEOUT_MS = 120_000
const REST_PORT = 8008
const DISK_SIZE = '3g'
const PASSWORD = 'failover'

export interface DatabaseCluster {
  readonly members: readonly Machine[]
  readonly etcd: Machine
  urlOf(member: Machine): string
  /** The database at another address, where a proxy listens. */
  urlAt(host: string): string
  /** The member that accepts writes. */
  leader(): Promise<Machine>
  replicas(): Promise<Machine[]>
  /** Starts Patroni on a machine that was killed. */
  startMember(member: Machine): void
  startEtcd(): void
  /** Fills the disk of a machine. Returns a function that frees it again. */
  fillDisk(member: Machine): () => void
  /** Waits until there is a leader, both others replicate, and one of them may take over. */
  waitUntilHealthy(): Promise<void>
  logs(): string
  close(): void
}

export async function createDatabaseCluster(bin: string): Promise<DatabaseCluster> {
  const home = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-failover-'))
  chmodSync(home, 0o755)
  const postgres = Number(execFileSync('id', ['-u', 'postgres'], { encoding: 'utf8' }))
  const group = Number(execFileSync('id', ['-g', 'postgres'], { encoding: 'utf8' }))
  const etcd = createMachine('ob-etcd', 9)
  const members = [1, 2, 3].map((number) => createMachine(`ob-pg${number}`, 10 + number))
  const log = path.join(home, 'log')
  writeFileSync(log, '')

  for (const member of members) {
    const directory = path.join(home, member.name)
    mkdirSync(directory)
    const options = `size=${DISK_SIZE},mode=700,uid=${postgres},gid=${group}`
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', directory])
    writeFileSync(path.join(home, `${member.name}.yml`), configure(member, etcd, directory, bin))
  }
  const startEtcd = () => {
    const client = `http://${etcd.address}:2379`
    const peer = `http://${etcd.address}:2380`
    etcd.start(
      'etcd',
      [
        '--data-dir',
        path.join(home, 'etcd'),
        '--listen-client-urls',
        client,
        '--advertise-client-urls',
        client,
        '--listen-peer-urls',
        peer,
        '--initial-advertise-peer-urls',
        peer,
        '--initial-cluster',
        `default=${peer}`,
      ],
      { log },
    )
  }
  const startMember = (member: Machine) =>
    void member.start('patroni', [path.join(home, `${member.name}.yml`)], { log, asPostgres: true })

  const urlAt = (host: string) => `postgres://postgres:${PASSWORD}@${host}/postgres`
  const urlOf = (member: Machine) => urlAt(`${member.address}:5432`)

  async function isReplica(member: Machine): Promise<boolean | undefined> {
    const client = new pg.Client({
      connectionString: urlOf(member),
      connectionTimeoutMillis: 1000,
      query_timeout: 1000,
    })
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query<{ replica: boolean }>('select pg_is_in_recovery() as replica')
      return rows[0]?.replica
    } catch {
      return undefined
    } finally {
      void client.end().catch(() => {})
    }
  }

  async function find(replica: boolean): Promise<Machine[]> {
    const found = await Promise.all(
      members.map(async (member) => ((await isReplica(member)) === replica ? [member] : [])),
    )
    return found.flat()
  }

  async function waitUntilHealthy(): Promise<void> {
    const deadline = Date.now() + READY_TIMEOUT_MS
    for (;;) {
      const [leader] = await find(false)
      if (
        leader !== undefined &&
        (await find(true)).length === 2 &&
        (await countStreaming(urlOf(leader))) === 2 &&
        (await hasSynchronousReplica(leader))
      )
        return
      if (Date.now() > deadline)
        throw new Error(`the cluster is not healthy:\n${readFileSync(log, 'utf8').slice(-4000)}`)
      await wait(250)
    }
  }

  startEtcd()
  await wait(1500)
  for (const member of members) startMember(member)
  return {
    members,
    etcd,
    urlAt,
    urlOf,
    startMember,
    startEtcd,
    waitUntilHealthy,
    async leader() {
      const deadline = Date.now() + READY_TIMEOUT_MS
      for (;;) {
        const [found] = await find(false)
        if (found !== undefined) return found
        if (Date.now() > deadline) throw new Error('there is no leader')
        await wait(100)
      }
    },
    replicas: () => find(true),
    fillDisk(member) {
      const directory = path.join(home, member.name)
      const { bavail, bsize } = statfsSync(directory)
      execFileSync('fallocate', ['-l', String(bavail * bsize), path.join(directory, 'full')])
      return () => rmSync(path.join(directory, 'full'), { force: true })
    },
    logs: () => readFileSync(log, 'utf8'),
    close() {
      for (const { name } of members) execFileSync('umount', ['--lazy', path.join(home, name)])
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Patroni promotes no other replica, because another one may lack the last writes. */
async function hasSynchronousReplica({ address }: Machine): Promise<boolean> {
  try {
    const response = await fetch(`http://${address}:${REST_PORT}/cluster`, { signal: AbortSignal.timeout(2000) })
    const { members } = (await response.json()) as { members: { role: string }[] }
    return members.some(({ role }) => role === 'sync_standby')
  } catch {
    return false
  }
}

async function countStreaming(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 })
  try {
    await client.connect()
    const { rows } = await client.query<{ streaming: number }>(
      `select count(*) filter (where state = 'streaming')::integer as streaming from pg_stat_replication`,
    )
    return rows[0]?.streaming ?? 0
  } catch {
    return 0
  } finally {
    await client.end().catch(() => {})
  }
}

const configure = (member: Machine, etcd: Machine, directory: string, bin: string) => `scope: outbreaks
name: ${member.name}
restapi: { listen: "${member.address}:${REST_PORT}", connect_address: "${member.address}:${REST_PORT}" }
etcd3: { hosts: "${etcd.address}:2379" }
bootstrap:
  dcs:
    ttl: ${TTL}
    loop_wait: 2
    retry_timeout: 3
    maximum_lag_on_failover: 1048576
    synchronous_mode: true
    failsafe_mode: true
    primary_start_timeout: 0
    postgresql:
      use_pg_rewind: true
      parameters:
        wal_log_hints: "on"
        hot_standby_feedback: "on"
        wal_receiver_timeout: 5s
        wal_sender_timeout: 5s
        max_connections: 100
        shared_buffers: 128MB
        tcp_keepalives_idle: 5
        client_connection_check_interval: 2s
  initdb: [{ encoding: UTF8 }, { locale: C }, data-checksums]
postgresql:
  listen: "${member.address}:5432"
  connect_address: "${member.address}:5432"
  data_dir: ${directory}/data
  bin_dir: ${bin}
  pgpass: ${directory}/pgpass
  authentication:
    superuser: { username: postgres, password: ${PASSWORD} }
    replication: { username: replicator, password: ${PASSWORD} }
    rewind: { username: rewinder, password: ${PASSWORD} }
  parameters: { unix_socket_directories: "${directory}" }
  pg_hba: ["local all all trust", "host all all 0.0.0.0/0 md5", "host replication replicator 0.0.0.0/0 md5"]
`
