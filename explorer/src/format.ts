// Numbers, days and lengths as people write them. Pure.
const number = new Intl.NumberFormat('en')
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const

const withMinus = (text: string): string => text.replace('-', '−')
export const formatNumber = (value: number): string => withMinus(number.format(value))
/** For an axis: short from ten thousand on. */
export const formatShort = (value: number): string =>
  Math.abs(value) < 10_000 ? formatNumber(value) : withMinus(compact.format(value))
const rate = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 })
/** A rate, with three digits. */
export const formatRate = (value: number): string =>
  value < 1000 ? rate.format(value) : formatNumber(Math.round(value))
export const formatSigned = (value: number): string => (value > 0 ? `+${formatNumber(value)}` : formatNumber(value))
/** A value of a record as text. */
export const formatValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
export const formatBytes = (bytes: number): string =>
  bytes < 1000 ? `${bytes} bytes` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
export const countOf = (value: number, one: string, many = `${one}s`): string =>
  `${formatNumber(value)} ${value === 1 ? one : many}`
export const capitalise = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

export const monthName = (month: number): string => MONTHS[month] ?? ''

/** 5 Jun 2025 */
export function formatDay(day: string, hasYear = true): string {
  const [year, month, date] = day.split('-')
  return `${Number(date)} ${monthName(Number(month) - 1)}${hasYear ? ` ${year}` : ''}`
}

/** 29 Dec 2025 – 4 Jan 2026; 3 – 9 Mar 2025 */
export function formatDays(first: string, last: string): string {
  if (first === last) return formatDay(first)
  const isYear = first.slice(0, 4) === last.slice(0, 4)
  const isMonth = first.slice(0, 7) === last.slice(0, 7)
  return `${isMonth ? Number(first.slice(8)) : formatDay(first, !isYear)} – ${formatDay(last)}`
}

/** The name of a period for a heading: week 14, March 2025. */
export function formatPeriod(period: string): string {
  const week = /^\d{4}-E?W0?(\d+)$/.exec(period)
  if (week !== null) return `week ${week[1]}`
  const month = /^(\d{4})-(\d\d)$/.exec(period)
  return month === null ? period : `${monthName(Number(month[2]) - 1)} ${month[1]}`
}

/** A value of an answer, of which only texts, numbers and truth values exist. */
export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)

/** A word that is longer than a line, such as an address, continues on the next one. */
export function wrapWords(text: string, characters: number): string[] {
  const lines: string[] = []
  const words = text.split(' ').flatMap((word) => word.match(new RegExp(`.{1,${characters}}`, 'g')) ?? [])
  for (const word of words) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < characters) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

const SIGNS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
/** A text for HTML and XML, which have no place for control characters and halves of characters. */
export const escapeText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, '')
    .replaceAll(/[&<>"']/g, (sign) => SIGNS[sign] ?? '')
