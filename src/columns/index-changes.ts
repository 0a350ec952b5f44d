// Finds the rows of the column index that begin and end with a release, and stores them as parts: changed records, and records
// whose steps changed. Reads the stages of the index writer.
import type { DuckDBConnection } from '@duckdb/node-api'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import { hasSeries } from '../methods/record-series.ts'
import type { Dictionary } from './dictionary.ts'
import { type Column, recordColumns, stepColumns } from './layout.ts'
import { type PartTarget, storeParts } from './parts.ts'
import { createStage, stagedValue } from './stage.ts'
import { column } from './tables.ts'

/** The release is in the database already. */
export async function storeChanges(target: PartTarget, dictionary: Dictionary): Promise<void> {
  const { connection, dataset, release } = target
  await requireSteps(connection, dataset)
  await connection.run(`create table restepped as ${selectRestepped(dataset).text}`)
  const entries = await createStage(connection, 'entry', [
    { name: 'field', type: 'text' },
    { name: 'value', type: 'text' },
    { name: 'code', type: 'integer' },
  ])
  for (const { field, value, code } of dictionary.takeNewEntries()) entries.add([field, value, code])
  entries.flush()
  entries.close()
  await storeParts(target, 'dictionary', sql`select * from entry`)
  await storeParts(
    target,
    'removed',
    sql`select id, ${raw(String(release))} as release from present_row where ${ENDS} order by id`,
  )
  await storeParts(target, 'added', selectAdded(dataset, release))
}

/** A row of the latest release that the next one does not have. */
const ENDS = sql`id in (select id from added union all select id from restepped union all select id from withdrawn)`

/** Makes the stored changes part of the rows, and removes what was staged for them. */
export async function applyChanges(connection: DuckDBConnection, dataset: Dataset, release: number): Promise<void> {
  // One transaction: DuckDB waits for the disk after each.
  await connection.run('begin transaction')
  await connection.run(`create table begun_row as ${selectAdded(dataset, release).text}`)
  await connection.run(`delete from present_row where ${ENDS.text}`)
  await connection.run('insert into present_row select * from begun_row')
  for (const table of ['begun_row', 'entry', 'restepped', 'added', 'withdrawn', 'stepped'])
    await connection.run(`drop table if exists ${table}`)
  await connection.run('commit')
}

/** Every changed record belongs to a series that was read. Otherwise the index would silently lack records. */
async function requireSteps(connection: DuckDBConnection, dataset: Dataset): Promise<void> {
  if (!hasSeries(dataset)) return
  const result = await connection.runAndReadAll('select count(*) from added anti join stepped using (id)')
  const missing = Number(result.getRows()[0]?.[0])
  if (missing > 0) throw new Error(`steps of ${missing} changed records are missing`)
}

/** The ids of records that have no row in the input, but whose steps changed. A changed break flag corrects a record. */
function selectRestepped(dataset: Dataset): Sql {
  if (!hasSeries(dataset)) return sql`select id, false as is_corrected from added where false`
  const differs = (one: Column) => sql`present_row.${column(one.name)} is distinct from ${stagedValue('stepped', one)}`
  const isCorrected = differs({ name: dataset.series.breakFlag, type: 'boolean' })
  const isChanged = join([isCorrected, ...stepColumns(dataset).map(differs)], ' or ')
  return sql`
    select id, ${isCorrected} as is_corrected
    from present_row join stepped using (id) anti join added using (id) where ${isChanged}`
}

function selectAdded(dataset: Dataset, release: number): Sql {
  const record = recordColumns(dataset)
  const own = record.map((one) => unstage('added', one))
  if (!hasSeries(dataset)) return sql`select ${join(own)} from added order by id`
  const { breakFlag } = dataset.series
  const flag = sql`stepped.${column(breakFlag)}`
  const steps = join(stepColumns(dataset).map((one) => unstage('stepped', one)))
  const number = raw(String(release))
  // A record whose break flag changes is corrected, so the release is its last one.
  const kept = record.map(({ name }) => {
    if (name === 'from_release') return sql`${number} as from_release`
    if (name === breakFlag) return flag
    if (name === 'last_release')
      return sql`case when is_corrected then ${number} else present_row.last_release end as last_release`
    return sql`present_row.${column(name)}`
  })
  return sql`
    select ${join(own.map((one, i) => (record[i]?.name === breakFlag ? flag : one)))}, ${steps}
    from added join stepped using (id)
    union all
    select ${join(kept)}, ${steps} from present_row join stepped using (id) join restepped using (id)
    order by id`
}

const unstage = (table: string, one: Column): Sql => sql`${stagedValue(table, one)} as ${column(one.name)}`
