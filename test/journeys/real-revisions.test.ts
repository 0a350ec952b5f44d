// Real revisions of real datasets, as they came, become releases through one mapping each; what each step added, corrected
// and withdrew equals what an independent program says of the original files.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import path from 'node:path'
import { after, test } from 'node:test'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../src/platform/database.ts'
import { checkRows } from '../../src/releases/check-release.ts'
import { collectFindings } from '../../src/releases/finding.ts'
import { publishRelease } from '../../src/releases/publish.ts'
import { openRelease } from '../../src/releases/read-release.ts'
import { createTestDatabase } from '../database.ts'
import { readMapped, writeForeign } from '../releases/mapping-fixture.ts'
import {
  absent,
  countriesMapping,
  filesOf,
  measlesMapping,
  wideMapping,
  ZIKA_FIELDS,
  zikaMapping,
} from '../releases/real-mappings.ts'

const ORACLE = path.resolve(import.meta.dirname, '../releases/oracle/revisions.py')
const noPython = spawnSync('python3', ['--version']).status === 0 ? false : 'there is no python3 to ask'
const skipWithout = (...folders: string[]) => ({
  skip: noPython || (folders.map(absent).find((message) => message !== false) ?? false),
})

interface Step {
  records: number
  added: number
  corrected: number
  withdrawn: number
}
const ask = (...question: string[]): unknown =>
  JSON.parse(execFileSync('python3', [ORACLE, ...question], { encoding: 'utf8' }))
const askSteps = (...question: string[]) => ask(...question) as Step[]

/** Every revision through the same mapping; a revision that withdraws many records is confirmed by the oracle's number. */
async function publishRevisions(mapping: unknown, revisions: readonly string[], expected: readonly Step[]) {
  const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator' })
  after(() => database.close())
  const steps: Step[] = []
  for (const [i, revision] of revisions.entries()) {
    const directory = await writeForeign(mapping, { linked: { 'table.csv': revision } })
    const confirmed = expected[i]?.withdrawn
    const { records, added, corrected, withdrawn } = await publishRelease(database, hedOutbreaks, directory, confirmed)
    steps.push({ records, added, corrected, withdrawn })
  }
  return steps
}

test('five revisions of the measles table of the United States', skipWithout('jhu-measles-us'), async () => {
  const revisions = filesOf('jhu-measles-us/measles_county_all_updates.2*.csv')
  const expected = askSteps('long', 'location_id,location_name,date,outcome_type', 'value', ...revisions)
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
})

test('three revisions of the COVID-19 matrix, a record for each cell', skipWithout('jhu-covid19'), async () => {
  const revisions = filesOf('jhu-covid19/*confirmed_global.*.csv')
  const expected = askSteps('wide', '4', ...revisions)
  assert.deepEqual(
    expected.map(({ records, corrected }) => [records, corrected]),
    [
      [42_560, 0],
      [93_224, 1121],
      [146_475, 1143],
    ],
  )
  assert.deepEqual(await publishRevisions(wideMapping(), revisions, expected), expected)
})

test(
  'two revisions of a table of countries, one row of it skipped on purpose',
  skipWithout('datasets-covid19-countries', 'jhu-covid19'),
  async () => {
    const revisions = filesOf('datasets-covid19-countries/*.csv')
    const whole = askSteps('long', 'Country,Date', 'Confirmed,Recovered,Deaths', ...revisions)
    assert.deepEqual(
      whole.map(({ records, added, corrected, withdrawn }) => [records, added, corrected, withdrawn]),
      [
        [114_465, 114_465, 0, 0],
        [122_460, 7995, 4241, 0],
      ],
    )
    const [first, second] = whole as [Step, Step]
    const expected = [
      { ...first, records: first.records - 1, added: first.added - 1 },
      { ...second, records: second.records - 1 },
    ]
    assert.deepEqual(await publishRevisions(countriesMapping(), revisions, expected), expected)
  },
)

