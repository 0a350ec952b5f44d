// The file of a column index: its name, how it is opened, and how it is checked without disturbing the node that uses it. A file
// that is damaged, or of an older layout that no process uses, is deleted: it can be built again.
import { access, copyFile, mkdir, readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { DuckDBInstance, version as engineVersion } from '@duckdb/node-api'
import type { Dataset } from '../datasets/define.ts'
import { type DuckDb, openDuckDb, type RunQuery } from '../platform/duckdb/duckdb.ts'
import { createTemporaryDirectory } from '../platform/temporary-directory.ts'
import { layoutOf } from './parts.ts'
import { createTables, dropTables } from './tables.ts'

/** Processes that share a directory: each has its own file. */
const MAX_FILES = 64
const MEMORY_MEGABYTES = 448
const CHECK_MEGABYTES = 256

export interface IndexFile<State> {
  readonly file: string
  readonly duckDb: DuckDb<State>
  /** For the files of parts and for what DuckDB does not keep in memory. */
  readonly workDirectory: string
  /** What it had when it was opened. */
  readonly state: State
}

const prefixOf = (dataset: Dataset): string => `${dataset.name}-${layoutOf(dataset)}-${engineVersion()}-`

/** Opens the first file of the directory that no other process has open. A damaged one is reported and built anew. */
export async function openIndexFile<State>(
  directory: string,
  dataset: Dataset,
  readState: (query: RunQuery) => Promise<State>,
  onDamage: (error: unknown) => void,
): Promise<IndexFile<State>> {
  await removeOldLayouts(directory, dataset)
  for (let number = 1; number <= MAX_FILES; number++) {
    const file = path.join(directory, `${prefixOf(dataset)}${number}.duckdb`)
    try {
      return await openFile(file, dataset, readState)
    } catch (error) {
      if (isLocked(error)) continue
      onDamage(error)
      await removeIndexFile(file)
      return openFile(file, dataset, readState)
    }
  }
  throw new Error(`there are ${MAX_FILES} index files, and all of them are in use`)
}

/** No process has it open. */
export async function removeIndexFile(file: string): Promise<void> {
  for (const name of [file, `${file}.wal`, `${file}.work`]) await rm(name, { recursive: true, force: true })
}

async function openFile<State>(
  file: string,
  dataset: Dataset,
  readState: (query: RunQuery) => Promise<State>,
): Promise<IndexFile<State>> {
  const workDirectory = `${file}.work`
  // Every write ends with a checkpoint, so a log is left only by a process that was killed while it wrote. DuckDB 1.5 loses what
  // the log adds to an index, if the file is closed before the index is used: a filter then finds nothing (duckdb/duckdb#23788).
  const isUnfinished = await access(`${file}.wal`).then(
    () => true,
    () => false,
  )
  const duckDb = await openDuckDb({
    file,
    memoryMegabytes: MEMORY_MEGABYTES,
    temporaryDirectory: workDirectory,
    readState,
  })
  try {
    // A process that was killed may have left files.
    await rm(workDirectory, { recursive: true, force: true })
    await mkdir(workDirectory)
    await duckDb.write(async (connection) => {
      if (isUnfinished) await dropTables(connection)
      await createTables(connection, dataset)
    })
    return { file, duckDb, workDirectory, state: await duckDb.read(async ({ state }) => state) }
  } catch (error) {
    await duckDb.close()
    throw error
  }
}

/** Files for other columns or another version of DuckDB. During an upgrade a process of the earlier version may use one. */
async function removeOldLayouts(directory: string, dataset: Dataset): Promise<void> {
  const names = new Set<string>()
  for (const name of await readdir(directory)) {
    const [, base = '', layout] = /^((.+)-[0-9a-f]{16}-.+-\d+\.duckdb)(?:\.wal|\.work)?$/.exec(name) ?? []
    if (layout === dataset.name && !base.startsWith(prefixOf(dataset))) names.add(base)
  }
  for (const name of names) {
    const file = path.join(directory, name)
    if (!(await isInUse(file))) await removeIndexFile(file)
  }
}

async function isInUse(file: string): Promise<boolean> {
  try {
    await access(file)
    ;(await DuckDBInstance.create(file)).closeSync()
    return false
  } catch (error) {
    return isLocked(error)
  }
}

const isLocked = (error: unknown) => error instanceof Error && /Could not set lock|already attached/.test(error.message)

export interface CheckedFile {
  readonly file: string
  /** Why a row cannot be read. */
  readonly damage?: string
  /** Why the file could not be copied. */
  readonly unchecked?: string
}

/**
 * Reads every row of the index files of a directory, so that DuckDB compares the checksum of every block. Reads copies: a file that
 * is open here would be locked for a node that starts.
 */
export async function checkIndexFiles(directory: string, dataset: Dataset): Promise<CheckedFile[]> {
  const names = (await readdir(directory)).filter(
    (name) => name.startsWith(prefixOf(dataset)) && name.endsWith('.duckdb'),
  )
  const checked: CheckedFile[] = []
  for (const name of names.toSorted()) {
    const file = path.join(directory, name)
    const temporary = await createTemporaryDirectory()
    try {
      checked.push(await checkFile(file, temporary))
    } finally {
      await rm(temporary, { recursive: true, force: true })
    }
  }
  return checked
}

async function checkFile(file: string, temporary: string): Promise<CheckedFile> {
  let copy: string
  try {
    copy = await copyUnchanged(file, temporary)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'EIO' ? { file, damage: message } : { file, unchecked: message }
  }
  try {
    await readEveryRow(copy)
    return { file }
  } catch (error) {
    return { file, damage: (error as Error).message }
  }
}

const MAX_COPIES = 5

/** Copies again if the node wrote during the copy: the copy would be of two states. */
async function copyUnchanged(file: string, directory: string): Promise<string> {
  const copy = path.join(directory, 'index.duckdb')
  const describe = async () =>
    Promise.all(
      [file, `${file}.wal`].map((name) => stat(name).then(({ mtimeMs, size }) => `${mtimeMs} ${size}`, String)),
    )
  for (let attempt = 1; ; attempt += 1) {
    const before = await describe()
    await copyFile(file, copy)
    await copyFile(`${file}.wal`, `${copy}.wal`).catch(() => rm(`${copy}.wal`, { force: true }))
    if (String(await describe()) === String(before)) return copy
    if (attempt === MAX_COPIES) throw new Error('the node writes it all the time')
  }
}

async function readEveryRow(file: string): Promise<void> {
  const instance = await DuckDBInstance.create(file, {
    memory_limit: `${CHECK_MEGABYTES}MB`,
    temp_directory: path.dirname(file),
  })
  try {
    const connection = await instance.connect()
    const tables = await connection.runAndReadAll('select table_name from duckdb_tables()')
    for (const [table] of tables.getRows()) await connection.run(`select sum(hash(one)) from "${String(table)}" as one`)
    // The index of the dictionary has its own blocks.
    await connection.run(`select count(*) from dictionary where value = ''`)
    connection.closeSync()
  } finally {
    instance.closeSync()
  }
}
