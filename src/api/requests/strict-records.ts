// `strict=true` on a list of records: rejects records whose counts cannot be added together.
import { ALL_DAYS } from '../../methods/figures.ts'
import { hasSeries } from '../../methods/record-series.ts'
import { notComparable } from '../figures/comparison-problem.ts'
import { isInWindow } from '../figures/figure-columns.ts'
import { describeMixture, judgeFields, judgeRows } from '../figures/mixed-rows.ts'
import { matchRows } from '../filters/match-rows.ts'
import type { DataSource, FilterQuery } from '../filters/run-filter-queries.ts'

/** Judges all matching records, not only those of the page. */
export async function rejectMixedRecords(
  { index }: Pick<DataSource, 'index'>,
  { dataset, filters, release }: FilterQuery,
): Promise<void> {
  if (!hasSeries(dataset)) return
  await index.read(release, async (snapshot) => {
    const condition = await matchRows(dataset, filters, snapshot)
    if (condition === null) return
    const rows = { from: snapshot.rows, condition }
    const judged = judgeFields(dataset, { filters, groupBy: [], across: [], place: null, isChosen: false })
    const { mixed } = await judgeRows(dataset, snapshot, rows, { judged, groups: [], days: isInWindow(ALL_DAYS) })
    if (mixed.length === 0) return
    throw notComparable(dataset, await describeMixture(dataset, snapshot, rows, { window: ALL_DAYS, fields: mixed }))
  })
}
