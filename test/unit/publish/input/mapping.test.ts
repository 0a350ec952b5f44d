// mapping.json, clause by clause: its errors with their location, then how files are read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { OperatorError } from '../../../../src/platform/operator-error.ts'
import { InputError } from '../../../../src/publish/findings/findings.ts'
import { matchesAny } from '../../../../src/publish/input/mapping.ts'
import { validateRelease } from '../../../../src/publish/validate/validate-release.ts'
import {
  COLUMNS,
  CSV,
  plainMapping,
  readMapped,
  readWithMapping,
  requiredConstants,
  writeMapped,
} from '../../../fixtures/mappings.ts'
import { fc } from '../../../seed.ts'

const mappingErrors: [title: string, mapping: unknown, message: RegExp][] = [
  ['text that is not JSON', '{"key":', /^mapping\.json is not valid JSON/],
  ['a key twice', '{"key":["place"],"key":["day"]}', /^mapping\.json contains the key "key" twice/],
  ['a list', [], /^mapping\.json \(top level\): must be object/],
  ['an unknown clause', { ...plainMapping, colour: 1 }, /^mapping\.json colour: is not a property of a mapping/],
  ['no key', { columns: plainMapping.columns }, /^mapping\.json key: missing for a\.csv/],
  ['no columns', { key: ['place'] }, /^mapping\.json columns: missing for a\.csv/],
  ['an empty key', { ...plainMapping, key: [] }, /^mapping\.json key: /],
  [
    'a cell that is a number',
    { ...plainMapping, columns: { cases: 3 } },
    /columns\.cases: must be string, or must be object/,
  ],
  [
    'a misspelt property',
    { ...plainMapping, columns: { cases: { form: 'count' } } },
    /columns\.cases\.form: is not a property/,
  ],
  ['a cell without a source', { ...plainMapping, columns: { cases: {} } }, /columns\.cases: must have exactly one of/],
  [
    'a cell with two sources',
    { ...plainMapping, key: [{ from: 'place', constant: 1 }] },
    /key\.0: must have exactly one of from, constant and join/,
  ],
  [
    'two sources inside a join',
    { ...plainMapping, columns: { locality: { join: ['place', {}] } } },
    /columns\.locality\.join\.1: must have exactly one/,
  ],
  [
    'a join inside a join',
    { ...plainMapping, columns: { locality: { join: [{ join: ['place'] }] } } },
    /columns\.locality\.join\.0\.join: is not a property/,
  ],
  [
    'otherwise without map',
    { ...plainMapping, columns: { locality: { from: 'place', otherwise: 'keep' } } },
    /columns\.locality: otherwise works only together with map/,
  ],
  [
    'an unknown value of otherwise',
    { ...plainMapping, columns: { locality: { from: 'place', map: {}, otherwise: 'drop' } } },
    /columns\.locality\.otherwise: /,
  ],
  [
    'a part that is not a whole number',
    { ...plainMapping, columns: { locality: { from: 'place', split: { by: ',', part: 0.5 } } } },
    /columns\.locality\.split\.part: must be integer/,
  ],
  ...['YYYY-MM', 'D/M/D/YY', 'today'].map((date): [string, unknown, RegExp] => [
    `the date pattern ${date}`,
    { ...plainMapping, columns: { date_high: { from: 'day', date } } },
    /columns\.date_high\.date: must contain a year/,
  ]),
  ['an unknown field', { ...plainMapping, columns: { colour: 'place' } }, /columns\.colour: is not a field/],
  ['the key as a column', { ...plainMapping, columns: { key: 'place' } }, /columns\.key: is not a field/],
  ['an unknown encoding', { ...plainMapping, encoding: 'utf-7' }, /^mapping\.json encoding: /],
  [
    'a pattern that is not in a list',
    { ...plainMapping, wide: { columns: '^(a+)+$', name: 'n', value: 'v' } },
    /^mapping\.json wide\.columns: must be array/,
  ],
  [
    'a file that no group matches',
    { ...plainMapping, files: [{ names: ['b*.csv'] }] },
    /^mapping\.json files: no group matches a\.csv/,
  ],
  [
    'an error inside a group',
    { ...plainMapping, files: [{ names: ['*'], columns: { cases: { from: 'count', date: 'x' } } }] },
    /files\.0\.columns\.cases\.date: must contain/,
  ],
  [
    'an invalid thousands separator',
    { ...plainMapping, columns: { cases: { from: 'count', number: { thousands: 'x' } } } },
    /columns\.cases\.number\.thousands: /,
  ],
  [
    'a cell that is a date and a number',
    { ...plainMapping, columns: { cases: { from: 'count', date: 'YYYYMMDD', number: true } } },
    /columns\.cases: can have date or number, not both/,
  ],
  ['a skip without values', { ...plainMapping, skip: [{ where: 'place' }] }, /^mapping\.json skip\.0: /],
]
for (const [title, mapping, message] of mappingErrors) {
  test(`${title} is rejected with its location`, async () => {
    await assert.rejects(readWithMapping(mapping), (error) => {
      assert(error instanceof OperatorError, String(error))
      assert.match(error.message, message)
      return true
    })
  })
}

