// Goal 8: publishing all records (measured when the data were created) compared with psql that copies the same file, and
// publishing a change of one per cent. And the latency of readers during it.
import { createReadStream } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { load } from '../client.ts'
import { RECORD_TABLE } from '../contenders/record-table.ts'
import { runPsql } from '../engine.ts'
import { figure, type Measurements, result } from '../goal.ts'
import { percentile } from '../measure.ts'
import { PAGE_SIZE } from '../pages.ts'
import { publish, synthesiseBase, writeCorrections } from '../publish.ts'
import { pickRandom } from '../questions.ts'
import type { Stage } from '../stage.ts'
import { startReadyNode, type Target } from '../target.ts'
import { readClusterSeconds } from '../usage.ts'

const READERS = 2
const ROUNDS = 2

export async function measurePublishing(stage: Stage): Promise<Measurements> {
  const { options, published, scratch, changing, postmaster } = stage
  const cores = os.availableParallelism()
  const copies = [await copyBare(stage), await copyBare(stage), await copyBare(stage)]
  const changes: number[] = []
  const publishChange = async () => {
    const base = Number(await runPsql(changing.databaseUrl, 'select max(number) from release'))
    const rows = synthesiseBase(options.records).take(Math.ceil(options.records / 100))
    const directory = await writeCorrections(scratch, rows, base)
    return async () => changes.push((await publish(changing, directory, postmaster)).seconds)
  }
  for (let round = 1; round < ROUNDS; round++) await (await publishChange())()
  const { target } = await startReadyNode(changing, {})
  const reads = await measureReads(stage, target, await publishChange())
  await target.stop()
  const rateOf = (seconds: readonly number[]) => seconds.map((value) => options.records / value)
  return {
    results: [
      result(
        '8a',
        `publishing everything / psql copy into a bare table, for each of ${cores} cores`,
        { atLeast: 0.1 },
        copies.map(({ seconds }) => seconds / published.seconds / cores),
      ),
      result(
        '8b',
        'the same by CPU time',
        null,
        copies.map(({ cpuSeconds }) => cpuSeconds / published.cpuSeconds),
      ),
      result('8c', 'publishing a change of 1 % in one place', { atMost: 30 }, changes, 's'),
      result('8d', 'p99 of reads while publishing / without publishing', null, [reads.publishing / reads.quiet]),
    ],
    figures: [
      figure('outbreakctl: publishing everything', 'rows/s', rateOf([published.seconds])),
      figure('outbreakctl and PostgreSQL: CPU for 1000 records', 'ms', [
        (published.cpuSeconds * 1_000_000) / options.records,
      ]),
      figure('outbreakctl: peak memory', 'MB', [published.peakMegabytes]),
      figure('psql: copy into a bare table', 'rows/s', rateOf(copies.map(({ seconds }) => seconds))),
      figure('p99 of reads without publishing', 'ms', [reads.quiet]),
      figure('p99 of reads while publishing', 'ms', [reads.publishing]),
    ],
    skipped: [],
  }
}

/** Reads at random offsets, before and during a publication. */
async function measureReads({ options }: Stage, target: Target, publishNext: () => Promise<unknown>) {
  const offsets = Array.from({ length: options.records / PAGE_SIZE }, (_, page) => page * PAGE_SIZE)
  const next = () => target.get(`/v1/hed-outbreaks/outbreaks?num=${PAGE_SIZE}&offset=${pickRandom(offsets)}`, 'gzip')
  const read = async (duration: number | (() => boolean)) =>
    percentile((await load(target.address, next, { connections: READERS, duration })).times, 99)
  await read(options.seconds)
  const quiet = await read(options.seconds * 2)
  let isPublishing = true
  const publication = publishNext().finally(() => {
    isPublishing = false
  })
  const publishing = await read(() => isPublishing)
  await publication
  return { quiet, publishing }
}

/** Copies the rows of the same file into a table that has only its columns. The CPU time of psql is left out. */
async function copyBare({ release, recordsUrl, postmaster }: Stage): Promise<{ seconds: number; cpuSeconds: number }> {
  const file = path.join(release, 'outbreaks.csv')
  const [, ...columns] = (await readFirstLine(file)).split(',')
  await runPsql(
    recordsUrl,
    `create table bare as select ''::text as key, ${columns.join(', ')} from ${RECORD_TABLE} with no data`,
  )
  const [cpu, began] = [readClusterSeconds(postmaster), performance.now()]
  await runPsql(recordsUrl, 'copy bare from stdin (format csv, header)', { input: file })
  const measured = {
    seconds: (performance.now() - began) / 1000,
    cpuSeconds: readClusterSeconds(postmaster) - cpu,
  }
  await runPsql(recordsUrl, 'drop table bare')
  return measured
}

async function readFirstLine(file: string): Promise<string> {
  for await (const line of createInterface({ input: createReadStream(file) })) return line
  throw new Error('the file is empty')
}
