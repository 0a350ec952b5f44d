// Releases of real data for the comparison of numbers: directories that the publisher reads.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { validateRelease } from '../../src/publish/validate/validate-release.ts'
import { writeMapped } from '../fixtures/mappings.ts'
import { countriesMapping, filesOf, measlesMapping, skipIfAbsent, wideMapping } from '../fixtures/real-mappings.ts'
import { folderOf, zikaReports, zikaReportsMapping } from '../journeys/data/zika-mappings.ts'
import type { ReleaseInput } from './published.ts'

/** The records that each revision of the measles table withdraws (docs/mapping.md). */
const WITHDRAWN = [0, 59, 11, 1, 54]

export const skipMeasles = skipIfAbsent('jhu-measles-us')
export const skipCovid = skipIfAbsent('jhu-covid19') || skipIfAbsent('datasets-covid19-countries')
export const skipZika = skipIfAbsent('cdcepi-zika')

export const writeMeasles = (): Promise<ReleaseInput[]> =>
  Promise.all(
    filesOf('jhu-measles-us/measles_county_all_updates.2*.csv').map(async (file, i) => ({
      directory: await writeMapped(measlesMapping, { linked: { 'table.csv': file } }),
      confirmedWithdrawn: WITHDRAWN[i] ?? 0,
    })),
  )

const SAMPLE = path.resolve(import.meta.dirname, '../../sample/releases')

/** The releases of the sample, in order. */
export const sampleReleases: readonly ReleaseInput[] = readdirSync(SAMPLE)
  .sort()
  .map((release) => ({ directory: path.join(SAMPLE, release) }))

/** Two sources of the same counts in one release: the matrix of JHU and the table of Data Hub. */
export async function writeCovid(countries: readonly string[]): Promise<ReleaseInput[]> {
  const [matrix = ''] = filesOf('jhu-covid19/*confirmed_global.2021-06-30.csv')
  const [table = ''] = filesOf('datasets-covid19-countries/*2021-08-31.csv')
  const only = (column: string) => [
    {
      where: {
        from: column,
        map: Object.fromEntries(countries.map((name) => [name, 'used'])),
        otherwise: { constant: 'unused' },
      },
      is: ['unused'],
    },
  ]
  const mapping = {
    columns: {},
    key: ['Date'],
    files: [
      { names: ['matrix.csv'], skip: only('Country/Region'), ...wideMapping() },
      { names: ['table.csv'], skip: only('Country'), ...countriesMapping },
    ],
  }
  return [{ directory: await writeMapped(mapping, { linked: { 'matrix.csv': matrix, 'table.csv': table } }) }]
}

/** The reports of some countries. Rows that are wrong in the source are left out. */
export async function writeZika(folders: readonly string[]): Promise<ReleaseInput[]> {
  const reports = Object.entries(zikaReports())
  const linked = Object.fromEntries(reports.filter(([name]) => folders.includes(folderOf(name).split('/')[0] ?? '')))
  const directory = await writeMapped(zikaReportsMapping(), { linked })
  const { rejected } = await validateRelease(hedOutbreaks, directory, { maxErrors: 0 })
  return [{ directory, confirmedRejected: rejected }]
}
