// The parameters of questions, and how they are written as a query string.
import type {
  CoverageParameters,
  FacetsParameters,
  RecordsParameters,
  SeriesParameters,
  SumsParameters,
  VintagesParameters,
} from './generated/parameters.ts'

/** The parameters of each question that a link can open. */
export interface LinkedParameters {
  records: RecordsParameters
  series: SeriesParameters
  sums: SumsParameters
  vintages: VintagesParameters
  facets: FacetsParameters
  coverage: CoverageParameters
}

type Value = string | number | boolean | null | undefined
export type Query = Readonly<Record<string, Value | readonly Value[]>>

/** A list repeats its parameter; null and undefined are left out. */
export function toQuery(query: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined && one !== null) search.append(name, String(one))
  return search.toString()
}
