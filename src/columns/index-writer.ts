// Writes what a release changes in the column index. Opens the index of the latest release in a temporary directory, collects
// the changed rows and the steps of the series that they touch, and stores the difference as parts.
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { PoolClient } from 'pg'
import sql, { join, raw } from 'sql-template-tag'
import type { Dataset, FieldValue } from '../datasets/define.ts'
import { formatDay } from '../methods/calendar.ts'
import { hasSeries, type RecordSeries, type SeriesDataset, seriesColumns } from '../methods/record-series.ts'
import { createTemporaryDirectory } from '../platform/temporary-directory.ts'
import { copySourceOf } from '../storage/read-records.ts'
import type { Cell } from '../storage/serialise-record.ts'
import { createDictionary, type Dictionary, type DictionaryEntry } from './dictionary.ts'
import { createRecordEncoder, encodeSteps } from './encode-rows.ts'
import { applyChanges, storeChanges } from './index-changes.ts'
import { createIndexQueries } from './index-queries.ts'
import { type Column, recordColumns, stepColumns } from './layout.ts'
import { fetchParts, listParts } from './parts.ts'
import { createStage, readStaged, toStaged } from './stage.ts'
import { column, createPresentTables, openPresentRows } from './tables.ts'

/** A current record with the columns of its series. `from_release` is the release that began its version. */
export type SeriesRow = Record<string, FieldValue>

const MEMORY_MEGABYTES = 256
export type IndexWriter = Awaited<ReturnType<typeof openIndexWriter>>

