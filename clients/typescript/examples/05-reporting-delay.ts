// How complete a month was when it was first reported: one number through all releases.
//
// Each column is a release. Each row is a month, as a share of what the last release says about it.
import { Outbreaks } from '@outbreak-data/client'

const { data } = await Outbreaks.fromEnv().vintages({
  event: 'Measles_United_States_2025',
  location_granularity: 'admin2',
  interval: 'month',
})
const releases = [...new Set(data.map(({ release }) => release))]
const last = releases.at(-1)
console.log(['month  ', ...releases.map((release) => String(release).padStart(6))].join(''))
for (const [period, rows = []] of Object.entries(Object.groupBy(data, (row) => row.period))) {
  const final = rows.find(({ release }) => release === last)?.new
  const shares = releases.map((release) => {
    const count = rows.find((row) => row.release === release)?.new
    return count == null || !final ? '-' : (count / final).toFixed(2)
  })
  console.log([period, ...shares.map((share) => share.padStart(6))].join(''))
}
