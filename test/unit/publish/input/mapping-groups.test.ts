// Groups of files in mapping.json: canonical files beside tables of other formats, and groups that use another mapping file.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { OperatorError } from '../../../../src/platform/operator-error.ts'
import { openRelease } from '../../../../src/publish/input/read-release.ts'
import { validateRelease } from '../../../../src/publish/validate/validate-release.ts'
import { COLUMNS, CSV, plainMapping, readMapped, requiredConstants, writeMapped } from '../../../fixtures/mappings.ts'

const complete = { key: ['place', 'day'], columns: { ...requiredConstants, cases: 'count' } }
const canonicalRow = Object.fromEntries(
  Object.entries(requiredConstants).map(([field, { constant }]) => [field, constant]),
)
const useOther = { files: [{ names: ['a*.csv'], use: 'other.json' }] }

test('canonical files and tables of two formats are read from one directory, with file and line', async () => {
  const mapping = {
    files: [
      { names: ['known.*'], canonical: true },
      { names: ['a*.csv'], use: 'a.json' },
      { names: ['*'], ...complete, key: [{ constant: 'b' }, 'place'] },
    ],
  }
  const written = {
    'a.json': JSON.stringify(complete),
    'a1.csv': CSV,
    'a2.csv': 'place,day,count\nLima,2020-02-02,4\nLima,2020-02-03,x\n',
    'b.csv': CSV,
    'known.ndjson': `${JSON.stringify({ key: 'known', ...canonicalRow })}\n${JSON.stringify({ ...canonicalRow, key: 'bad', cases: 'x' })}\n`,
  }
  const directory = await writeMapped(mapping, { written })
  const report = await validateRelease(hedOutbreaks, directory)
  assert.deepEqual([report.records, report.rejected], [4, 2])
  assert.deepEqual(
    report.findings
      .filter(({ severity }) => severity === 'error')
      .map(({ file, line, column }) => [file, line, column]),
    [
      ['a2.csv', 3, 'cases'],
      ['known.ndjson', 2, 'cases'],
    ],
  )
})

test('a mapping that is used has its own groups, and the clauses of mapping.json do not apply to it', async () => {
  const mapping = {
    ...plainMapping,
    columns: { locality: { constant: 'from mapping.json' } },
    files: [{ names: ['a*.csv'], use: 'other.json' }, { names: ['*'] }],
  }
  const other = {
    key: ['place'],
    files: [
      { names: ['a1*'], columns: { locality: 'place' } },
      { names: ['*'], columns: { cases: 'count' } },
    ],
  }
  const directory = await writeMapped(mapping, {
    written: { 'other.json': JSON.stringify(other), 'a1.csv': CSV, 'a2.csv': CSV, 'b.csv': CSV },
  })
  const { rows } = await readMapped(directory, COLUMNS)
  assert.deepEqual(
    rows.map(({ file, cells }) => [file, cells['locality'], cells['cases']]),
    [
      ['a1.csv', 'Lima', ''],
      ['a2.csv', '', '3'],
      ['b.csv', 'from mapping.json', ''],
    ],
  )
})

const errors: [title: string, mapping: unknown, other: unknown, message: RegExp][] = [
  [
    'canonical with another clause',
    { files: [{ names: ['*'], canonical: true, key: ['place'] }] },
    plainMapping,
    /^mapping\.json files\.0: a group with canonical or use can have only names besides$/,
  ],
  [
    'use with another clause',
    { files: [{ names: ['*'], use: 'other.json', columns: {} }] },
    plainMapping,
    /^mapping\.json files\.0: a group with canonical or use can have only names besides$/,
  ],
  [
    'canonical and use',
    { files: [{ names: ['*'], use: 'other.json', canonical: true }] },
    plainMapping,
    /^mapping\.json files\.0: a group with canonical or use/,
  ],
  ['canonical: false', { files: [{ names: ['*'], canonical: false }] }, plainMapping, /files\.0\.canonical: /],
  [
    'a mapping file that does not exist',
    { files: [{ names: ['*'], use: 'absent.json' }] },
    plainMapping,
    /^absent\.json cannot be read\. Check that .*absent\.json exists and is a mapping file\.$/,
  ],
  ['a used file that is not JSON', useOther, '{', /^other\.json is not valid JSON/],
  [
    'an error of the used file',
    useOther,
    { key: ['place'], columns: { cases: {} } },
    /^other\.json columns\.cases: must/,
  ],
  ['a used file without a key', useOther, { columns: plainMapping.columns }, /^other\.json key: missing for a\.csv/],
  ['a used file without a group for the table', useOther, { files: [] }, /^other\.json files: no group matches a\.csv/],
  [
    'a used file that uses another',
    useOther,
    { files: [{ names: ['*'], use: 'third.json' }] },
    /^other\.json files: cannot have canonical or use/,
  ],
  [
    'a used file that marks canonical files',
    useOther,
    { files: [{ names: ['*'], canonical: true }] },
    /^other\.json files: cannot have canonical or use/,
  ],
]
test('a mapping file outside the release directory is rejected, and nothing of it is printed', async () => {
  const SECRET = 'root:$y$secret'
  const outside = await writeMapped(plainMapping, { written: { 'shadow.json': SECRET } })
  const target = path.join(outside, 'shadow.json')
  const uses = [target, path.join('..', path.basename(outside), 'shadow.json'), 'link.json']
  for (const use of uses) {
    const mapping = { files: [{ names: ['*'], use }] }
    const directory = await writeMapped(mapping, { written: { 'a.csv': CSV }, linked: { 'link.json': target } })
    await assert.rejects(openRelease(directory), (error) => {
      assert(error instanceof OperatorError, String(error))
      assert.equal(error.message, `${use} is not in the release directory. Copy the mapping file into it.`)
      return true
    })
  }
})

