// What a dataset is: a name, a table and a list of fields, each declared once with its sentence.
// Query validation, response schema, SQL columns, CSV contract and data dictionary are derived from here.
import { type TSchema, Type } from 'typebox'
import type { Vocabulary } from './vocabulary.ts'

export type FieldValue = string | number | boolean | Record<string, unknown> | null
/** The values of one record, without what the service assigns (id, revision, releases). */
export type Content = Record<string, FieldValue>

/** How a field follows from others of its record. */
export interface Derivation {
  readonly from: readonly string[]
  readonly compute: (values: readonly FieldValue[]) => FieldValue
}

/** What must hold between the fields of one record. */
export interface Rule {
  readonly name: string
  readonly severity: 'error' | 'warning'
  /** The field to look at. */
  readonly column: string
  /** What is wrong, or null. `today` is the day of the check, YYYY-MM-DD. */
  readonly check: (valueOf: (name: string) => FieldValue, today: string) => string | null
}

type Kind = 'identifier' | 'integer' | 'number' | 'text' | 'date' | 'boolean' | 'choice' | 'code' | 'uri' | 'object'

/**
 * How a field can be asked for by value, which follows from how many values it has: `few` are counted, and each is common
 * enough to be met soon by reading in order; `many` are counted and indexed; `countless` are indexed only.
 */
type Cardinality = 'low' | 'high' | 'unbounded'

export interface Field {
  readonly name: string
  readonly kind: Kind
  readonly description: string
  readonly nullable: boolean
  /** Left out where records cannot be asked for by it. */
  readonly filterCardinality?: Cardinality
  /** Computes the value from the other fields of the record; an input file does not carry it. */
  readonly derive?: Derivation
  readonly choices?: readonly string[]
  readonly vocabulary?: Vocabulary
  readonly minimum?: number
  readonly maximum?: number
  /** The field that says how exact a number is: the sign of a number such as <5 decides it. */
  readonly qualifiedBy?: string
  /** The most characters (code points) of a text or an address, or of an object as JSON. */
  readonly longest?: number
}

/** What a field is to whoever reads it: a field without what the service does with it. */
export type FieldShape = Omit<Field, 'filter' | 'derive' | 'vocabulary'> & {
  readonly vocabulary?: Pick<Vocabulary, 'name' | 'pattern'>
}

/** Days that can be asked for by `{name}_from` and `{name}_to`: the period of a record, from its field to its field. */
export interface Period {
  readonly name: string
  readonly description: string
  readonly first: string
  readonly last: string
}

export interface Dataset {
  /** The path segments: /v2/{name}/{resource}. */
  readonly name: string
  readonly resource: string
  /** What one record is called in schemas. */
  readonly recordName: string
  readonly title: string
  readonly description: string
  /** Its tables are {table}_version, _key, _checkpoint, _chunk and _facet. */
  readonly table: string
  /** The scope a token must carry to read it. */
  readonly scope: string
  /** What an operator provides and what is derived from it, in the order of the JSON and CSV. */
  readonly content: readonly Field[]
  /** Every field of a published record, in order: id, the content, then what the service assigns. */
  readonly fields: readonly Field[]
  /** The fields of which it is counted how many records of a release have which value. Null is not counted. */
  readonly facets: readonly string[]
  readonly rules: readonly Rule[]
  readonly series?: Series
  readonly periods: readonly Period[]
  /** True where a migration of the dataset fills {table}_event with a summary of each event. */
  readonly summarisesEvents: boolean
}

/** Which fields make a series of counts over time. */
export interface Series {
  readonly id: string
  /** Says what the counts are: new, cumulative, period_to_date or point. */
  readonly kind: string
  readonly day: string
  /** The first day a count covers: counts since the beginning of a period are compared where this is the same. */
  readonly begins: string
  /** The day a count was published: of several about the same days the latest stands. */
  readonly reported: string
  readonly counts: readonly string[]
  /** The case definition that was used, where the dataset has a field for it. */
  readonly definition?: string
  /** Computed by the service from the records of a release: set where a count falls nevertheless or the definition changes. */
  readonly broken: string
  /** Counts that differ in one of these are not added up. */
  readonly strata: readonly string[]
}

type Undecided = Omit<Field, 'name'>
type Range = { minimum?: number; maximum?: number }

const INT4_MAX = 2_147_483_647
/** A value that is filtered by is a key of an index, which holds 2,700 bytes: 500 characters are at most 2,000. */
const LONGEST_TEXT = 500
const declare = (kind: Kind, description: string, more: Partial<Undecided> = {}): Undecided => ({
  kind,
  description,
  nullable: false,
  ...more,
})

