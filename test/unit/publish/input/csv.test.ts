// The CSV splitter compared with a reference parser: the same cells for valid text, an error for invalid text.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { CsvError, createCsvSplitter } from '../../../../src/publish/input/csv.ts'
import { fc } from '../../../seed.ts'

function split(text: string, pieces: readonly number[] = []): { line: number; cells: string[] }[] {
  const splitter = createCsvSplitter()
  const cuts = [...new Set(pieces.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b)
  const parts = [0, ...cuts].map((from, i) => text.slice(from, cuts[i] ?? text.length))
  return [...parts.flatMap((part) => splitter.push(part)), ...splitter.end()]
}

const cell = fc.string({ unit: fc.constantFrom('a', 'é', '中', ',', '"', '\n', '\r\n', ' ', ';'), maxLength: 6 })
const quote = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

test('any table, quoted where needed and in any pieces, gives the cells of the reference parser', () => {
  fc.assert(
    fc.property(
      fc
        .integer({ min: 2, max: 5 })
        .chain((width) =>
          fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 6 }),
        ),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      fc.array(fc.nat(), { maxLength: 8 }),
      (rows, newline, lastNewline, pieces) => {
        const text = rows.map((row) => row.map(quote).join(',')).join(newline) + (lastNewline ? newline : '')
        const read = split(text, pieces).map((record) => record.cells)
        assert.deepEqual(read, rows)
        assert.deepEqual(read, parse(text, { record_delimiter: newline }))
      },
    ),
    { numRuns: 3000 },
  )
})

test('any text in any pieces gives the same records or the same error as in one piece', () => {
  const outcome = (text: string, pieces?: readonly number[]) => {
    try {
      return split(text, pieces)
    } catch (error) {
      assert(error instanceof CsvError)
      return error.message
    }
  }
  const anything = fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r', 'b'), maxLength: 40 })
  fc.assert(
    fc.property(anything, fc.array(fc.nat(), { maxLength: 8 }), (text, pieces) => {
      assert.deepEqual(outcome(text, pieces), outcome(text))
    }),
    { numRuns: 5000 },
  )
})

test('a record has the line on which it begins', () => {
  assert.deepEqual(
    split('h,i\n"a\nb",c\n\nd,e\r\n"f",g').map(({ line, cells }) => [line, cells[0]]),
    [
      [1, 'h'],
      [2, 'a\nb'],
      [5, 'd'],
      [6, 'f'],
    ],
  )
})

test('a record with too few or too many cells keeps them, and takes none of the next record', () => {
  for (const quoted of ['1', '"1"'])
    assert.deepEqual(
      split(`a,b,c\n${quoted},2\n3,4,5,6\n7\n`).map(({ cells }) => cells),
      [['a', 'b', 'c'], ['1', '2'], ['3', '4', '5', '6'], ['7']],
    )
})

const invalidTexts: [text: string, line: number, message: RegExp][] = [
  ['a,b\nc,"d', 2, /never closed/],
  ['a,b\nc,d"e\n', 2, /inside an unquoted cell/],
  ['a,b\n"c"d,e\n', 2, /text after a closing quote/],
  ['a,b\n"c\n\n"d,e\n', 4, /text after a closing quote/],
]
for (const [text, line, message] of invalidTexts) {
  test(`${JSON.stringify(text)} gives an error at line ${line}`, () => {
    assert.throws(
      () => split(text),
      (error) => error instanceof CsvError && error.line === line && message.test(error.message),
    )
  })
}

test('a quote that is not closed does not exhaust memory', () => {
  const splitter = createCsvSplitter()
  const piece = 'x'.repeat(1 << 20)
  splitter.push('a,"b')
  assert.throws(() => {
    for (let i = 0; i < 64; i++) splitter.push(piece)
  }, CsvError)
})
