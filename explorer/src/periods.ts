// The periods between the first and the last, also those without a record. Pure.

/** Months (2020-03) or years (2020) in ascending order. */
export function listPeriods(found: readonly string[]): string[] {
  if (found.length === 0) return []
  const [first, last] = [found.reduce((a, b) => (a < b ? a : b)), found.reduce((a, b) => (a > b ? a : b))]
  const periods: string[] = []
  for (let period = first; period <= last; period = nextPeriod(period)) periods.push(period)
  return periods
}

function nextPeriod(period: string): string {
  const [year = 0, month] = period.split('-').map(Number)
  const write = (number: number, digits: number) => String(number).padStart(digits, '0')
  if (month === undefined) return write(year + 1, 4)
  return month === 12 ? `${write(year + 1, 4)}-01` : `${write(year, 4)}-${write(month + 1, 2)}`
}
