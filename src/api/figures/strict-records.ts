// `strict=true` on a list of records: refuses records whose counts must not be added up.
import { ALL_DAYS } from '../../methods/figures.ts'
import { hasSeries } from '../../methods/record-series.ts'
import type { DataSource, FilterQuery } from '../filters/run-filter-queries.ts'
import { rejectMixtures } from './group-figures.ts'
import { readSeries } from './read-series.ts'

/** Judges all matching records, not only those of the page. */
export async function rejectMixedRecords(source: Pick<DataSource, 'index'>, query: FilterQuery): Promise<void> {
  const { dataset } = query
  if (!hasSeries(dataset)) return
  const series = await readSeries(source, { ...query, dataset })
  rejectMixtures(dataset, [series], { window: ALL_DAYS, groupBy: [], across: [], place: null })
}
