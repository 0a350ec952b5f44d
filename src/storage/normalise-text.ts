// Normalises text for publication: NFC, no white space at either end, no control characters, no invisible characters. Pure.

/** Text that needs no change: no white space at either end, nothing invisible, only characters with a single form. */
const PLAIN = /^(?:[!-~¡-¬®-˿](?:[ -~\u00a0-¬®-˿]*[!-~¡-¬®-˿])?)?$/
/** Line ends and all other control characters. A sequence of them becomes one space. */
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu
/** Direction marks (they can disguise a text as another), zero-width characters and the soft hyphen. */
const INVISIBLE = /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu

/** Gives the normalised text and a description of each change. */
export function normaliseText(text: string): { text: string; changes: readonly string[] } {
  if (PLAIN.test(text)) return { text, changes: [] }
  const changes: string[] = []
  const step = (before: string, after: string, change: string) => {
    if (after !== before) changes.push(change)
    return after
  }
  const visible = step(text, text.replace(INVISIBLE, ''), 'invisible characters were removed')
  const spaced = step(
    visible,
    visible.replace(CONTROLS, ' '),
    'control characters and line ends were replaced by a space',
  )
  const trimmed = step(spaced, spaced.trim(), 'white space at the start or end was removed')
  return { text: step(trimmed, trimmed.normalize('NFC'), 'letters and accents were composed (NFC)'), changes }
}

/** PostgreSQL cannot store NUL, and half of a surrogate pair is not a character. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
