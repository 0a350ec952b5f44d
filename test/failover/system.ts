// The whole system: three database servers behind HAProxy, two nodes behind another one, Redis, and a dataset with some releases.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { findFreePort } from '../../dev/postgres.ts'
import {
  type Credentials,
  newSettings,
  outbreakctl,
  prepareDatabase,
  type Service,
  type Settings,
  startService,
} from '../../dev/service.ts'
import { synthesise } from '../../dev/synth/synthesise.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { startPlainHaproxy } from '../fixtures/operate/plain-haproxy.ts'
import { type Program, waitUntil } from '../fixtures/operate/program.ts'
import { type RedisServer, startRedis } from '../fixtures/redis-server.ts'
import { createDatabaseCluster, type DatabaseCluster } from './database-cluster.ts'
import { startDatabaseProxy } from './database-proxy.ts'
import { closeNetwork, openNetwork } from './network.ts'

const RECORDS = 2000
const CHANGED = 20
const root = path.resolve(import.meta.dirname, '../..')

export interface RunningNode extends Service {
  /** Where the node itself listens. */
  address: string
}

export interface System {
  readonly cluster: DatabaseCluster
  readonly redis: RedisServer
  readonly nodes: RunningNode[]
  /** The address of HAProxy. */
  readonly baseUrl: string
  readonly settings: Settings
  readonly credentials: Credentials
  readonly directory: string
  token: string
  startNode(number: number, overrides?: Record<string, string>): Promise<void>
  renewToken(): Promise<void>
  /** A directory with the next release: other counts of a few records. */
  publishInput(): string
  /** Publishes, and kills the publisher after some time. */
  publishKilled(input: string, ms: number): Promise<void>
  close(): Promise<void>
}

export async function startSystem(bin: string): Promise<System> {
  openNetwork()
  const directory = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-system-'))
  const cluster = await createDatabaseCluster(bin)
  await cluster.waitUntilHealthy()
  const databaseProxy = await startDatabaseProxy(directory, cluster.members)
  const settings = newSettings(cluster.urlAt(`127.0.0.1:${databaseProxy.writePort}`))
  const nodeSettings = { ...settings, databaseUrl: cluster.urlAt(`127.0.0.1:${databaseProxy.readPort}`) }
  await waitUntil('HAProxy finds the primary', () => isAnswering(settings.databaseUrl))
  let inputs = 0
  const rows = [...synthesise({ records: RECORDS, seed: 1, release: 1 })]
  function publishInput(): string {
    inputs += 1
    const input = path.join(directory, `input-${inputs}`)
    mkdirSync(input)
    const changed = rows.map((row, i) => (i < CHANGED && inputs > 1 ? { ...row, note: `Recount ${inputs}` } : row))
    writeFileSync(path.join(input, 'outbreaks.ndjson'), `${changed.map((row) => JSON.stringify(row)).join('\n')}\n`)
    const reasons = { added: 'new_report', corrected: 'source_revised' }
    writeFileSync(
      path.join(input, 'release.json'),
      JSON.stringify({ title: `Release ${inputs}`, licence: 'CC0-1.0', reasons }),
    )
    return input
  }
  const credentials = await prepareDatabase(settings, publishInput())
  await outbreakctl(settings, 'release', 'publish', publishInput())

  const redis = await startRedis()
  const port = await findFreePort()
  const nodePorts = [await findFreePort(), await findFreePort()]
  const baseUrl = `http://127.0.0.1:${port}`
  const nodes: RunningNode[] = []
  async function startNode(number: number, overrides: Record<string, string> = {}): Promise<void> {
    const service = await startService(nodeSettings, {
      OUTBREAKS_PORT: String(nodePorts[number]),
      OUTBREAKS_BASE_URL: baseUrl,
      OUTBREAKS_REDIS_URL: redis.url,
      OUTBREAKS_CACHE_MB: '0',
      OUTBREAKS_DRAIN_SECONDS: '2',
      ...overrides,
    })
    nodes[number] = { ...service, address: `http://127.0.0.1:${nodePorts[number]}` }
  }
  await startNode(0)
  await startNode(1)
  const proxy: Program = await startPlainHaproxy(directory, port, nodePorts)
  const system: System = {
    cluster,
    redis,
    nodes,
    baseUrl,
    settings,
    credentials,
    directory,
    startNode,
    publishInput,
    token: await obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl),
    async renewToken() {
      system.token = await obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl)
    },
    async publishKilled(input, ms) {
      const child = spawn(process.execPath, [path.join(root, 'src/cli.ts'), 'release', 'publish', input], {
        env: { ...process.env, DATABASE_URL: settings.databaseUrl, OUTBREAKS_SECRET: settings.secret },
        stdio: 'ignore',
      })
      const exited = new Promise((resolve) => child.on('exit', resolve))
      await wait(ms)
      child.kill('SIGKILL')
      await exited
    },
    async close() {
      for (const node of nodes) {
        node.process.kill('SIGCONT')
        node.process.kill('SIGKILL')
      }
      await proxy.stop()
      await databaseProxy.stop()
      await redis.kill()
      closeNetwork([...cluster.members, cluster.etcd])
      cluster.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
  return system
}

async function isAnswering(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 1000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
