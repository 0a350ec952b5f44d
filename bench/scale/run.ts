// node bench/scale/run.ts --index FILE [--times 1,3,10]: how the questions of the service scale with the number of records, beyond
// what can be published here. Copies the rows of an index file of a node as many times as said, each time with other records,
// series, events and places, and runs the statements of the service on the copies, with the limits of a node.
import { mkdtemp, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { parseFigureRequest } from '../../src/api/figures/figure-request.ts'
import { readFigures } from '../../src/api/figures/read-figures.ts'
import { parseFilters } from '../../src/api/filters/filters.ts'
import { readFacets, readTotal } from '../../src/api/filters/run-filter-queries.ts'
import type { ColumnIndex } from '../../src/columns/column-index.ts'
import type { PublishedRelease } from '../../src/storage/published-releases.ts'
import { openBareDuckDb } from '../contenders/bare-duckdb.ts'
import { percentile } from '../measure.ts'
import { comparableWith, type Question, requireSeries } from '../questions.ts'

const { values } = parseArgs({
  options: {
    index: { type: 'string' },
    times: { type: 'string', default: '1,3,10' },
    questions: { type: 'string', default: '40' },
    scratch: { type: 'string', default: os.tmpdir() },
  },
})
if (values.index === undefined) throw new Error('name an index file of a node with --index')

/** Columns whose values differ from copy to copy. All other columns repeat. */
const NUMBERED = ['id', 'series_id', 'place', 'exclusive_place', 'event']
const dataset = requireSeries()
const release = { number: 1 } as PublishedRelease

async function copyIndex(source: string, target: string, times: number): Promise<void> {
  const instance = await DuckDBInstance.create(target, { memory_limit: '4GB' })
  const connection = await instance.connect()
  await connection.run(`attach '${source}' as source (read_only)`)
  for (const table of ['applied_release', 'dictionary', 'past_row'])
    await connection.run(`create table ${table} as select * from source.${table}`)
  await connection.run('create index dictionary_value on dictionary (value)')
  for (const table of ['present_row', 'id_run']) {
    const rows = await connection.runAndReadAll(
      `select column_name from duckdb_columns() where database_name = 'source' and table_name = '${table}' order by column_index`,
    )
    const columns = rows.getRows().map(([name]) => String(name))
    await connection.run(`create table ${table} as select * from source.${table}`)
    for (let copy = 1; copy < times; copy++) {
      const shifted = columns.map((name) =>
        NUMBERED.includes(name) || name === 'first_id'
          ? `"${name}" + ${copy} * (select max("${name}") from source.${table}) as "${name}"`
          : `"${name}"`,
      )
      await connection.run(`insert into ${table} select ${shifted.join(', ')} from source.${table}`)
    }
  }
  await connection.run('checkpoint')
  connection.closeSync()
  instance.closeSync()
}

/** Random records of the index, with what their questions need. */
async function drawRecords(file: string): Promise<Record<string, string | boolean | null>[]> {
  const fields = [...new Set([...dataset.series.comparison.separate, 'country_code', 'pathogen'])]
  const instance = await DuckDBInstance.create(file, { access_mode: 'READ_ONLY' })
  const connection = await instance.connect()
  const kindOf = (name: string) => dataset.fields.find((field) => field.name === name)?.kind
  const columns = fields.map((name) =>
    kindOf(name) === 'boolean'
      ? `"${name}"`
      : `(select value from dictionary where field = '${name}' and code = drawn."${name}") as "${name}"`,
  )
  const rows = await connection.runAndReadAll(
    `select ${columns.join(', ')} from (select * from present_row using sample ${values.questions} rows) as drawn`,
  )
  connection.closeSync()
  instance.closeSync()
  return rows.getRowObjects() as Record<string, string | boolean | null>[]
}

interface Kind {
  readonly name: string
  toQuestion(record: Record<string, string | boolean | null>, i: number): Question
  read(index: ColumnIndex, question: Question): Promise<unknown>
}

const queryOf = (question: Question) => ({ dataset, release, filters: parseFilters(dataset, question) })
const kinds: Kind[] = [
  {
    name: 'exact count of a country from a day on',
    toQuestion: ({ country_code }, i) => ({
      country_code: [country_code ?? 'FR'],
      date_from: `20${10 + (i % 10)}-03-01`,
    }),
    read: (index, question) => readTotal({ index }, queryOf(question)),
  },
  {
    name: `${dataset.facets.length} facets of a pathogen`,
    toQuestion: ({ pathogen }) => ({ pathogen: [pathogen ?? ''] }),
    read: (index, question) => readFacets({ index }, queryOf(question), dataset.facets),
  },
  {
    name: 'sums by country and month',
    toQuestion: comparableWith,
    read: (index, question) =>
      readFigures(index, {
        ...{ dataset, release, interval: 'month' },
        request: parseFigureRequest(dataset, { ...question, group_by: ['country_code'] }),
      }),
  },
]

const records = await drawRecords(values.index)
const scratch = await mkdtemp(path.join(values.scratch, 'outbreaks-scale-'))
console.log('| times | index file | question | p50 | p99 | CPU for one |')
console.log('| --- | --- | --- | --- | --- | --- |')
try {
  for (const times of values.times.split(',').map(Number)) {
    const file = path.join(scratch, `${times}.duckdb`)
    await copyIndex(values.index, file, times)
    const { size } = await stat(file)
    const bare = await openBareDuckDb(file)
    for (const { name, toQuestion, read } of kinds) {
      const durations: number[] = []
      const cpu = process.cpuUsage()
      for (const [i, record] of records.entries()) {
        const startedAt = performance.now()
        await bare.collect((index) => read(index, toQuestion(record, i)))
        durations.push(performance.now() - startedAt)
      }
      const { user, system } = process.cpuUsage(cpu)
      durations.sort((a, b) => a - b)
      const cells = [
        ...[String(times), `${(size / 1e9).toFixed(2)} GB`, name],
        ...[`${percentile(durations, 50).toFixed(0)} ms`, `${percentile(durations, 99).toFixed(0)} ms`],
        `${((user + system) / 1000 / durations.length).toFixed(0)} ms`,
      ]
      console.log(`| ${cells.join(' | ')} |`)
    }
    bare.close()
    await rm(file)
  }
} finally {
  await rm(scratch, { recursive: true, force: true })
}
