// Decides in which fields the records of a response must agree so that their counts can be added together, and describes records that
// do not agree. docs/methods.md, section 6. Pure.
import type { Comparison, FieldValue } from '../datasets/define.ts'

interface Addition {
  /** The fields over which the caller adds on purpose. */
  readonly across: readonly string[]
  /** The fields that doesn't need to agree: those of the groups, and the level if a cover is chosen. */
  readonly ignored: readonly string[]
}

/** The name of the place in a mixture: it is not a field of a record. */
export const PLACE = 'place'

/** A field in which records must agree: in its value or, if parts are added up, in whether it has a value. */
export interface JudgedField {
  readonly field: string
  readonly by: 'value' | 'presence'
}

export function judgedFields(
  { separate, addable, parts }: Comparison,
  { across, ignored }: Addition,
): readonly JudgedField[] {
  const judged = (fields: readonly string[]) => fields.filter((field) => !ignored.includes(field))
  return [
    ...judged([...separate, PLACE]).map((field) => ({ field, by: 'value' as const })),
    ...judged(addable)
      .filter((field) => !across.includes(field))
      .map((field) => ({ field, by: 'value' as const })),
    // Null is everyone, and is never added to a part.
    ...judged(parts).map((field) => ({
      field,
      by: across.includes(field) ? ('presence' as const) : ('value' as const),
    })),
  ]
}

export interface Extent {
  readonly records: number
  readonly firstDay: number | null
  readonly lastDay: number | null
}
interface MixedField {
  readonly field: string
  readonly values: readonly (Extent & { readonly value: FieldValue })[]
}
export interface Choice extends Extent {
  readonly values: ReadonlyMap<string, FieldValue>
  /** What is known in all, by count. */
  readonly totals: ReadonlyMap<string, number | null>
  /** True if another choice differs only in the place. */
  readonly hasOtherPlace: boolean
}
export interface Mixture {
  /** The values of each field, those with the most records first. The list may be cut. */
  readonly mixed: readonly MixedField[]
  /** The sets of records that can be added together, the largest first. The list may be cut. */
  readonly choices: readonly Choice[]
  readonly choicesTotal: number
}
