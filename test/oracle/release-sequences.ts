// Sequences of releases whose answers are compared with records in memory: real revisions, and synthetic ones in orders that
// are difficult for an index.
import { synthesise } from '../../dev/synth/synthesise.ts'
import { type Row, writeNdjson } from '../fixtures/releases.ts'
import { variedRows } from '../integration/api/filters/filter-oracle.ts'
import type { ReleaseInput } from './published.ts'
import { sampleReleases, skipCovid, skipMeasles, writeCovid, writeMeasles } from './real-releases.ts'

interface Sequence {
  readonly name: string
  readonly skip: string | false
  readonly write: () => Promise<readonly ReleaseInput[]>
}

const writeReleases = (releases: readonly (readonly Row[])[]) =>
  Promise.all(
    releases.map(async (rows, i) => {
      const keys = new Set(rows.map(({ key }) => key))
      const withdrawn = (releases[i - 1] ?? []).filter(({ key }) => !keys.has(key)).length
      return { directory: await writeNdjson(rows), confirmedWithdrawn: withdrawn }
    }),
  )

/** One more report of every series in each release, so that the ids of a series are far apart. */
function growByWeek(series: number, weeks: number): Row[][] {
  const day = (week: number) => new Date(Date.UTC(2020, 0, 6 + 7 * week)).toISOString().slice(0, 10)
  const row = (one: number, week: number): Row => ({
    ...{ key: `${one} ${week}`, event: `Event_${one % 7}`, disease: one % 3 === 0 ? null : `Disease ${one % 5}` },
    ...{ location_granularity: 'admin1', country_code: 'UG', country: 'Uganda', admin_l1: `Province ${one}` },
    ...{ date_low: day(week), date_high: day(week), date_report: day(week), count_kind: 'new', cases: one * week },
  })
  return Array.from({ length: weeks }, (_, last) =>
    Array.from({ length: last + 1 }, (_week, week) =>
      Array.from({ length: series }, (_one, one) => row(one, week)),
    ).flat(),
  )
}

/** The order of the input gives the ids. */
const shuffle = <Item extends { key: string }>(rows: readonly Item[]): Item[] =>
  rows.toSorted((a, b) => (scramble(a.key) < scramble(b.key) ? -1 : 1))
const scramble = (key: string) => [...key].reverse().join('')

export const sequences: readonly Sequence[] = [
  { name: 'the sample', skip: false, write: async () => sampleReleases },
  { name: 'measles', skip: skipMeasles, write: writeMeasles },
  { name: 'COVID-19', skip: skipCovid, write: () => writeCovid(['France', 'Italy', 'Germany', 'Canada']) },
  {
    name: 'varied records',
    skip: false,
    write: () => writeReleases([1, 2, 3, 4].map((release) => variedRows(2000, release))),
  },
  {
    name: 'shuffled records',
    skip: false,
    write: () => writeReleases([1, 2, 3].map((release) => shuffle(variedRows(1500, release)))),
  },
  { name: 'a report of every series in each release', skip: false, write: () => writeReleases(growByWeek(40, 20)) },
  {
    name: 'synthetic records',
    skip: false,
    write: () => writeReleases([1, 2, 3].map((release) => [...synthesise({ records: 3000, seed: 9, release })])),
  },
]
