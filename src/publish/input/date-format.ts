// Days as others write them, read by a pattern of YYYY, YY, MM, M, DD and D. Whether the day exists is not decided here.

const PARTS: Record<string, { unit: 'year' | 'month' | 'day'; shape: string }> = {
  YYYY: { unit: 'year', shape: '\\d{4}' },
  YY: { unit: 'year', shape: '\\d{2}' },
  MM: { unit: 'month', shape: '\\d{2}' },
  M: { unit: 'month', shape: '\\d{1,2}' },
  DD: { unit: 'day', shape: '\\d{2}' },
  D: { unit: 'day', shape: '\\d{1,2}' },
}
/** Two digits of a year are of this century: older sources print four. */
const CENTURY = '20'

/** Gives YYYY-MM-DD, or null where the text is not written by the pattern. Null instead of a reader: no such pattern. */
export function createDateReader(pattern: string): ((text: string) => string | null) | null {
  const units: string[] = []
  const shape = pattern.replace(/YYYY|YY|MM?|DD?|[^]/g, (token) => {
    const part = PARTS[token]
    if (part === undefined) return token.replace(/\W/, '\\$&')
    units.push(part.unit)
    return `(?<${part.unit}>${part.shape})`
  })
  if (units.toSorted().join() !== 'day,month,year') return null
  const written = new RegExp(`^${shape}$`)
  return (text) => {
    const { year = '', month = '', day = '' } = written.exec(text)?.groups ?? {}
    if (year === '') return null
    return `${year.length === 2 ? CENTURY : ''}${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  }
}
