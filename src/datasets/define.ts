// What a dataset is: a name, a table and a list of fields, each declared once with its sentence.
// Query validation, response schema, SQL columns, CSV contract and data dictionary are derived from here.
import { type TSchema, Type } from 'typebox'
import type { Vocabulary } from './vocabulary.ts'

export type FieldValue = string | number | boolean | Record<string, unknown> | null
/** The values of one record, without what the service assigns (id, revision, releases). */
export type Content = Record<string, FieldValue>

export type Derive = (valueOf: (name: string) => FieldValue) => FieldValue

/** What must hold between the fields of one record. */
export interface Rule {
  readonly name: string
  readonly severity: 'error' | 'warning'
  /** The field to look at. */
  readonly column: string
  /** What is wrong, or null. `today` is the day of the check, YYYY-MM-DD. */
  readonly object: (valueOf: (name: string) => FieldValue, today: string) => string | null
}

type Kind = 'identifier' | 'integer' | 'number' | 'text' | 'date' | 'boolean' | 'choice' | 'code' | 'uri' | 'object'

export interface Field {
  readonly name: string
  readonly kind: Kind
  readonly description: string
  readonly nullable: boolean
  /** Computes the value from the other fields of the record; an input file does not carry it. */
  readonly derive?: Derive
  readonly choices?: readonly string[]
  readonly vocabulary?: Vocabulary
  readonly minimum?: number
  readonly maximum?: number
}

export interface Dataset {
  /** The path segments: /v2/{name}/{resource}. */
  readonly name: string
  readonly resource: string
  /** What one record is called in schemas. */
  readonly recordName: string
  readonly title: string
  readonly description: string
  /** Tables are {table}_version, {table}_key and {table}_checkpoint. */
  readonly table: string
  /** The scope a token must carry to read it. */
  readonly scope: string
  /** What an operator provides and what is derived from it, in the order of the JSON and CSV. */
  readonly content: readonly Field[]
  /** Every field of a published record, in order: id, the content, then what the service assigns. */
  readonly fields: readonly Field[]
  readonly rules: readonly Rule[]
}

type Undecided = Omit<Field, 'name'>
type Range = { minimum?: number; maximum?: number }

const INT4_MAX = 2_147_483_647
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
export const text = (description: string) => declare('text', description)
export const date = (description: string) => declare('date', description)
export const boolean = (description: string) => declare('boolean', description)
export const uri = (description: string) => declare('uri', description)
export const object = (description: string) => declare('object', description)
export const choice = (description: string, choices: readonly string[]) => declare('choice', description, { choices })
export const code = (description: string, vocabulary: Vocabulary) => declare('code', description, { vocabulary })

export const optional = (undecided: Undecided): Undecided => ({ ...undecided, nullable: true })
export const derived = (undecided: Undecided, derive: Derive): Undecided => ({ ...undecided, derive })

/** What the service itself assigns to every record of every dataset. */
const assigned = {
  id: declare('identifier', 'Record identifier: never reused, survives corrections.', { minimum: 1 }),
  revision: integer('How many times the record was corrected since it first appeared.'),
  first_release: integer('Release in which the record first appeared.', { minimum: 1 }),
  last_release: integer('Release of the last change to the record.', { minimum: 1 }),
}

export function defineDataset(
  declaration: Omit<Dataset, 'content' | 'fields'> & { content: Record<string, Undecided> },
): Dataset {
  const named = (fields: Record<string, Undecided>): Field[] =>
    Object.entries(fields).map(([name, undecided]) => ({ name, ...undecided }))
  const { id, ...bookkeeping } = assigned
  const content = named(declaration.content)
  return { ...declaration, content, fields: [...named({ id }), ...content, ...named(bookkeeping)] }
}

/** The type of the column that holds the field, as PostgreSQL names it. */
export function columnType(field: Field): string {
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
export const givenFields = (dataset: Dataset): Field[] => dataset.content.filter((field) => field.derive === undefined)

export function fieldSchema(field: Field): TSchema {
  const about = { description: field.description }
  const range = {
    ...(field.minimum === undefined ? {} : { minimum: field.minimum }),
    ...(field.maximum === undefined ? {} : { maximum: field.maximum }),
  }
  const nullable = (schema: TSchema) => (field.nullable ? Type.Union([schema, Type.Null()], about) : schema)
  switch (field.kind) {
    case 'identifier':
    case 'integer':
      return nullable(Type.Integer({ ...about, ...range }))
    case 'number':
      return nullable(Type.Number({ ...about, ...range }))
    case 'text':
      return nullable(Type.String({ ...about, minLength: 1 }))
    case 'code':
      return nullable(Type.String({ ...about, ...(field.vocabulary && { pattern: field.vocabulary.pattern }) }))
    case 'uri':
      return nullable(Type.String({ ...about, format: 'uri' }))
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

/** The JSON Schema of one published record: every key always present. */
export const recordSchema = (dataset: Dataset) =>
  Type.Object(Object.fromEntries(dataset.fields.map((field) => [field.name, fieldSchema(field)])), {
    $id: dataset.recordName,
    description: dataset.description,
    additionalProperties: false,
  })
