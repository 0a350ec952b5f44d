// The doubling time of an epidemic: a straight line through the logarithm of the weekly counts.
//
// Weeks that are unknown, zero or revised are left out, and the script says how many.
import { Outbreaks } from '@outbreak-data/client'

const outbreaks = Outbreaks.fromEnv().asOf(6)
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

console.log('country  doubling time (days)  weeks used')
for (const country of ['BR', 'IN', 'NG', 'ZA']) {
  const { points = [] } = await outbreaks.series({
    event: 'COVID-19_Global_2019',
    country_code: country,
    interval: 'isoweek',
    date_from: '2020-03-09',
    date_to: '2020-06-07',
  })
  const used = points.filter(({ new: { cases }, revision }) => cases !== null && cases > 0 && !revision)
  const days = used.map(({ first_day: day }) => Date.parse(day) / 86_400_000)
  const logs = used.map(({ new: { cases } }) => Math.log2(cases ?? 0))
  const [middle, level] = [mean(days), mean(logs)]
  const slope =
    mean(days.map((day, index) => (day - middle) * ((logs[index] ?? 0) - level))) /
    mean(days.map((day) => (day - middle) ** 2))
  console.log(`${country}       ${(1 / slope).toFixed(1).padStart(20)}  ${used.length} of ${points.length}`)
}
