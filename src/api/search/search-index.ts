// An index of the values of one release: finds values by name, synonym, translation and with misspellings.
import MiniSearch, { type Query, type SearchResult } from 'minisearch'
import { type Dataset, type Search, titleOf, type ValueNames } from '../../datasets/define.ts'
import { runInTurn } from '../../platform/thread-turns.ts'
import { exchangeLetters, joinWords, splitQuery, splitWords } from './words.ts'

/** A summary of an event, and the values of its records by field. */
export interface EventFacts {
  readonly event: string
  readonly firstDay: string | null
  readonly lastDay: string | null
  readonly values: ReadonlyMap<string, readonly string[]>
}

/** The values of a release, as far as the index has them. */
export interface ReleaseValues {
  readonly counts: readonly { readonly field: string; readonly value: string; readonly records: number }[]
  readonly events: readonly EventFacts[]
  /** The fields of which some values are not in the index. */
  readonly incomplete: readonly string[]
}

/** `name`: the query is a name of the value. `words`: the value has all words of the query. `similar`: with misspellings. */
type Match = 'name' | 'words' | 'similar'

export interface SearchHit {
  readonly field: string
  readonly value: string
  readonly label: string
  readonly match: Match
  readonly records: number
  /** The events with the value; empty if unknown. */
  readonly events: readonly EventFacts[]
}

export interface SearchIndex {
  readonly incomplete: readonly string[]
  /** The values that have exactly this name, by the rank of their field. */
  readonly named: (name: string, fields: readonly string[]) => SearchHit[]
  /** The events of the release, as far as the index has them. */
  readonly events: readonly EventFacts[]
  readonly has: (field: string, value: string) => boolean
  /** Ranked hits among the values of these fields. */
  readonly search: (query: string, fields: readonly string[]) => Promise<SearchHit[]>
  /** For a query without hits: the values of these fields that are most similar, best first. */
  readonly suggest: (query: string, fields: readonly string[], limit: number) => Promise<SearchHit[]>
}

interface Entry {
  readonly id: number
  readonly field: string
  readonly value: string
  readonly label: string
  readonly records: number
  readonly events: readonly EventFacts[]
  /** The words of the value itself, of its other names, and of what is related to it. */
  readonly own: readonly string[]
  readonly names: string
  readonly related: string
}

/** Adding this many values blocks the process for a few milliseconds. */
const CHUNK_SIZE = 200
/** A field with at most this many values suggests its most frequent ones if none is similar. */
const FEW_VALUES = 10
/** An event of many years is found by each of them, up to this number. */
const MAX_YEARS = 30
/** A suggestion has at least this share of the score of the best one. */
const SUGGESTED_SHARE = 0.6
const WEIGHTS = { own: 4, names: 3, related: 1 }

