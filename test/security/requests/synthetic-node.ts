// A database with synthetic releases, two clients, nodes on it, and the dearest question of each kind.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import {
  type Credentials,
  newSettings,
  outbreakctl,
  prepareDatabase,
  type Service,
  startService,
} from '../../../dev/service.ts'
import { writeSynthRelease } from '../../../dev/synth/synthesise.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'

const DATASET = '/v2/hed-outbreaks'
const SEED = 1
const INDEX_TIMEOUT_MS = 60_000

export interface Question {
  readonly path: string
  readonly headers?: Record<string, string>
}

const dayOf = (i: number) => new Date(Date.UTC(1990, 0, 1 + (i % 3000))).toISOString().slice(0, 10)

/**
 * By kind: a different question for each number, so that no response comes from the cache. Some are answered with 400
 * `not_comparable`, after the work.
 */
export const dearQuestions: Readonly<Record<string, (i: number) => Question>> = {
  series: (i) => ({ path: `${DATASET}/series?interval=day&group_by=event&count_kind=new&date_from=${dayOf(i)}` }),
  sums: (i) => ({ path: `${DATASET}/sums?group_by=event&group_by=month&count_kind=new&date_from=${dayOf(i)}` }),
  vintages: (i) => ({ path: `${DATASET}/vintages?interval=month&count_kind=new&across=event&date_from=${dayOf(i)}` }),
  facets: (i) => ({ path: `${DATASET}/facets?num=1000&date_from=${dayOf(i)}` }),
  coverage: (i) => ({ path: `${DATASET}/coverage?by=event&interval=day&date_from=${dayOf(i)}` }),
  search: (i) => ({ path: `${DATASET}/search?q=${encodeURIComponent(`synthetic ${i} fever`)}` }),
  changes: (i) => ({ path: `${DATASET}/changes?from=1&num=1000&date_from=${dayOf(i)}` }),
  'filtered pages': (i) => ({ path: `${DATASET}/outbreaks?num=1000&count=exact&date_from=${dayOf(i)}` }),
  'query files': (i) => ({ path: `${DATASET}/outbreaks?date_from=${dayOf(i)}`, headers: { accept: 'text/csv' } }),
}

export interface SyntheticData {
  readonly databaseUrl: string
  createClient(name: string): Promise<Credentials>
  startNode(overrides?: Record<string, string>): Promise<Service>
  /** Ends the nodes. */
  stop(): void
}

export async function publishSyntheticData(records: number, releases = 1): Promise<SyntheticData> {
  const settings = newSettings(await createTestDatabase())
  await prepareDatabase(settings)
  const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-synthetic-'))
  for (let release = 1; release <= releases; release++) {
    const input = path.join(directory, String(release))
    await writeSynthRelease({ records, seed: SEED, release }, input)
    await outbreakctl(settings, 'release', 'publish', input)
  }
  await rm(directory, { recursive: true })
  const started: Service[] = []
  return {
    databaseUrl: settings.databaseUrl,
    createClient: (name) => outbreakctl<Credentials>(settings, 'client', 'create', '--name', name),
    async startNode(overrides = {}) {
      const service = await startService(settings, { OUTBREAKS_LOG_LEVEL: 'error', ...overrides })
      started.push(service)
      return service
    },
    stop() {
      for (const { process } of started) process.kill('SIGKILL')
    },
  }
}

export const tokenFor = (service: Service, client: Credentials) =>
  obtainToken(client, `${service.baseUrl}/oauth/token`, service.baseUrl)

/** Waits until the column index of the node answers. */
export async function waitForIndex(service: Service, token: string): Promise<void> {
  const agent = new Agent()
  const deadline = Date.now() + INDEX_TIMEOUT_MS
  for (const kind of ['facets', 'search'])
    while ((await ask(service, token, dearQuestions[kind]?.(0) ?? { path: '/' }, agent)) !== 200) {
      if (Date.now() > deadline) throw new Error('the node did not build its index')
      await wait(100)
    }
}

/** Reads the whole response; returns its status, or 0 if the connection was lost. */
export function ask({ baseUrl }: Service, token: string, question: Question, agent: Agent): Promise<number> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}`, ...question.headers }
    const outgoing = request(baseUrl + question.path, { agent, headers, timeout: 30_000 }, (incoming) => {
      incoming.resume().on('end', () => resolve(incoming.statusCode ?? 0))
      incoming.on('error', () => resolve(0))
    })
    outgoing.on('error', () => resolve(0)).on('timeout', () => outgoing.destroy())
    outgoing.end()
  })
}

/** The processor time of the service, in milliseconds. */
export async function readCpu({ process: { pid } }: Service): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14).map(Number)
  return ((user ?? 0) + (system ?? 0)) * 10
}
