// Parses dates in other formats by a pattern of YYYY, YY, MM, M, DD and D. Does not check whether the day exists.

const PARTS: Record<string, { unit: 'year' | 'month' | 'day'; shape: string }> = {
  YYYY: { unit: 'year', shape: '\\d{4}' },
  YY: { unit: 'year', shape: '\\d{2}' },
  MM: { unit: 'month', shape: '\\d{2}' },
  M: { unit: 'month', shape: '\\d{1,2}' },
  DD: { unit: 'day', shape: '\\d{2}' },
  D: { unit: 'day', shape: '\\d{1,2}' },
}
/** A year of two digits is in this century: older sources print four digits. */
const CENTURY = '20'

/** The parser gives YYYY-MM-DD, or null if the text does not match the pattern. Null instead of a parser: invalid pattern. */
export function createDateParser(pattern: string): ((text: string) => string | null) | null {
  const units: string[] = []
  const shape = pattern.replace(/YYYY|YY|MM?|DD?|[^]/g, (token) => {
    const part = PARTS[token]
    if (part === undefined) return token.replace(/\W/, '\\$&')
    units.push(part.unit)
    return `(?<${part.unit}>${part.shape})`
  })
  if (units.toSorted().join() !== 'day,month,year') return null
  const expression = new RegExp(`^${shape}$`)
  return (text) => {
    const { year = '', month = '', day = '' } = expression.exec(text)?.groups ?? {}
    if (year === '') return null
    return `${year.length === 2 ? CENTURY : ''}${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  }
}
