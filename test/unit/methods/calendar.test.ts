// Weeks and months, compared with published tables and, day by day, with independent formulas.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDay, INTERVALS, type Interval, parseDay, periodOf } from '../../../src/methods/calendar.ts'

const nameOf = (interval: Interval, day: string) => periodOf(interval, parseDay(day)).name

/** The first three are examples of ISO 8601; the others are at the start or end of years. */
const isoWeeks: [day: string, week: string][] = [
  ['1995-01-01', '1994-W52'],
  ['1996-12-31', '1997-W01'],
  ['1998-12-31', '1998-W53'],
  ['2005-01-01', '2004-W53'],
  ['2005-01-02', '2004-W53'],
  ['2005-12-31', '2005-W52'],
  ['2007-01-01', '2007-W01'],
  ['2007-12-30', '2007-W52'],
  ['2007-12-31', '2008-W01'],
  ['2008-12-28', '2008-W52'],
  ['2008-12-29', '2009-W01'],
  ['2009-12-31', '2009-W53'],
  ['2010-01-03', '2009-W53'],
  ['2010-01-04', '2010-W01'],
  ['2020-12-31', '2020-W53'],
  ['2021-01-03', '2020-W53'],
  ['2021-01-04', '2021-W01'],
  ['2024-12-30', '2025-W01'],
  ['1969-12-29', '1970-W01'],
]

/** Weeks end on Saturday; the MMWR calendar has 53 of them in 2008, 2014 and 2020. */
const epiWeeks: [day: string, week: string][] = [
  ['2008-12-28', '2008-EW53'],
  ['2009-01-03', '2008-EW53'],
  ['2009-01-04', '2009-EW01'],
  ['2014-01-04', '2014-EW01'],
  ['2013-12-29', '2014-EW01'],
  ['2013-12-28', '2013-EW52'],
  ['2015-01-03', '2014-EW53'],
  ['2015-01-04', '2015-EW01'],
  ['2016-01-02', '2015-EW52'],
  ['2016-01-03', '2016-EW01'],
  ['2017-01-01', '2017-EW01'],
  ['2017-12-30', '2017-EW52'],
  ['2017-12-31', '2018-EW01'],
  ['2018-12-29', '2018-EW52'],
  ['2018-12-30', '2019-EW01'],
  ['2019-12-28', '2019-EW52'],
  ['2019-12-29', '2020-EW01'],
  ['2021-01-02', '2020-EW53'],
  ['2021-01-03', '2021-EW01'],
  ['2022-01-01', '2021-EW52'],
  ['2022-01-02', '2022-EW01'],
]

test('ISO weeks agree with the table', () => {
  for (const [day, week] of isoWeeks) assert.equal(nameOf('isoweek', day), week, day)
})

test('epidemiological weeks agree with the table', () => {
  for (const [day, week] of epiWeeks) assert.equal(nameOf('epiweek', day), week, day)
})

test('the name of a day is YYYY-MM-DD, the name of a month YYYY-MM', () => {
  assert.deepEqual(periodOf('day', parseDay('2024-02-29')), { name: '2024-02-29', first: 19782, last: 19782 })
  const { name, first, last } = periodOf('month', parseDay('2024-02-29'))
  assert.deepEqual([name, formatDay(first), formatDay(last)], ['2024-02', '2024-02-01', '2024-02-29'])
  assert.equal(formatDay(periodOf('month', parseDay('1900-02-10')).last), '1900-02-28')
  assert.equal(formatDay(periodOf('month', parseDay('1999-12-31')).last), '1999-12-31')
  assert.equal(formatDay(periodOf('month', parseDay('0033-04-03')).last), '0033-04-30')
})

/** Computed from the day of the year and the day of the week only. */
function countWeek(day: Date, weekdayOf: (day: Date) => number): string {
  const year = day.getUTCFullYear()
  const ordinal = Math.round((day.getTime() - Date.UTC(year, 0, 1)) / 86_400_000) + 1
  const week = Math.floor((ordinal - weekdayOf(day) + 10) / 7)
  if (week < 1) return `${year - 1}-W${weeksIn(year - 1, weekdayOf)}`
  if (week > weeksIn(year, weekdayOf)) return `${year + 1}-W01`
  return `${year}-W${String(week).padStart(2, '0')}`
}

/** A year has 53 weeks if its first or its last day is the fourth day of a week. */
const weeksIn = (year: number, weekdayOf: (day: Date) => number) =>
  [Date.UTC(year, 0, 1), Date.UTC(year, 11, 31)].some((day) => weekdayOf(new Date(day)) === 4) ? 53 : 52

const isoWeekday = (day: Date) => day.getUTCDay() || 7
const epiWeekday = (day: Date) => day.getUTCDay() + 1

test('every day from 1930 to 2040 is in the week of the independent formula', () => {
  for (let day = parseDay('1930-01-01'); day <= parseDay('2040-12-31'); day++) {
    const date = new Date(day * 86_400_000)
    assert.equal(periodOf('isoweek', day).name, countWeek(date, isoWeekday))
    assert.equal(periodOf('epiweek', day).name, countWeek(date, epiWeekday).replace('W', 'EW'))
  }
})

test('periods are contiguous, contain their days and have unique names', () => {
  for (const interval of INTERVALS) {
    const names = new Set<string>()
    let expected = periodOf(interval, parseDay('1930-01-01')).first
    while (expected < parseDay('2040-12-31')) {
      const period = periodOf(interval, expected)
      assert.equal(period.first, expected)
      assert.deepEqual(periodOf(interval, period.last), period)
      assert.ok(!names.has(period.name), period.name)
      names.add(period.name)
      expected = period.last + 1
    }
  }
})

test('a year has its name and all its days', () => {
  const year = { name: '2024', first: parseDay('2024-01-01'), last: parseDay('2024-12-31') }
  for (const day of ['2024-01-01', '2024-02-29', '2024-12-31']) assert.deepEqual(periodOf('year', parseDay(day)), year)
})
