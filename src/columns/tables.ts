// The tables of a column index in DuckDB. `present_row` has the rows of the latest release; `past_row` has rows that a later
// release replaced or withdrew, so that every kept release can be read; `id_run` has the rows of the latest release again,
// one for each run of consecutive ids with equal filter values; `dictionary` numbers the texts.
import type { DuckDBConnection } from '@duckdb/node-api'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import { type Column, indexColumns, runColumns, sqlType } from './layout.ts'

/** The parts of some releases, as files. */
export interface PartFiles {
  readonly releases: readonly IndexedRelease[]
  readonly dictionary: readonly string[]
  /** Rows that begin with a release. */
  readonly added: readonly string[]
  /** The ids of rows that end with a release. */
  readonly removed: readonly string[]
}

export interface IndexedRelease {
  readonly release: number
  /** The digest of the release. */
  readonly digest: string
  /** Identifies the parts. An index that is built again has other parts of the same release, with other numbers for texts. */
  readonly fingerprint: string
}

export const column = (name: string): Sql => raw(`"${name.replaceAll('"', '""')}"`)
const columnList = (names: readonly string[]) => join(names.map(column))
const text = (value: string) => raw(`'${value.replaceAll("'", "''")}'`)

const declareColumns = (columns: readonly Column[]): Sql =>
  join(columns.map((one) => sql`${column(one.name)} ${raw(sqlType(one))}`))

/** Every statement of this module contains only names and numbers of the program, no values of a request. */
const run = (connection: DuckDBConnection, statement: Sql) => connection.run(statement.text)

/** Creates the tables that do not exist. */
export async function createTables(connection: DuckDBConnection, dataset: Dataset): Promise<void> {
  const columns = declareColumns(indexColumns(dataset))
  await createPresentTables(connection, dataset)
  await run(
    connection,
    sql`create table if not exists applied_release (number INTEGER, digest VARCHAR, fingerprint VARCHAR)`,
  )
  await run(connection, sql`create table if not exists past_row (${columns}, to_release INTEGER)`)
  // A dictionary of ten million records has 400,000 texts. Reading all of them takes longer than most queries.
  await run(connection, sql`create index if not exists dictionary_value on dictionary (value)`)
}

/** The tables of the latest release alone. */
export async function createPresentTables(connection: DuckDBConnection, dataset: Dataset): Promise<void> {
  await run(connection, sql`create table if not exists dictionary (field VARCHAR, value VARCHAR, code INTEGER)`)
  await run(connection, sql`create table if not exists present_row (${declareColumns(indexColumns(dataset))})`)
}

/** For a file that is built from nothing. */
export async function dropTables(connection: DuckDBConnection): Promise<void> {
  for (const table of ['applied_release', 'dictionary', 'present_row', 'past_row', 'id_run'])
    await run(connection, sql`drop table if exists ${raw(table)}`)
}

/** Deletes all releases. */
export async function clearTables(connection: DuckDBConnection): Promise<void> {
  for (const table of ['applied_release', 'dictionary', 'present_row', 'past_row'])
    await run(connection, sql`delete from ${raw(table)}`)
}

/** Adds releases. The caller's transaction makes all of them visible together. */
export async function applyParts(connection: DuckDBConnection, dataset: Dataset, parts: PartFiles): Promise<void> {
  const { releases, dictionary, added, removed } = parts
  if (dictionary.length > 0)
    await run(connection, sql`insert into dictionary select field, value, code from ${readFiles(dictionary)}`)
  const names = columnList(indexColumns(dataset).map(({ name }) => name))
  if (added.length > 0) await run(connection, sql`insert into present_row select ${names} from ${readFiles(added)}`)
  if (removed.length > 0) {
    // A row ends with the first release after its own that removed its id. Not an ASOF join: with ten million rows that
    // the same transaction has inserted, it did not end within ten minutes.
    await run(
      connection,
      sql`create or replace temp table ended_row as
      select present_row.id, from_release, min(ended.release) as to_release
      from present_row join ${readFiles(removed)} as ended
        on present_row.id = ended.id and present_row.from_release < ended.release
      group by present_row.id, from_release`,
    )
    await run(
      connection,
      sql`insert into past_row by name select present_row.*, to_release from present_row join ended_row using (id, from_release)`,
    )
    await run(
      connection,
      sql`delete from present_row using ended_row
      where present_row.id = ended_row.id and present_row.from_release = ended_row.from_release`,
    )
  }
  const applied = releases.map(
    ({ release, digest, fingerprint }) => sql`(${raw(String(release))}, ${text(digest)}, ${text(fingerprint)})`,
  )
  await run(connection, sql`insert into applied_release values ${join(applied)}`)
}

