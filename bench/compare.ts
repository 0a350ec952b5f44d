// Compares another checkout with this one in one interleaved run: what people feel, as p50 and CPU time.
// node bench/compare.ts OTHER_CHECKOUT [--records 100000] [--rounds 7] [--seconds 2]
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { writeSynthRelease } from '../dev/synth/synthesise.ts'
import { formatPost, load } from './client.ts'
import { openPersistentCluster } from './cluster.ts'
import { runPsql } from './engine.ts'
import { measureInTurns, percentile, ratios, summarise } from './measure.ts'
import { drawComparable, type Question, toSearch } from './questions.ts'
import { type Store, type Target, tokenRequest, UNCACHED, waitForIndex } from './target.ts'
import { readCpuSeconds } from './usage.ts'

const DATA = '/v2/hed-outbreaks'
const PUBLISH_ROUNDS = 3
const SUMS_QUESTIONS = 20

interface Sample {
  readonly ms: number
  readonly cpuMs: number
}

/** One checkout. Its own modules start its nodes and publish, so each side runs as it was written. */
interface Side {
  publish(database: string): Promise<Sample & { store: Store }>
  startNodes(store: Store): Promise<Nodes>
}

interface Nodes {
  readonly cold: Target
  readonly cached: Target
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    records: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '2' },
  },
})
const [other] = positionals
if (other === undefined) throw new Error('name the checkout to compare with')
const records = Number(values.records)
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)

const scratch = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-compare-'))
// PostgreSQL drops its privileges and must still reach its files.
await chmod(scratch, 0o755)
const cluster = await openPersistentCluster(path.join(scratch, 'postgres'))
const release = path.join(scratch, 'release')
const started: Target[] = []
try {
  await writeSynthRelease({ records, seed: 1, release: 1 }, release)
  const before = await openSide(path.resolve(other))
  const after = await openSide(path.resolve(import.meta.dirname, '..'))
  await comparePublishing(before, after)
  await compareRequests(await startOn(before, 'before'), await startOn(after, 'after'))
} finally {
  for (const target of started) await target.stop()
  await cluster.stop()
  await rm(scratch, { recursive: true, force: true })
}

async function openSide(checkout: string): Promise<Side> {
  const service = (await import(path.join(checkout, 'dev/service.ts'))) as typeof import('../dev/service.ts')
  const target = (await import(path.join(checkout, 'bench/target.ts'))) as typeof import('./target.ts')
  const publishing = (await import(path.join(checkout, 'bench/publish.ts'))) as typeof import('./publish.ts')
  return {
    async publish(database) {
      await runPsql(cluster.url, `create database ${database}`)
      const settings = service.newSettings(cluster.urlOf(database))
      const store = { ...settings, credentials: await service.prepareDatabase(settings) }
      const publication = await publishing.publish(store, release, cluster.postmaster)
      return { store, ms: publication.seconds * 1000, cpuMs: publication.cpuSeconds * 1000 }
    },
    async startNodes(store) {
      const cold = await target.startTarget(store, UNCACHED)
      started.push(cold)
      const cached = await target.startTarget(store)
      started.push(cached)
      for (const node of [cold, cached]) await waitForIndex(node)
      return { cold, cached }
    },
  }
}

async function startOn(side: Side, database: string): Promise<Nodes> {
  const { store } = await side.publish(database)
  await runPsql(store.databaseUrl, 'vacuum analyze')
  return side.startNodes(store)
}

async function comparePublishing(before: Side, after: Side): Promise<void> {
  let databases = 0
  const publishTo = async (side: Side) => {
    databases += 1
    const name = `publish_${databases}`
    const sample = await side.publish(name)
    await runPsql(cluster.url, `drop database ${name}`)
    return sample
  }
  const contenders = { before: () => publishTo(before), after: () => publishTo(after) }
  report(`publish ${records} records`, await measureInTurns(PUBLISH_ROUNDS, contenders, { isWarm: true }))
}

async function compareRequests(before: Nodes, after: Nodes): Promise<void> {
  let calls = 0
  // Both sides have the same records, so questions drawn from one suit the other.
  const comparable: Question[] = []
  while (comparable.length < SUMS_QUESTIONS) comparable.push(await drawComparable(after.cold, records))
  const day = () => new Date(Date.UTC(2010, 0, 1 + ((calls++ * 7) % 3000))).toISOString().slice(0, 10)
  const spread = (count: number) => (calls++ * 3701) % count
  const coldPaths: Record<string, () => string> = {
    'unfiltered page': () => `/v1/hed-outbreaks/outbreaks?num=100&offset=${spread(records - 100)}`,
    'filtered page': () => `${DATA}/outbreaks?num=100&case_status=confirmed&date_from=${day()}`,
    count: () => `${DATA}/outbreaks?num=1&count=exact&date_from=${day()}`,
    facets: () => `${DATA}/facets?date_from=${day()}`,
    sums: () =>
      `${DATA}/sums?group_by=country_code&group_by=month&${toSearch(comparable[spread(SUMS_QUESTIONS)] ?? {})}`,
    'one record': () => `${DATA}/outbreaks/${1 + spread(records)}`,
  }
  const compare = async (what: string, sample: (nodes: Nodes) => Promise<Sample>) =>
    report(what, await measureInTurns(rounds, { before: () => sample(before), after: () => sample(after) }))
  for (const [what, next] of Object.entries(coldPaths))
    await compare(what, ({ cold }) => sampleNode(cold, () => cold.get(next(), 'gzip')))
  await compare('cached page', ({ cached }) =>
    sampleNode(cached, () => cached.get(`${DATA}/outbreaks?num=100`, 'gzip')),
  )
  await compare('token', ({ cold }) =>
    sampleNode(cold, () => formatPost('/oauth/token', tokenRequest(cold.credentials, cold.address))),
  )
}

async function sampleNode(node: Target, next: () => string): Promise<Sample> {
  const cpuBefore = readCpuSeconds(node.pid)
  const { times } = await load(node.address, next, { connections: 1, duration: seconds })
  return { ms: percentile(times, 50), cpuMs: ((readCpuSeconds(node.pid) - cpuBefore) * 1000) / times.length }
}

function report(what: string, { before, after }: { before: Sample[]; after: Sample[] }): void {
  const format = (pick: (sample: Sample) => number) => {
    const [first, second] = [before.map(pick), after.map(pick)]
    const { median, low, high } = summarise(ratios(second, first))
    const times = `${median.toFixed(2)} times (${low.toFixed(2)} to ${high.toFixed(2)})`
    return `${summarise(first).median.toFixed(2)} -> ${summarise(second).median.toFixed(2)} ms, ${times}`
  }
  console.log(`${what}: p50 ${format(({ ms }) => ms)}; CPU ${format(({ cpuMs }) => cpuMs)}`)
}
