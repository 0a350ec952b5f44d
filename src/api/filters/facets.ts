// Orders the counted values of a field. Pure.
export interface FacetValue {
  readonly value: string
  readonly records: number
}

/** By descending number of records, then by code point. */
export const rankValues = (values: readonly FacetValue[]): FacetValue[] =>
  values.toSorted((a, b) => b.records - a.records || (a.value < b.value ? -1 : 1))
