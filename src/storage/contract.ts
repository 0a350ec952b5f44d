// The contract of a release: the fields its records have. It is stored with the release, and every later version of the
// program reads, describes, exports and rolls back the release through it.
import sql, { type Sql } from 'sql-template-tag'
import type { Dataset, FieldShape, FieldValue } from '../datasets/define.ts'

/** The fields, in the order in which a record has them. */
export type Fields = readonly FieldShape[]

/** Holds for the releases from `firstRelease` until the next contract. */
export interface StoredContract {
  readonly firstRelease: number
  readonly fields: Fields
}

export interface Contract {
  readonly fields: Fields
  /** The first release whose records have exactly these keys. Text that an earlier release wrote has fewer. */
  readonly keysSince: number
}

/** The fields of a release that is published now. */
export const declaredFields = (dataset: Dataset): Fields =>
  dataset.fields.map(({ filterCardinality: _filter, derive: _derive, vocabulary, ...field }) => ({
    ...field,
    ...(vocabulary && { vocabulary: { name: vocabulary.name, pattern: vocabulary.pattern } }),
  }))

/** The contracts of a dataset, the oldest first. */
export const contractsOf = (dataset: string): Sql => sql`
  select first_release as "firstRelease", fields from contract where dataset = ${dataset} order by first_release`

/** The contract of a release; `contracts` are those of its dataset, the oldest first. */
export function findContract(contracts: readonly StoredContract[], release: number): Contract {
  const known = contracts.filter(({ firstRelease }) => firstRelease <= release)
  const fields = known.at(-1)?.fields
  if (fields === undefined) throw new Error(`release ${release} has no contract`)
  const other = known.findLastIndex((contract) => !haveSameKeys(contract.fields, fields))
  return { fields, keysSince: known[other + 1]?.firstRelease ?? release }
}

const haveSameKeys = (one: Fields, other: Fields): boolean =>
  one.length === other.length && one.every(({ name }, i) => name === other[i]?.name)

/** A version of a record as a release with this contract gives it. */
export const readVersion = ({ fields, keysSince }: Contract, body: string): string =>
  keysSince === 1 || writtenBy(body) >= keysSince ? body : renderThrough(fields, body)

/** The release that wrote the text: `last_release` is the last field of every record. */
const writtenBy = (body: string): number => Number(body.slice(body.lastIndexOf(':') + 1, -1))

/** A field that is younger than the stored text is null. What was rendered once is rendered the same way again. */
function renderThrough(fields: Fields, body: string): string {
  const record = JSON.parse(body) as Record<string, FieldValue>
  return `{${fields.map(({ name }) => `"${name}":${JSON.stringify(record[name] ?? null)}`).join()}}`
}

/**
 * What a program that reads the published records could no longer rely on. A field may be added where it allows null, because
 * earlier records do not have it, and a list of choices may grow. No field may be renamed, moved, dropped or become another kind.
 */
export function findDrift(published: Fields, declared: Fields): string[] {
  const now = new Map(declared.map((field) => [field.name, field]))
  const before = new Set(published.map(({ name }) => name))
  const drift = published.flatMap((field) => describeDrift(field, now.get(field.name)))
  if (drift.length > 0) return drift
  const kept = declared.filter(({ name }) => before.has(name))
  const moved = published.filter(({ name }, i) => name !== kept[i]?.name)
  const required = declared.filter(({ name, nullable }) => !before.has(name) && !nullable)
  return [
    ...moved.map(({ name }) => `${name} has moved`),
    ...required.map(({ name }) => `${name} is new and must allow null`),
  ]
}

function describeDrift(before: FieldShape, now: FieldShape | undefined): string[] {
  const { name } = before
  if (now?.kind !== before.kind) return [`${name} was ${before.kind} and is ${now?.kind ?? 'gone'}`]
  if (now.nullable !== before.nullable) return [`${name} ${now.nullable ? 'was never null' : 'could be null'}`]
  const lost = before.choices?.filter((choice) => !now.choices?.includes(choice)) ?? []
  return lost.map((choice) => `${name} could be ${choice}`)
}