/** `latest` is the release before the one that is written; 0 if there is none. */
export async function openIndexWriter(client: PoolClient, dataset: Dataset, latest: number, release = latest + 1) {
  const directory = await createTemporaryDirectory()
  // In a file, tables are compressed and memory stays bounded. One thread: this process has other work at the same time.
  const instance = await DuckDBInstance.create(path.join(directory, 'index.duckdb'), {
    threads: '1',
    memory_limit: `${MEMORY_MEGABYTES}MB`,
    temp_directory: directory,
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  // The file is deleted: writing its last changes would be a waste.
  await connection.run('pragma disable_checkpoint_on_shutdown')
  // The rows of series are read while their steps are written. One connection does one of both: an appender that writes ends
  // the result that its connection streams.
  const stepConnection = await instance.connect()

  async function close(): Promise<void> {
    connection.closeSync()
    stepConnection.closeSync()
    instance.closeSync()
    await rm(directory, { recursive: true, force: true })
  }

  try {
    if (latest === 0) await createPresentTables(connection, dataset)
    else {
      const source = copySourceOf(client)
      const parts = await listParts(source, dataset, latest)
      const files = await fetchParts(source, dataset, parts, { after: 0, upTo: latest, directory })
      await openPresentRows(connection, dataset, files)
    }
    const dictionary = createDictionary(await readDictionary(connection))
    const openStages = async (number: number) => ({
      release: number,
      encodeRecord: createRecordEncoder(dataset, dictionary, number),
      added: await createStage(connection, 'added', recordColumns(dataset)),
      withdrawn: await createStage(connection, 'withdrawn', [{ name: 'id', type: 'bigint' }]),
      stepped: hasSeries(dataset)
        ? await createStage(stepConnection, 'stepped', [
            { name: 'id', type: 'bigint' },
            { name: dataset.series.breakFlag, type: 'boolean' },
            ...stepColumns(dataset),
          ])
        : null,
    })
    let stages = await openStages(release)
    const bodies = await createStage(connection, 'staged_body', [
      { name: 'id', type: 'bigint' },
      { name: 'body', type: 'text' },
    ])
    const flushChanges = () => {
      stages.added.flush()
      stages.withdrawn.flush()
    }
    const queries = createIndexQueries(instance, dictionary, flushChanges)

    return {
      ...queries,
      /** For temporary files. */
      directory,
      /** Keeps the text of a record until its chunk is written. Alongside memory, DuckDB uses files. */
      stageBody: (id: number, body: string | null) => bodies.add([id, body]),
      stagedBodies() {
        bodies.flush()
        return queries.stagedBodies()
      },
      /** Adds a new or corrected record. `lastRelease` is the last release that changed it. */
      add: (id: number, cells: readonly Cell[], lastRelease = stages.release) =>
        stages.added.add(stages.encodeRecord(id, cells, lastRelease)),
      withdraw: (id: number) => stages.withdrawn.add([id]),
      /** The current rows of every series that the release touches, series by series; with `all`, of all series. */
      async *readTouchedSeries(all: boolean): AsyncGenerator<SeriesRow[]> {
        if (!hasSeries(dataset)) return
        flushChanges()
        yield* readSeries(connection, dataset, dictionary, all)
      },
      /** Adds the steps of a series. `broken` has the records at which it breaks. */
      addSteps(series: RecordSeries, broken: ReadonlySet<number>): void {
        if (!hasSeries(dataset)) return
        for (const row of encodeSteps(dataset, dictionary, series, broken)) stages.stepped?.add(row)
      },
      /** Stores the parts. The release is in the database already. */
      async store(): Promise<void> {
        for (const stage of [stages.added, stages.withdrawn, stages.stepped]) stage?.flush()
        await storeChanges({ client, connection, dataset, release: stages.release, directory }, dictionary)
      },
      /** After `store`: goes on with the release after it. Only for an index that began empty; otherwise rows are in files. */
      async advance(next: number): Promise<void> {
        for (const stage of [stages.added, stages.withdrawn, stages.stepped]) stage?.close()
        await applyChanges(connection, dataset, stages.release)
        stages = await openStages(next)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function readDictionary(connection: DuckDBConnection): Promise<DictionaryEntry[]> {
  const rows = (await connection.runAndReadAll('select field, value, code from dictionary')).getRows()
  return rows.map(([field, value, code]) => ({ field: String(field), value: String(value), code: Number(code) }))
}

async function* readSeries(
  connection: DuckDBConnection,
  dataset: SeriesDataset,
  dictionary: Dictionary,
  all: boolean,
): AsyncGenerator<SeriesRow[]> {
  const names = [...seriesColumns(dataset), dataset.series.breakFlag, 'last_release']
  const byName = new Map(recordColumns(dataset).map((one) => [one.name, one]))
  const columns = names.map((name) => byName.get(name) as Column)
  const id = column(dataset.series.id)
  const isChanged = sql`id in (select id from added) or id in (select id from withdrawn)`
  const isTouched = all
    ? sql`true`
    : sql`${id} in (select ${id} from added union select ${id} from present_row where ${isChanged})`
  const result = await connection.stream(
    sql`
    select ${join(columns.map(toStaged))} from present_row where ${isTouched} and not (${isChanged})
    union all
    select ${join(names.map(column))} from added
    order by ${raw(String(names.indexOf(dataset.series.id) + 1))}, 1`.text,
  )
  const decode = (staged: number, one: Column): FieldValue => {
    const value = readStaged(one, staged)
    if (typeof value !== 'number') return value
    if (one.type === 'code') return dictionary.valueOf(one.name, value)
    return one.type === 'date' ? formatDay(value) : value
  }
  let members: SeriesRow[] = []
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) break
    const vectors = columns.map((one, i) => ({ one, vector: chunk.getColumnVector(i) }))
    for (let i = 0; i < chunk.rowCount; i++) {
      const row: SeriesRow = {}
      for (const { one, vector } of vectors) row[one.name] = decode(vector.getItem(i) as number, one)
      row['from_release'] = row['last_release'] as number
      if (members.length > 0 && members[0]?.[dataset.series.id] !== row[dataset.series.id]) {
        yield members
        members = []
      }
      members.push(row)
    }
  }
  if (members.length > 0) yield members
}
