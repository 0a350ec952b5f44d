// Text as it is published: NFC, without white space at its ends, without control characters and invisible marks. Pure.

/** Nothing in it can need a change: no white space at the ends, nothing invisible, and only characters that have one form. */
const PLAIN = /^(?:[!-~¡-¬®-˿](?:[ -~\u00a0-¬®-˿]*[!-~¡-¬®-˿])?)?$/
/** Line ends and all other control characters; a run of them is one space. */
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu
/** Marks that nobody sees: of direction (which can also make a text look like another), of zero width, and the soft hyphen. */
const INVISIBLE = /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu

/** The text, and what was changed in words; nothing where it was good as it came. */
export function normaliseText(text: string): { text: string; changes: readonly string[] } {
  if (PLAIN.test(text)) return { text, changes: [] }
  const changes: string[] = []
  const step = (before: string, after: string, change: string) => {
    if (after !== before) changes.push(change)
    return after
  }
  const visible = step(text, text.replace(INVISIBLE, ''), 'invisible marks are left out')
  const spaced = step(visible, visible.replace(CONTROLS, ' '), 'control characters and line ends become a space')
  const trimmed = step(spaced, spaced.trim(), 'white space at its ends is left out')
  return { text: step(trimmed, trimmed.normalize('NFC'), 'letters and accents are composed (NFC)'), changes }
}

/** PostgreSQL keeps no NUL, and half of a surrogate pair is no character. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
