// Reads the matching records of a question and groups them into series.
import {
  type RecordSeries,
  type Row,
  type SeriesDataset,
  seriesColumns,
  toSeries,
} from '../../methods/record-series.ts'
import { Problem } from '../../platform/problem.ts'
import { type DataSource, type FilterQuery, readColumns } from '../filters/run-filter-queries.ts'

/** The maximum number of records that are read for one answer. */
const MAX_RECORDS = 20_000

export async function readSeries(
  source: Pick<DataSource, 'index'>,
  query: FilterQuery & { readonly dataset: SeriesDataset },
): Promise<RecordSeries[]> {
  const { dataset } = query
  const rows = await readColumns<Row>(source, query, seriesColumns(dataset), MAX_RECORDS)
  if (rows === null)
    throw new Problem(
      'invalid_parameter',
      `More than ${MAX_RECORDS} records would have to be read, because the days do not limit what is read. Filter by one value of ${dataset.series.id}, event or another field that fewer records have.`,
      { parameter: dataset.series.id },
    )
  return [...Map.groupBy(rows, (row) => row[dataset.series.id]).values()].map((members) => toSeries(dataset, members))
}
