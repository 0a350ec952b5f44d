// Lists the releases of a dataset for the operator, latest first.
import sql from 'sql-template-tag'
import type { Dataset } from '../datasets/define.ts'
import type { Database } from '../platform/postgres/database.ts'

export type ReleaseSummary = {
  number: number
  state: 'current' | 'superseded' | 'withdrawn'
  published_at: Date
  as_of: string
  title: string
  records: number
  added: number
  corrected: number
  withdrawn: number
  rejected: number
}

/** A release is withdrawn if a later release restored an earlier one. */
export const listReleases = (database: Database, dataset: Dataset): Promise<ReleaseSummary[]> =>
  database.query<ReleaseSummary>(sql`
    select number,
      case
        when number = max(number) over () then 'current'
        when exists (
          select from release as later
          where later.dataset = release.dataset and later.restores < release.number and release.number < later.number
        ) then 'withdrawn'
        else 'superseded'
      end as state,
      published_at, as_of::text, title, records::float8 as records, added::float8 as added,
      corrected::float8 as corrected, withdrawn::float8 as withdrawn,
      (select count(*) from release_rejection as left_out
        where left_out.dataset = release.dataset and left_out.release = release.number)::float8 as rejected
    from release where dataset = ${dataset.name} order by number desc`)
