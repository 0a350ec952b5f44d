// The places of a period add up to its count, or none is shown; the day with over half of a week is found.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mainDayOf, type PlaceCurve, partsOf, totalOfGroup } from '../../../explorer/src/places/place-curves.ts'

const counts = (cases: number | null) => ({ cases, deaths: null, hospitalised: null, recovered: null, tested: null })
/** New cases by day, or from a first to a last day. */
const curveOf = (code: string | null, days: Record<string, number | null>): PlaceCurve => ({
  code,
  points: Object.entries(days).map(([day, cases]) => {
    const [first = '', last = first] = day.split('/')
    return { first_day: first, last_day: last, new: counts(cases), cumulative: counts(null) }
  }) as unknown as PlaceCurve['points'],
  spans: [],
})
const WEEK = { first: '2025-03-17', last: '2025-03-23' }
const TEXAS = curveOf('US-TX', { '2025-03-18': 70, '2025-03-20': 130, '2025-03-31': 1 })
const UTAH = curveOf('US-UT', { '2025-03-20': 4, '2025-03-22': null })

test('the places of a period, the most first', () => {
  assert.deepEqual(partsOf([UTAH, TEXAS], { ...WEEK, value: 204 }, 'cases'), [
    { code: 'US-TX', value: 200 },
    { code: 'US-UT', value: 4 },
  ])
  assert.deepEqual(partsOf([TEXAS], { first: '2025-03-24', last: '2025-03-30', value: null }, 'cases'), [])
})

test('places that do not add up to the count are not shown, nor are counts that are not known', () => {
  assert.deepEqual(partsOf([UTAH, TEXAS], { ...WEEK, value: 206 }, 'cases'), [])
  assert.deepEqual(partsOf([UTAH, TEXAS], { ...WEEK, value: 204 }, 'deaths'), [])
})

test('the day with over half of a week, of all places together', () => {
  assert.deepEqual(mainDayOf([TEXAS, UTAH], { ...WEEK, value: 204 }, 'cases'), { code: '2025-03-20', value: 134 })
  const even = curveOf('US-TX', { '2025-03-18': 5, '2025-03-20': 5 })
  assert.equal(mainDayOf([even], { ...WEEK, value: 10 }, 'cases'), null)
  const wide = curveOf('US-TX', { '2025-03-18': 1, '2025-03-19/2025-03-20': 9 })
  assert.equal(mainDayOf([wide], { ...WEEK, value: 10 }, 'cases'), null, 'the days of a report are not one day')
  const day = { first: '2025-03-20', last: '2025-03-20', value: 130 }
  assert.equal(mainDayOf([TEXAS], day, 'cases'), null, 'a day is no part of itself')
})

test('the total of a place: its last total, what is new, or what has no day', () => {
  const group = { ...TEXAS, group: {}, undated_counts: counts(7) } as unknown as Parameters<typeof totalOfGroup>[0]
  assert.equal(totalOfGroup(group, 'cases'), 201)
  assert.equal(totalOfGroup({ ...group, points: [] }, 'cases'), 7)
  const last = { ...TEXAS.points[0], cumulative: counts(900) } as (typeof TEXAS.points)[number]
  assert.equal(totalOfGroup({ ...group, points: [...TEXAS.points, last] }, 'cases'), 900)
})
