// Days, ISO weeks (Monday to Sunday), epidemiological weeks of the MMWR (Sunday to Saturday), months and years. Pure.
// A day is the number of days since 1970-01-01, so no function depends on a time zone.
import { DAY_MS } from '../platform/calendar-date.ts'

export const INTERVALS = ['day', 'isoweek', 'epiweek', 'month', 'year'] as const
export type Interval = (typeof INTERVALS)[number]

/** A range of days, including both ends. */
export interface Period {
  readonly name: string
  readonly first: number
  readonly last: number
}

/** The first Monday and Sunday after 1970-01-01, which was a Thursday. */
const MONDAY = 4
const SUNDAY = 3
const MAX_MONTH_DAYS = 31

export const parseDay = (text: string): number => Date.parse(`${text}T00:00:00Z`) / DAY_MS

/** The days of more than a century, of which a response may have thousands. */
const MAX_FORMATTED = 50_000
const formatted = new Map<number, string>()

export function formatDay(day: number): string {
  let text = formatted.get(day)
  if (text === undefined) {
    text = new Date(day * DAY_MS).toISOString().slice(0, 10)
    if (formatted.size >= MAX_FORMATTED) formatted.clear()
    formatted.set(day, text)
  }
  return text
}

/** For many values of which most repeat. */
export function remembering<From, To>(convert: (from: From) => To): (from: From) => To {
  const known = new Map<From, To>()
  return (from) => {
    let to = known.get(from)
    if (to === undefined) {
      to = convert(from)
      known.set(from, to)
    }
    return to
  }
}

/** The period of an interval that contains a day. */
export function periodOf(interval: Interval, day: number): Period {
  switch (interval) {
    case 'day':
      return { name: formatDay(day), first: day, last: day }
    case 'isoweek':
      return weekOf(day, MONDAY, 'W')
    case 'epiweek':
      return weekOf(day, SUNDAY, 'EW')
    case 'month':
      return monthOf(day)
    case 'year':
      return yearOf(day)
  }
}

/** Both kinds of week belong to the year of most of their days: the year of their fourth day. */
function weekOf(day: number, firstDay: number, prefix: string): Period {
  const first = day - modulo(day - firstDay, 7)
  const year = formatDay(first + 3).slice(0, 4)
  const number = Math.floor((first + 3 - parseDay(`${year}-01-01`)) / 7) + 1
  return { name: `${year}-${prefix}${String(number).padStart(2, '0')}`, first, last: first + 6 }
}

function monthOf(day: number): Period {
  const name = formatDay(day).slice(0, 7)
  const first = firstOfMonth(day)
  return { name, first, last: firstOfMonth(first + MAX_MONTH_DAYS) - 1 }
}

function yearOf(day: number): Period {
  const name = formatDay(day).slice(0, 4)
  return { name, first: parseDay(`${name}-01-01`), last: parseDay(`${name}-12-31`) }
}

const firstOfMonth = (day: number) => parseDay(`${formatDay(day).slice(0, 7)}-01`)
const modulo = (number: number, divisor: number) => ((number % divisor) + divisor) % divisor
