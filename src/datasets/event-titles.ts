// The title of an outbreak event from its name: Ebola_Uganda_Luweero_2012 is "Ebola, Uganda (Luweero), 2012".
// A name without an underscore is already a title. Pure.
import { continentNames, countryCodeOf, foldAccents, spellCountry } from './country-names.ts'
import { isDiseaseOrPathogen } from './outbreak-names.ts'
import { UN_REGION_NAMES, WHO_REGION_NAMES } from './synonyms.ts'

const WORLD = /^(?:global|world|worldwide)$/i
const SEVERAL = /^multi[- ]?country$/i
const YEAR = /^(\d{4})(?:[-–](\d{2}|\d{4}))?$/
/** Countries that have no code of their own any more. */
const FORMER_COUNTRIES = ['Yugoslavia', 'Czechoslovakia', 'Soviet Union', 'USSR', 'East Germany', 'West Germany']

const fold = (text: string) => foldAccents(text).toLowerCase()
const regions = new Set(
  [
    ...FORMER_COUNTRIES,
    ...continentNames,
    ...Object.keys(UN_REGION_NAMES),
    ...[...Object.values(UN_REGION_NAMES), ...Object.values(WHO_REGION_NAMES)].flatMap(([, names]) =>
      names.split('; '),
    ),
  ].map(fold),
)

const isPlace = (words: readonly string[]): boolean => {
  const text = words.join(' ')
  return WORLD.test(text) || SEVERAL.test(text) || regions.has(fold(text)) || spellCountry(text) !== null
}

function spellPlace(words: readonly string[]): string {
  const text = words.join(' ')
  if (SEVERAL.test(text)) return 'several countries'
  if (/^democratic republic/i.test(text) && countryCodeOf(text) === 'CD') return 'DR Congo'
  return spellCountry(text) ?? text
}

interface EventName {
  readonly label: string
  readonly place: readonly string[]
  /** What follows the place: a part of it, or another place. */
  readonly after: readonly string[]
  readonly year: string | null
}

function parseName(name: string): EventName {
  const words = name.split('_').filter((word) => word !== '')
  const year = YEAR.test(words.at(-1) ?? '') ? (words.pop()?.replace('-', '–') ?? null) : null
  const split = (start: number, end: number): EventName => ({
    label: spellLabel(words.slice(0, start)),
    place: words.slice(start, end),
    after: words.slice(end),
    year,
  })
  // A known disease may have the name of a country in it: Sudan virus in Uganda. But Ebola Sudan is Ebola in Sudan.
  const labels = words
    .map((_, i) => words.length - i)
    .filter((end) => isDiseaseOrPathogen(words.slice(0, end).join(' ')))
  for (const from of [...labels, 1]) {
    const found = findPlace(words, from)
    if (found !== null) return split(...found)
  }
  // A ship, or a place that no list has.
  return split(labels.find((end) => end < words.length) ?? words.length, words.length)
}

/** The longest run of words that is a place; of several, the first. */
function findPlace(words: readonly string[], from: number): [start: number, end: number] | null {
  for (let length = words.length - from; length > 0; length--)
    for (let start = from; start + length <= words.length; start++)
      if (isPlace(words.slice(start, start + length))) return [start, start + length]
  return null
}

function spellLabel(words: readonly string[]): string {
  const text = words
    .join(' ')
    .replace(/^([A-Z]) (?=[a-z])/, '$1. ')
    .replace(/ unknown$/i, ' of unknown cause')
    .replace(
      /^([A-Z])(.*) ([MX]DR)$/,
      (_, first: string, rest: string, resistant: string) => `${resistant} ${first.toLowerCase()}${rest}`,
    )
  const disease = `${text} disease`
  return !isDiseaseOrPathogen(text) && isDiseaseOrPathogen(disease) ? disease : text
}

/**
 * `asked`: the places that were asked for. `counted`: those that were counted. Either replaces "worldwide", which would
 * promise too much.
 */
export function titleOfEvent(name: string, asked: string | null, counted: string | null): string {
  if (!name.includes('_')) return asked === null ? name : `${name}: ${asked}`
  const { label, place, after, year } = parseName(name)
  const isWorld = WORLD.test(place.join(' '))
  const base = isWorld ? (asked ?? counted ?? 'worldwide') : spellPlace(place)
  const rest = after.length === 0 ? '' : isPlace(after) ? ` and ${spellPlace(after)}` : ` (${after.join(' ')})`
  const title = [label, `${base}${rest}`, year].filter(Boolean).join(', ') || name
  if (asked === null || isWorld || asked === base) return title
  return `${title}: ${asked.replace(`, ${base}`, '')}`
}
