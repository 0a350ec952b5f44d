// The names by which people search for a value of an outbreak record: synonyms, translations and related names. Pure.
import { iso31662 } from 'iso-3166'
import { countryCodeOf, countryNamesOf, translateRegion } from './country-names.ts'
import type { ValueNames } from './define.ts'
import { DISEASES, SOURCE_ABBREVIATIONS, UN_REGION_NAMES, WHO_REGION_NAMES } from './synonyms.ts'
import { lookUp } from './vocabulary.ts'

const splitNames = (names: string): string[] => (names === '' ? [] : names.split('; '))
const normaliseName = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** A name and the names in it: "Orthoebolavirus zairense (Ebola virus, EBOV)" has three. */
const partsOf = (value: string): string[] => [value, ...value.split(/\s\(|\)|[;,]\s/)].filter((part) => part !== '')

interface Synonyms {
  readonly names: string[]
  readonly related: string[]
}

/** By normalised name: the entries of the table that have the name. */
function indexSynonyms(entries: readonly Synonyms[]): Map<string, Synonyms[]> {
  const byName = new Map<string, Synonyms[]>()
  for (const entry of entries)
    for (const name of entry.names) byName.set(normaliseName(name), [...(byName.get(normaliseName(name)) ?? []), entry])
  return byName
}

const diseases = DISEASES.map(([disease, ...pathogens]) => ({
  disease: splitNames(disease),
  pathogens: pathogens.map(splitNames),
}))
const diseaseSynonyms = indexSynonyms(
  diseases.map(({ disease, pathogens }) => ({ names: disease, related: pathogens.flat() })),
)
const pathogenSynonyms = indexSynonyms(
  diseases.flatMap(({ disease, pathogens }) => pathogens.map((names) => ({ names, related: disease }))),
)
/** True if the text is a name of a disease or a pathogen, in any language of the table. */
export const isDiseaseOrPathogen = (text: string): boolean =>
  diseaseSynonyms.has(normaliseName(text)) || pathogenSynonyms.has(normaliseName(text))

const subdivisions = new Map(iso31662.map(({ code, name }) => [code, name]))

function findSynonyms(synonyms: ReadonlyMap<string, readonly Synonyms[]>, value: string): ValueNames {
  const parts = partsOf(value)
  const entries = parts.flatMap((part) => synonyms.get(normaliseName(part)) ?? [])
  return {
    names: [...new Set([...parts, ...entries.flatMap(({ names }) => names)])].filter((name) => name !== value),
    related: [...new Set(entries.flatMap(({ related }) => related))],
  }
}

function nameRegion([m49, names]: readonly [string | null, string] = [null, '']): ValueNames {
  const translated = m49 === null ? [] : translateRegion(m49)
  return { names: [...translated, ...splitNames(names)], related: [] }
}

function nameCountry(code: string): ValueNames {
  const names = countryNamesOf(code)
  return { ...(names[0] !== undefined && { label: names[0] }), names, related: [] }
}

function nameSubdivision(code: string): ValueNames {
  const name = subdivisions.get(code)
  const [country] = countryNamesOf(code.slice(0, 2))
  if (name === undefined) return { names: [], related: [] }
  return {
    label: country === undefined ? name : `${name}, ${country}`,
    names: [name],
    related: country ? [country] : [],
  }
}

const nameSource = (name: string): ValueNames => ({
  names: [],
  related: name.split(/\W+/).flatMap((word) => splitNames(lookUp(SOURCE_ABBREVIATIONS, word) ?? '')),
})

const NAMES_BY_FIELD: Readonly<Record<string, (value: string) => ValueNames>> = {
  disease: (value) => findSynonyms(diseaseSynonyms, value),
  pathogen: (value) => findSynonyms(pathogenSynonyms, value),
  country_code: nameCountry,
  un_region: (value) => nameRegion(lookUp(UN_REGION_NAMES, value)),
  who_region: (value) => nameRegion(lookUp(WHO_REGION_NAMES, value)),
  al1_code: nameSubdivision,
  source_name: nameSource,
}

export const namesOfOutbreakValue = (field: string, value: string): ValueNames =>
  NAMES_BY_FIELD[field]?.(value) ?? { names: [], related: [] }

/** What people write for a filter and its value: `country=Italy` and `country_code=ITA` are `country_code=IT`. */
export function fitOutbreakFilter(
  parameter: string,
  value: string,
): readonly [parameter: string, value: string] | null {
  if (parameter === 'group_by' && value === 'country') return [parameter, 'country_code']
  if (parameter !== 'country' && parameter !== 'country_code') return null
  const code = countryCodeOf(value)
  return code === null ? ['country_code', value] : ['country_code', code]
}

/** By the part after the country: `PR` has US-PR, and `CA` has California among others. */
const partsByEnd = Map.groupBy(iso31662, ({ code }) => code.slice(3))

/** The country codes that are also codes of a part of another country with the same name. */
export function findTerritory(parameter: string, value: string): readonly [parameter: string, value: string] | null {
  if (parameter !== 'country_code') return null
  const parts = partsByEnd.get(value)
  if (parts === undefined) return null
  const names = new Set(countryNamesOf(value).map(normaliseName))
  const part = parts.find(({ name }) => names.has(normaliseName(name)))
  return part === undefined ? null : ['al1_code', part.code]
}
