// Counts the values of the facet fields in a release. Starts from the counts of the previous release, adds the versions that
// begin with the release and subtracts those that end with it.
import type { PoolClient } from 'pg'
import sql, { join } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import { identifier, NO_END_RELEASE, tablesOf } from '../../storage/tables.ts'

export async function countFacets(client: PoolClient, dataset: Dataset, release: number): Promise<void> {
  const { version, facet } = tablesOf(dataset)
  const columns = join(dataset.facets.map(identifier))
  const values = join(dataset.facets.map((field) => sql`(${field}, ${identifier(field)}::text)`))
  // The new rows have no statistics yet, so the planner would sort all of them to group them.
  await client.query(sql`set local enable_sort = off`)
  await client.query(sql`
    with combination as (
      select ${columns}, sum(case from_release when ${release} then 1 else -1 end) as step
      from ${version} where from_release = ${release} or to_release = ${release}
      group by ${columns} having sum(case from_release when ${release} then 1 else -1 end) <> 0
    ), counted as (
      select field, value, sum(step) as step
      from combination cross join lateral (values ${values}) as facet (field, value)
      where value is not null group by field, value having sum(step) <> 0
    ), closed as (
      update ${facet} as open set to_release = ${release} from counted
      where open.field = counted.field and open.value = counted.value and open.to_release = ${NO_END_RELEASE}
      returning open.field, open.value, open.records
    )
    insert into ${facet} (field, value, from_release, records)
    select field, value, ${release}, step + coalesce(closed.records, 0)
    from counted left join closed using (field, value)
    where step + coalesce(closed.records, 0) > 0`)
  await client.query(sql`set local enable_sort to default`)
}