const inputErrors: [title: string, mapping: unknown, text: string | Buffer, message: RegExp][] = [
  [
    'a missing column',
    { ...plainMapping, key: ['town'] },
    CSV,
    /a\.csv:1 town: is used by the mapping, but is not a column/,
  ],
  [
    'a column that is read and occurs twice',
    plainMapping,
    'place,place\n',
    /a\.csv:1 place: occurs twice in the header/,
  ],
  [
    'a wide table without matching columns',
    { ...plainMapping, wide: { columns: ['20*'], name: 'n', value: 'v' } },
    CSV,
    /matches no column/,
  ],
  [
    'a column that wide would create a second time',
    { ...plainMapping, wide: { columns: ['count'], name: 'day', value: 'v' } },
    CSV,
    /a\.csv:1 day: is already a column of this file: choose another name in wide/,
  ],
  ['a short row', plainMapping, 'place,day\nLima\n', /a\.csv:2: has 1 cells, but the header has 2/],
  [
    'a long row with a value in an extra column',
    plainMapping,
    'place,\nLima,,x\n',
    /a\.csv:2: has 3 cells, but the header has 1/,
  ],
  ['an empty file', plainMapping, '', /a\.csv:1: has no header/],
  [
    'bytes of another encoding',
    plainMapping,
    Buffer.from('place\nCa\xf1ar\n', 'latin1'),
    /a\.csv:0: is not valid UTF-8/,
  ],
]
for (const [title, mapping, text, message] of inputErrors) {
  test(`${title} is rejected with file and line`, async () => {
    await assert.rejects(readWithMapping(mapping, text), (error) => {
      assert(error instanceof InputError, String(error))
      assert.match(error.message, message)
      return true
    })
  })
}

test('the keys of NDJSON are its columns: a missing key is null, other values get the text of a CSV cell', async () => {
  const objects = [
    { place: 'Lima', count: 3, more: { a: [1] } },
    { place: 'Cusco', sure: false, count: null },
    { place: '', count: 0.5 },
  ]
  const mapping = { key: ['place', 'sure', 'more'], columns: { locality: 'place', cases: 'count' } }
  const written = { 'a.ndjson': objects.map((object) => `${JSON.stringify(object)}\n`).join('\n') }
  const { rows } = await readMapped(await writeMapped(mapping, { written }), COLUMNS)
  assert.deepEqual(
    rows.map(({ line, cells }) => [line, cells['key'], cells['locality'], cells['cases']]),
    [
      [1, 'Lima||{"a":[1]}', 'Lima', '3'],
      [3, 'Cusco|false|', 'Cusco', ''],
      [5, '||', '', '0.5'],
    ],
  )
})