test(
  'the matrix and the table of countries agree where both speak of an undivided country',
  skipWithout('datasets-covid19-countries', 'jhu-covid19'),
  async () => {
    const [matrix = ''] = filesOf('jhu-covid19/*confirmed_global.2021-06-30.csv')
    const [table = ''] = filesOf('datasets-covid19-countries/*2021-08-31.csv')
    const columns = ['country', 'admin_l1', 'date_high', 'cases']
    const read = async (mapping: object, file: string) =>
      (await readMapped(await writeForeign(trim(mapping, columns), { linked: { 'table.csv': file } }), columns)).rows
    const melted = await read(wideMapping(), matrix)
    const divided = new Set(melted.flatMap(({ cells }) => (cells['admin_l1'] === '' ? [] : [cells['country']])))
    const known = new Map(
      (await read(countriesMapping(), table)).map(({ cells }) => [`${cells['country']} ${cells['date_high']}`, cells]),
    )
    let same = 0
    const differ: Record<string, number> = {}
    const missing: string[] = []
    for (const { cells } of melted) {
      const { country = '', date_high = '', cases } = cells
      if (divided.has(country)) continue
      const other = known.get(`${country} ${date_high}`)
      if (other === undefined) missing.push(`${country} ${date_high}`)
      else if (other['cases'] === cases) same += 1
      else differ[country] = (differ[country] ?? 0) + 1
    }
    // Missing is what we skipped. Different is what the source revised in the two months between the two files; its list
    // of errata, which we have for the first two weeks of them, names the cells of Singapore and India.
    assert.deepEqual(missing, ['Sudan 2020-03-13'])
    const oracle = ask('overlap', matrix, table) as { same: number; differ: Record<string, number> }
    assert.deepEqual({ same, differ }, { same: oracle.same - 1, differ: oracle.differ })
    assert.deepEqual([same, Object.values(differ).reduce((sum, count) => sum + count, 0)], [97_675, 499])
  },
)

/** The mapping with fewer fields, for those who want only some of a row. */
const trim = (mapping: object, columns: readonly string[]) => {
  const { columns: all, ...rest } = mapping as { columns: Record<string, unknown> }
  return { ...rest, columns: Object.fromEntries(Object.entries(all).filter(([field]) => columns.includes(field))) }
}

/** What becomes of the rows of a directory: each is accepted, rejected at its line, or skipped on purpose. */
async function account(directory: string) {
  const { files } = await openRelease(directory)
  const findings = collectFindings()
  let accepted = 0
  for await (const batch of checkRows(hedOutbreaks, files, findings)) accepted += batch.length
  return {
    accepted,
    rejected: [...new Set(findings.errors.map(({ file, line }) => `${file}:${line}`))].sort(),
    skipped: files.reduce((sum, file) => sum + file.skipped(), 0),
  }
}

/** Bare carriage returns; counts written as 2.0; files in windows-1252 and empty columns; volume. */
const zikaFolders: [folder: string, accepted: number, rejected: number, skipped: number][] = [
  ['Mexico/DGE_Zika', 4320, 0, 8640],
  ['Guatemala/SEMEPI', 2732, 122, 1399],
  ['El_Salvador/Epidemiological_Bulletin', 1650, 0, 2510],
  ['Colombia/Epidemiological_Bulletin', 3547, 0, 9308],
  ['Colombia/Municipality_Zika', 145_600, 0, 5],
]
for (const [folder, accepted, rejected, skipped] of zikaFolders) {
  test(
    `Zika in ${folder}: a row is accepted, rejected at its line, or skipped`,
    skipWithout('cdcepi-zika'),
    async () => {
      const reports = filesOf(`cdcepi-zika/${folder}/data/*.csv`)
      const linked = Object.fromEntries(reports.map((file) => [path.basename(file), file]))
      const accounts = await account(await writeForeign(zikaMapping, { linked }))
      assert.deepEqual(accounts, ask('zika', ZIKA_FIELDS.join(), ...reports))
      assert.deepEqual([accounts.accepted, accounts.rejected.length, accounts.skipped], [accepted, rejected, skipped])
    },
  )
}
