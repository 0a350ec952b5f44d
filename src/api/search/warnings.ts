// The header that says what a query does not match, and what it may have meant. Pure.

/** The header is readable, has only ASCII characters and at most this many. */
const MAX_HEADER_LENGTH = 1000
const MAX_VALUE_LENGTH = 60

/** A parameter as in a query string, so that a suggestion can be copied. Long values are shortened. */
export function formatParameter(name: string, value: string): string {
  const characters = Array.from(value)
  const shown = characters.slice(0, MAX_VALUE_LENGTH).join('')
  return `${new URLSearchParams([[name, shown]]).toString()}${characters.length > MAX_VALUE_LENGTH ? '...' : ''}`
}

/** One sentence for each warning. Sentences that do not fit are counted. */
export function warningHeader(warnings: readonly string[]): Record<string, string> {
  let text = ''
  for (const [i, warning] of warnings.entries()) {
    const rest = ` (and ${warnings.length - i} more)`
    const longer = text === '' ? warning : `${text} ${warning}`
    if (longer.length > MAX_HEADER_LENGTH - rest.length) return { 'outbreaks-warning': (text + rest).trim() }
    text = longer
  }
  return text === '' ? {} : { 'outbreaks-warning': text }
}

/** The suggestions of one warning that fit: the nearest first. */
export const describeNearest = (parameters: readonly string[]): string =>
  parameters.length === 0 ? 'Nothing similar exists.' : `Nearest: ${parameters.join(', ')}.`