const jsonErrors: [title: string, text: string, message: RegExp][] = [
  ['a key that no object has', '{"town":"Lima"}\n', /a\.ndjson:1 place: is used by the mapping, but is not a column/],
  ['a line that is not an object', '{"place":"Lima"}\n[]\n', /a\.ndjson:2: is not a JSON object/],
  [
    'more keys than a table has columns',
    JSON.stringify(Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`k${i}`, i]))),
    /a\.ndjson:1: brings the file above the limit of 10000 different keys/,
  ],
]
for (const [title, text, message] of jsonErrors) {
  test(`NDJSON with ${title} is rejected with file and line`, async () => {
    const directory = await writeMapped(plainMapping, { written: { 'a.ndjson': text } })
    await assert.rejects(readMapped(directory, COLUMNS), message)
  })
}

test('a wide table may be NDJSON', async () => {
  const mapping = {
    wide: { columns: ['20*'], name: 'year', value: 'n' },
    key: ['place', 'year'],
    columns: { cases: 'n' },
  }
  const written = { 'a.ndjson': '{"place":"Lima","2019":1}\n{"place":"Lima","2020":2,"2019":3}' }
  const { rows } = await readMapped(await writeMapped(mapping, { written }), ['key', 'cases'])
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

test('a required field that the mapping does not fill is reported once per file, before any row', async () => {
  const { event: _, country: __, ...most } = requiredConstants
  const mapping = {
    key: ['n'],
    files: [
      { names: ['a*'], columns: most },
      { names: ['*'], columns: requiredConstants },
    ],
  }
  const written = { 'a.csv': 'n\n1\n2\n', 'a2.csv': 'n\n3\n', 'b.csv': 'n\n4\n' }
  const { records, errors, findings } = await validateRelease(hedOutbreaks, await writeMapped(mapping, { written }))
  assert.deepEqual([records, errors], [0, 4])
  assert.deepEqual(
    findings.map(({ file, line, column, rule }) => [file, line, column, rule]),
    ['a.csv', 'a2.csv'].flatMap((file) => ['event', 'country'].map((field) => [file, 0, field, 'required'])),
  )
})

test('values that the mapping cannot convert are findings with file, line and field, in all files', async () => {
  const mapping = {
    key: ['n'],
    columns: {
      ...requiredConstants,
      event: { from: 'e', map: { x: 'X' } },
      date_high: { from: 'd', date: 'D/M/YY' },
      host: 'h',
    },
  }
  const directory = await writeMapped(mapping, {
    written: { 'a.csv': 'n,e,d,h\n1,x,,plant\n2,y,1/2/20,human\n', 'b.csv': 'n,e,d,h\n\n3,y,2020,human\n' },
  })
  const { findings, records } = await validateRelease(hedOutbreaks, directory)
  assert.equal(records, 0)
  const of = (rule: string) => findings.filter((finding) => finding.rule === rule)
  assert.deepEqual(
    [...of('map'), ...of('date')].map(({ file, line, column, message }) => [file, line, column, message]),
    [
      ['a.csv', 3, 'event', 'has the value "y", which the mapping has no entry for'],
      ['b.csv', 3, 'event', 'has the value "y", which the mapping has no entry for'],
      ['b.csv', 3, 'date_high', 'has the value "2020", which is not a date as D/M/YY'],
    ],
  )
  assert.deepEqual(
    of('choice').map(({ file, line, column }) => [file, line, column]),
    [['a.csv', 2, 'host']],
  )
})

test('every error of a wrong mapping is counted, but only the first are kept in memory', async () => {
  const mapping = { key: ['v'], columns: { ...requiredConstants, event: { from: 'v', map: {} } } }
  const directory = await writeMapped(mapping, { written: { 'a.csv': `v\n${'x\n'.repeat(5000)}` } })
  const { rejected, errors, findings } = await validateRelease(hedOutbreaks, directory)
  assert.deepEqual([rejected, errors, findings.length], [5000, 5000, 1000])
})

test('a wide table gives a record for each matching cell, with the line of its row', async () => {
  const mapping = {
    wide: { columns: ['*/*'], name: 'day', value: 'n' },
    skip: [{ where: 'n', is: [''] }],
    key: ['place', 'day'],
    columns: { locality: 'place', date_high: { from: 'day', date: 'M/D/YY' }, cases: 'n' },
  }
  const { rows, skipped } = await readWithMapping(mapping, 'place,1/9/20,x,1/10/20,\nLima,1,9,2,\nCusco,,9,0,,\n')
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

const patterns: [pattern: string, matching: string[], others: string[]][] = [
  ['deaths', ['deaths'], ['death', 'deaths2', 'Deaths']],
  ['*', ['', 'a', '.a'], []],
  ['a*', ['a', 'ab'], ['ba', '']],
  ['*/*/*', ['1/2/20', '//'], ['1/2', 'Province/State']],
  ['a*a', ['aa', 'aba'], ['a', 'ab']],
  ['*ab*ba*', ['abba', 'xab-bax'], ['aba', 'baab']],
  ['^(a+)+$', ['^(a+)+$'], ['aa']],
  [`${'*a'.repeat(200)}*b`, [`${'a'.repeat(200)}b`], ['a'.repeat(50_000)]],
]
for (const [pattern, matching, others] of patterns)
  test(`the pattern ${pattern.slice(0, 10)} matches whole names, and * any text`, () => {
    for (const name of matching) assert.ok(matchesAny(name, [pattern]), name)
    for (const name of others) assert.ok(!matchesAny(name, ['other', pattern]), name)
  })

test('any skip condition skips a row, and skipped rows are counted', async () => {
  const mapping = {
    ...plainMapping,
    skip: [
      { where: 'count', is: ['NA', ''] },
      { where: { join: ['place', 'day'] }, is: ['Lima1'] },
    ],
  }
  const text = 'place,day,count\nLima,1,1\nLima,2,NA\nLima,3,\nLima,4,0\n'
  const { rows, skipped } = await readWithMapping(mapping, text)
  assert.deepEqual([rows.map(({ line }) => line), skipped], [[5], 3])
})

test('the settings of a group override the top-level ones; the first group that matches a file is used', async () => {
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
  const { rows } = await readMapped(await writeMapped(mapping, { written }), COLUMNS)
  assert.deepEqual(
    rows.map(({ file, cells }) => [file, cells['key'], cells['locality'], cells['cases']]),
    [
      ['cases.csv', 'Cañar|cases', 'Cañar', '1'],
      ['deaths.csv', 'Cañar€', 'Cañar€', ''],
    ],
  )
})

test('any line end, a byte order mark and empty columns at the end give the same rows', async () => {
  const columnOfPlaces = fc.array(fc.stringMatching(/^[a-z]{1,3}$/), { minLength: 1, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(
      columnOfPlaces,
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.boolean(),
      fc.nat(2),
      async (places, end, mark, empty) => {
        const text = ['place', ...places].map((cell) => cell + ','.repeat(empty) + end).join('')
        const { rows } = await readWithMapping(plainMapping, (mark ? '\ufeff' : '') + text)
        assert.deepEqual(
          rows.map(({ line, cells }) => [line, cells['locality']]),
          places.map((place, i) => [i + 2, place]),
        )
      },
    ),
    { numRuns: 50 },
  )
})

test('a CRLF that is split between two pieces of the file is one line end', async () => {
  const pieceBytes = 1 << 18
  const cell = 'x'.repeat(pieceBytes - 'place\r\n'.length - 1)
  const { rows } = await readWithMapping(plainMapping, `place\r\n${cell}\r\n"a\r\nb"\r\nc\r\n`)
  assert.deepEqual(
    rows.map(({ line, cells }) => [line, cells['locality']]),
    [
      [2, cell],
      [3, 'a\nb'],
      [5, 'c'],
    ],
  )
})
