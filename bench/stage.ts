// Everything a measurement needs, set up once: the cluster with its databases, the service as in production, the pages.
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { Cluster } from '../dev/postgres.ts'
import { newSettings, prepareDatabase } from '../dev/service.ts'
import { writeSynthRelease } from '../dev/synth/synthesise.ts'
import { openKeptCluster } from './cluster.ts'
import { runPsql } from './engine.ts'
import { findPages } from './pages.ts'
import { type Publication, publish } from './publish.ts'
import { type Store, startTarget, type Target, UNCACHED } from './target.ts'

/** What the size of the dataset is compared with. */
const FEW_RECORDS = 100_000

export interface Options {
  records: number
  rounds: number
  /** How long each contender runs in a round. */
  seconds: number
  /** Kept, so that the data need not be made again; null for a directory that goes with the run. */
  data: string | null
}

/** Where the set-up says how far it is. */
type Say = (line: string) => void

export interface Stage {
  options: Options
  cluster: Cluster
  /** The database with all records, and the directory they were published from. */
  store: Store
  release: string
  /** What it took to publish them. */
  published: Publication
  scratch: string
  /** Without a cache; with the default one; without a cache and with few records. */
  cold: Target
  cached: Target
  few: Target
  fewRecords: number
  /** The paths of all pages from first to last, as a walk finds them; a few of them are those of `few`. */
  pages: string[]
  close(): Promise<void>
}

export async function openStage(options: Options, say: Say): Promise<Stage> {
  const scratch = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-bench-'))
  // Servers that give up their rights must still find their files.
  await chmod(scratch, 0o755)
  const home = options.data ?? scratch
  const secret = await claimDirectory(home, options.records)
  const cluster = await openKeptCluster(path.join(home, 'postgres'))
  const open: Target[] = []

  const start = async (...what: Parameters<typeof startTarget>): Promise<Target> => {
    const target = await startTarget(...what)
    open.push(target)
    return target
  }
  async function close(): Promise<void> {
    for (const target of open) await target.stop()
    await cluster.stop()
    await rm(scratch, { recursive: true, force: true })
  }

  // Whoever is interrupted leaves no server behind.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void close().finally(() => process.exit(1)))

  try {
    const few = Math.min(FEW_RECORDS, options.records / 2)
    const release = await synthesise(home, 'all', options.records, say)
    const fill = async (name: string, directory: string) => {
      const filled = await prepareStore(cluster, secret, name)
      return { store: filled, published: await fillStore(filled, directory, path.join(home, `${name}.json`), say) }
    }
    const { store, published } = await fill('everything', release)
    const { store: fewStore } = await fill('few', await synthesise(home, 'few', few, say))
    const cold = await start(store, UNCACHED)
    say('walking once')
    const pages = await findPages(cold, options.records)
    // The rows that only the bare engine reads: all contenders find what they read in memory.
    await runPsql(store.databaseUrl, 'copy hed_outbreak_version to stdout', { discard: true })
    return {
      ...{ options, cluster, store, release, published, scratch, cold, pages, close },
      cached: await start(store),
      few: await start(fewStore, UNCACHED),
      fewRecords: few,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** A directory holds the data of one size, and the secret their signing keys are sealed with. */
async function claimDirectory(home: string, records: number): Promise<string> {
  const file = path.join(home, 'bench.json')
  if (!existsSync(file)) {
    const { secret } = newSettings('')
    await mkdir(home, { recursive: true })
    await chmod(home, 0o755)
    await writeFile(file, `${JSON.stringify({ records, secret })}\n`, { mode: 0o600 })
    return secret
  }
  const kept = JSON.parse(await readFile(file, 'utf8')) as { records: number; secret: string }
  if (kept.records !== records)
    throw new Error(`the directory holds ${kept.records} records: give --records or another`)
  return kept.secret
}

async function synthesise(home: string, name: string, records: number, say: Say): Promise<string> {
  const directory = path.join(home, `release-${name}`)
  if (existsSync(path.join(directory, 'release.json'))) return directory
  say(`making ${records} records`)
  await writeSynthRelease({ records, seed: 1, release: 1 }, directory)
  return directory
}

/** What it took to fill a database is kept beside it. */
async function fillStore(store: Store, release: string, record: string, say: Say): Promise<Publication> {
  if (existsSync(record)) return JSON.parse(await readFile(record, 'utf8')) as Publication
  say(`publishing ${path.basename(release)}`)
  const published = await publish(store, release)
  await runPsql(store.databaseUrl, 'vacuum analyze')
  await writeFile(record, JSON.stringify(published))
  return published
}

/** The database as it is, or a new one without a release. */
async function prepareStore(cluster: Cluster, secret: string, name: string): Promise<Store> {
  const postgres = cluster.urlOf('postgres')
  const known = await runPsql(postgres, `select 1 from pg_database where datname = '${name}'`)
  if (known === '') await runPsql(postgres, `create database ${name}`)
  const settings = { databaseUrl: cluster.urlOf(name), secret }
  return { ...settings, credentials: await prepareDatabase(settings) }
}