export const integer = (description: string, { minimum = 0, maximum = INT4_MAX }: Range = {}) =>
  declare('integer', description, { minimum, maximum })
export const number = (description: string, { minimum, maximum }: Required<Range>) =>
  declare('number', description, { minimum, maximum })
export const text = (description: string, longest = LONGEST_TEXT) => declare('text', description, { longest })
export const date = (description: string) => declare('date', description)
export const boolean = (description: string) => declare('boolean', description)
export const uri = (description: string) => declare('uri', description, { longest: 2000 })
export const object = (description: string) => declare('object', description, { longest: 10_000 })
export const choice = (description: string, choices: readonly string[]) => declare('choice', description, { choices })
export const code = (description: string, vocabulary: Vocabulary) => declare('code', description, { vocabulary })

export const qualified = (undecided: Undecided, qualifiedBy: string): Undecided => ({ ...undecided, qualifiedBy })
export const optional = (undecided: Undecided): Undecided => ({ ...undecided, nullable: true })
export const filterable = (undecided: Undecided, filterCardinality: Cardinality): Undecided => ({
  ...undecided,
  filterCardinality,
})
export const derived = (undecided: Undecided, derive: Derivation): Undecided => ({ ...undecided, derive })

/** What the service itself assigns to every record of every dataset. */
const assigned = {
  id: declare('identifier', 'Record identifier: never reused, survives corrections.', { minimum: 1 }),
  revision: integer('How many times the record was corrected since it first appeared.'),
  first_release: integer('Release in which the record first appeared.', { minimum: 1 }),
  last_release: integer('Release of the last change to the record.', { minimum: 1 }),
}

export function defineDataset(
  declaration: Omit<Dataset, 'content' | 'fields' | 'facets'> & { content: Record<string, Undecided> },
): Dataset {
  const named = (fields: Record<string, Undecided>): Field[] =>
    Object.entries(fields).map(([name, undecided]) => ({ name, ...undecided }))
  const { id, ...bookkeeping } = assigned
  const content = named(declaration.content)
  const fields = [...named({ id }), ...content, ...named(bookkeeping)]
  const counted = fields.filter(({ filterCardinality }) => filterCardinality === 'low' || filterCardinality === 'high')
  return { ...declaration, content, fields, facets: counted.map((field) => field.name) }
}

/** The type of the column that holds the field, as PostgreSQL names it. */
export function columnType(field: FieldShape): string {
  const types: Record<Kind, string> = {
    identifier: 'bigint',
    integer: 'integer',
    number: 'double precision',
    text: 'text',
    date: 'date',
    boolean: 'boolean',
    choice: 'text',
    code: 'text',
    uri: 'text',
    object: 'jsonb',
  }
  return types[field.kind]
}

/** The fields an input file carries: the CSV contract, behind `id` or `key`. */
export const givenFields = ({ content, series }: Dataset): Field[] =>
  content.filter((field) => field.derive === undefined && field.name !== series?.broken)

export function fieldSchema(field: FieldShape): TSchema {
  const about = { description: field.description }
  const range = {
    ...(field.minimum === undefined ? {} : { minimum: field.minimum }),
    ...(field.maximum === undefined ? {} : { maximum: field.maximum }),
  }
  const length = field.longest === undefined ? {} : { maxLength: field.longest }
  const nullable = (schema: TSchema) => (field.nullable ? Type.Union([schema, Type.Null()], about) : schema)
  switch (field.kind) {
    case 'identifier':
    case 'integer':
      return nullable(Type.Integer({ ...about, ...range }))
    case 'number':
      return nullable(Type.Number({ ...about, ...range }))
    case 'text':
      return nullable(Type.String({ ...about, minLength: 1, ...length }))
    case 'code':
      return nullable(Type.String({ ...about, ...(field.vocabulary && { pattern: field.vocabulary.pattern }) }))
    case 'uri':
      return nullable(Type.String({ ...about, format: 'uri', ...length }))
    case 'date':
      return nullable(Type.String({ ...about, format: 'date' }))
    case 'boolean':
      return nullable(Type.Boolean(about))
    case 'choice':
      return nullable(Type.Enum([...(field.choices ?? [])], about))
    case 'object':
      return nullable(Type.Object({}, { ...about, additionalProperties: true }))
  }
}

interface RecordShape {
  readonly recordName: string
  readonly description: string
  readonly fields: readonly FieldShape[]
}

/** The JSON Schema of one published record: every key always present. */
export const recordSchema = ({ recordName, description, fields }: RecordShape) =>
  Type.Object(Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)])), {
    $id: recordName,
    description,
    additionalProperties: false,
  })
