// The releases of the sample: their size, findings and licences, the corrections of known outbreaks, and their revisions.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { inputFields } from '../../../src/datasets/define.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { validateRelease } from '../../../src/publish/validate/validate-release.ts'
import { readMapped, writeMapped } from '../../fixtures/mappings.ts'
import { filesOf, measlesMapping, readSource, skipIfAbsent, wideMapping } from '../../fixtures/real-mappings.ts'

const SAMPLE = path.resolve(import.meta.dirname, '../../../sample')
const RELEASES = [1, 2, 3, 4, 5, 6]
const AS_OF = ['2025-05-29', '2025-06-01', '2025-09-01', '2025-12-31', '2026-03-31', '2026-07-22']
const MAX_BYTES = 1_000_000
const directoryOf = (release: number) => path.join(SAMPLE, 'releases', String(release))
const columns = ['key', ...inputFields(hedOutbreaks).map(({ name }) => name)]

type Cells = Record<string, string>
interface ComposedRelease {
  records: ReadonlyMap<string, Cells>
  added: number
  corrected: number
  withdrawn: number
}

/** The records of each release: its rows replace those of the release before, without the withdrawn ones. */
async function composeReleases(): Promise<ComposedRelease[]> {
  let records: ReadonlyMap<string, Cells> = new Map()
  const composed: ComposedRelease[] = []
  for (const release of RELEASES) {
    const directory = directoryOf(release)
    const next = new Map(records)
    const counts = { added: 0, corrected: 0, withdrawn: 0 }
    for (const { cells } of (await readMapped(directory, columns)).rows) {
      const key = cells['key'] ?? ''
      const before = records.get(key)
      if (before === undefined) counts.added += 1
      else if (JSON.stringify(before) !== JSON.stringify(cells)) counts.corrected += 1
      next.set(key, cells)
    }
    const withdrawals = path.join(directory, 'withdrawn.csv')
    if (existsSync(withdrawals))
      for (const [key = ''] of parse(readFileSync(withdrawals), { from_line: 2 })) {
        assert.ok(next.delete(key), `${key} is in release ${release - 1}`)
        counts.withdrawn += 1
      }
    records = next
    composed.push({ records, ...counts })
  }
  return composed
}
const composed = await composeReleases()
const latest = [...(composed.at(-1)?.records.values() ?? [])]

test('the sample has at most a megabyte', () => {
  const files = globSync('**/*.*', { cwd: SAMPLE }).map((file) => statSync(path.join(SAMPLE, file)))
  const bytes = files.filter((file) => file.isFile()).reduce((sum, { size }) => sum + size, 0)
  assert.ok(bytes > 100_000 && bytes < MAX_BYTES, `${bytes} bytes`)
})

/** Warnings that the original tables give. */
const EXPECTED_WARNINGS = ['series_falls', 'series_order', 'text_normalised']

for (const release of RELEASES)
  test(`release ${release} has no errors and only expected warnings, and changes the release before it`, async () => {
    const { errors, rejected, skipped, findings } = await validateRelease(hedOutbreaks, directoryOf(release))
    assert.deepEqual([errors, rejected], [0, 0])
    assert.deepEqual(
      findings.filter(({ rule }) => !EXPECTED_WARNINGS.includes(rule)),
      [],
    )
    // Only the tables of epireview have cells without a value.
    assert.equal(skipped, release === 2 ? 696 : 0)
    const { title, licence, base, as_of } = JSON.parse(
      readFileSync(path.join(directoryOf(release), 'release.json'), 'utf8'),
    )
    assert.ok(title && licence)
    assert.equal(base, release === 1 ? undefined : release - 1)
    assert.equal(as_of, AS_OF[release - 1])
  })

test('the revisions add, correct and withdraw records', () => {
  assert.deepEqual(
    composed.map(({ records, added, corrected, withdrawn }) => [records.size, added, corrected, withdrawn]),
    [
      [187, 187, 0, 0],
      [3926, 3739, 0, 0],
      [7534, 3667, 481, 59],
      [9537, 2014, 309, 11],
      [14_134, 4598, 4, 1],
      [14_525, 494, 523, 103],
    ],
  )
})

test('every record has the licence of its source', () => {
  const licences = Map.groupBy(latest, ({ licence = '' }) => licence)
  assert.deepEqual(Object.fromEntries([...licences].map(([licence, records]) => [licence, records.length])), {
    'Apache-2.0': 178,
    'CC-BY-4.0': 13_716,
    'CC0-1.0': 631,
  })
})

test('a total over several countries is never a country, and a code of users never means a country', () => {
  const wrong = latest.filter(
    ({ country_code, location_granularity }) =>
      /^X[A-Z]$/.test(country_code ?? '') && location_granularity === 'country',
  )
  assert.deepEqual(wrong, [])
})

