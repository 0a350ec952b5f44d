// Turns the words of a query into filters: "measles united states 2025" is a disease, a country and an event of that year.
import type { Dataset } from '../../datasets/define.ts'
import { Problem } from '../../platform/problem.ts'
import type { EventFacts, SearchHit, SearchIndex } from './search-index.ts'
import { formatParameter } from './warnings.ts'
import { splitQuery, splitWords } from './words.ts'

export interface Understood {
  /** By parameter. */
  readonly filters: ReadonlyMap<string, readonly string[]>
  /** Words that were read as something else: a misspelling, or the beginning of a name. */
  readonly guesses: readonly string[]
}

/** The longest name that is looked for has this many words. */
const MAX_NAME_WORDS = 6
const YEAR = /^(1[89]|20)\d\d$/
/** Words about the number, not about the outbreak. */
const MEASURES = new Set(
  `how many much number numbers total totals count counts case death deaths died new confirmed curve data daily weekly
  monthly yearly by per day week month year since ever what is was were are all with report reported from to`.split(
    /\s+/,
  ),
)

/** Looks for the longest names first. A word that is no name and no year is rejected. */
export async function understandQuestion(dataset: Dataset, index: SearchIndex, q: string): Promise<Understood> {
  const words = splitWords(q)
  const specific = new Set(splitQuery(q).filter((word) => !MEASURES.has(word)))
  const fields = Object.values(dataset.search?.kinds ?? {}).flat()
  const hits: SearchHit[] = []
  const guesses: string[] = []
  const years: string[] = []
  for (let at = 0; at < words.length; ) {
    const found = findLongest(index, fields, words, at)
    const word = words[at] as string
    if (found !== null) hits.push(found.hit)
    else if (YEAR.test(word)) years.push(word)
    else if (specific.has(word)) {
      const [guess] = await index.search(word, fields)
      if (guess === undefined) throw await notUnderstood(index, fields, word)
      hits.push(guess)
      guesses.push(`"${word}" was read as ${guess.label}.`)
    }
    at += found?.length ?? 1
  }
  const filters = new Map([...Map.groupBy(hits, ({ field }) => field)].map(([field, own]) => [field, valuesOf(own)]))
  return { filters: addYears(index, filters, years), guesses }
}

const valuesOf = (hits: readonly SearchHit[]) => [...new Set(hits.map(({ value }) => value))]

/** A single word of the language that is also a name, such as "no" for Norway, is only a name alongside others. */
function findLongest(index: SearchIndex, fields: readonly string[], words: readonly string[], at: number) {
  for (let length = Math.min(MAX_NAME_WORDS, words.length - at); length > 0; length--) {
    const name = words.slice(at, at + length).join(' ')
    const isOrdinary = length === 1 && (MEASURES.has(name) || splitQuery(`x ${name}`).length === 1)
    const [hit] = isOrdinary || (length === 1 && YEAR.test(name)) ? [] : index.named(name, fields)
    if (hit !== undefined) return { hit, length }
  }
  return null
}

/** A year chooses the events that have it in their name; if there is none, the days of the year. */
function addYears(index: SearchIndex, filters: Understood['filters'], years: readonly string[]): Understood['filters'] {
  const [first, last] = [years.toSorted().at(0), years.toSorted().at(-1)]
  if (first === undefined || last === undefined || filters.has('event')) return filters
  const matches = ({ values }: EventFacts) =>
    [...filters].every(([field, accepted]) => accepted.some((value) => values.get(field)?.includes(value)))
  const isOfYear = ({ event }: EventFacts) => splitWords(event).some((word) => years.includes(word))
  const events = index.events.filter((facts) => isOfYear(facts) && matches(facts)).map(({ event }) => event)
  return events.length > 0
    ? new Map([...filters, ['event', events]])
    : new Map([...filters, ['date_from', [`${first}-01-01`]], ['date_to', [`${last}-12-31`]]])
}

async function notUnderstood(index: SearchIndex, fields: readonly string[], word: string): Promise<Problem> {
  const nearest = (await index.suggest(word, fields, 3)).map(({ field, value }) => formatParameter(field, value))
  const advice = nearest.length === 0 ? '' : ` Did you mean ${nearest.join(', ')}?`
  return new Problem(
    'invalid_parameter',
    `q: "${word}" is no disease, place, pathogen, event or source of this release.${advice}`,
    { parameter: 'q' },
  )
}
