// Decides whether counts may be added up, from the series that contribute to an answer, and lists the comparable choices if
// they may not. docs/methods.md, section 6. Pure.
import type { Comparison, FieldValue } from '../datasets/define.ts'

/** A series with the records that contribute to an answer. */
export interface Contribution {
  readonly read: (field: string) => FieldValue
  /** Identifies the place if it may contain other places; otherwise null. */
  readonly exclusivePlace: string | null
  readonly records: number
  readonly firstDay: number | null
  readonly lastDay: number | null
}

interface Addition {
  /** The fields over which the caller adds on purpose. */
  readonly across: readonly string[]
  /** The fields that need not agree: those of the groups, and the level if a cover is chosen. */
  readonly ignored: readonly string[]
}

/** The name of the place in a mixture: it is not a field of a record. */
export const PLACE = 'place'

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
}
export interface Mixture {
  readonly mixed: readonly MixedField[]
  /** The sets of records that may be added up, the largest first. */
  readonly choices: readonly Choice[]
}

/** The fields in which the contributions differ but must not. */
export function findMixedFields(
  contributions: readonly Contribution[],
  { separate, addable, parts }: Comparison,
  { across, ignored }: Addition,
): string[] {
  const distinct = (field: string) => new Set(contributions.map((one) => readValue(one, field)))
  const judged = (fields: readonly string[]) => fields.filter((field) => !ignored.includes(field))
  const differs = (field: string) => distinct(field).size > 1
  const hasWholeAndPart = (field: string) => differs(field) && distinct(field).has(null)
  return [
    ...judged([...separate, PLACE]).filter(differs),
    ...judged(addable).filter((field) => !across.includes(field) && differs(field)),
    ...judged(parts).filter((field) => (across.includes(field) ? hasWholeAndPart(field) : differs(field))),
  ]
}

export function describeMixture(contributions: readonly Contribution[], fields: readonly string[]): Mixture {
  const group = (by: readonly string[]) => [
    ...Map.groupBy(contributions, (one) => JSON.stringify(by.map((field) => readValue(one, field)))).values(),
  ]
  const bySize = (a: Extent, b: Extent) => b.records - a.records
  return {
    mixed: fields.map((field) => ({
      field,
      values: group([field])
        .map((members) => ({ value: readValue(members[0] as Contribution, field), ...extentOf(members) }))
        .sort(bySize),
    })),
    choices: group(fields)
      .map((members) => ({
        values: new Map(fields.map((field) => [field, readValue(members[0] as Contribution, field)])),
        ...extentOf(members),
      }))
      .sort(bySize),
  }
}

const readValue = (one: Contribution, field: string): FieldValue =>
  field === PLACE ? one.exclusivePlace : one.read(field)

function extentOf(members: readonly Extent[]): Extent {
  const days = (pick: (extent: Extent) => number | null) => members.map(pick).filter((day) => day !== null)
  const [first, last] = [days(({ firstDay }) => firstDay), days(({ lastDay }) => lastDay)]
  return {
    records: members.reduce((sum, { records }) => sum + records, 0),
    firstDay: first.length === 0 ? null : Math.min(...first),
    lastDay: last.length === 0 ? null : Math.max(...last),
  }
}
