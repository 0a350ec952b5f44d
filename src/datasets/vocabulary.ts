// Code lists that are too long or too alive to be a closed list in a declaration.
// Nothing here knows a dataset; each vocabulary answers one question: is this a code of mine?
import { iso31661, iso31662 } from 'iso-3166'

export interface Vocabulary {
  readonly name: string
  /** The shape of a code, for schemas; `has` is the truth. */
  readonly pattern: string
  has(code: string): boolean
}

/** ISO 3166-1 leaves XA..XZ to users: ships, and reports that cover several countries. */
const USER_ASSIGNED = /^X[A-Z]$/
const countries = new Set(iso31661.map((entry) => entry.alpha2))
const subdivisions = new Set(iso31662.map((entry) => entry.code))

export const countryCodes: Vocabulary = {
  name: 'ISO 3166-1 alpha-2',
  pattern: '^[A-Z]{2}$',
  has: (code) => countries.has(code) || USER_ASSIGNED.test(code),
}

export const subdivisionCodes: Vocabulary = {
  name: 'ISO 3166-2',
  pattern: '^[A-Z]{2}-[A-Z0-9]{1,3}$',
  has: (code) => subdivisions.has(code),
}
