// Code lists that are too long, or change too often, to be choices in a declaration.
// Each vocabulary says whether a string is one of its codes. Nothing here knows a dataset.
import { iso31661, iso31662 } from 'iso-3166'

export interface Vocabulary {
  readonly name: string
  /** The form of a code, for schemas. `has` decides whether a code is valid. */
  readonly pattern: string
  has(code: string): boolean
}

/** ISO 3166-1 reserves XA to XZ for users: ships, and reports that cover several countries. XK is Kosovo, a country. */
const USER_ASSIGNED = /^X[A-JL-Z]$/
/** ISO 3166-1 has no code for Kosovo. Most sources use this one. */
export const KOSOVO = 'XK'
const alpha3ByCode = new Map(iso31661.map((entry) => [entry.alpha2, entry.alpha3]))
const subdivisions = new Set(iso31662.map((entry) => entry.code))

export const countryCodes: Vocabulary = {
  name: 'ISO 3166-1 alpha-2',
  pattern: '^[A-Z]{2}$',
  has: (code) => alpha3ByCode.has(code) || code === KOSOVO || USER_ASSIGNED.test(code),
}

/** Null for the codes that users assign. */
export const alpha3Of = (countryCode: string): string | null => alpha3ByCode.get(countryCode) ?? null
export const isUserAssigned = (countryCode: string): boolean => USER_ASSIGNED.test(countryCode)

const fromPattern = (name: string, pattern: string): Vocabulary => {
  const shape = new RegExp(pattern, 'u')
  return { name, pattern, has: (code) => shape.test(code) }
}

const SUBDIVISION = /^[A-Z]{2}-[A-Z0-9]{1,3}$/

/** Reports still use retired codes, so only the form and the country are checked. `isCurrentSubdivision` checks the list. */
export const subdivisionCodes: Vocabulary = {
  name: 'ISO 3166-2',
  pattern: SUBDIVISION.source,
  has: (code) => SUBDIVISION.test(code) && countryCodes.has(code.slice(0, 2)),
}
export const isCurrentSubdivision = (code: string): boolean => subdivisions.has(code)

/** Names that provinces had before. Reports still use them. */
const EARLIER_NAMES: readonly (readonly [code: string, name: string])[] = [
  ['IN-OD', 'Orissa'],
  ['IN-PY', 'Pondicherry'],
  ['IN-UK', 'Uttaranchal'],
  ['ID-AC', 'Nanggroe Aceh Darussalam'],
  ['TR-33', 'İçel'],
]

/** Letters without accents, in lower case, so that Mahārāshtra is Maharashtra. */
const foldName = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '')
    .toLowerCase()

/** By country and folded name; null if several parts of a country have the name. */
const codesByName = new Map<string, string | null>()
for (const [code, name] of [
  ...iso31662
    .filter((entry) => entry.parent === entry.code.slice(0, 2))
    .map((entry) => [entry.code, entry.name] as const),
  ...EARLIER_NAMES,
]) {
  const key = `${code.slice(0, 2)} ${foldName(name)}`
  codesByName.set(key, (codesByName.get(key) ?? code) === code ? code : null)
}

/** The ISO 3166-2 code of a part of the first level with this name; null if there is none, or more than one. */
export const subdivisionOf = (countryCode: string, name: string): string | null =>
  codesByName.get(`${countryCode} ${foldName(name)}`) ?? null

/** Checks only the form, because the list itself may not be shipped. I and O are excluded: they look like digits. */
const LETTER = 'A-HJ-NP-Z'
const STEM = `[1-9${LETTER}][${LETTER}][0-9][0-9${LETTER}](?:\\.[0-9${LETTER}]{1,2})?`
const EXTENSION = `X[${LETTER}][0-9${LETTER}]{2,4}`
/** A stem code, an extension code, or a cluster: more stem codes after /, extension codes after &. */
export const icd11Codes = fromPattern('ICD-11', `^(?:${STEM}|${EXTENSION})(?:/${STEM}|&${EXTENSION}){0,20}$`)

/** `scheme:value`. Known schemes have a strict form; the value of any other scheme is one word. */
export const placeIds = fromPattern(
  'place identifiers (scheme:value, such as geonames:2988507)',
  '^(?:geonames:[1-9][0-9]{0,9}|pcode:[A-Z]{2,3}[0-9A-Z.-]{0,20}|geob:[A-Z]{3}-[0-9A-Za-z-]{1,60}|(?!geonames:|pcode:|geob:)[a-z][a-z0-9_-]{0,29}:[!-~]{1,100})$',
)

/** The entry for a string of a client or a publisher. `constructor` and `__proto__` are entries of every object, but of no table. */
export const lookUp = <Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined
