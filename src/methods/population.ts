// The inhabitants of countries by year, from a table that an operator can replace. Pure.
// In records, `population` is a group of people such as health workers; here the word is never used for that.
import { createHash } from 'node:crypto'
import { formatDay, type Period } from './calendar.ts'

export interface PopulationTable {
  readonly source: string
  readonly licence: string
  readonly url: string | null
  /** Identifies the content: results from another table are other results. */
  readonly digest: string
  readonly find: FindInhabitants
}

/**
 * The inhabitants of all these countries together, in the year nearest to the middle of a period that the table has for all of
 * them. Null if that is too far from some day of the period.
 */
export type FindInhabitants = (
  countries: readonly string[],
  period: Pick<Period, 'first' | 'last'>,
) => Inhabitants | null

export interface Inhabitants {
  readonly inhabitants: number
  readonly year: number
}

/** A population changes by about a tenth in this time. */
const MAX_YEARS_APART = 5

const HEADER = 'country_code,year,inhabitants'

/** Throws if the text is not such a table, and names the line. */
export function parsePopulation(text: string): PopulationTable {
  const about = new Map<string, string>()
  const years = new Map<string, Map<number, number>>()
  let hasHeader = false
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    const fail = (problem: string) => new Error(`line ${i + 1} ${problem}`)
    if (line.startsWith('#')) {
      const [, name = '', value = ''] = /^#\s*(\w+):\s*(.+?)\s*$/.exec(line) ?? []
      about.set(name, value)
    } else if (!hasHeader) {
      if (line !== HEADER) throw fail(`must be ${HEADER}`)
      hasHeader = true
    } else if (line !== '') {
      const [, country = '', year = '', inhabitants = ''] = /^([A-Z]{2}),(\d{4}),(\d{1,12})$/.exec(line) ?? []
      if (Number(inhabitants) === 0)
        throw fail('must be a country code, a year and a whole number, such as DE,2024,83516593')
      const own = years.get(country) ?? new Map<number, number>()
      if (own.has(Number(year))) throw fail('repeats a country and a year')
      years.set(country, own.set(Number(year), Number(inhabitants)))
    }
  }
  const [source, licence] = ['source', 'licence'].map((name) => about.get(name))
  if (source === undefined || licence === undefined)
    throw new Error('it must begin with the lines "# source: …" and "# licence: …"')
  if (years.size === 0) throw new Error('it has no countries')
  return {
    source,
    licence,
    url: about.get('url') ?? null,
    digest: createHash('sha256').update(text).digest('hex'),
    find(countries, { first, last }) {
      const tables = countries.map((code) => years.get(code))
      const earliest = yearOf(last) - MAX_YEARS_APART
      const latest = yearOf(first) + MAX_YEARS_APART
      const middle = yearOf((first + last) / 2)
      let best: Inhabitants | null = null
      for (let year = earliest; year <= latest; year++) {
        const numbers = tables.flatMap((one) => one?.get(year) ?? [])
        if (numbers.length < tables.length || numbers.length === 0) continue
        // Of two years that are equally near the earlier one stays.
        if (best !== null && Math.abs(year - middle) >= Math.abs(best.year - middle)) continue
        best = { inhabitants: numbers.reduce((sum, one) => sum + one, 0), year }
      }
      return best
    },
  }
}

const yearOf = (day: number) => Number(formatDay(Math.floor(day)).slice(0, 4))
