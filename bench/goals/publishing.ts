// Goals 11 to 13: publishing all records (measured when the data were created), publishing a change of one per cent, and the
// latency of readers meanwhile. The pages of the other goals name their release, so they stay readable.
import { createReadStream } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Settings } from '../../dev/service.ts'
import { synthesise } from '../../dev/synth/synthesise.ts'
import { load } from '../client.ts'
import { runPsql } from '../engine.ts'
import { figure, type Measurements, result } from '../goal.ts'
import { percentile, ratios } from '../measure.ts'
import { publish } from '../publish.ts'
import { RECORD_TABLE } from '../record-table.ts'
import type { Stage } from '../stage.ts'

const READERS = 2
/** Enough rows to measure how fast a table with indexes is filled. */
const INDEXED_ROWS = 1_000_000

interface Round {
  full: number
  change: number
  peakMegabytes: number
  bare: number
  indexed: number
  quiet: number
  publishing: number
}

export async function measurePublishing(stage: Stage): Promise<Measurements> {
  const { records } = stage.options
  const rounds = [await measureRound(stage)]
  const valuesOf = (name: keyof Round) => rounds.map((round) => round[name])
  const rateOf = (name: keyof Round) => valuesOf(name).map((seconds) => records / seconds)
  const indexedRate = valuesOf('indexed').map((seconds) => Math.min(records, INDEXED_ROWS) / seconds)
  return {
    results: [
      result(
        '11',
        'publishing 1 % / publishing everything, time',
        { atMost: 0.05 },
        ratios(valuesOf('change'), valuesOf('full')),
      ),
      result(
        '12',
        'publishing everything / psql copy into a bare table, rows',
        { atLeast: 0.6 },
        ratios(rateOf('full'), rateOf('bare')),
      ),
      result(
        '12b',
        'the same / psql copy into a version table with its indexes',
        null,
        ratios(rateOf('full'), indexedRate),
      ),
      result(
        '13a',
        'p99 of reads while publishing / without publishing',
        null,
        ratios(valuesOf('publishing'), valuesOf('quiet')),
      ),
      result('13b', 'peak memory of publishing', { atMost: 600 }, valuesOf('peakMegabytes'), 'MB'),
      result('13c', 'publishing 1 %', records >= 10_000_000 ? { atMost: 60 } : null, valuesOf('change'), 's'),
    ],
    figures: [
      figure('outbreakctl: publishing everything', 'rows/s', rateOf('full')),
      figure('psql: copy into a bare table', 'rows/s', rateOf('bare')),
      figure('psql: copy into a version table with its indexes', 'rows/s', indexedRate),
      figure('p99 of reads without publishing', 'ms', valuesOf('quiet')),
      figure('p99 of reads while publishing', 'ms', valuesOf('publishing')),
    ],
    skipped: [],
  }
}

async function measureRound(stage: Stage): Promise<Round> {
  const { store, cold, options, published } = stage
  const bare = await copyBare(stage, store)
  const indexed = await copyIndexed(stage, store)
  const base = Number(await runPsql(store.databaseUrl, 'select max(number) from release'))
  const change = await publish(store, await writeChange(stage, base))
  const next = await writeChange(stage, base + 1)
  const randomPage = () => cold.get(stage.pages[Math.floor(Math.random() * stage.pages.length)] ?? '', 'gzip')
  const read = async (duration: number | (() => boolean)) =>
    percentile((await load(cold.address, randomPage, { connections: READERS, duration })).times, 99)
  await read(options.seconds)
  const quiet = await read(options.seconds * 2)
  let isPublishing = true
  const publication = publish(store, next).finally(() => {
    isPublishing = false
  })
  const publishing = await read(() => isPublishing)
  await publication
  return {
    ...{ full: published.seconds, change: change.seconds, bare, indexed, quiet, publishing },
    peakMegabytes: published.peakMegabytes,
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1000
}

/** Copies the rows of the same file into a table that has only its columns. */
async function copyBare({ release }: Stage, { databaseUrl }: Settings): Promise<number> {
  const file = path.join(release, 'outbreaks.csv')
  const [, ...columns] = (await readFirstLine(file)).split(',')
  await runPsql(
    databaseUrl,
    `create table bare as select ''::text as key, ${columns.join(', ')} from ${RECORD_TABLE} with no data`,
  )
  const seconds = await timed(() => runPsql(databaseUrl, 'copy bare from stdin (format csv, header)', { input: file }))
  await runPsql(databaseUrl, 'drop table bare')
  return seconds
}

/** Copies rows of the version table into a table with the same columns and indexes. */
async function copyIndexed({ scratch }: Stage, { databaseUrl }: Settings): Promise<number> {
  const file = path.join(scratch, 'versions.copy')
  await writeFile(file, '')
  await runPsql(
    databaseUrl,
    `\\copy (select * from hed_outbreak_version order by id limit ${INDEXED_ROWS}) to '${file}' (format binary)`,
  )
  await runPsql(databaseUrl, 'create table indexed (like hed_outbreak_version including all)')
  const seconds = await timed(() => runPsql(databaseUrl, 'copy indexed from stdin (format binary)', { input: file }))
  await runPsql(databaseUrl, 'drop table indexed')
  await rm(file)
  return seconds
}

async function readFirstLine(file: string): Promise<string> {
  for await (const line of createInterface({ input: createReadStream(file) })) return line
  throw new Error('the file is empty')
}

/** Writes the first one per cent of the records with other counts, as changes to release `base`. */
async function writeChange({ scratch, options }: Stage, base: number): Promise<string> {
  const directory = path.join(scratch, `change-${base}`)
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory)
  const lines = synthesise({ records: options.records, seed: 1, release: 1 })
    .take(Math.ceil(options.records / 100))
    .map((row) => ({
      ...row,
      cases: typeof row['cases'] === 'number' ? row['cases'] + base : null,
      note: `Recount ${base}`,
    }))
    .map((row) => `${JSON.stringify(row)}\n`)
  await writeFile(path.join(directory, 'outbreaks.ndjson'), lines)
  const manifest = { title: 'A change of one per cent', licence: 'CC0-1.0', base }
  await writeFile(path.join(directory, 'release.json'), JSON.stringify(manifest))
  return directory
}
