// The language of mapping.json, clause by clause: first what it refuses and where it says the fault is.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { OperatorError } from '../../../../src/platform/operator-error.ts'
import { InputError } from '../../../../src/publish/findings/findings.ts'
import { checkRelease } from '../../../../src/publish/validate/check-release.ts'
import { COLUMNS, CSV, plain, read, readMapped, whole, writeForeign } from '../../../fixtures/mappings.ts'
import { fc } from '../../../seed.ts'

const faults: [title: string, mapping: unknown, message: RegExp][] = [
  ['text that is not JSON', '{"key":', /^mapping\.json is not JSON/],
  ['a list', [], /^mapping\.json as a whole: must be object/],
  ['a clause nobody knows', { ...plain, colour: 1 }, /^mapping\.json colour: is not a word of the mapping/],
  ['no key', { columns: plain.columns }, /^mapping\.json key: is missing for a\.csv/],
  ['no columns', { key: ['place'] }, /^mapping\.json columns: is missing for a\.csv/],
  ['a key of nothing', { ...plain, key: [] }, /^mapping\.json key: /],
  ['a cell that is a number', { ...plain, columns: { cases: 3 } }, /columns\.cases: must be string, or must be object/],
  ['a misspelt word', { ...plain, columns: { cases: { form: 'count' } } }, /columns\.cases\.form: is not a word/],
  ['a cell without a source', { ...plain, columns: { cases: {} } }, /columns\.cases: must have exactly one of/],
  [
    'a cell with two sources',
    { ...plain, key: [{ from: 'place', constant: 1 }] },
    /key\.0: must have exactly one of from, constant and join/,
  ],
  [
    'two sources inside a join',
    { ...plain, columns: { locality: { join: ['place', {}] } } },
    /columns\.locality\.join\.1: must have exactly one/,
  ],
  [
    'a join inside a join',
    { ...plain, columns: { locality: { join: [{ join: ['place'] }] } } },
    /columns\.locality\.join\.0\.join: is not a word/,
  ],
  [
    'otherwise without map',
    { ...plain, columns: { locality: { from: 'place', otherwise: 'keep' } } },
    /columns\.locality: has otherwise without map/,
  ],
  [
    'an otherwise nobody knows',
    { ...plain, columns: { locality: { from: 'place', map: {}, otherwise: 'drop' } } },
    /columns\.locality\.otherwise: /,
  ],
  [
    'a part that is no whole number',
    { ...plain, columns: { locality: { from: 'place', split: { by: ',', part: 0.5 } } } },
    /columns\.locality\.split\.part: must be integer/,
  ],
  ...['YYYY-MM', 'D/M/D/YY', 'today'].map((date): [string, unknown, RegExp] => [
    `the date pattern ${date}`,
    { ...plain, columns: { date_high: { from: 'day', date } } },
    /columns\.date_high\.date: must hold a year/,
  ]),
  ['a field nobody knows', { ...plain, columns: { colour: 'place' } }, /columns\.colour: is not a field/],
  ['the key as a column', { ...plain, columns: { key: 'place' } }, /columns\.key: is not a field/],
  ['an encoding nobody knows', { ...plain, encoding: 'utf-7' }, /^mapping\.json encoding: /],
  [
    'a broken expression',
    { ...plain, wide: { columns: '(', name: 'n', value: 'v' } },
    /wide\.columns: is not a regular/,
  ],
  [
    'a file no group names',
    { ...plain, files: [{ names: ['b*.csv'] }] },
    /^mapping\.json files: no group names a\.csv/,
  ],
  [
    'a fault inside a group',
    { ...plain, files: [{ names: ['*'], columns: { cases: { from: 'count', date: 'x' } } }] },
    /files\.0\.columns\.cases\.date: must hold/,
  ],
  [
    'a mark that is none',
    { ...plain, columns: { cases: { from: 'count', number: { thousands: 'x' } } } },
    /columns\.cases\.number\.thousands: /,
  ],
  [
    'a cell that is a date and a number',
    { ...plain, columns: { cases: { from: 'count', date: 'YYYYMMDD', number: true } } },
    /columns\.cases: has both date and number/,
  ],
  ['a skip without words', { ...plain, skip: [{ where: 'place' }] }, /^mapping\.json skip\.0: /],
]
for (const [title, mapping, message] of faults) {
  test(`${title} is refused with its place`, async () => {
    await assert.rejects(read(mapping), (error) => {
      assert(error instanceof OperatorError, String(error))
      assert.match(error.message, message)
      return true
    })
  })
}

