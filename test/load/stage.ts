// A database with synthetic releases, nodes on it, and the requests of a usual mix.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Cluster, createCluster, findFreePort } from '../../dev/postgres.ts'
import {
  type Credentials,
  newSettings,
  outbreakctl,
  prepareDatabase,
  type Service,
  type Settings,
  startService,
} from '../../dev/service.ts'
import { writeSynthRelease } from '../../dev/synth/synthesise.ts'
import { countries } from '../../dev/synth/world.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import type { Call } from './open-loop.ts'

const SEED = 7
const DAYS = 3000
const START_TIMEOUT_MS = 120_000

export interface LoadedNode {
  readonly service: Service
  readonly token: string
  /** A different request of the usual mix at each call. */
  next(): Call
  /** A value that Prometheus would read. */
  readMetric(name: string): Promise<number>
  stop(): Promise<void>
}

export interface Stage {
  readonly primary: Cluster
  readonly settings: Settings
  readonly credentials: Credentials
  readonly records: number
  createClient(name: string): Promise<Credentials>
  /** Its log has errors only. `overrides` are variables of the node. */
  startNode(overrides?: Record<string, string>): Promise<LoadedNode>
  /** Publishes the next revision of all records. */
  publish(): Promise<void>
  close(): Promise<void>
}

export async function openStage(records: number): Promise<Stage> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-load-'))
  const [files, index] = [path.join(directory, 'files'), path.join(directory, 'index')]
  for (const folder of [files, index]) await mkdir(folder)
  const primary = await createCluster({ durable: true })
  Object.assign(process.env, { OUTBREAKS_FILES: files, OUTBREAKS_INDEX: index })
  const settings = newSettings(primary.url)
  let releases = 0
  async function publish(): Promise<void> {
    releases += 1
    const input = path.join(directory, `input-${releases}`)
    await writeSynthRelease({ records, seed: SEED, release: releases }, input)
    await outbreakctl(settings, 'release', 'publish', input)
    await rm(input, { recursive: true })
  }
  const credentials = await prepareDatabase(settings)
  await publish()
  return {
    primary,
    settings,
    credentials,
    records,
    createClient: (name) => outbreakctl<Credentials>(settings, 'client', 'create', '--name', name),
    startNode: (overrides) => startNode(settings, credentials, records, overrides),
    publish,
    async close() {
      await primary.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function startNode(
  settings: Settings,
  credentials: Credentials,
  records: number,
  overrides: Record<string, string> = {},
): Promise<LoadedNode> {
  const metricsPort = await findFreePort()
  const service = await startService(settings, {
    OUTBREAKS_METRICS_PORT: String(metricsPort),
    OUTBREAKS_LOG_LEVEL: 'error',
    ...overrides,
  })
  const audience = overrides['OUTBREAKS_BASE_URL'] ?? service.baseUrl
  const token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, audience)
  const headers = { authorization: `Bearer ${token}` }
  await waitForIndex(service.baseUrl, headers)
  let calls = 0
  return {
    service,
    token,
    next: () => ({ url: service.baseUrl + chooseAddress(calls++, records), headers }),
    async readMetric(name) {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
      return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(text)?.[1] ?? Number.NaN)
    },
    async stop() {
      await service.stop()
    },
  }
}

/** Filtered pages, pages of both versions at different places, and the first page, which the node has in its cache. */
export function chooseAddress(i: number, records: number): string {
  const country = `country_code=${countries[i % countries.length]?.code}`
  const day = new Date(Date.UTC(2010, 0, 1 + ((i * 7) % DAYS))).toISOString().slice(0, 10)
  switch (i % 10) {
    case 0:
    case 1:
    case 2:
      return `/v2/hed-outbreaks/outbreaks?num=100&${country}&date_from=${day}`
    case 3:
      return `/v2/hed-outbreaks/outbreaks?num=1&count=exact&date_from=${day}`
    case 4:
    case 5:
    case 6:
      return `/v1/hed-outbreaks/outbreaks?num=100&offset=${(i * 3701) % records}`
    default:
      return '/v2/hed-outbreaks/outbreaks?num=100'
  }
}

async function waitForIndex(baseUrl: string, headers: Record<string, string>): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS
  for (;;) {
    const response = await fetch(`${baseUrl}/v2/hed-outbreaks/outbreaks?num=1&country_code=FR`, { headers })
    await response.arrayBuffer()
    if (response.status === 200) return
    if (Date.now() > deadline) throw new Error('the node did not build its index')
    await wait(200)
  }
}