for (const [title, mapping, other, message] of errors) {
  test(`${title} is rejected with its location`, async () => {
    const text = typeof other === 'string' ? other : JSON.stringify(other)
    const directory = await writeMapped(mapping, { written: { 'a.csv': CSV, 'other.json': text } })
    await assert.rejects(openRelease(directory), (error) => {
      assert(error instanceof OperatorError, String(error))
      assert.match(error.message, message)
      return true
    })
  })
}

test('an unknown field in a used mapping is rejected with the name of its file', async () => {
  const other = JSON.stringify({ key: ['place'], columns: { ...requiredConstants, colour: 'place' } })
  const directory = await writeMapped(useOther, { written: { 'a.csv': CSV, 'other.json': other } })
  await assert.rejects(
    validateRelease(hedOutbreaks, directory),
    /^OperatorError: other\.json columns\.colour: is not a field/,
  )
})

const ROOT = path.resolve(import.meta.dirname, '../../../..')
/** The JSON examples of a page. */
const readExamples = (name: string) => {
  const page = readFileSync(path.join(ROOT, 'docs', name), 'utf8')
  return [...page.matchAll(/```json\n([^]*?)```/g)].map(([, json = '']) => json)
}

test('the first example of a mapping in the documentation reads its table', async () => {
  const [first = ''] = readExamples('mapping.md')
  const written = { 'cholera-2026.csv': 'day,region,patients\n03.02.2026,North,"1,204"\n' }
  const { rows } = await readMapped(await writeMapped(JSON.parse(first) as object, { written }), [
    ...['event', 'country_code', 'date_high', 'admin_l1', 'cases'],
  ])
  assert.deepEqual(
    rows.map(({ cells }) => Object.values(cells)),
    [['Cholera_Chad_2026', 'TD', '2026-02-03', 'North', '1204']],
  )
})

test('the example of several tables in the documentation is a valid mapping', async () => {
  const [, groups = ''] = readExamples('mapping.md')
  const readSource = (name: string) => readFileSync(path.join(ROOT, 'sources', name, 'mapping.json'), 'utf8')
  const directory = await writeMapped(groups, {
    written: {
      'measles.json': readSource('jhu-measles-us'),
      'jhu-covid19.json': readSource('jhu-covid19'),
      'measles.csv':
        'location_name,location_id,location_type,date,outcome_type,value\n"Adams, Colorado",8001,county,2025-08-13,case_lab-confirmed,1\n',
      'time_series_covid19_confirmed_global.csv': 'Province/State,Country/Region,1/22/20\n,France,5\n',
      'known-outbreaks.ndjson': '',
      'known-outbreaks.csv': `key,${Object.keys(canonicalRow).join(',')}\nk,${Object.values(canonicalRow).join(',')}\n`,
    },
  })
  await assert.rejects(openRelease(directory), /files: no group matches known-outbreaks\.ndjson/)
  await rm(path.join(directory, 'known-outbreaks.ndjson'))
  const { records, findings } = await validateRelease(hedOutbreaks, directory)
  assert.deepEqual([records, findings], [3, []])
})

test('the example of a choice in the documentation gives the code of the territory, or else of the country', async () => {
  const [choice = ''] = readExamples('mapping-reference.md')
  const mapping = { key: ['Province/State'], columns: JSON.parse(choice) as object }
  const written = { 'a.csv': 'Province/State,Country/Region\n,France\nGuadeloupe,France\n' }
  const { rows } = await readMapped(await writeMapped(mapping, { written }), ['country_code'])
  assert.deepEqual(
    rows.map(({ cells }) => cells['country_code']),
    ['FR', 'GP'],
  )
})
