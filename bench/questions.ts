// Random questions: filters of pages, counts and facets, and filters with which counts may be added up.

import { hedOutbreaks } from '../src/datasets/hed-outbreaks.ts'
import { hasSeries, type SeriesDataset } from '../src/methods/record-series.ts'
import { openRetryingConnection } from './client.ts'

/** A server, and its requests for a path. */
interface Node {
  address: string
  get(path: string, encoding: 'identity'): string
}

/** Parameters and values, as the service parses them. */
export type Question = Record<string, string | readonly (string | boolean)[]>

type Candidate = [field: string, values: readonly (string | boolean)[]]
export type Facets = ReadonlyMap<Candidate[0], Candidate[1]>

const FACETS_PATH = '/v2/hed-outbreaks/facets?num=1000'
/** No synthetic record has this country. */
export const NO_MATCHES: Question = { country_code: ['AQ'] }

export function pickRandom<Item>(items: readonly Item[]): Item {
  return items[Math.floor(Math.random() * items.length)] as Item
}

export const toSearch = (question: Question): string =>
  new URLSearchParams(
    Object.entries(question).flatMap(([name, value]) =>
      (typeof value === 'string' ? [value] : value).map((one): [string, string] => [name, String(one)]),
    ),
  ).toString()

async function readJson(node: Node, path: string): Promise<unknown> {
  const connection = openRetryingConnection(node.address, { keepBody: true })
  try {
    return JSON.parse((await connection.send(node.get(path, 'identity'))).toString())
  } finally {
    connection.close()
  }
}

/** The most frequent values of each field that has facets. */
export async function readFacetValues(node: Node): Promise<Facets> {
  const facets = (await readJson(node, FACETS_PATH)) as Record<string, { values: { value: string | boolean }[] }>
  return new Map(Object.entries(facets).map(([field, { values }]) => [field, values.map(({ value }) => value)]))
}

/** One to four fields with one to three of their values, and sometimes a day. Many of them match no record. */
export function drawFilters(facets: Facets): Question {
  const question: Question = {}
  const candidates = [...facets].filter(([, values]) => values.length > 0)
  for (let fields = 1 + Math.floor(Math.random() * 4); fields > 0 && candidates.length > 0; fields--) {
    const [[field, values]] = candidates.splice(Math.floor(Math.random() * candidates.length), 1) as [Candidate]
    question[field] = [...new Set(Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () => pickRandom(values)))]
  }
  return Math.random() < 0.3 ? { ...question, date_from: drawDay() } : question
}

const drawDay = () => `${2000 + Math.floor(Math.random() * 26)}-06-01`

export function requireSeries(): SeriesDataset {
  if (!hasSeries(hedOutbreaks)) throw new Error('the dataset has no series')
  return hedOutbreaks
}

/** All records that may be added up with a random record. */
export async function drawComparable(node: Node, records: number): Promise<Question> {
  const id = 1 + Math.floor(Math.random() * records)
  const record = (await readJson(node, `/v2/hed-outbreaks/outbreaks/${id}`)) as Record<string, string | boolean | null>
  return { ...comparableWith(record), ...(Math.random() < 0.3 ? { date_from: drawDay() } : {}) }
}

/** They agree with the record in what must never be mixed. */
export function comparableWith(record: Record<string, string | boolean | null>): Question {
  const { separate, addable } = requireSeries().series.comparison
  const missing = separate.filter((field) => record[field] === null)
  return {
    ...Object.fromEntries(
      separate.filter((field) => !missing.includes(field)).map((name) => [name, [record[name] as string]]),
    ),
    ...(missing.length === 0 ? {} : { missing }),
    across: addable,
  }
}
