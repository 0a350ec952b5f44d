// Sets up what all measurements need: the cluster with its databases, the service as in production, the paths of the pages.
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { Cluster } from '../dev/postgres.ts'
import { newSettings, prepareDatabase as prepareService } from '../dev/service.ts'
import { writeSynthRelease } from '../dev/synth/synthesise.ts'
import { openPersistentCluster } from './cluster.ts'
import { createRecordTable, RECORD_TABLE } from './contenders/record-table.ts'
import { runPsql, setAutovacuum } from './engine.ts'
import { findPages } from './pages.ts'
import { type Publication, publish } from './publish.ts'
import { type Store, startTarget, type Target, UNCACHED, waitForIndex } from './target.ts'

/** The size of the small dataset for comparison. */
const SMALL_RECORDS = 100_000
const EVERYTHING = 'everything'
const CHANGING = 'changing'

export interface Options {
  records: number
  rounds: number
  /** How long each contender runs in a round. */
  seconds: number
  /** The number of random questions of each kind in a round. */
  questions: number
  /** The number of releases of the section about many releases. */
  releases: number
  /** A directory that keeps the data for later runs; null for a temporary directory. */
  data: string | null
}

/** Reports the progress of the set-up. */
type ReportProgress = (line: string) => void

export interface Stage {
  options: Options
  /** The first process of PostgreSQL. */
  postmaster: number
  /** The database with all records, and the directory from which they were published. It is never changed. */
  store: Store
  release: string
  /** A copy of it in which measurements publish. It is deleted at the end. */
  changing: Store
  /** The URL of the database with the table of records. */
  recordsUrl: string
  /** Where the nodes of `store` keep their column index; `cold` has the first file. */
  indexDirectory: string
  /** The time and memory of publishing them. */
  published: Publication
  scratch: string
  /** `cold`: without a cache. `cached`: with the default cache. `small`: without a cache and with few records. */
  cold: Target
  cached: Target
  small: Target
  smallRecords: number
  /** The paths of all pages in the order of a walk; they name the release. The first of them are also pages of `small`. */
  pages: string[]
  close(): Promise<void>
}

export async function openStage(options: Options, report: ReportProgress): Promise<Stage> {
  const scratch = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-bench-'))
  // Servers that drop their privileges must still be able to read their files.
  await chmod(scratch, 0o755)
  const home = options.data ?? scratch
  const secret = await prepareDirectory(home, options.records)
  const cluster = await openPersistentCluster(path.join(home, 'postgres'))
  // It would disturb some rounds and not others. The bench vacuums tables after changing them.
  await setAutovacuum(cluster.url, 'off')
  const targets: Target[] = []

  const start = async (...args: Parameters<typeof startTarget>): Promise<Target> => {
    const target = await startTarget(...args)
    targets.push(target)
    return target
  }
  async function close(): Promise<void> {
    for (const target of targets) await target.stop()
    await runPsql(cluster.url, `drop database if exists ${CHANGING} with (force)`)
    await cluster.stop()
    await rm(scratch, { recursive: true, force: true })
  }

  // An interrupted run stops its servers.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void close().finally(() => process.exit(1)))

  try {
    const smallRecords = Math.min(SMALL_RECORDS, options.records / 2)
    const release = await synthesise(home, 'all', options.records, report)
    const fill = async (name: string, directory: string) => {
      const filled = await prepareStore(cluster, secret, name)
      const summaryFile = path.join(home, `${name}.json`)
      if (!existsSync(summaryFile)) {
        report(`publishing ${path.basename(directory)}`)
        const publication = await publish(filled, directory, cluster.postmaster)
        await runPsql(filled.databaseUrl, 'vacuum analyze')
        await writeFile(summaryFile, JSON.stringify(publication))
      }
      return { store: filled, published: JSON.parse(await readFile(summaryFile, 'utf8')) as Publication }
    }
    const { store, published } = await fill(EVERYTHING, release)
    const { store: smallStore } = await fill('few', await synthesise(home, 'few', smallRecords, report))
    const changing = await copyStore(cluster, store)
    const recordsUrl = await prepareDatabase(cluster, 'records')
    report('creating the table for pgbench and psql')
    await createRecordTable(recordsUrl, store.databaseUrl)
    // Loads the rows that only pgbench and psql read, so that all contenders read from memory.
    await runPsql(recordsUrl, `copy ${RECORD_TABLE} to stdout`, { discard: true })
    const [indexDirectory, smallDirectory] = ['index-everything', 'index-few'].map((name) => path.join(home, name)) as [
      string,
      string,
    ]
    for (const directory of [indexDirectory, smallDirectory]) await mkdir(directory, { recursive: true })
    const cold = await start(store, { ...UNCACHED, OUTBREAKS_INDEX: indexDirectory })
    const cached = await start(store, { OUTBREAKS_INDEX: indexDirectory })
    const small = await start(smallStore, { ...UNCACHED, OUTBREAKS_INDEX: smallDirectory })
    report('reading all pages once')
    const pages = await findPages(cold, options.records)
    for (const target of targets) await waitForIndex(target)
    return {
      ...{ options, store, release, published, changing, recordsUrl, indexDirectory, scratch, close },
      ...{ cold, cached, small, smallRecords, pages, postmaster: cluster.postmaster },
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** A directory has data of one size, and the secret with which the signing keys are encrypted. */
async function prepareDirectory(home: string, records: number): Promise<string> {
  const file = path.join(home, 'bench.json')
  if (!existsSync(file)) {
    const { secret } = newSettings('')
    await mkdir(home, { recursive: true })
    await chmod(home, 0o755)
    await writeFile(file, `${JSON.stringify({ records, secret })}\n`, { mode: 0o600 })
    return secret
  }
  const stored = JSON.parse(await readFile(file, 'utf8')) as { records: number; secret: string }
  if (stored.records !== records)
    throw new Error(`the directory has ${stored.records} records: use --records ${stored.records} or another directory`)
  return stored.secret
}

async function synthesise(home: string, name: string, records: number, report: ReportProgress): Promise<string> {
  const directory = path.join(home, `release-${name}`)
  if (existsSync(path.join(directory, 'release.json'))) return directory
  report(`creating ${records} records`)
  await writeSynthRelease({ records, seed: 1, release: 1 }, directory)
  return directory
}

/** Opens the existing database, or creates one without a release. */
async function prepareStore(cluster: Cluster, secret: string, name: string): Promise<Store> {
  const settings = { databaseUrl: await prepareDatabase(cluster, name), secret }
  return { ...settings, credentials: await prepareService(settings) }
}

/** The URL of a database, which is created if it does not exist. */
async function prepareDatabase(cluster: Cluster, name: string): Promise<string> {
  const known = await runPsql(cluster.url, `select 1 from pg_database where datname = '${name}'`)
  if (known === '') await runPsql(cluster.url, `create database ${name}`)
  return cluster.urlOf(name)
}

/** Copies the files of the database. No process may be connected to it. */
async function copyStore(cluster: Cluster, store: Store): Promise<Store> {
  await runPsql(cluster.url, `drop database if exists ${CHANGING} with (force)`)
  await runPsql(cluster.url, `create database ${CHANGING} template ${EVERYTHING} strategy file_copy`)
  return { ...store, databaseUrl: cluster.urlOf(CHANGING) }
}