const corrections: [event: string, expected: Cells][] = [
  ['Japanese_encephalitis_India_2005', { deaths: '296', deaths_missing: '' }],
  ['Japanese_encephalitis_Australia_2022', { deaths: '3', deaths_missing: '' }],
  ['Legionella_Spain_2001', { deaths: '2', deaths_missing: '' }],
  ['E_coli_O157_Japan_1996', { deaths: '2', deaths_missing: '' }],
  ['Ebola_Uganda_2011', { deaths: '1', deaths_missing: '' }],
  ['Chikungunya_Chad_2020', { deaths: '1', deaths_missing: '' }],
  ['Meningitis_Togo_2022', { pathogen: 'Streptococcus pneumoniae', pathogen_taxon_id: '1313' }],
  ['Elizabethkingia_United_States_2015', { location_granularity: 'country', admin_l1: '', cases: '57' }],
  ['Chikungunya_China_2025', { case_status: 'confirmed', al1_code: 'CN-GD' }],
  ['Typhoid_Democratic_Republic_of_Congo_2004', { deaths: '', deaths_missing: 'not_reported' }],
  ['Dengue_Chad_2023', { deaths: '', deaths_missing: 'not_reported' }],
  ['SARS_Global_2002', { cases: '8096', deaths: '774', verification: 'unverified' }],
]
for (const [event, expected] of corrections)
  test(`${event} is as its report prints it`, () => {
    const [record = {}, ...others] = latest.filter((cells) => cells['event'] === event)
    assert.deepEqual(others, [])
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((field) => [field, record[field]])), expected)
  })

test('one event has counts of several countries, and another has several sources', () => {
  const ebola = latest.filter(({ event }) => event === 'Ebola_West_Africa_2014')
  assert.deepEqual(
    ebola.map(({ country_code, cases, deaths }) => [country_code, cases, deaths]),
    [
      ['GN', '3814', '2544'],
      ['LR', '10678', '4810'],
      ['SL', '14124', '3956'],
    ],
  )
  const lassa = latest.filter(({ event, case_status }) => event === 'Lassa_Nigeria_2018' && case_status === 'confirmed')
  assert.deepEqual(
    lassa.map(({ cases }) => Number(cases)).sort((a, b) => a - b),
    [376, 394, 416, 420, 423, 1463],
  )
})

test('the cases of France fall on 2020-11-04 in the newest revision', () => {
  const days = ['2020-11-03', '2020-11-04', '2020-11-05']
  const cases = days.map((day) => composed[3]?.records.get(`France||${day}|confirmed`)?.['cases'])
  assert.deepEqual(cases, ['1597139', '1549838', '1607147'])
})

const keyOf = ({ source_name, source_report }: Cells) => `${source_name} ${source_report}`

/** The records of a source in a release of the sample, compared with those of the original table, whose file is `name`. */
async function assertSameAsTable(
  release: number,
  mapping: object,
  file: string,
  count: (found: number) => boolean,
  name = 'table.csv',
) {
  const { rows } = await readMapped(await writeMapped(mapping, { linked: { [name]: file } }), columns)
  const table = new Map(rows.map(({ cells }) => [cells['key'] ?? '', cells]))
  const [first = {}] = table.values()
  const found = [...(composed[release - 1]?.records ?? [])].filter(([, cells]) => keyOf(cells) === keyOf(first))
  assert.ok(count(found.length), `${found.length} records`)
  for (const [key, cells] of found) assert.deepEqual(cells, table.get(key), key)
}

test('dengue: each release has all records of its version', { skip: skipIfAbsent('opendengue') }, async () => {
  const mapping = readSource('opendengue') as object
  const sizes = [4278, 4442]
  for (const [i, file] of filesOf('opendengue/*.csv').entries())
    await assertSameAsTable(i + 5, mapping, file, (found) => found === sizes[i], path.basename(file))
})

test('measles: each release has all records of its revision', { skip: skipIfAbsent('jhu-measles-us') }, async () => {
  const revisions = filesOf('jhu-measles-us/measles_county_all_updates.2*.csv')
  const sizes = [358, 543, 715, 1032, 1256]
  for (const [i, file] of revisions.entries())
    await assertSameAsTable(i + 2, measlesMapping, file, (found) => found === sizes[i])
})

test('COVID-19: each record is as in its revision', { skip: skipIfAbsent('jhu-covid19') }, async () => {
  for (const [i, file] of filesOf('jhu-covid19/*confirmed_global.*.csv').entries())
    await assertSameAsTable(i + 2, wideMapping(), file, (found) => found % 19 === 0 && found > 1000)
})
