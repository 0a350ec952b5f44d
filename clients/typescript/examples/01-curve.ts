// An epidemic curve.
//
// Weeks whose count is unknown are grey: unknown is not zero. Triangles mark weeks that the source revised.
import { writeFile } from 'node:fs/promises'
import { Outbreaks } from '@outbreak-data/client'
import { drawCurve } from '@outbreak-data/client/curve'

const outbreaks = Outbreaks.fromEnv().asOf(6)
const series = await outbreaks.series({ event: 'COVID-19_Global_2019', country_code: 'FR', interval: 'isoweek' })
await writeFile('01-curve.svg', drawCurve(series, { title: 'COVID-19 in France' }))
for (const { period, new: counts, revision } of series.points?.slice(40, 46) ?? [])
  console.log(period, counts.cases ?? 'unknown', revision ? 'revised' : '')
