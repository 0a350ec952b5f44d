// Goals 6 and 7: the bytes of a record, and by how much a release that changes little makes the database grow.
import { globSync, statSync } from 'node:fs'
import path from 'node:path'
import { runPsql } from '../engine.ts'
import { figure, type Measurements, result } from '../goal.ts'
import { publish, synthesiseBase, writeCorrections } from '../publish.ts'
import type { Stage } from '../stage.ts'

const ROUNDS = 2
/** So few that each is in a chunk of its own. */
const SCATTERED = 2000

/** Bytes by table, with its indexes. */
type Sizes = ReadonlyMap<string, number>

export async function measureStorage(stage: Stage): Promise<Measurements> {
  const { store, indexDirectory, options } = stage
  const tables = sum(await readSizes(store.databaseUrl))
  const [file = ''] = globSync(path.join(indexDirectory, 'hed-outbreaks-*-1.duckdb'))
  const index = [file, ...globSync(`${file}.wal`)].reduce((bytes, name) => bytes + statSync(name).size, 0)
  const perRecord = (bytes: number) => [bytes / options.records]
  const stride = Math.max(200, Math.floor(options.records / SCATTERED))
  const scattered = Math.floor(options.records / stride)
  const single: Sizes[] = []
  const corrections: Sizes[] = []
  for (let round = 0; round < ROUNDS; round++) {
    single.push(await measureGrowth(stage, (number) => number === round))
    corrections.push(await measureGrowth(stage, (number) => number % stride === 100 + round))
  }
  const perCorrection = (bytes: number) => bytes / 1000 / scattered
  const grown = [...(corrections[0]?.keys() ?? [])].filter((table) =>
    corrections.every((growth) => (growth.get(table) ?? 0) > 0),
  )
  return {
    results: [
      result(
        '6',
        'a record in all tables, indexes and the index file',
        { atMost: 900 },
        perRecord(tables + index),
        'B',
      ),
      result(
        '7a',
        `growth for each of ${scattered} scattered corrections`,
        { atMost: 6 },
        corrections.map((growth) => perCorrection(sum(growth))),
        'KB',
      ),
      result(
        '7b',
        'growth for a release that changes one record',
        { atMost: 100 },
        single.map((growth) => sum(growth) / 1000),
        'KB',
      ),
    ],
    figures: [
      figure('a record in PostgreSQL, all tables and indexes', 'B', perRecord(tables)),
      figure('a record in the index file of a node', 'B', perRecord(index)),
      ...grown.map((table) =>
        figure(
          `growth of ${table} for a scattered correction`,
          'KB',
          corrections.map((growth) => perCorrection(growth.get(table) ?? 0)),
        ),
      ),
    ],
    skipped: [],
  }
}

const sum = (sizes: Sizes) => [...sizes.values()].reduce((total, bytes) => total + bytes, 0)

/** Publishes other counts for some records, by their number in the dataset, and vacuums as autovacuum would. */
async function measureGrowth(stage: Stage, isChanged: (number: number) => boolean): Promise<Sizes> {
  const { changing, scratch, options, postmaster } = stage
  const before = await readSizes(changing.databaseUrl)
  const base = Number(await runPsql(changing.databaseUrl, 'select max(number) from release'))
  const rows = synthesiseBase(options.records).filter((_, number) => isChanged(number))
  await publish(changing, await writeCorrections(scratch, rows, base), postmaster)
  await runPsql(changing.databaseUrl, 'vacuum')
  const after = await readSizes(changing.databaseUrl)
  return new Map([...after].map(([table, bytes]) => [table, bytes - (before.get(table) ?? 0)]))
}

async function readSizes(url: string): Promise<Sizes> {
  const lines = await runPsql(
    url,
    `select relname, pg_total_relation_size(oid) from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace order by relname`,
  )
  return new Map(
    lines.split('\n').map((line): [string, number] => {
      const [table = '', bytes] = line.split('|')
      return [table, Number(bytes)]
    }),
  )
}