export async function buildSearchIndex(dataset: Dataset, values: ReleaseValues): Promise<SearchIndex> {
  const { entries, byName } = createEntries(dataset, values)
  const kinds = Object.values(dataset.search?.kinds ?? {})
  const weightOf = (field: string) => {
    const rank = kinds.findIndex((fields) => fields.includes(field))
    return rank === -1 ? 1 : 1 + (kinds.length - rank) / 10
  }
  const index = new MiniSearch<Entry>({
    fields: Object.keys(WEIGHTS),
    extractField: (entry, name) => {
      const extracted = entry[name as keyof Entry]
      return Array.isArray(extracted) ? extracted.join(' ') : (extracted as string)
    },
    // The words are already split.
    tokenize: (text) => text.split(' '),
    processTerm: (word) => (word === '' ? null : word),
  })
  await index.addAllAsync(entries, { chunkSize: CHUNK_SIZE })

  function find(words: readonly string[], fields: readonly string[], effort: Effort): SearchHit[] {
    const results = index.search(toQuery(words, effort), {
      boost: WEIGHTS,
      // The length of a text says nothing here: a disease with many synonyms is not less relevant.
      bm25: { k: 1.2, b: 0, d: 0.5 },
      boostDocument: (id: number) => weightOf(entries[id]?.field ?? ''),
      filter: ({ id }) => fields.includes(entries[id as number]?.field ?? ''),
      prefix: (word) => word.length >= 2 && !/^\d+$/.test(word),
      fuzzy: (word) => toleratedErrors(word, effort),
    })
    const ranked = rankHits(results.map((result) => ({ result, entry: entries[result.id as number] as Entry })))
    const minimum = effort === 'suggest' ? (ranked[0]?.score ?? 0) * SUGGESTED_SHARE : 0
    return ranked
      .filter(({ score }) => score >= minimum)
      .map(({ result, entry }) => toHit(entry, matchesExactly(words, result) ? 'words' : 'similar'))
  }

  const findNamed = (name: string, fields: readonly string[]): Entry[] =>
    (byName.get(joinWords(name)) ?? [])
      .filter(({ field }) => fields.includes(field))
      .toSorted((a, b) => weightOf(b.field) - weightOf(a.field) || compareEntries(a, b))

  async function search(query: string, fields: readonly string[]): Promise<SearchHit[]> {
    const named = findNamed(query, fields)
    const words = splitQuery(query)
    const exact = await runInTurn(() => find(words, fields, 'exact'))
    const isFound = exact.length > 0 || named.length > 0
    const found = isFound ? exact : await runInTurn(() => find(words, fields, 'similar'))
    const isNamed = (hit: SearchHit) => named.some(({ field, value }) => field === hit.field && value === hit.value)
    return [...named.map((entry) => toHit(entry, 'name')), ...found.filter((hit) => !isNamed(hit))]
  }

  return {
    incomplete: values.incomplete,
    events: values.events,
    named: (name, fields) => findNamed(name, fields).map((entry) => toHit(entry, 'name')),
    has: (field, value) => byName.get(joinWords(value))?.some((e) => e.field === field && e.value === value) ?? false,
    search,
    async suggest(query, fields, limit) {
      const similar = await runInTurn(() => find(splitQuery(query), fields, 'suggest'))
      if (similar.length > 0) return similar.slice(0, limit)
      const all = entries.filter(({ field }) => fields.includes(field))
      if (all.length > FEW_VALUES) return []
      return all
        .toSorted(compareEntries)
        .slice(0, limit)
        .map((entry) => toHit(entry, 'similar'))
    },
  }
}

/** `exact`: every word, or a longer word that begins with it. `similar`: with misspellings. `suggest`: any of the words. */
type Effort = 'exact' | 'similar' | 'suggest'

function toQuery(words: readonly string[], effort: Effort): Query {
  const queries = words.map((word): Query => {
    if (effort === 'exact' || toleratedErrors(word, effort) === false) return word
    const exchanged: Query = { combineWith: 'OR', queries: exchangeLetters(word), fuzzy: false, prefix: false }
    return { combineWith: 'OR', queries: [word, exchanged] }
  })
  return { combineWith: effort === 'suggest' ? 'OR' : 'AND', queries }
}

/** Numbers and names such as H5N1 are never corrected: another number is another thing. */
function toleratedErrors(word: string, effort: Effort): number | false {
  if (effort === 'exact' || word.length < 4 || /\d/.test(word)) return false
  const isShort = word.length < (effort === 'suggest' ? 6 : 7)
  return isShort ? 1 : 2
}

const matchesExactly = (words: readonly string[], { terms }: SearchResult) =>
  words.every((word) => terms.some((term) => term.startsWith(word)))

interface Ranked {
  readonly result: SearchResult
  readonly entry: Entry
}

/** A value of which the query has most words ranks higher: "Guinea" before "Equatorial Guinea". */
function rankHits(found: readonly Ranked[]): (Ranked & { score: number })[] {
  const scored = found.map((ranked) => {
    const { own } = ranked.entry
    const covered = own.filter((word) => ranked.result.terms.includes(word)).length / Math.max(1, own.length)
    return { ...ranked, score: ranked.result.score * (1 + covered) }
  })
  return scored.toSorted((a, b) => b.score - a.score || compareEntries(a.entry, b.entry))
}

