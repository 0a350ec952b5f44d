// Writes the column index of all kept releases again: after a migration, for a version with other columns, or if a part is
// damaged. Replays the releases, the oldest first.
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import { type IndexWriter, openIndexWriter } from '../columns/index-writer.ts'
import { deleteParts, needsRebuild } from '../columns/parts.ts'
import type { Dataset, FieldValue } from '../datasets/define.ts'
import { hasSeries, toSeries } from '../methods/record-series.ts'
import { findBreaks } from '../methods/series-breaks.ts'
import { type Database, readerOf } from '../platform/postgres/database.ts'
import { copySourceOf, readAllRecords, readRecordsById } from '../storage/read-records.ts'
import { type AssignedFields, readCells } from '../storage/serialise-record.ts'
import { tablesOf } from '../storage/tables.ts'
import { lockLatestRelease } from './write/latest-release.ts'
import { toSeriesRecord } from './write/mark-breaks.ts'
import { readByCursor } from './write/server-cursor.ts'

/** One transaction: a node sees the old index or the new one. */
export function rebuildIndex(database: Database, dataset: Dataset): Promise<{ dataset: string; releases: number }> {
  return database.transaction(async (client) => {
    await lockLatestRelease(client, dataset)
    return { dataset: dataset.name, releases: await replayReleases(client, dataset) }
  })
}

/** Rebuilds the indexes that this version cannot use. Gives the names of their datasets. */
export async function renewIndexes(database: Database, datasets: readonly Dataset[]): Promise<string[]> {
  const renewed: string[] = []
  for (const dataset of datasets) {
    if (!(await needsRebuild(database, dataset))) continue
    await rebuildIndex(database, dataset)
    renewed.push(dataset.name)
  }
  return renewed
}

/** The same for one dataset that the transaction has locked. */
export async function renewIndex(client: PoolClient, dataset: Dataset): Promise<void> {
  if (await needsRebuild(readerOf(client), dataset)) await replayReleases(client, dataset)
}

/** Builds the index of a dataset, which the transaction has locked. Gives the number of releases. */
export async function replayReleases(client: PoolClient, dataset: Dataset): Promise<number> {
  await deleteParts(client, dataset)
  const { rows } = await client.query<{ number: number }>(
    sql`select number from release where dataset = ${dataset.name} and pruned_at is null order by number`,
  )
  const [oldest] = rows
  if (oldest === undefined) return 0
  // One writer for all releases: to open the rows of each release anew would take longer with each.
  const index = await openIndexWriter(client, dataset, 0, oldest.number)
  try {
    for (const [i, { number }] of rows.entries()) {
      if (i > 0) await index.advance(number)
      await (i === 0 ? replayAll : replayChanges)(client, dataset, number, index)
      if (hasSeries(dataset))
        for await (const members of index.readTouchedSeries(i === 0)) {
          const breaks = findBreaks(members.map((row) => toSeriesRecord(dataset.series, row)))
          index.addSteps(toSeries(dataset, members), new Set(breaks.keys()))
        }
      await index.store()
    }
  } finally {
    await index.close()
  }
  return rows.length
}

function addRecord(dataset: Dataset, index: IndexWriter, body: string): void {
  const record = JSON.parse(body) as Record<string, FieldValue> & AssignedFields
  index.add(record.id, readCells(dataset, record), record.last_release)
}

/** All records of the oldest kept release are new to the index. */
async function replayAll(client: PoolClient, dataset: Dataset, release: number, index: IndexWriter): Promise<void> {
  for await (const bodies of readAllRecords(copySourceOf(client), dataset, release))
    for (const body of bodies) addRecord(dataset, index, body)
}

async function replayChanges(client: PoolClient, dataset: Dataset, release: number, index: IndexWriter): Promise<void> {
  const { version } = tablesOf(dataset)
  const began = readByCursor<{ id: string }>(
    client,
    'began',
    sql`select id from ${version} where from_release = ${release} order by id`,
  )
  for await (const rows of began) {
    const ids = rows.map(({ id }) => Number(id))
    const bodies = await readRecordsById(copySourceOf(client), dataset, release, ids)
    for (const body of bodies.values()) addRecord(dataset, index, body)
  }
  const ended = readByCursor<{ id: string }>(
    client,
    'ended',
    sql`select id from ${version} as ended where to_release = ${release} and not exists (
      select from ${version} as began where began.id = ended.id and began.from_release = ${release})`,
  )
  for await (const rows of ended) for (const { id } of rows) index.withdraw(Number(id))
}
