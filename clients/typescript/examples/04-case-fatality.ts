// The case fatality of an outbreak, and why it needs a warning.
//
// Deaths follow cases by weeks, and mild cases are often not counted. The ratio is of reported deaths to reported cases
// on one day; it is not the risk of dying. Of several ways to count, the service chooses one and says which.
import { type Counts, Outbreaks } from '@outbreak-data/client'

const outbreaks = Outbreaks.fromEnv().asOf(6)
const describe = ({ cases, deaths }: Counts) =>
  cases === null || deaths === null
    ? 'unknown'
    : `${deaths} deaths of ${cases} cases: ${((100 * deaths) / cases).toFixed(2)} %`

const { data } = await outbreaks.sums({
  event: 'COVID-19_Global_2019',
  location_granularity: 'country',
  group_by: 'country_code',
})
for (const { group, last_day: day, cumulative } of data) console.log(group.country_code, day, describe(cumulative))

const lassa = await outbreaks.sums({ event: 'Lassa_Nigeria_2018', group_by: 'country_code' })
for (const { total } of lassa.data) console.log(`\nLassa in Nigeria: ${describe(total)}\n${lassa.notice}`)
