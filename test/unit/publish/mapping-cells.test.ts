// The cells of mapping.json: their sources and their conversion steps.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { validateRelease } from '../../../src/publish/validate/validate-release.ts'
import { readField, readWithMapping, requiredConstants, writeMapped } from '../../fixtures/mappings.ts'

test('a field comes from a column, a constant or several joined parts; a field without a mapping is null', async () => {
  const { rows } = await readWithMapping({
    key: ['place', { from: 'day', split: { by: '-', part: 0 } }, { constant: 'x' }],
    columns: { locality: { join: ['place', { constant: '/' }, 'count'] }, cases: { constant: 7 } },
  })
  assert.deepEqual(rows, [
    { file: 'a.csv', line: 2, cells: { key: 'Lima|2020|x', locality: 'Lima/3', date_high: '', cases: '7' } },
  ])
})

test('constants get the text of a CSV cell', async () => {
  for (const [constant, text] of [
    [false, 'false'],
    [0, '0'],
    [null, ''],
    ['a', 'a'],
  ])
    assert.deepEqual(await readField({ constant }, 'v\n1\n'), [text])
})

test('split takes a part from either end, or null if there is no such part', async () => {
  const split = (part: number) => readField({ from: 'v', split: { by: ', ', part } }, 'v\n"a, b, c"\nd\n')
  assert.deepEqual(await split(0), ['a', 'd'])
  assert.deepEqual(await split(-1), ['c', 'd'])
  assert.deepEqual(await split(1), ['b', ''])
})

test('null words apply to one column only: NA may be Namibia in another', async () => {
  const { rows } = await readWithMapping(
    { key: ['a', 'b'], columns: { locality: 'a', cases: { from: 'b', null: ['NA', '-'] } } },
    'a,b\nNA,NA\nNA,-\nNA,0\n',
  )
  assert.deepEqual(
    rows.map(({ cells }) => [cells['locality'], cells['cases'], cells['key']]),
    [
      ['NA', '', 'NA|NA'],
      ['NA', '', 'NA|-'],
      ['NA', '0', 'NA|0'],
    ],
  )
})

test('a map keeps or replaces values it does not list, and changes null only if it lists the empty text', async () => {
  const words = 'v,w\na,\nb,\n,\nconstructor,\n'
  const map = { a: 'A' }
  assert.deepEqual(await readField({ from: 'v', map, otherwise: 'keep' }, words), ['A', 'b', '', 'constructor'])
  assert.deepEqual(await readField({ from: 'v', map, otherwise: { constant: null } }, words), ['A', '', '', ''])
  assert.deepEqual(await readField({ from: 'v', map: { '': 'none' }, otherwise: { constant: true } }, words), [
    'true',
    'true',
    'none',
    'true',
  ])
})

test('null words are applied before the map, and the map before the date', async () => {
  const cell = { from: 'v', null: ['?'], map: { '': '1/1/20', never: null }, otherwise: 'keep', date: 'M/D/YY' }
  assert.deepEqual(await readField(cell, 'v,w\n?,\nnever,\n12/31/21,\n'), ['2020-01-01', '', '2021-12-31'])
})

const dates: [pattern: string, text: string, day: string][] = [
  ['YYYY-MM-DD', '2020-02-01', '2020-02-01'],
  ['M/D/YY', '1/22/20', '2020-01-22'],
  ['D.M.YYYY', '3.11.1918', '1918-11-03'],
  ['DDMMYYYY', '31122025', '2025-12-31'],
  ['YYYY/M/D', '2020/2/30', '2020-02-30'],
]
for (const [date, text, day] of dates) {
  test(`${text} in the format ${date} is ${day}`, async () => {
    assert.deepEqual(await readField({ from: 'v', date }, `v\n${text}\n`), [day])
  })
}

const numbers: [number: unknown, text: string, digits: string][] = [
  [true, '2.0', '2'],
  [true, '0', '0'],
  [true, '-3.140', '-3.14'],
  [true, '', ''],
  [{ thousands: ',' }, '1,234', '1234'],
  [{ thousands: ',' }, '1234567', '1234567'],
  [{ thousands: ',' }, '1,234,567.50', '1234567.5'],
  [{ thousands: '.' }, '1.234,00', '1234'],
  [{ thousands: ' ' }, '12 345', '12345'],
  [{ thousands: "'" }, "-1'000", '-1000'],
]
for (const [number, text, digits] of numbers) {
  test(`"${text}" as a number with ${JSON.stringify(number)} is "${digits}"`, async () => {
    assert.deepEqual(await readField({ from: 'v', number }, `v,w\n"${text}",\n`), [digits])
  })
}

const invalidNumbers: [number: unknown, text: string][] = [
  [true, '1,234'],
  [true, '12a'],
  [true, ' 1'],
  [true, '007'],
  [true, '1.'],
  [{ thousands: ',' }, '1,23'],
  [{ thousands: ',' }, '0,123'],
  [{ thousands: ',' }, '1234,567'],
  [{ thousands: '.' }, '1.5'],
]
for (const [number, text] of invalidNumbers) {
  test(`"${text}" is rejected as a number with ${JSON.stringify(number)}`, async () => {
    const mapping = { key: ['v'], columns: { ...requiredConstants, cases: { from: 'v', number } } }
    const directory = await writeMapped(mapping, { written: { 'a.csv': `v\n"${text}"\n` } })
    const { records, findings } = await validateRelease(hedOutbreaks, directory)
    assert.equal(records, 0)
    assert.deepEqual(
      findings.map(({ line, column, rule, message }) => [line, column, rule, message]),
      [[2, 'cases', 'number', `has the value ${JSON.stringify(text)}, which is not a number`]],
    )
  })
}
