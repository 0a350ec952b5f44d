// Writes the column index of all kept releases again: after a migration, for a program with other columns, or if a part is
// damaged. Replays the releases, the oldest first.
import type { PoolClient } from 'pg'
import sql from 'sql-template-tag'
import { deleteParts } from '../columns/parts.ts'
import type { Dataset } from '../datasets/define.ts'
import { hasSeries, toSeries } from '../methods/record-series.ts'
import { findBreaks } from '../methods/series-breaks.ts'
import type { Database } from '../platform/postgres/database.ts'
import { readCells } from '../storage/serialise-record.ts'
import { tablesOf } from '../storage/tables.ts'
import { isInRelease } from '../storage/versions.ts'
import { openIndexWriter } from './write/index-writer.ts'
import { lockLatestRelease } from './write/latest-release.ts'
import { toSeriesRecord } from './write/mark-breaks.ts'
import { readByCursor } from './write/server-cursor.ts'

/** One transaction: a node sees the old index or the new one. */
export function rebuildIndex(database: Database, dataset: Dataset): Promise<{ dataset: string; releases: number }> {
  return database.transaction(async (client) => {
    await lockLatestRelease(client, dataset)
    await deleteParts(client, dataset)
    const { rows } = await client.query<{ number: number }>(
      sql`select number from release where dataset = ${dataset.name} and pruned_at is null order by number`,
    )
    for (const [i, { number }] of rows.entries()) await replayRelease(client, dataset, number, i === 0)
    return { dataset: dataset.name, releases: rows.length }
  })
}

/** `isFirst` is true for the oldest kept release: all its records are new to the index. */
async function replayRelease(client: PoolClient, dataset: Dataset, release: number, isFirst: boolean): Promise<void> {
  const { version } = tablesOf(dataset)
  const index = await openIndexWriter(client, dataset, isFirst ? 0 : release - 1, release)
  try {
    const began = isFirst ? isInRelease(release) : sql`from_release = ${release}`
    const changed = readByCursor<{ id: string; body: string; last_release: number }>(
      client,
      'changed',
      sql`select id, body, last_release from ${version} where ${began} order by id`,
    )
    for await (const batch of changed)
      for (const { id, body, last_release } of batch) index.add(Number(id), readCells(dataset, body), last_release)
    const ended = readByCursor<{ id: string }>(
      client,
      'ended',
      sql`select id from ${version} as ended where to_release = ${isFirst ? 0 : release} and not exists (
        select from ${version} as began where began.id = ended.id and began.from_release = ${release})`,
    )
    for await (const batch of ended) for (const { id } of batch) index.withdraw(Number(id))
    if (hasSeries(dataset))
      for await (const rows of index.readTouchedSeries(isFirst)) {
        const breaks = findBreaks(rows.map((row) => toSeriesRecord(dataset.series, row)))
        index.addSteps(toSeries(dataset, rows), new Set(breaks.keys()))
      }
    await index.store()
  } finally {
    await index.close()
  }
}
