// Goals 6 and 7: the bytes of a record, and by how much a release that changes little makes the database grow.
import { globSync, statSync } from 'node:fs'
import path from 'node:path'
import { runPsql } from '../engine.ts'
import { figure, type Measurements, result } from '../goal.ts'
import { publish, synthesiseBase, writeCorrections } from '../publish.ts'
import type { Stage } from '../stage.ts'

const ROUNDS = 3
/** So few that each is in a chunk of its own. */
const SCATTERED = 2000

export async function measureStorage(stage: Stage): Promise<Measurements> {
  const { store, indexDirectory, options } = stage
  const tables = await readTableBytes(store.databaseUrl)
  const [file = ''] = globSync(path.join(indexDirectory, 'hed-outbreaks-*-1.duckdb'))
  const index = [file, ...globSync(`${file}.wal`)].reduce((sum, name) => sum + statSync(name).size, 0)
  const perRecord = (bytes: number) => [bytes / options.records]
  const stride = Math.max(200, Math.floor(options.records / SCATTERED))
  const scattered = Math.floor(options.records / stride)
  const single: number[] = []
  const corrections: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    single.push((await measureGrowth(stage, (i) => i === round)) / 1000)
    corrections.push((await measureGrowth(stage, (i) => i % stride === 100 + round)) / 1000 / scattered)
  }
  return {
    results: [
      result(
        '6',
        'a record in all tables, indexes and the index file',
        { atMost: 900 },
        perRecord(tables + index),
        'B',
      ),
      result('7a', `growth for each of ${scattered} scattered corrections`, { atMost: 6 }, corrections, 'KB'),
      result('7b', 'growth for a release that changes one record', { atMost: 100 }, single, 'KB'),
    ],
    figures: [
      figure('a record in PostgreSQL, all tables and indexes', 'B', perRecord(tables)),
      figure('a record in the index file of a node', 'B', perRecord(index)),
    ],
    skipped: [],
  }
}

/** Publishes other counts for some records, by their number in the dataset, and vacuums as autovacuum would. */
async function measureGrowth(stage: Stage, isChanged: (number: number) => boolean): Promise<number> {
  const { changing, scratch, options, postmaster } = stage
  const before = await readTableBytes(changing.databaseUrl)
  const base = Number(await runPsql(changing.databaseUrl, 'select max(number) from release'))
  const rows = synthesiseBase(options.records).filter((_, number) => isChanged(number))
  await publish(changing, await writeCorrections(scratch, rows, base), postmaster)
  await runPsql(changing.databaseUrl, 'vacuum')
  return (await readTableBytes(changing.databaseUrl)) - before
}

const readTableBytes = async (url: string) =>
  Number(
    await runPsql(
      url,
      `select sum(pg_total_relation_size(oid)) from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    ),
  )