const inputFaults: [title: string, mapping: unknown, text: string | Buffer, message: RegExp][] = [
  ['a column that is not there', { ...plain, key: ['town'] }, CSV, /a\.csv:1 town: is not a column of this file/],
  ['a column that is read and stands twice', plain, 'place,place\n', /a\.csv:1 place: stands in the header twice/],
  [
    'a wide table without such columns',
    { ...plain, wide: { columns: '^\\d+$', name: 'n', value: 'v' } },
    CSV,
    /matches no column/,
  ],
  [
    'a column that wide would make again',
    { ...plain, wide: { columns: 'count', name: 'day', value: 'v' } },
    CSV,
    /a\.csv:1 day: is a column of this file, and made by wide/,
  ],
  ['a short row', plain, 'place,day\nLima\n', /a\.csv:2: has 1 cells where the header has 2/],
  ['a long row that says something', plain, 'place,\nLima,,x\n', /a\.csv:2: has 3 cells where the header has 1/],
  ['an empty file', plain, '', /a\.csv:1: has no header/],
  ['bytes of another encoding', plain, Buffer.from('place\nCa\xf1ar\n', 'latin1'), /a\.csv:0: is not UTF-8/],
]
for (const [title, mapping, text, message] of inputFaults) {
  test(`${title} is refused with file and line`, async () => {
    await assert.rejects(read(mapping, text), (error) => {
      assert(error instanceof InputError, String(error))
      assert.match(error.message, message)
      return true
    })
  })
}

test('the keys of NDJSON are its columns: what an object does not have is null, the rest as CSV would write it', async () => {
  const objects = [
    { place: 'Lima', count: 3, more: { a: [1] } },
    { place: 'Cusco', sure: false, count: null },
    { place: '', count: 0.5 },
  ]
  const mapping = { key: ['place', 'sure', 'more'], columns: { locality: 'place', cases: 'count' } }
  const written = { 'a.ndjson': objects.map((object) => `${JSON.stringify(object)}\n`).join('\n') }
  const { rows } = await readMapped(await writeForeign(mapping, { written }), COLUMNS)
  assert.deepEqual(
    rows.map(({ line, cells }) => [line, cells['key'], cells['locality'], cells['cases']]),
    [
      [1, 'Lima||{"a":[1]}', 'Lima', '3'],
      [3, 'Cusco|false|', 'Cusco', ''],
      [5, '||', '', '0.5'],
    ],
  )
})

const jsonFaults: [title: string, text: string, message: RegExp][] = [
  ['a key that no object has', '{"town":"Lima"}\n', /a\.ndjson:1 place: is not a column of this file/],
  ['a line that is no object', '{"place":"Lima"}\n[]\n', /a\.ndjson:2: is not a JSON object/],
  [
    'objects that are no table',
    JSON.stringify(Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`k${i}`, i]))),
    /a\.ndjson:1: brings more than 10000 keys/,
  ],
]
for (const [title, text, message] of jsonFaults) {
  test(`NDJSON with ${title} is refused with file and line`, async () => {
    const directory = await writeForeign(plain, { written: { 'a.ndjson': text } })
    await assert.rejects(readMapped(directory, COLUMNS), message)
  })
}

test('a wide table may be NDJSON', async () => {
  const mapping = {
    wide: { columns: '^\\d+$', name: 'year', value: 'n' },
    key: ['place', 'year'],
    columns: { cases: 'n' },
  }
  const written = { 'a.ndjson': '{"place":"Lima","2019":1}\n{"place":"Lima","2020":2,"2019":3}' }
  const { rows } = await readMapped(await writeForeign(mapping, { written }), ['key', 'cases'])
  assert.deepEqual(
    rows.map(({ line, cells }) => [line, cells['key'], cells['cases']]),
    [
      [1, 'Lima|2019', '1'],
      [1, 'Lima|2020', ''],
      [2, 'Lima|2019', '3'],
      [2, 'Lima|2020', '2'],
    ],
  )
})

