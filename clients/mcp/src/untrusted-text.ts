// Cleans text that others wrote: no control, bidirectional or invisible characters, and no more characters than its bound.

/** Of one field of a record. */
const MAX_TEXT = 300
/** Control, format (bidirectional marks, zero width, tags), private and unassigned surrogates, line separators, variation selectors. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u{FE00}-\u{FE0F}\u{E0100}-\u{E01EF}]+/gu

/** Most texts are clean. */
const UNCLEAN = new RegExp(`${INVISIBLE.source}|^ | $|  `, 'u')

export function cleanText(text: string, max = MAX_TEXT): string {
  if (text.length <= max && !UNCLEAN.test(text)) return text
  const characters = Array.from(text.replace(INVISIBLE, ' ').replace(/ {2,}/g, ' ').trim())
  return characters.length <= max ? characters.join('') : `${characters.slice(0, max - 1).join('')}…`
}

/** All texts in a value, in any depth. */
export function cleanValue(value: unknown, max = MAX_TEXT): unknown {
  if (typeof value === 'string') return cleanText(value, max)
  if (Array.isArray(value)) return value.map((each) => cleanValue(each, max))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [cleanText(name, 100), cleanValue(each, max)]))
}
