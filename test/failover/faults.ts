// The faults F1 to F20: how each is made and ended, and what is expected of it.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { outbreakctl } from '../../dev/service.ts'
import { obtainToken, readRecord } from '../fixtures/api-client.ts'
import type { Machine } from './network.ts'
import type { System } from './system.ts'

export interface Fault {
  readonly id: string
  readonly title: string
  /** Makes the fault and ends it, while consumers read and an operator writes. Throws if something is not as expected. */
  run(system: System): Promise<void>
  /** Seconds: the longest time without a good read, and without an acknowledged write. */
  readonly limits: { readonly read: number; readonly write: number }
  /** Reads that may fail also after a retry; 0 if absent. Only if no server is reachable at all. */
  readonly mayFailReads?: boolean
}

const seconds = (count: number) => wait(count * 1000)
const FAILOVER_SECONDS = 30
/** Releases that fit into the free pages of the database. */
const MOST_PUBLISHED = 40

/** Machines have networks of their own, but share their processes with this one: other servers must live. */
const crashPostgres = (machine: Machine) =>
  machine.run('sh', '-c', "pkill --ns $$ --nslist net -9 -u postgres -f 'postgres: .*(checkpointer|walwriter)'")

export const FAULTS: readonly Fault[] = [
  {
    id: 'F1',
    title: 'kill -9 of a node',
    limits: { read: 2, write: 2 },
    async run({ nodes, startNode }) {
      nodes[0]?.process.kill('SIGKILL')
      await seconds(3)
      await startNode(0)
      await seconds(2)
    },
  },
  {
    id: 'F2',
    title: 'rolling restart of both nodes',
    limits: { read: 2, write: 2 },
    async run({ nodes, startNode }) {
      for (const number of [0, 1]) {
        await nodes[number]?.stop()
        await startNode(number)
        await seconds(2)
      }
    },
  },
  {
    id: 'F3',
    title: 'a node hangs for 10 s',
    limits: { read: 8, write: 2 },
    async run({ nodes }) {
      nodes[1]?.process.kill('SIGSTOP')
      await seconds(10)
      nodes[1]?.process.kill('SIGCONT')
      await seconds(2)
    },
  },
  {
    id: 'F4',
    title: 'PostgreSQL crashes on the primary',
    limits: { read: 3, write: FAILOVER_SECONDS },
    async run({ cluster }) {
      const leader = await cluster.leader()
      crashPostgres(leader)
      await seconds(3)
      await cluster.waitUntilHealthy()
      await seconds(1)
    },
  },
  {
    id: 'F5',
    title: 'the machine of the primary is lost',
    limits: { read: 3, write: FAILOVER_SECONDS },
    async run({ cluster }) {
      const leader = await cluster.leader()
      leader.pullCable()
      leader.kill()
      await waitForOther(cluster, leader.name)
      leader.plugCable()
      cluster.startMember(leader)
      await cluster.waitUntilHealthy()
    },
  },
  {
    id: 'F6',
    title: 'the primary is cut off',
    limits: { read: 3, write: FAILOVER_SECONDS },
    async run({ cluster }) {
      const leader = await cluster.leader()
      leader.pullCable()
      await waitForOther(cluster, leader.name)
      await seconds(3)
      // Behind its cable the old primary must not accept writes any more.
      const refused = (() => {
        try {
          leader.run(
            'env',
            'PGPASSWORD=failover',
            'psql',
            '-h',
            leader.address,
            '-U',
            'postgres',
            '-Atc',
            'create table cut_off ()',
          )
          return false
        } catch {
          return true
        }
      })()
      leader.plugCable()
      if (!refused) throw new Error('the old primary accepted a write while it was cut off')
      await cluster.waitUntilHealthy()
    },
  },
  {
    id: 'F7',
    title: 'one replica is lost, then both',
    limits: { read: 3, write: FAILOVER_SECONDS },
    async run({ cluster }) {
      const replicas = await cluster.replicas()
      for (const replica of replicas) {
        replica.kill()
        await seconds(6)
      }
      await seconds(6)
      for (const replica of replicas) cluster.startMember(replica)
      await cluster.waitUntilHealthy()
    },
  },
  {
    id: 'F8',
    title: 'the replica of a node stands still, then hangs',
    limits: { read: 4, write: FAILOVER_SECONDS },
    async run({ cluster }) {
      const [replica] = await cluster.replicas()
      if (replica === undefined) throw new Error('there is no replica')
      await query(cluster.urlOf(replica), 'select pg_wal_replay_pause()')
      await seconds(4)
      await query(cluster.urlOf(replica), 'select pg_wal_replay_resume()')
      replica.kill('SIGSTOP')
      await seconds(6)
      replica.kill('SIGCONT')
      await cluster.waitUntilHealthy()
    },
  },
  {
    id: 'F9',
    title: 'etcd is down for 40 s',
    limits: { read: 2, write: 5 },
    async run({ cluster }) {
      cluster.etcd.kill()
      await seconds(40)
      cluster.startEtcd()
      await seconds(5)
      await cluster.waitUntilHealthy()
    },
  },
  {
    id: 'F10',
    title: 'Redis hangs, then is gone',
    limits: { read: 2, write: 2 },
    async run({ redis }) {
      redis.signal('SIGSTOP')
      await seconds(3)
      redis.signal('SIGCONT')
      await seconds(1)
      await redis.kill()
      await seconds(3)
      await redis.start()
      await seconds(1)
    },
  },
  {
    id: 'F11',
    title: 'no node reaches any database server for 5 s',
    limits: { read: 9, write: 12 },
    mayFailReads: true,
    async run({ cluster, baseUrl, token }) {
      for (const member of cluster.members) member.pullCable()
      await seconds(3)
      const startedAt = performance.now()
      const response = await readRecord(baseUrl, token)
      const ms = performance.now() - startedAt
      await response.arrayBuffer()
      for (const member of cluster.members) member.plugCable()
      if (response.status !== 503 && response.status !== 200) throw new Error(`the answer was ${response.status}`)
      if (ms > 6000) throw new Error(`the answer took ${Math.round(ms)} ms`)
      await cluster.waitUntilHealthy()
      // So that something is measured.
      await seconds(3)
    },
  },
  {
    id: 'F12',
    title: 'the disk of the primary is full',
    limits: { read: 3, write: 2 * FAILOVER_SECONDS },
    async run({ cluster, settings, publishInput }) {
      const free = cluster.fillDisk(await cluster.leader())
      try {
        // The first ones may use space that the files of the database still have.
        const publish = () =>
          outbreakctl(settings, 'release', 'publish', publishInput()).then(
            () => true,
            () => false,
          )
        for (let published = 0; await publish(); published++)
          if (published === MOST_PUBLISHED) throw new Error('publishing on a full disk succeeded')
      } finally {
        free()
      }
      await cluster.waitUntilHealthy()
      await outbreakctl(settings, 'release', 'publish', publishInput())
    },
  },
  {
    id: 'F13',
    title: 'power failure of the primary: it starts again by itself',
    limits: { read: 3, write: FAILOVER_SECONDS },
    async run({ cluster }) {
      const leader = await cluster.leader()
      leader.kill()
      cluster.startMember(leader)
      await seconds(3)
      await cluster.waitUntilHealthy()
    },
  },
  {
    id: 'F14',
    title: 'kill -9 of the publisher and of PostgreSQL while publishing',
    limits: { read: 3, write: FAILOVER_SECONDS },
    async run({ cluster, settings, publishInput, publishKilled }) {
      await publishKilled(publishInput(), 300)
      const publishing = outbreakctl(settings, 'release', 'publish', publishInput()).catch(() => undefined)
      await wait(700)
      const leader = await cluster.leader()
      crashPostgres(leader)
      await publishing
      await seconds(3)
      await cluster.waitUntilHealthy()
      await outbreakctl(settings, 'release', 'publish', publishInput())
    },
  },
  {
    id: 'F15',
    title: 'a bad release, and its rollback',
    limits: { read: 2, write: 2 },
    async run({ settings, publishInput, nodes, credentials, baseUrl }) {
      const { release: good } =
        (await outbreakctl<{ release: number }>(settings, 'release', 'publish', publishInput())) ?? {}
      await outbreakctl(settings, 'release', 'publish', publishInput())
      const { release: restored } = await outbreakctl<{ release: number }>(
        settings,
        'release',
        'rollback',
        '--to',
        String(good),
        '--note',
        'The release before was wrong.',
      )
      const deadline = Date.now() + 5000
      for (const node of nodes) {
        const token = await obtainToken(credentials, `${node.address}/oauth/token`, baseUrl)
        for (;;) {
          const response = await readRecord(node.address, token)
          await response.arrayBuffer()
          if (Number(response.headers.get('outbreaks-release')) === restored) break
          if (Date.now() > deadline) throw new Error('a node does not serve the restored release after 5 s')
          await wait(50)
        }
      }
    },
  },
  {
    id: 'F17',
    title: 'the clock of a node is wrong',
    limits: { read: 3, write: 5 },
    async run({ startNode, nodes, directory }) {
      const preload = path.join(directory, 'clock.mjs')
      writeFileSync(
        preload,
        `const now = Date.now\nprocess.on('SIGWINCH', () => { Date.now = () => now() + 90_000_000 })`,
      )
      await nodes[0]?.stop()
      await startNode(0, { NODE_OPTIONS: `--import=${preload}` })
      nodes[0]?.process.kill('SIGWINCH')
      await seconds(4)
      const response = await fetch(`${nodes[0]?.address}/ready`)
      if (response.status !== 503) throw new Error('a node with a wrong clock is ready')
      await nodes[0]?.stop()
      await startNode(0)
    },
  },
  {
    id: 'F18',
    title: 'key rotation, and an emergency: a key is disabled',
    limits: { read: 3, write: 2 },
    async run({ settings, credentials, baseUrl, nodes, renewToken }) {
      await outbreakctl(settings, 'key', 'rotate', '--notice', '0')
      await seconds(2)
      const token = await obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl)
      const keys = await outbreakctl<{ kid: string; signs_from: string }[]>(settings, 'key', 'list')
      const [newest] = keys.toSorted((a, b) => (a.signs_from < b.signs_from ? 1 : -1))
      // The readers have tokens of an earlier key: only this token is rejected.
      await outbreakctl(settings, 'key', 'disable', newest?.kid ?? '')
      await seconds(2)
      for (const node of nodes) {
        const response = await readRecord(node.address, token)
        await response.arrayBuffer()
        if (response.status !== 401) throw new Error(`a token of a disabled key was answered with ${response.status}`)
      }
      await outbreakctl(settings, 'key', 'rotate', '--notice', '0')
      await renewToken()
    },
  },
  {
    id: 'F19',
    title: 'a client is disabled during a failover',
    limits: { read: 3, write: FAILOVER_SECONDS },
    async run({ cluster, settings, nodes, baseUrl }) {
      const client = await outbreakctl<{ client_id: string; client_secret: string }>(
        settings,
        'client',
        'create',
        '--name',
        'To be disabled',
      )
      // The replicas of the nodes have the client a moment later.
      await seconds(3)
      const token = await obtainToken(client, `${baseUrl}/oauth/token`, baseUrl)
      const leader = await cluster.leader()
      const disabling = outbreakctl(settings, 'client', 'disable', client.client_id).then(
        () => true,
        () => false,
      )
      leader.kill()
      const isAcknowledged = await disabling
      await waitForOther(cluster, leader.name)
      cluster.startMember(leader)
      await cluster.waitUntilHealthy()
      await seconds(3)
      for (const node of nodes) {
        const response = await readRecord(node.address, token)
        await response.arrayBuffer()
        if (isAcknowledged && response.status === 200) throw new Error('a disabled client was served')
      }
    },
  },
  {
    id: 'F20',
    title: 'a node runs out of file descriptors, then is killed for its memory',
    limits: { read: 3, write: 2 },
    async run({ nodes, startNode }) {
      const [node] = nodes
      execFileSync('prlimit', ['--pid', String(node?.process.pid), '--nofile=60:60'])
      await seconds(4)
      node?.process.kill('SIGKILL')
      await seconds(2)
      await startNode(0)
      await seconds(1)
    },
  },
]

async function waitForOther(cluster: System['cluster'], name: string): Promise<void> {
  const deadline = Date.now() + 60_000
  while ((await cluster.leader()).name === name) {
    if (Date.now() > deadline) throw new Error('no other server has become the primary')
    await wait(100)
  }
}

async function query(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3000 })
  await client.connect()
  await client.query(statement)
  await client.end()
}
