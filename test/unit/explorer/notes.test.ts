// The words on the picture: each rule with the numbers that make it speak, and those next to them that do not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Point } from '../../../clients/typescript/src/client.ts'
import { toBars } from '../../../explorer/src/curve-bars.ts'
import { type NoteOptions, writeNotes } from '../../../explorer/src/event/notes.ts'

const WEEKS = ['2025-03-03', '2025-03-10', '2025-03-17', '2025-03-24', '2025-03-31']
const addDays = (day: string, days: number) => new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10)
const counts = (cases: number | null) => ({ cases, deaths: null, hospitalised: null, recovered: null, tested: null })
const known = { places_known: 0, places_reporting: 0, share: null }

function pointOf(first: string, last: string, cases: number | null, flags: Partial<Point>): Point {
  const point = { period: first, first_day: first, last_day: last, records: 1, completeness: { cases: known } }
  return { ...point, new: counts(cases), cumulative: counts(null), point: counts(null), ...flags } as unknown as Point
}

interface Case {
  /** Cases of a place by week: on the Tuesday, or from a list of days of the week. */
  readonly places: Readonly<Record<string, readonly (number | readonly number[])[]>>
  readonly flags?: Readonly<Record<number, Partial<Point>>>
  readonly options?: Partial<NoteOptions>
}

function noteTexts({ places, flags = {}, options = {} }: Case): string[] {
  const days = Object.entries(places).map(([code, weeks]) => ({
    code,
    spans: [],
    points: weeks.flatMap((week, i) =>
      (typeof week === 'number' ? [0, week] : week).flatMap((cases, day) => {
        const date = addDays(WEEKS[i] ?? '', day)
        return cases === 0 ? [] : [pointOf(date, date, cases, {})]
      }),
    ),
  }))
  const sum = (i: number) =>
    days
      .flatMap(({ points }) => points)
      .reduce((all, { first_day: day, new: news }) => {
        const isIn = day >= (WEEKS[i] ?? '') && day <= addDays(WEEKS[i] ?? '', 6)
        return isIn ? all + (news.cases ?? 0) : all
      }, 0)
  const points = WEEKS.map((week, i) => pointOf(week, addDays(week, 6), sum(i), flags[i] ?? {}))
  const bars = toBars(points, { count: 'cases', kind: 'new' }, WEEKS[0] ?? '', '2025-04-06')
  const notes = writeNotes(bars, {
    ...({
      count: 'cases',
      kind: 'new',
      interval: 'isoweek',
      last: '2025-04-06',
      other: [],
      otherRelease: null,
    } as const),
    curves: days,
    nameOf: String,
    ...options,
  })
  return notes.map(({ text }) => text.replaceAll('\u00a0', ' '))
}

const EVEN = [2, 2, 2]
test('a peak without a main place or day has its number and its days', () => {
  assert.deepEqual(noteTexts({ places: { TX: [5, 5, EVEN, 5, 5], UT: [5, 5, EVEN, 5, 5] } }), ['12, 17 – 23 Mar 2025'])
})

test('a place with over half of the peak, and a day with over half of it', () => {
  assert.deepEqual(noteTexts({ places: { TX: [5, 5, [3, 3, 3], 5, 5], UT: [4, 4, EVEN, 4, 4] } }), [
    '15, 17 – 23 Mar 2025: 9 in TX',
  ])
  assert.deepEqual(noteTexts({ places: { TX: [5, 5, 9, 5, 5], UT: [4, 4, 9, 4, 4] } }), [
    '18, 17 – 23 Mar 2025: 18 dated 18 Mar',
  ])
})

test('a place with most of a period and nearly nothing of the next, with the day on which it returns', () => {
  const UT = [EVEN, EVEN, EVEN, EVEN, [9, 9, 9]]
  assert.deepEqual(
    noteTexts({ places: { TX: [0, [0, 9, 9], 0, 0, 1], UT } }).at(-1),
    'TX: 18 of 24, 10 – 16 Mar 2025, then none until 1 Apr 2025',
  )
  assert.deepEqual(
    noteTexts({ places: { TX: [0, [0, 9, 9], 1, 0, 0], UT } }),
    ['27, 31 Mar – 6 Apr 2025: 27 in UT'],
    '1 of 7 is not below 0.1',
  )
})

test('at the peak a fall is part of its words', () => {
  assert.deepEqual(noteTexts({ places: { TX: [0, [30, 30, 30], 0, 0, 0], UT: [EVEN, EVEN, EVEN, EVEN, EVEN] } }), [
    '96, 10 – 16 Mar 2025: 90 in TX, then none',
  ])
})

test('small falls are noise', () => {
  const UT = [0, 1, EVEN, EVEN, [40, 40, 40]]
  assert.equal(noteTexts({ places: { TX: [5, 0, 0, 0, 0], UT } }).length, 1)
})

test('the flags of the service, and at most three notes', () => {
  const TX = [
    [3, 3, 3],
    [3, 3, 3],
    [4, 4, 4],
    [3, 3, 3],
    [3, -9, 3],
  ]
  const flags = { 1: { definition_changed: true }, 2: { revision: true } }
  const other = [{ period: '2025-03-03', value: 1 }]
  assert.deepEqual(noteTexts({ places: { TX }, flags }), [
    '12, 17 – 23 Mar 2025: 12 in TX. Total revised by the source',
    'The source took back 3, 31 Mar – 6 Apr 2025',
    'Case definition changed',
  ])
  assert.deepEqual(noteTexts({ places: { TX }, flags, options: { other, otherRelease: 4 } }).at(-1), '1 in release 4')
})

test('places that are not parts of the curve are not named', () => {
  assert.deepEqual(noteTexts({ places: { TX: [1, 1, 9, 1, 1] }, options: { curves: [] } }), ['9, 17 – 23 Mar 2025'])
})