/** Publishing opens each file about ten times. With more files than this, opening them takes longer than copying their rows once. */
const MAX_SCANNED_FILES = 100

/**
 * Adds the dictionary and the rows of the latest of these releases to an empty index. Past rows are left out. Rows stay in
 * their files, because publishing needs few of them, and few columns of the others.
 */
export async function openPresentRows(connection: DuckDBConnection, dataset: Dataset, parts: PartFiles): Promise<void> {
  const { dictionary, added, removed } = parts
  await run(connection, sql`create table dictionary as select field, value, code from ${readFiles(dictionary)}`)
  // A row is in the latest release if no later release than its own removed its id.
  if (removed.length > 0)
    await run(
      connection,
      sql`create table removed_row as select id, max(release) as ended from ${readFiles(removed)} group by id`,
    )
  const isPresent =
    removed.length === 0 ? sql`` : sql`left join removed_row using (id) where ended is null or from_release >= ended`
  const names = columnList(indexColumns(dataset).map(({ name }) => name))
  if (added.length === 0) return createPresentTables(connection, dataset)
  const present = sql`select ${names} from ${readFiles(added)} ${isPresent}`
  const kind = added.length <= MAX_SCANNED_FILES ? sql`view` : sql`table`
  await run(connection, sql`create ${kind} present_row as ${present}`)
}

const readFiles = (files: readonly string[]) => sql`read_parquet([${join(files.map(text))}])`

/** The number of records of the latest release. */
export async function countPresent(connection: DuckDBConnection): Promise<number> {
  const [row] = (await connection.runAndReadAll('select count(*) from present_row')).getRows()
  return Number(row?.[0])
}

/** Deletes rows that no kept release has. */
export const deletePast = (connection: DuckDBConnection, oldestKept: number) =>
  run(connection, sql`delete from past_row where to_release <= ${raw(String(oldestKept))}`)

/** Writes the rows of the latest release again in the order of id, which scans of a range of ids need. */
export const sortRows = (connection: DuckDBConnection) =>
  run(connection, sql`create or replace table present_row as select * from present_row order by id`)

/**
 * Computes the runs of the latest release. Only two columns go through the window functions, which keep all rows in
 * memory; the values of a run are those of its first row.
 */
export async function buildRuns(connection: DuckDBConnection, dataset: Dataset): Promise<void> {
  const names = runColumns(dataset)
  const values = names.map((name) => sql`present_row.${column(name)}`)
  const keys = names.length === 0 ? sql`true` : columnList(names)
  await run(
    connection,
    sql`create or replace table id_run as
    with marked as (
      select id, hash(${keys}) as combination from present_row
    ), compared as (
      select id, lag(id) over in_order as previous,
        combination is distinct from lag(combination) over in_order as differs
      from marked window in_order as (order by id)
    ), started as (
      select id, lead(previous, 1, (select max(id) from present_row)) over (order by id) as last_id
      from compared where differs or id is distinct from previous + 1
    )
    select ${join([...values, sql`id as first_id`])}, (last_id - id + 1)::integer as records
    from started join present_row using (id) order by first_id`,
  )
}

/** The rows that begin with a release, and those that end with it; `after` tells which. A row also begins if only its steps changed. */
export function changedRows(release: number): Sql {
  const number = raw(String(release))
  return sql`(
    select *, true as after from present_row where from_release = ${number}
    union all by name
    select * exclude (to_release), from_release = ${number} as after from past_row
    where from_release = ${number} or to_release = ${number})`
}

/** The rows of a release. `latest` is the latest release of the index. */
export function rowsOf(release: number, latest: number): Sql {
  const number = raw(String(release))
  if (release === latest) return sql`present_row`
  return sql`(
    select * from present_row where from_release <= ${number}
    union all by name
    select * exclude (to_release) from past_row where from_release <= ${number} and to_release > ${number})`
}
