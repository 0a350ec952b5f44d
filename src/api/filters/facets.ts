// The order in which counted values are shown. Pure.
export interface FacetValue {
  readonly value: string
  readonly records: number
}

/** Those with the most records first; where they have as many, by code point. */
export const rankValues = (values: readonly FacetValue[]): FacetValue[] =>
  values.toSorted((one, other) => other.records - one.records || (one.value < other.value ? -1 : 1))
