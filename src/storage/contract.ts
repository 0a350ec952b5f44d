// The contract of a release: the fields of its records. It is stored with the release. Later versions use it
// to read, describe, export and roll back the release.
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset, FieldShape, FieldValue } from '../datasets/define.ts'

/** The fields, in the order in which a record has them. */
export type Fields = readonly FieldShape[]

/** Applies to the releases from `firstRelease` until the next contract. */
export interface StoredContract {
  readonly firstRelease: number
  readonly fields: Fields
}

export interface Contract {
  readonly fields: Fields
  /** The first release whose records have exactly these keys. Text that an earlier release wrote has fewer keys. */
  readonly keysSince: number
}

/** The fields of a release that is published now. */
export const declaredFields = (dataset: Dataset): Fields =>
  dataset.fields.map(({ filterable: _filterable, faceted: _faceted, derive: _derive, vocabulary, ...field }) => ({
    ...field,
    ...(vocabulary && { vocabulary: { name: vocabulary.name, pattern: vocabulary.pattern } }),
  }))

/** Selects the contracts of a dataset, the oldest first. */
export const contractsOf = (dataset: string): Sql => sql`
  select first_release as "firstRelease", fields from contract where dataset = ${dataset} order by first_release`

/** The contract of a release; `contracts` are those of its dataset, the oldest first. */
export function findContract(contracts: readonly StoredContract[], release: number): Contract {
  const known = contracts.filter(({ firstRelease }) => firstRelease <= release)
  const fields = known.at(-1)?.fields
  if (fields === undefined) throw new Error(`release ${release} has no contract`)
  const lastDifferent = known.findLastIndex((contract) => !haveSameKeys(contract.fields, fields))
  return { fields, keysSince: known[lastDifferent + 1]?.firstRelease ?? release }
}

/** Whether records of the two contracts have the same keys, so that an unchanged record has the same text. */
export const haveSameKeys = (left: Fields, right: Fields): boolean =>
  left.length === right.length && left.every(({ name }, i) => name === right[i]?.name)

/** The body of a version with the fields of this contract. */
export const readVersion = ({ fields, keysSince }: Contract, body: string): string =>
  keysSince === 1 || readLastRelease(body) >= keysSince ? body : renderFields(fields, body)

/** The release that wrote the text: `last_release` is the last field of every record. */
const readLastRelease = (body: string): number => Number(body.slice(body.lastIndexOf(':') + 1, -1))

/** A field that was added after the text was stored is null. The other values keep their exact JSON text. */
function renderFields(fields: Fields, body: string): string {
  const record = JSON.parse(body) as Record<string, FieldValue>
  return `{${fields.map(({ name }) => `"${name}":${JSON.stringify(record[name] ?? null)}`).join()}}`
}

/**
 * Describes the changes of a declaration that would break programs that read the published records. Allowed are a new field
 * that can be null (earlier records do not have it) and more choices. Not allowed are to rename, move or remove a field, or to
 * change its kind.
 */
export function findBreakingChanges(published: Fields, declared: Fields): string[] {
  const now = new Map(declared.map((field) => [field.name, field]))
  const before = new Set(published.map(({ name }) => name))
  const incompatible = published.flatMap((field) => describeBreakingChanges(field, now.get(field.name)))
  if (incompatible.length > 0) return incompatible
  const kept = declared.filter(({ name }) => before.has(name))
  const moved = published.filter(({ name }, i) => name !== kept[i]?.name)
  const required = declared.filter(({ name, nullable }) => !before.has(name) && !nullable)
  return [
    ...moved.map(({ name }) => `${name} has moved`),
    ...required.map(({ name }) => `${name} is new and must allow null`),
  ]
}

function describeBreakingChanges(before: FieldShape, now: FieldShape | undefined): string[] {
  const { name } = before
  if (now?.kind !== before.kind)
    return [`${name} was ${before.kind} and is ${now === undefined ? 'removed' : `now ${now.kind}`}`]
  if (now.nullable !== before.nullable)
    return [`${name} ${now.nullable ? 'was never null and can now be null' : 'could be null and no longer can'}`]
  const removed = before.choices?.filter((choice) => !now.choices?.includes(choice)) ?? []
  return removed.map((choice) => `${name} no longer allows ${choice}`)
}
