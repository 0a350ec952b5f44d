// Where a series breaks, record by record; and that neither the order of the records nor their number at a time matters.
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
  ['a count that falls', [record(1, 1, [5]), record(2, 2, [4]), record(3, 3, [4])], [2]],
  ['one of two counts that falls', [record(1, 1, [5, 2]), record(2, 2, [6, 1])], [2]],
  ['an unknown count leaves the last one known', [record(1, 1, [5]), record(2, 2, [null]), record(3, 3, [4])], [3]],
  ['the day before counts, not the highest', [record(1, 1, [9]), record(2, 2, [5]), record(3, 3, [6])], [2]],
  ['records of one day are not compared with each other', [record(1, 1, [5]), record(2, 1, [4])], []],
  [
    'of one day the last reported stands, whatever its id',
    [record(1, 1, [3], { reported: day(9) }), record(2, 1, [8], { reported: day(5) }), record(3, 2, [4])],
    [],
  ],
  [
    'of one day an unknown report is the first',
    [record(1, 1, [8], { reported: day(5) }), record(2, 1, [3]), record(3, 2, [4])],
    [3],
  ],
  ['of equal reports the highest id stands', [record(1, 1, [8]), record(2, 1, [3]), record(3, 2, [4])], []],
  ['each record of a day is judged', [record(1, 1, [8]), record(2, 2, [7]), record(3, 2, [9])], [2]],
  [
    'a record without a day is neither judged nor compared with',
    [record(1, 1, [8]), record(2, null, [1]), record(3, 2, [8])],
    [],
  ],
  ['new counts may fall', [record(1, 1, [5], { kind: 'new' }), record(2, 2, [4], { kind: 'new' })], []],
  ['counts of a kind that may fall', [record(1, 1, [5], { kind: 'point' }), record(2, 2, [4], { kind: 'point' })], []],
  [
    'counts since the event began',
    [record(1, 1, [5], { kind: 'cumulative' }), record(2, 2, [4], { kind: 'cumulative' })],
    [2],
  ],
  [
    'counts since a period began are compared within the period',
    [
      record(1, 1, [5], { kind: 'period_to_date', begins: day(1) }),
      record(2, 2, [1], { kind: 'period_to_date', begins: day(2) }),
      record(3, 3, [4], { kind: 'period_to_date', begins: day(1) }),
      record(4, 4, [0], { kind: 'period_to_date' }),
    ],
    [3],
  ],
  [
    'a definition that changes',
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
const drawn = fc
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
  .map((records): SeriesRecord[] => records.map((each, i) => ({ ...each, id: i + 1 })))

/** The rule read off its sentence, for each record by itself and without any state. */
function isBreak(own: SeriesRecord, all: readonly SeriesRecord[]): boolean {
  const { day: today } = own
  if (today === null) return false
  const earlier = all.filter((other) => other.day !== null && other.day < today)
  const standing = (comparable: readonly SeriesRecord[]) =>
    comparable
      .filter((one) => !comparable.some((other) => other.day === one.day && isLater(other, one)))
      .toSorted((one, other) => ((one.day ?? '') < (other.day ?? '') ? 1 : -1))
  const predecessor = standing(earlier)[0]
  const redefined =
    predecessor?.definition != null && own.definition !== null && predecessor.definition !== own.definition
  if (own.kind === 'new') return redefined
  const compared = standing(
    earlier.filter(
      (other) =>
        other.kind === own.kind && (own.kind === 'cumulative' || (own.begins !== null && other.begins === own.begins)),
    ),
  )
  const fell = own.counts.some((count, i) => {
    const before = compared.find((other) => other.counts[i] !== null)?.counts[i]
    return count !== null && before != null && count < before
  })
  return fell || redefined
}
const isLater = (one: SeriesRecord, other: SeriesRecord) => {
  const [a, b] = [one.reported ?? '', other.reported ?? '']
  return a > b || (a === b && one.id > other.id)
}

test('the breaks are those of the rule, read off its sentence', () => {
  fc.assert(
    fc.property(drawn, (records) => {
      const expected = records.filter((each) => isBreak(each, records)).map(({ id }) => id)
      assert.deepEqual(
        [...findBreaks(records).keys()].sort((a, b) => a - b),
        expected,
      )
    }),
    { numRuns: 2000 },
  )
})

test('the order of the records does not matter', () => {
  const shuffled = drawn.chain((records) =>
    fc.tuple(fc.constant(records), fc.shuffledSubarray(records, { minLength: records.length })),
  )
  fc.assert(
    fc.property(shuffled, ([records, others]) => {
      const sorted = (breaks: ReturnType<typeof findBreaks>) => [...breaks].sort(([a], [b]) => a - b)
      assert.deepEqual(sorted(findBreaks(others)), sorted(findBreaks(records)))
    }),
  )
})
