// Names of countries from ISO 3166-1, from the Unicode locale data of Node, and others in common use.
// Compares an English name with a country code, and lists the names of a country in several languages.
import { iso31661 } from 'iso-3166'
import { LRUCache } from 'lru-cache'
import { lookUp } from './vocabulary.ts'

/** Names that are in neither list. */
const ALTERNATIVES: Record<string, string> = {
  AE: 'UAE',
  BQ: 'Bonaire, Saint Eustatius and Saba',
  BS: 'The Bahamas',
  CD: 'Democratic Republic of the Congo; Democratic Republic of Congo; Congo (Kinshasa); DR Congo; DRC; Zaire',
  CG: 'Republic of the Congo; Republic of Congo; Congo (Brazzaville); Congo Republic',
  CI: 'Ivory Coast',
  CN: "People's Republic of China; Mainland China",
  CZ: 'Czech Republic',
  FM: 'Micronesia (Federated States of)',
  GB: 'UK; Great Britain; The United Kingdom',
  GM: 'The Gambia',
  HK: 'Hong Kong SAR; China, Hong Kong Special Administrative Region',
  KP: "Democratic People's Republic of Korea; Korea, North; DPRK",
  KR: 'Republic of Korea; Korea, South',
  LA: 'Lao PDR',
  MK: 'Macedonia; The former Yugoslav Republic of Macedonia',
  MM: 'Burma',
  MO: 'Macau; Macao SAR; China, Macao Special Administrative Region',
  PS: 'Palestine; occupied Palestinian territory; occupied Palestinian territory, including east Jerusalem; West Bank and Gaza',
  RE: 'La Reunion',
  SZ: 'Swaziland',
  TL: 'East Timor',
  TR: 'Turkey',
  TW: 'Taiwan*',
  US: 'US; USA; The United States',
  VA: 'Vatican',
  VG: 'Virgin Islands, British',
  VI: 'United States Virgin Islands; Virgin Islands, U.S.',
}

/** The text without accents. */
export const foldAccents = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '')

/** Keeps only lower-case letters without accents, and drops "the" and "of", which some variants of a name have. */
const normaliseName = (name: string): string =>
  foldAccents(name)
    .toLowerCase()
    .replaceAll('&', ' and ')
    .replace(/\bst\b\.?/g, 'saint')
    .replace(/[^a-z]+/g, ' ')
    .replace(/\b(the|of)\b/g, ' ')
    .replaceAll(/\s+/g, '')

/** "Bolivia, Plurinational State of" is also called Bolivia, and Plurinational State of Bolivia. */
function nameVariants(name: string): string[] {
  const [, short, rest] = /^([^,(]+)[,(]\s*([^)]+)/.exec(name) ?? []
  return short === undefined ? [name] : [name, short, `${rest} ${short}`]
}

const displayNames = new Intl.DisplayNames('en', { type: 'region' })
const alternativesOf = (code: string) => lookUp(ALTERNATIVES, code)?.split('; ') ?? []
const codesByName = new Map<string, Set<string>>()
/** The names with accents, by the name without. */
const accented = new Map<string, string>()
for (const { alpha2, name } of iso31661) {
  const variants = [name, displayNames.of(alpha2) ?? name].flatMap(nameVariants)
  for (const variant of [...variants, ...alternativesOf(alpha2)]) {
    const normalised = normaliseName(variant)
    codesByName.set(normalised, (codesByName.get(normalised) ?? new Set()).add(alpha2))
    if (foldAccents(variant) !== variant) accented.set(foldAccents(variant), variant)
  }
}

/** A table has few countries, and each in many rows. */
const normalisedNames = new LRUCache<string, string>({ max: 1000, memoMethod: normaliseName })

/** `other` means that the name is known, but only for another country. */
export function compareCountryName(code: string, name: string): 'same' | 'other' | 'unknown' {
  const codes = codesByName.get(normalisedNames.memo(name))
  if (codes === undefined) return 'unknown'
  return codes.has(code) ? 'same' : 'other'
}

/** The name of a country with its accents; null if no country has the name. */
export const spellCountry = (name: string): string | null =>
  codesByName.has(normalisedNames.memo(name)) ? (accented.get(name) ?? name) : null

/** The code of a country by any of its names; null if none or several have it. */
export function countryCodeOf(name: string): string | null {
  const codes = [...(codesByName.get(normalisedNames.memo(name)) ?? [])]
  const byAlpha3 = iso31661.find(({ alpha3 }) => alpha3 === name.toUpperCase())?.alpha2
  return byAlpha3 ?? (codes.length === 1 ? (codes[0] ?? null) : null)
}

/** The official languages of the United Nations, German and Portuguese. */
const LANGUAGES = ['en', 'fr', 'es', 'pt', 'de', 'ar', 'ru', 'zh']
const regionNames = LANGUAGES.map((language) => new Intl.DisplayNames(language, { type: 'region', fallback: 'none' }))

/** The names of a country (ISO 3166-1) or of an area of M49 in these languages, English first. */
export const translateRegion = (code: string): string[] =>
  regionNames.map((names) => names.of(code)).filter((name) => name !== undefined)

/** Africa, the Americas, Asia, Europe and Oceania in English. */
export const continentNames = ['002', '019', '142', '150', '009'].map((m49) => displayNames.of(m49) ?? m49)

/** All names of a country, the common English name first. A code that users assign has none. */
export function countryNamesOf(code: string): string[] {
  const official = iso31661.find(({ alpha2 }) => alpha2 === code)
  if (official === undefined) return []
  return [
    ...new Set([...translateRegion(code), ...nameVariants(official.name), official.alpha3, ...alternativesOf(code)]),
  ]
}
