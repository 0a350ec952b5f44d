// Publishes real revisions of real datasets as releases, with one mapping each. The added, corrected and withdrawn records of
// each step must equal what an independent program counts in the original files.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import path from 'node:path'
import { after, test } from 'node:test'
import sql from 'sql-template-tag'
import { newSettings, prepareDatabase, startService } from '../../../dev/service.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken, verifyReleases } from '../../fixtures/api-client.ts'
import { readMapped, writeMapped } from '../../fixtures/mappings.ts'
import { countriesMapping, filesOf, measlesMapping, skipIfAbsent, wideMapping } from '../../fixtures/real-mappings.ts'

const ORACLE = path.resolve(import.meta.dirname, '../../fixtures/oracle/revisions.py')
const noPython = spawnSync('python3', ['--version']).status === 0 ? false : 'python3 is not installed'
const skipWithout = (...folders: string[]) => ({
  skip: noPython || (folders.map(skipIfAbsent).find((message) => message !== false) ?? false),
})

interface Step {
  records: number
  added: number
  corrected: number
  withdrawn: number
  /** Added and corrected records with a cumulative count that is lower than the previous one. */
  falls: number
}
const runOracle = (...args: string[]): unknown =>
  JSON.parse(execFileSync('python3', [ORACLE, ...args], { encoding: 'utf8' }))
const countSteps = (...args: string[]) => runOracle(...args) as Step[]

/** Publishes every revision with the same mapping. Withdrawals are confirmed with the number of the oracle. */
async function publishRevisions(mapping: unknown, revisions: readonly string[], expected: readonly Step[]) {
  const url = await createTestDatabase()
  const database = openDatabase({ url, role: 'outbreaks_operator' })
  after(() => database.close())
  const steps: Step[] = []
  for (const [i, revision] of revisions.entries()) {
    const directory = await writeMapped(mapping, { linked: { 'table.csv': revision } })
    const confirmedWithdrawn = expected[i]?.withdrawn ?? 0
    const { records, added, corrected, withdrawn } = await publishRelease(database, hedOutbreaks, directory, {
      confirmedWithdrawn,
    })
    const [warnings] = await database.query<{ falls: number }>(
      sql`select coalesce((warnings->>'series_falls')::integer, 0) as falls from release order by number desc limit 1`,
    )
    steps.push({ records, added, corrected, withdrawn, falls: warnings?.falls ?? 0 })
  }
  await assertReadable(url, revisions.length)
  return steps
}

/** Asserts that every release, read by a consumer, has the digest with which it was published. */
async function assertReadable(url: string, releases: number): Promise<void> {
  const settings = newSettings(url)
  const credentials = await prepareDatabase(settings)
  const service = await startService(settings)
  try {
    const token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
    assert.equal(await verifyReleases(service.baseUrl, token), releases)
  } finally {
    await service.stop()
  }
}

test(
  'five revisions of the measles table of the United States give the counts of the oracle',
  skipWithout('jhu-measles-us'),
  async () => {
    const revisions = filesOf('jhu-measles-us/measles_county_all_updates.2*.csv')
    const expected = countSteps('long', 'location_id,location_name,date,outcome_type', 'value', ...revisions)
    assert.deepEqual(
      expected.map(({ added, withdrawn, corrected }) => [added, withdrawn, corrected]),
      [
        [358, 0, 0],
        [244, 59, 7],
        [183, 11, 0],
        [318, 1, 4],
        [278, 54, 4],
      ],
    )
    assert.deepEqual(await publishRevisions(measlesMapping, revisions, expected), expected)
  },
)

test(
  'three revisions of the COVID-19 matrix, with a record for each cell, give the counts of the oracle',
  skipWithout('jhu-covid19'),
  async () => {
    const revisions = filesOf('jhu-covid19/*confirmed_global.*.csv')
    const expected = countSteps('wide', '4', ...revisions)
    assert.deepEqual(
      expected.map(({ records, corrected }) => [records, corrected]),
      [
        [42_560, 0],
        [93_224, 1123],
        [146_475, 1145],
      ],
    )
    assert.deepEqual(await publishRevisions(wideMapping(), revisions, expected), expected)
  },
)

test(
  'two revisions of a table of countries give the counts of the oracle',
  skipWithout('datasets-covid19-countries', 'jhu-covid19'),
  async () => {
    const revisions = filesOf('datasets-covid19-countries/*.csv')
    const expected = countSteps('long', 'Country,Date', 'Confirmed+,Deaths+', ...revisions)
    assert.deepEqual(
      expected.map(({ records, added, corrected, withdrawn }) => [records, added, corrected, withdrawn]),
      [
        [114_465, 114_465, 0, 0],
        [122_460, 7995, 3871, 0],
      ],
    )
    assert.deepEqual(await publishRevisions(countriesMapping, revisions, expected), expected)
  },
)

test(
  'the matrix and the table of countries agree for countries without subdivisions',
  skipWithout('datasets-covid19-countries', 'jhu-covid19'),
  async () => {
    const [matrix = ''] = filesOf('jhu-covid19/*confirmed_global.2021-06-30.csv')
    const [table = ''] = filesOf('datasets-covid19-countries/*2021-08-31.csv')
    const columns = ['country', 'admin_l1', 'date_high', 'cases']
    const read = async (mapping: object, places: object, file: string) =>
      (await readMapped(await writeMapped(trim(mapping, places, columns), { linked: { 'table.csv': file } }), columns))
        .rows
    const matrixRows = await read(wideMapping(), { country: 'Country/Region', admin_l1: 'Province/State' }, matrix)
    const divided = new Set(matrixRows.flatMap(({ cells }) => (cells['admin_l1'] === '' ? [] : [cells['country']])))
    const known = new Map(
      (await read(countriesMapping, { country: 'Country' }, table)).map(({ cells }) => [
        `${cells['country']} ${cells['date_high']}`,
        cells,
      ]),
    )
    let same = 0
    const differ: Record<string, number> = {}
    const missing: string[] = []
    for (const { cells } of matrixRows) {
      const { country = '', date_high = '', cases } = cells
      if (divided.has(country)) continue
      const tableCells = known.get(`${country} ${date_high}`)
      if (tableCells === undefined) missing.push(`${country} ${date_high}`)
      else if (tableCells['cases'] === cases) same += 1
      else differ[country] = (differ[country] ?? 0) + 1
    }
    // The differences are revisions of the source in the two months between the two files. Its list of errata, which we
    // have for the first two weeks, names the cells of Singapore and India.
    assert.deepEqual(missing, [])
    const oracle = runOracle('overlap', matrix, table) as { same: number; differ: Record<string, number> }
    assert.deepEqual({ same, differ }, { same: oracle.same, differ: oracle.differ })
    assert.deepEqual([same, Object.values(differ).reduce((sum, count) => sum + count, 0)], [97_676, 499])
  },
)

/** The mapping with only some of its fields, and with places as the source names them. */
const trim = (mapping: object, places: object, columns: readonly string[]) => {
  const { columns: all, ...rest } = mapping as { columns: Record<string, unknown> }
  const fields = Object.entries({ ...all, ...places }).filter(([field]) => columns.includes(field))
  return { ...rest, columns: Object.fromEntries(fields) }
}