test('a field that every record needs and no cell gives is said once a file, before any row', async () => {
  const { event: _, country: __, ...most } = whole
  const mapping = {
    key: ['n'],
    files: [
      { names: ['a*'], columns: most },
      { names: ['*'], columns: whole },
    ],
  }
  const written = { 'a.csv': 'n\n1\n2\n', 'a2.csv': 'n\n3\n', 'b.csv': 'n\n4\n' }
  const { records, errors, findings } = await checkRelease(hedOutbreaks, await writeForeign(mapping, { written }))
  assert.deepEqual([records, errors], [0, 4])
  assert.deepEqual(
    findings.map(({ file, line, column, rule }) => [file, line, column, rule]),
    ['a.csv', 'a2.csv'].flatMap((file) => ['event', 'country'].map((field) => [file, 0, field, 'required'])),
  )
})

test('values the mapping has no answer for are findings with file, line and field, over all files, beside the others', async () => {
  const mapping = {
    key: ['n'],
    columns: { ...whole, event: { from: 'e', map: { x: 'X' } }, date_high: { from: 'd', date: 'D/M/YY' }, host: 'h' },
  }
  const directory = await writeForeign(mapping, {
    written: { 'a.csv': 'n,e,d,h\n1,x,,plant\n2,y,1/2/20,human\n', 'b.csv': 'n,e,d,h\n\n3,y,2020,human\n' },
  })
  const { findings, records } = await checkRelease(hedOutbreaks, directory)
  assert.equal(records, 0)
  const of = (rule: string) => findings.filter((finding) => finding.rule === rule)
  assert.deepEqual(
    [...of('map'), ...of('date')].map(({ file, line, column, message }) => [file, line, column, message]),
    [
      ['a.csv', 3, 'event', 'the mapping has no word for "y"'],
      ['b.csv', 3, 'event', 'the mapping has no word for "y"'],
      ['b.csv', 3, 'date_high', '"2020" is not written as D/M/YY'],
    ],
  )
  assert.deepEqual(
    of('choice').map(({ file, line, column }) => [file, line, column]),
    [['a.csv', 2, 'host']],
  )
})

test('of a wrong mapping every row is counted, and the memory is not filled with findings', async () => {
  const mapping = { key: ['v'], columns: { ...whole, event: { from: 'v', map: {} } } }
  const directory = await writeForeign(mapping, { written: { 'a.csv': `v\n${'x\n'.repeat(5000)}` } })
  const { rejected, errors, findings } = await checkRelease(hedOutbreaks, directory)
  assert.deepEqual([rejected, errors, findings.length], [5000, 5000, 1000])
})

test('a wide table gives a record for each of its cells, each with the line of its row', async () => {
  const mapping = {
    wide: { columns: '/', name: 'day', value: 'n' },
    skip: [{ where: 'n', is: [''] }],
    key: ['place', 'day'],
    columns: { locality: 'place', date_high: { from: 'day', date: 'M/D/YY' }, cases: 'n' },
  }
  const { rows, skipped } = await read(mapping, 'place,1/9/20,x,1/10/20,\nLima,1,9,2,\nCusco,,9,0,,\n')
  assert.deepEqual(
    rows.map(({ line, cells }) => [line, ...Object.values(cells)]),
    [
      [2, 'Lima|1/9/20', 'Lima', '2020-01-09', '1'],
      [2, 'Lima|1/10/20', 'Lima', '2020-01-10', '2'],
      [3, 'Cusco|1/10/20', 'Cusco', '2020-01-10', '0'],
    ],
  )
  assert.equal(skipped, 1)
})

