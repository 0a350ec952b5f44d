// The Range header: satisfiable ranges, unsatisfiable ranges, and headers that are ignored.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readByteRange } from '../../../src/api/response/byte-range.ts'
import { fc } from '../../seed.ts'

const satisfiable: [header: string, start: number, end: number][] = [
  ['bytes=0-', 0, 100],
  ['bytes=0-0', 0, 1],
  ['bytes=10-19', 10, 20],
  ['bytes=99-', 99, 100],
  ['bytes=99-99', 99, 100],
  ['bytes=50-100', 50, 100],
  ['bytes=0-999999999999999', 0, 100],
  ['bytes=-1', 99, 100],
  ['bytes=-100', 0, 100],
  ['bytes=-101', 0, 100],
  ['BYTES=5-6', 5, 7],
  ['bytes= 5-6 ', 5, 7],
]
for (const [header, start, end] of satisfiable) {
  test(`${header} of 100 bytes is the range from ${start} up to but not including ${end}`, () => {
    assert.deepEqual(readByteRange(header, 100), { start, end })
  })
}

for (const header of ['bytes=100-', 'bytes=100-100', 'bytes=101-200', 'bytes=999999999999999-', 'bytes=-0']) {
  test(`${header} of 100 bytes cannot be satisfied`, () => {
    assert.equal(readByteRange(header, 100), 'unsatisfiable')
  })
}

for (const header of ['bytes=0-', 'bytes=0-0', 'bytes=-1', 'bytes=-0']) {
  test(`${header} of an empty file cannot be satisfied`, () => {
    assert.equal(readByteRange(header, 0), 'unsatisfiable')
  })
}

const ignored = [
  ...[undefined, '', 'bytes', 'bytes=', 'bytes=-', 'bytes=a-b', 'bytes=5-4', 'bytes=1-2,4-5', 'bytes=1-2, 4-5'],
  ...['items=0-5', 'bytes=0x1-2', 'bytes=1.5-2', 'bytes=+1-2', 'bytes=--5', 'bytes=1-2-3', 'bytes 0-5', '0-5'],
  ...['bytes=9999999999999999-', 'bytes=1-2\n', 'items=500-600', 'bytes=1e3-', 'bytes=1-2,500-600', 'bytes=0 - 5'],
]
for (const header of ignored) {
  test(`${JSON.stringify(header)} is not a range and is ignored`, () => {
    assert.equal(readByteRange(header, 100), null)
  })
}

test('a header with 250,000 ranges is ignored', () => {
  assert.equal(readByteRange(`bytes=${'0-1,'.repeat(250_000)}0-1`, 100), null)
})

test('every range lies within the file, for any header', () => {
  fc.assert(
    fc.property(fc.string(), fc.option(fc.nat()), fc.option(fc.nat()), fc.nat(), (text, first, last, bytes) => {
      for (const header of [text, `bytes=${text}`, `bytes=${first ?? ''}-${last ?? ''}`]) {
        const range = readByteRange(header, bytes)
        if (range === null || range === 'unsatisfiable') continue
        assert.ok(0 <= range.start && range.start < range.end && range.end <= bytes)
      }
    }),
  )
})
