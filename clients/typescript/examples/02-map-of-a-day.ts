// A map of one day: measles in the United States up to 2025-06-01, by state.
//
// `us-states.csv` has the positions of the states. The service adds up the counties of each state, joined by code.
// A state without a report is a cross, not a zero.
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { Outbreaks } from '@outbreak-data/client'

const table = readFileSync('us-states.csv', 'utf8')
const states = table
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split(','))
  .filter(([code]) => code !== 'US-AK' && code !== 'US-HI')
const { data } = await Outbreaks.fromEnv().asOf(6).sums({
  event: 'Measles_United_States_2025',
  location_granularity: 'admin2',
  group_by: 'al1_code',
  date_to: '2025-06-01',
})
const cases = new Map(data.map(({ group, new: counts }) => [group.al1_code, counts.cases]))

const shapes = states.map(([code, latitude, longitude]) => {
  const [x, y] = [(Number(longitude) + 125) * 14, (52 - Number(latitude)) * 17]
  const count = cases.get(code)
  if (count === undefined || count === null) return `<text x="${x}" y="${y}" fill="grey">×</text>`
  const label = count < 30 ? '' : `<text x="${x + 12}" y="${y - 12}">${code?.slice(3)} ${count}</text>`
  return `<circle cx="${x}" cy="${y}" r="${Math.sqrt(count) * 1.4}" fill="#2a6f97" opacity=".7"/>${label}`
})
await writeFile(
  '02-map-of-a-day.svg',
  `<svg xmlns="http://www.w3.org/2000/svg" width="860" height="470" font-family="sans-serif" font-size="14">
<rect width="100%" height="100%" fill="white"/>
<text x="10" y="20">Measles, cases up to 2025-06-01 (release 6). ×: no report</text>
${shapes.join('\n')}
</svg>
`,
)
const known = states.flatMap(([code]) => cases.get(code) ?? [])
for (const { group, new: counts } of data.toSorted((a, b) => (b.new.cases ?? 0) - (a.new.cases ?? 0)).slice(0, 5))
  console.log(group.al1_code, counts.cases)
console.log(`${known.length} of ${states.length} states have a report`)
