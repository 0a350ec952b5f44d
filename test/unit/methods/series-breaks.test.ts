// The breaks of a series: examples, comparison with a direct implementation of the rule, and independence of the order of records.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findBreaks, type SeriesRecord } from '../../../src/methods/series-breaks.ts'
import { fc } from '../../seed.ts'

const day = (n: number) => `2020-01-${String(n).padStart(2, '0')}`
const record = (
  id: number,
  n: number | null,
  counts: (number | null)[],
  more: Partial<SeriesRecord> = {},
): SeriesRecord => ({
  id,
  day: n === null ? null : day(n),
  reported: null,
  begins: null,
  kind: 'cumulative',
  counts,
  definition: null,
  ...more,
})

const examples: [title: string, records: SeriesRecord[], breaks: number[]][] = [
  ['a count that decreases is a break', [record(1, 1, [5]), record(2, 2, [4]), record(3, 3, [4])], [2]],
  ['a decrease of one of two counts is a break', [record(1, 1, [5, 2]), record(2, 2, [6, 1])], [2]],
  [
    'after an unknown count, the last known count is compared',
    [record(1, 1, [5]), record(2, 2, [null]), record(3, 3, [4])],
    [3],
  ],
  [
    'a count is compared with the previous day, not with the maximum',
    [record(1, 1, [9]), record(2, 2, [5]), record(3, 3, [6])],
    [2],
  ],
  ['records of one day are not compared with each other', [record(1, 1, [5]), record(2, 1, [4])], []],
  [
    'the last report of a day is compared, regardless of its id',
    [record(1, 1, [3], { reported: day(9) }), record(2, 1, [8], { reported: day(5) }), record(3, 2, [4])],
    [],
  ],
  [
    'a report with an unknown date is the first of its day',
    [record(1, 1, [8], { reported: day(5) }), record(2, 1, [3]), record(3, 2, [4])],
    [3],
  ],
  [
    'of reports with the same date the highest id is compared',
    [record(1, 1, [8]), record(2, 1, [3]), record(3, 2, [4])],
    [],
  ],
  ['each record of a day is checked', [record(1, 1, [8]), record(2, 2, [7]), record(3, 2, [9])], [2]],
  ['a record without a day is ignored', [record(1, 1, [8]), record(2, null, [1]), record(3, 2, [8])], []],
  ['new counts may decrease', [record(1, 1, [5], { kind: 'new' }), record(2, 2, [4], { kind: 'new' })], []],
  [
    'point-in-time counts may decrease',
    [record(1, 1, [5], { kind: 'point' }), record(2, 2, [4], { kind: 'point' })],
    [],
  ],
  [
    'cumulative counts must not decrease',
    [record(1, 1, [5], { kind: 'cumulative' }), record(2, 2, [4], { kind: 'cumulative' })],
    [2],
  ],
  [
    'period-to-date counts are compared within their period',
    [
      record(1, 1, [5], { kind: 'period_to_date', begins: day(1) }),
      record(2, 2, [1], { kind: 'period_to_date', begins: day(2) }),
      record(3, 3, [4], { kind: 'period_to_date', begins: day(1) }),
      record(4, 4, [0], { kind: 'period_to_date' }),
    ],
    [3],
  ],
  [
    'a change of the case definition is a break',
    [
      record(1, 1, [null], { definition: 'a' }),
      record(2, 2, [null], { definition: 'a' }),
      record(3, 3, [null], { definition: 'b' }),
      record(4, 4, [null]),
      record(5, 5, [null], { definition: 'c' }),
    ],
    [3],
  ],
]
for (const [title, records, breaks] of examples)
  test(title, () =>
    assert.deepEqual(
      [...findBreaks(records).keys()].sort((a, b) => a - b),
      breaks,
    ),
  )

const counts = fc.array(fc.option(fc.integer({ min: 0, max: 6 })), { minLength: 2, maxLength: 2 })
const someDay = fc.integer({ min: 1, max: 6 }).map(day)
const anyRecords = fc
  .array(
    fc.record({
      day: fc.option(someDay),
      reported: fc.option(someDay),
      begins: fc.option(fc.constantFrom(day(1), day(2))),
      kind: fc.constantFrom('cumulative', 'period_to_date', 'new'),
      counts,
      definition: fc.option(fc.constantFrom('a', 'b')),
    }),
    { maxLength: 14 },
  )
  .map((records): SeriesRecord[] => records.map((fields, i) => ({ ...fields, id: i + 1 })))

/** A direct implementation of the rule, for a single record and without state. */
function isBreak(current: SeriesRecord, all: readonly SeriesRecord[]): boolean {
  const { day: today } = current
  if (today === null) return false
  const earlier = all.filter((other) => other.day !== null && other.day < today)
  const latestFirst = (comparable: readonly SeriesRecord[]) =>
    comparable
      .filter((a) => !comparable.some((b) => b.day === a.day && isLater(b, a)))
      .toSorted((a, b) => ((a.day ?? '') < (b.day ?? '') ? 1 : -1))
  const predecessor = latestFirst(earlier)[0]
  const redefined =
    predecessor?.definition != null && current.definition !== null && predecessor.definition !== current.definition
  if (current.kind === 'new') return redefined
  const compared = latestFirst(
    earlier.filter(
      (other) =>
        other.kind === current.kind &&
        (current.kind === 'cumulative' || (current.begins !== null && other.begins === current.begins)),
    ),
  )
  const decreased = current.counts.some((count, i) => {
    const before = compared.find((other) => other.counts[i] !== null)?.counts[i]
    return count !== null && before != null && count < before
  })
  return decreased || redefined
}
const isLater = (a: SeriesRecord, b: SeriesRecord) => {
  const [reportedA, reportedB] = [a.reported ?? '', b.reported ?? '']
  return reportedA > reportedB || (reportedA === reportedB && a.id > b.id)
}

test('the breaks agree with a direct implementation of the rule', () => {
  fc.assert(
    fc.property(anyRecords, (records) => {
      const expected = records.filter((current) => isBreak(current, records)).map(({ id }) => id)
      assert.deepEqual(
        [...findBreaks(records).keys()].sort((a, b) => a - b),
        expected,
      )
    }),
    { numRuns: 2000 },
  )
})

test('the order of the records does not matter', () => {
  const shuffled = anyRecords.chain((records) =>
    fc.tuple(fc.constant(records), fc.shuffledSubarray(records, { minLength: records.length })),
  )
  fc.assert(
    fc.property(shuffled, ([records, others]) => {
      const sorted = (breaks: ReturnType<typeof findBreaks>) => [...breaks].sort(([a], [b]) => a - b)
      assert.deepEqual(sorted(findBreaks(others)), sorted(findBreaks(records)))
    }),
  )
})
