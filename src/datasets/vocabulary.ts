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
const alpha3ByCode = new Map(iso31661.map((entry) => [entry.alpha2, entry.alpha3]))
const subdivisions = new Set(iso31662.map((entry) => entry.code))

export const countryCodes: Vocabulary = {
  name: 'ISO 3166-1 alpha-2',
  pattern: '^[A-Z]{2}$',
  has: (code) => alpha3ByCode.has(code) || USER_ASSIGNED.test(code),
}

/** Null for the codes that users assign. */
export const alpha3Of = (countryCode: string): string | null => alpha3ByCode.get(countryCode) ?? null
export const isUserAssigned = (countryCode: string): boolean => USER_ASSIGNED.test(countryCode)

const ofPattern = (name: string, pattern: string): Vocabulary => {
  const shape = new RegExp(pattern, 'u')
  return { name, pattern, has: (code) => shape.test(code) }
}

const SUBDIVISION = /^[A-Z]{2}-[A-Z0-9]{1,3}$/

/** Codes are retired while reports still use them, so the form decides and the country; `isCurrentSubdivision` knows the list. */
export const subdivisionCodes: Vocabulary = {
  name: 'ISO 3166-2',
  pattern: SUBDIVISION.source,
  has: (code) => SUBDIVISION.test(code) && countryCodes.has(code.slice(0, 2)),
}
export const isCurrentSubdivision = (code: string): boolean => subdivisions.has(code)

/** The form only: the list itself may not be shipped. Without I and O, which look like digits. */
const LETTER = 'A-HJ-NP-Z'
const STEM = `[1-9${LETTER}][${LETTER}][0-9][0-9${LETTER}](?:\\.[0-9${LETTER}]{1,2})?`
const EXTENSION = `X[${LETTER}][0-9${LETTER}]{2,4}`
/** A stem code, an extension code, or a cluster: further stem codes behind /, extension codes behind &. */
export const icd11Codes = ofPattern('ICD-11', `^(?:${STEM}|${EXTENSION})(?:/${STEM}|&${EXTENSION}){0,20}$`)

/** `scheme:value`. The schemes that we know have a form of their own; those of others need only be one word. */
export const placeIds = ofPattern(
  'place identifiers (scheme:value, such as geonames:2988507)',
  '^(?:geonames:[1-9][0-9]{0,9}|pcode:[A-Z]{2,3}[0-9A-Z.-]{0,20}|geob:[A-Z]{3}-[0-9A-Za-z-]{1,60}|(?!geonames:|pcode:|geob:)[a-z][a-z0-9_-]{0,29}:[!-~]{1,100})$',
)
