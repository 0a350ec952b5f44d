// Several sources about one outbreak, side by side and never added up.
//
// Grouping by source gives each its own row. Six papers count between 376 and 1,463 confirmed cases.
import { Outbreaks } from '@outbreak-data/client'

const { data } = await Outbreaks.fromEnv()
  .asOf(6)
  .sums({ event: 'Lassa_Nigeria_2018', case_status: 'confirmed', group_by: 'source_name' })
for (const { group, last_day: day, cumulative } of data)
  console.log(String(group.source_name).padEnd(34), day, cumulative.cases ?? 'unknown')
