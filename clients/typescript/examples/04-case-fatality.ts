// The case fatality of an outbreak, and why it needs a warning.
//
// Deaths follow cases by weeks, and mild cases are often not counted. The ratio is of reported deaths to reported cases
// on one day; it is not the risk of dying. The service refuses to add up counts that are not comparable.
import { type Counts, NotComparable, Outbreaks } from '@outbreak-data/client'

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

const lassa = { event: 'Lassa_Nigeria_2018', group_by: 'country_code' } as const
try {
  await outbreaks.sums(lassa)
} catch (refused) {
  if (!(refused instanceof NotComparable)) throw refused
  console.log(`\nLassa in Nigeria: refused, because the records differ in ${refused.mixed.join(', ')}.`)
  console.log(`Choose one of ${refused.choices.length} comparable sets, for example the one of WHO:`)
  const who = refused.choices.find(({ query }) => query.includes('WHO'))
  const sums = await outbreaks.sums({ ...lassa, ...who?.values })
  for (const { cumulative } of sums.data) console.log(describe(cumulative))
}
