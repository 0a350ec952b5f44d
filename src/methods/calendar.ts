// Days, ISO weeks (Monday to Sunday), epidemiological weeks of the MMWR (Sunday to Saturday) and months. Pure.
// A day is a number, counted from 1970-01-01, so that nothing here knows a time zone.
export const INTERVALS = ['day', 'isoweek', 'epiweek', 'month'] as const
export type Interval = (typeof INTERVALS)[number]

/** A stretch of days, both ends included. */
export interface Span {
  readonly name: string
  readonly first: number
  readonly last: number
}

const DAY_MS = 86_400_000
/** 1970-01-01 was a Thursday. */
const MONDAY = 4
const SUNDAY = 3
const LONGEST_MONTH = 31

export const readDay = (text: string): number => Date.parse(`${text}T00:00:00Z`) / DAY_MS
export const writeDay = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** The stretch of an interval that a day lies in. */
export function spanOf(interval: Interval, day: number): Span {
  switch (interval) {
    case 'day':
      return { name: writeDay(day), first: day, last: day }
    case 'isoweek':
      return weekOf(day, MONDAY, 'W')
    case 'epiweek':
      return weekOf(day, SUNDAY, 'EW')
    case 'month':
      return monthOf(day)
  }
}

/** Both countings give a week to the year that most of its days lie in: that of its fourth day. */
function weekOf(day: number, firstDay: number, mark: string): Span {
  const first = day - modulo(day - firstDay, 7)
  const year = writeDay(first + 3).slice(0, 4)
  const number = Math.floor((first + 3 - readDay(`${year}-01-01`)) / 7) + 1
  return { name: `${year}-${mark}${String(number).padStart(2, '0')}`, first, last: first + 6 }
}

function monthOf(day: number): Span {
  const name = writeDay(day).slice(0, 7)
  const first = firstOfMonth(day)
  return { name, first, last: firstOfMonth(first + LONGEST_MONTH) - 1 }
}

const firstOfMonth = (day: number) => readDay(`${writeDay(day).slice(0, 7)}-01`)
const modulo = (number: number, by: number) => ((number % by) + by) % by