test('rows are skipped on purpose by any of the conditions, and counted each time the file is read', async () => {
  const mapping = {
    ...plain,
    skip: [
      { where: 'count', is: ['NA', ''] },
      { where: { join: ['place', 'day'] }, is: ['Lima1'] },
    ],
  }
  const text = 'place,day,count\nLima,1,1\nLima,2,NA\nLima,3,\nLima,4,0\n'
  const { rows, skipped } = await read(mapping, text)
  assert.deepEqual([rows.map(({ line }) => line), skipped], [[5], 3])
})

test('groups of files have settings of their own over those of the whole; the first that names a file holds', async () => {
  const mapping = {
    key: ['place', { constant: 'cases' }],
    columns: { locality: 'place', cases: 'n' },
    files: [
      { names: ['deaths*'], encoding: 'windows-1252', key: ['place'], columns: { cases: { constant: null } } },
      { names: ['*.csv'] },
    ],
  }
  const written = {
    'deaths.csv': Buffer.from('place,n\nCa\xf1ar\x80,1\n', 'latin1'),
    'cases.csv': 'place,n\nCañar,1\n',
  }
  const { rows } = await readMapped(await writeForeign(mapping, { written }), COLUMNS)
  assert.deepEqual(
    rows.map(({ file, cells }) => [file, cells['key'], cells['locality'], cells['cases']]),
    [
      ['cases.csv', 'Cañar|cases', 'Cañar', '1'],
      ['deaths.csv', 'Cañar€', 'Cañar€', ''],
    ],
  )
})

test('any line end, a byte order mark and empty columns at the end read the same', async () => {
  const columnOfPlaces = fc.array(fc.stringMatching(/^[a-z]{1,3}$/), { minLength: 1, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(
      columnOfPlaces,
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.boolean(),
      fc.nat(2),
      async (places, end, mark, empty) => {
        const text = ['place', ...places].map((cell) => cell + ','.repeat(empty) + end).join('')
        const { rows } = await read(plain, (mark ? '\ufeff' : '') + text)
        assert.deepEqual(
          rows.map(({ line, cells }) => [line, cells['locality']]),
          places.map((place, i) => [i + 2, place]),
        )
      },
    ),
    { numRuns: 50 },
  )
})

test('a line end that is cut apart by the pieces of the file is still one', async () => {
  const pieceBytes = 1 << 18
  const cell = 'x'.repeat(pieceBytes - 'place\r\n'.length - 1)
  const { rows } = await read(plain, `place\r\n${cell}\r\n"a\r\nb"\r\nc\r\n`)
  assert.deepEqual(
    rows.map(({ line, cells }) => [line, cells['locality']]),
    [
      [2, cell],
      [3, 'a\nb'],
      [5, 'c'],
    ],
  )
})

test('the examples of the documentation are mappings', async () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../../../docs/mapping.md'), 'utf8')
  const examples = [...page.matchAll(/```json\n([^]*?)```/g)].map(([, json]) => JSON.parse(json ?? '') as object)
  const [long, wide] = examples as [object, object]
  const county = `location_name,location_id,location_type,date,outcome_type,value
"Adams, Colorado",8001,county,2025-08-13,case_lab-confirmed,1
`
  const report = await checkRelease(hedOutbreaks, await writeForeign(long, { written: { 'a.csv': county } }))
  assert.deepEqual([report.records, report.findings], [1, []])
  const matrix =
    'Province/State,Country/Region,Lat,Long,1/22/20,1/23/20\n,Afghanistan,33,65,0,1\nKabul,Afghanistan,33,65,0,0\n'
  const columns = Object.keys((wide as { columns: object }).columns)
  const { rows } = await readMapped(await writeForeign(wide, { written: { 'a.csv': matrix } }), [...columns, 'key'])
  assert.deepEqual(
    rows.map(({ cells }) => [cells['key'], cells['location_granularity'], cells['cases']]),
    [
      ['Afghanistan||2020-01-22', 'country', '0'],
      ['Afghanistan||2020-01-23', 'country', '1'],
      ['Afghanistan|Kabul|2020-01-22', 'admin1', '0'],
      ['Afghanistan|Kabul|2020-01-23', 'admin1', '0'],
    ],
  )
})
