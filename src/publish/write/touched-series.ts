// Reads the current records of every series that a release changes, series by series.
import type { PoolClient } from 'pg'
import sql, { join, type Sql } from 'sql-template-tag'
import type { FieldValue } from '../../datasets/define.ts'
import { type SeriesDataset, seriesColumns } from '../../methods/record-series.ts'
import { identifier, NO_END_RELEASE, tablesOf } from '../../storage/tables.ts'
import { readByCursor } from './server-cursor.ts'

/** A current record. `from_release` is the release that began its version. */
export type SeriesRow = Record<string, FieldValue>

/** The ids of the series of which the release added, corrected or withdrew a record. */
export function touchedSeries(dataset: SeriesDataset, release: number): Sql {
  const { version } = tablesOf(dataset)
  const id = identifier(dataset.series.id)
  return sql`select ${id} from ${version} where from_release = ${release}
    union select ${id} from ${version} where to_release = ${release}`
}

/** The rows of each touched series or, with `all`, of every series. */
export async function* readTouchedSeries(
  client: PoolClient,
  dataset: SeriesDataset,
  release: number,
  all: boolean,
): AsyncGenerator<SeriesRow[]> {
  const { series, fields } = dataset
  const dates = new Set(fields.filter((field) => field.kind === 'date').map((field) => field.name))
  const columns = [...seriesColumns(dataset), series.breakFlag, 'from_release', 'last_release'].map((name) =>
    dates.has(name) ? sql`${identifier(name)}::text` : identifier(name),
  )
  const id = identifier(series.id)
  const rows = readByCursor<SeriesRow>(
    client,
    'touched_series',
    sql`select ${join(columns)} from ${tablesOf(dataset).version}
      where to_release = ${NO_END_RELEASE} and ${all ? sql`true` : sql`${id} in (${touchedSeries(dataset, release)})`}
      order by ${id}`,
  )
  let members: SeriesRow[] = []
  for await (const batch of rows) {
    for (const row of batch) {
      if (members.length > 0 && members[0]?.[series.id] !== row[series.id]) {
        yield members
        members = []
      }
      members.push(row)
    }
  }
  if (members.length > 0) yield members
}