/** More records first, then the later day, then the name. */
const compareEntries = (a: Entry, b: Entry) =>
  b.records - a.records || compareText(lastDayOf(b.events), lastDayOf(a.events)) || compareText(a.value, b.value)
const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const lastDayOf = (events: readonly EventFacts[]) =>
  events.reduce((last, { lastDay }) => (lastDay !== null && lastDay > last ? lastDay : last), '')

const toHit = ({ field, value, label, records, events }: Entry, match: Match): SearchHit => ({
  field,
  value,
  label,
  match,
  records,
  events,
})

function createEntries(dataset: Dataset, { counts, events }: ReleaseValues) {
  const search = rememberNames(dataset.search ?? { kinds: {}, namesOf: () => ({ names: [], related: [] }) })
  const eventsByValue = new Map<string, EventFacts[]>()
  for (const event of events)
    for (const [field, listed] of event.values)
      for (const value of listed) append(eventsByValue, `${field}\0${value}`, event)
  const factsByEvent = new Map(events.map((facts) => [facts.event, facts]))
  const byName = new Map<string, Entry[]>()
  const entries = counts.map(({ field, value, records }, id): Entry => {
    const isEvent = field === 'event'
    const { label = isEvent ? titleOf(dataset, value) : value, names, related } = search.namesOf(field, value)
    const facts = isEvent ? factsByEvent.get(value) : undefined
    // A title may be shorter than the name, which has the words that people type.
    const own = [...new Set(splitWords(isEvent ? value : label))]
    const entry: Entry = {
      id,
      field,
      value,
      label,
      records,
      own,
      events: facts === undefined ? (eventsByValue.get(`${field}\0${value}`) ?? []) : [facts],
      names: uniqueWords([value, label, ...names].flatMap(splitWords), own),
      related: uniqueWords(facts === undefined ? related.flatMap(splitWords) : relatedWords(facts, search), own),
    }
    for (const name of new Set([value, label, ...names].map(joinWords))) append(byName, name, entry)
    return entry
  })
  return { entries, byName }
}

function append<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}

/** The names of a value, and the words that lead to it from an event. */
interface Names extends ValueNames {
  readonly words: readonly string[]
}

interface NameSource {
  readonly namesOf: (field: string, value: string) => Names
  /** The fields of the kinds that rank above events. An event is also found by their values. */
  readonly eventFields: readonly string[]
}

/** Computes the names of each value once: thousands of events have the same countries. */
function rememberNames({ kinds, namesOf }: Search): NameSource {
  const lists = Object.values(kinds)
  const rank = lists.findIndex((fields) => fields.includes('event'))
  const known = new Map<string, Names>()
  return {
    eventFields: lists.slice(0, Math.max(0, rank)).flat(),
    namesOf(field, value) {
      const key = `${field}\0${value}`
      const found = known.get(key) ?? nameWords(value, namesOf(field, value))
      known.set(key, found)
      return found
    },
  }
}

const nameWords = (value: string, names: ValueNames): Names => ({
  ...names,
  words: [...new Set([value, ...names.names, ...names.related].flatMap(splitWords))],
})

/** The words of the diseases, places and pathogens of an event, and its years. */
const relatedWords = ({ values, firstDay, lastDay }: EventFacts, { namesOf, eventFields }: NameSource): string[] => [
  ...eventFields.flatMap((field) => (values.get(field) ?? []).flatMap((value) => namesOf(field, value).words)),
  ...yearsBetween(firstDay ?? lastDay, lastDay ?? firstDay),
]

function yearsBetween(first: string | null, last: string | null): string[] {
  if (first === null || last === null) return []
  const from = Number(first.slice(0, 4))
  const to = Number(last.slice(0, 4))
  return Array.from({ length: Math.min(MAX_YEARS, to - from + 1) }, (_, i) => String(from + i))
}

const uniqueWords = (words: readonly string[], except: readonly string[]): string =>
  [...new Set(words)].filter((word) => !except.includes(word)).join(' ')
