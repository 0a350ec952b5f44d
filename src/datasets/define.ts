// What a dataset is: a name, a table and a list of fields, each declared once with its description.
// Query validation, response schema, SQL columns, CSV columns and data dictionary are derived from the declaration.
import { type TSchema, Type } from 'typebox'
import { lookUp, type Vocabulary } from './vocabulary.ts'

export type FieldValue = string | number | boolean | Record<string, unknown> | null
/** The values of one record, without the fields that the service assigns (id, revision, releases). */
export type Content = Record<string, FieldValue>

/** How a field is computed from other fields of its record. */
export interface Derivation {
  readonly from: readonly string[]
  readonly compute: (values: readonly FieldValue[]) => FieldValue
}

/** A condition on several fields of one record. */
export interface Rule {
  readonly name: string
  readonly severity: 'error' | 'warning'
  /** The field that a finding names. */
  readonly column: string
  /** Gives the message of a finding, or null if the record meets the rule. `lastDay` is the day of the data (`as_of`), or today. */
  readonly check: (valueOf: (name: string) => FieldValue, lastDay: string) => string | null
  /** Reported only for the first row of a file: usually all rows have the same cause. */
  readonly oncePerFile?: true
}

type Kind = 'identifier' | 'integer' | 'number' | 'text' | 'date' | 'boolean' | 'choice' | 'code' | 'uri' | 'object'

export interface Field {
  readonly name: string
  readonly kind: Kind
  readonly description: string
  readonly nullable: boolean
  /** Records can be filtered by the values of this field. */
  readonly filterable?: true
  /** The facets count the values of this field. */
  readonly faceted?: true
  /** Computes the value from other fields of the record. Input files do not contain the field. */
  readonly derive?: Derivation
  readonly choices?: readonly string[]
  readonly vocabulary?: Vocabulary
  readonly minimum?: number
  readonly maximum?: number
  /** The field that says how exact this number is. A count such as <5 sets it. */
  readonly qualifiedBy?: string
  /** The maximum number of characters (code points) of a text or a URI, or of an object as JSON. */
  readonly maxLength?: number
}

/** The part of a field that consumers see, and that is stored in the contract of a release. */
export type FieldShape = Omit<Field, 'filterable' | 'faceted' | 'derive' | 'vocabulary'> & {
  readonly vocabulary?: Pick<Vocabulary, 'name' | 'pattern'>
}

/** A period of a record, from the field `first` to the field `last`. Filters: `{name}_from` and `{name}_to`. */
export interface Period {
  readonly name: string
  readonly description: string
  readonly first: string
  readonly last: string
}

/** The names by which people look for a value of a field. */
export interface ValueNames {
  /** A readable name, if the value is a code. */
  readonly label?: string
  /** Synonyms and translations. */
  readonly names: readonly string[]
  /** Names of something else that leads to the value: the disease of a pathogen. */
  readonly related: readonly string[]
}

/** What people can search for. */
export interface Search {
  /** By kind of hit, the fields whose values are found. A kind that is listed earlier ranks higher. */
  readonly kinds: Readonly<Record<string, readonly string[]>>
  readonly namesOf: (field: string, value: string) => ValueNames
  /** The parameter and the value that people mean; null if they write what they mean. */
  readonly fit?: (parameter: string, value: string) => readonly [parameter: string, value: string] | null
  /** Another filter that some sources use for the same: Puerto Rico is a country code, and a part of the United States. */
  readonly alsoKnownAs?: (parameter: string, value: string) => readonly [parameter: string, value: string] | null
}

/** The words for people. What has none is shown by its name. */
export interface Labels {
  readonly fields: Readonly<Record<string, string>>
  /** By field, the labels of its closed values. */
  readonly values: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Where a label in lower case with an "s" is not the plural. */
  readonly plurals: Readonly<Record<string, string>>
  /** The title of an event. `asked`: the places that were asked for. `counted`: those that were counted, if not the world. */
  readonly titleOf: (event: string, asked: string | null, counted: string | null) => string
}

/** The fields with the coordinates of a record, in degrees. */
interface Coordinates {
  readonly latitude: string
  readonly longitude: string
}

export interface Dataset {
  /** The path segments: /v2/{name}/{resource}. */
  readonly name: string
  readonly resource: string
  /** The name of a record in schemas. */
  readonly recordName: string
  /** Ends the operation ids of this dataset, so that they differ from those of another one: `listRecordsOfWastewater`. */
  readonly operationSuffix?: string
  readonly title: string
  readonly description: string
  /** Its tables are {table}_version, _key, _chunk and _digest. */
  readonly table: string
  /** The scope that a token needs to read the dataset. */
  readonly scope: string
  /** The fields that the operator provides and those derived from them, in the order of JSON and CSV. */
  readonly content: readonly Field[]
  /** Every field of a published record, in order: id, the content, then the other fields that the service assigns. */
  readonly fields: readonly Field[]
  /** The fields whose values the facets count. Null is not counted. */
  readonly facets: readonly string[]
  readonly rules: readonly Rule[]
  readonly series?: Series
  readonly periods: readonly Period[]
  /** Undefined if records have no coordinates. */
  readonly coordinates?: Coordinates
  /** A record of the sample, for the OpenAPI document. */
  readonly example?: Readonly<Record<string, FieldValue>>
  /** True if the dataset has the tables {table}_series and {table}_event: publishing writes a summary of each event. */
  readonly summarisesEvents: boolean
  /** Undefined if the dataset has no search. */
  readonly search?: Search
  /** Undefined if fields and values are shown by their names. */
  readonly labels?: Labels
}

const capitalise = (name: string) => name.slice(0, 1).toUpperCase() + name.slice(1).replaceAll('_', ' ')

/** Of truth values, and of null. */
const DEFAULT_LABELS: Readonly<Record<string, string>> = { true: 'Yes', false: 'No', null: 'Not reported' }

export const labelOf = ({ labels }: Dataset, field: string): string => labels?.fields[field] ?? capitalise(field)
export const pluralOf = (dataset: Dataset, field: string): string =>
  dataset.labels?.plurals[field] ?? `${labelOf(dataset, field).toLowerCase()}s`
/** Undefined if the field has no such closed value. */
export const closedLabelOf = (labels: Labels | undefined, field: string, value: string): string | undefined =>
  lookUp(labels?.values[field] ?? {}, value)
/** The label of a closed value, the name of a code, or the value itself. */
export const labelOfValue = ({ labels, search }: Dataset, field: string, value: string): string =>
  closedLabelOf(labels, field, value) ?? search?.namesOf(field, value).label ?? lookUp(DEFAULT_LABELS, value) ?? value
export const titleOf = (
  { labels }: Dataset,
  event: string,
  asked: string | null = null,
  counted: string | null = null,
): string => labels?.titleOf(event, asked, counted) ?? (asked === null ? event : `${event}: ${asked}`)

/** The fields that define a series of counts over time. */
export interface Series {
  readonly id: string
  /** The kind of the counts: new, cumulative, period_to_date or point. */
  readonly kind: string
  readonly day: string
  /** The first day that a count covers. Counts since the start of a period are compared if they have the same first day. */
  readonly begins: string
  /** The day a count was published. Of several counts for the same days, the latest is used. */
  readonly reported: string
  readonly counts: readonly string[]
  /** The case definition, if the dataset has a field for it. */
  readonly definition?: string
  /** The service sets it for a record whose cumulative count decreases or whose case definition changes. */
  readonly breakFlag: string
  /** Which report of a source a record is from. Of several counts published on one day, the greater name is the later. */
  readonly report?: string
  /** Who reports. Figures of several sources have a range. */
  readonly source?: string
  /** How exact the counts of a record are: `exact` or another word. */
  readonly qualifier?: string
  /** The fields that all records of a series have in common. */
  readonly fields: readonly string[]
  readonly comparison: Comparison
  /** Absent if records do not have a place; every series then counts as a place. */
  readonly place?: Place
  /** Absent if nothing is chosen for the reader. */
  readonly preference?: Preference
  /** What ratios and rates are made of; absent if there are none. docs/methods.md, section 12. */
  readonly measured?: Measured
}

interface Measured {
  readonly cases: string
  readonly deaths: string
  /** The status of someone who was no case. */
  readonly noCase: FieldValue
  readonly host: string
  /** The host whose number the population table has. */
  readonly human: FieldValue
}

/** Which counts can be added together. docs/methods.md, section 6. */
export interface Comparison {
  /** Counts that differ in one of these fields overlap or mean different things. They are never added up. */
  readonly separate: readonly string[]
  /** Counts that differ in one of these fields are added up only on request. */
  readonly addable: readonly string[]
  /** Like `addable`; null is everyone and is never added to a part. */
  readonly parts: readonly string[]
  /** True if some of these values of a field in `parts` have people in common, so that they are never added up. */
  readonly overlap?: (field: string, values: readonly string[]) => boolean
}

/** The value of a group of people in a set whose groups are added up on request. */
export const ADDED_UP = 'groups added up'

/** How counts are chosen for a reader who did not say. Earlier values are better. docs/methods.md, section 11. */
export interface Preference {
  /** The field of a curator's own choice. */
  readonly composite: string
  readonly level: string
  /** From the coarsest, which contains all places, to the finest. */
  readonly levels: readonly FieldValue[]
  /** The best level where all ordinary places are in one country: a count of several countries has others, too. */
  readonly countryLevel: FieldValue
  /** The levels of places that are parts of a country. */
  readonly partLevels: readonly FieldValue[]
  readonly country: string
  readonly sourceType: string
  /** Types that are equally good stand together. */
  readonly sourceTypes: readonly (readonly FieldValue[])[]
  readonly status: string
  /** The status that contains the others. */
  readonly allStatuses: FieldValue
  /** The kind of the counts: of one source, the kind with the greatest total is the most complete. */
  readonly kind: string
  /** A set that also has this count is better. */
  readonly also: string
  readonly orders: readonly { readonly field: string; readonly values: readonly FieldValue[] }[]
  /** A set in words, from the values of some of these fields and the countries of its ordinary places. */
  readonly describe: (values: ReadonlyMap<string, FieldValue>, countries?: ReadonlySet<FieldValue>) => string
  /** Of the fields of what was counted: events of one `subject` are added up, regardless of `within`. */
  readonly subject: string
  readonly within: readonly string[]
}

type ValueOf = (name: string) => FieldValue | undefined

/** How the place of a record is read from its fields. */
interface Place {
  readonly level: string
  readonly fields: readonly string[]
  /** The fields that can change while the place stays the same. A series has the values of its latest record. */
  readonly names: readonly string[]
  /** The values that identify the place; other fields of the place are null. */
  readonly identify: (valueOf: ValueOf) => ReadonlyMap<string, FieldValue>
  /** True if the place may contain other places, so that its counts are added to no others. */
  readonly mayContainOthers: (valueOf: ValueOf) => boolean
  /** The position of each place in the tree of places, from the top; null if it has none. */
  readonly findPaths: (places: readonly ValueOf[]) => (readonly string[] | null)[]
  /** The filter that selects a named place and everything in it, and the start of their paths; null if the name is unknown. */
  readonly findFilter: (
    name: string,
  ) => { readonly values: ReadonlyMap<string, string>; readonly path: readonly string[] } | null
  /** The filters that a named place excludes. */
  readonly filters: readonly string[]
  /** The levels whose places contain the groups of a field; null if the field is not about places. */
  readonly levelsAbove: (field: string) => readonly string[] | null
  /** True if the name of the place lists several places. */
  readonly listsPlaces: (valueOf: ValueOf) => boolean
  /** The positions of the places that others contain by name. */
  readonly findContained: (places: readonly ValueOf[]) => ReadonlySet<number>
}

type UnnamedField = Omit<Field, 'name'>
type Range = { minimum?: number; maximum?: number }

/** The maximum of an integer in PostgreSQL. */
export const INT4_MAX = 2_147_483_647
/** The field with the name of the event. */
export const EVENT = 'event'
/** The field with the name of the source, in every dataset that has one. */
export const SOURCE_FIELD = 'source_name'
/** PostgreSQL has an index of events, and an index entry has at most 2,700 bytes. 500 characters have at most 2,000 bytes. */
export const MAX_TEXT_LENGTH = 500
const declareField = (kind: Kind, description: string, options: Partial<UnnamedField> = {}): UnnamedField => ({
  kind,
  description,
  nullable: false,
  ...options,
})

export const integer = (description: string, { minimum = 0, maximum = INT4_MAX }: Range = {}) =>
  declareField('integer', description, { minimum, maximum })
export const number = (description: string, { minimum, maximum }: Required<Range>) =>
  declareField('number', description, { minimum, maximum })
export const text = (description: string, maxLength = MAX_TEXT_LENGTH) =>
  declareField('text', description, { maxLength })
export const date = (description: string) => declareField('date', description)
export const boolean = (description: string) => declareField('boolean', description)
export const uri = (description: string) => declareField('uri', description, { maxLength: 2000 })
export const object = (description: string) => declareField('object', description, { maxLength: 10_000 })
export const choice = (description: string, choices: readonly string[]) =>
  declareField('choice', description, { choices })
export const code = (description: string, vocabulary: Vocabulary) => declareField('code', description, { vocabulary })

export const qualified = (field: UnnamedField, qualifiedBy: string): UnnamedField => ({ ...field, qualifiedBy })
export const optional = (field: UnnamedField): UnnamedField => ({ ...field, nullable: true })
export const filterable = (field: UnnamedField): UnnamedField => ({ ...field, filterable: true })
/** A filterable field whose values the facets count. */
export const faceted = (field: UnnamedField): UnnamedField => ({ ...filterable(field), faceted: true })
export const derived = (field: UnnamedField, derive: Derivation): UnnamedField => ({ ...field, derive })

/** The fields that the service assigns to every record of every dataset. */
const assignedFields = {
  id: declareField('identifier', 'Record identifier: never reused, survives corrections.', { minimum: 1 }),
  revision: integer('How many times the record was corrected since it first appeared.'),
  first_release: integer('Release in which the record first appeared.', { minimum: 1 }),
  last_release: integer('Release of the last change to the record.', { minimum: 1 }),
}

export function defineDataset(
  declaration: Omit<Dataset, 'content' | 'fields' | 'facets'> & { content: Record<string, UnnamedField> },
): Dataset {
  const nameFields = (fields: Record<string, UnnamedField>): Field[] =>
    Object.entries(fields).map(([name, field]) => ({ name, ...field }))
  const { id, ...assignedLast } = assignedFields
  const content = nameFields(declaration.content)
  const fields = [...nameFields({ id }), ...content, ...nameFields(assignedLast)]
  const facets = content.filter((field) => field.faceted).map(({ name }) => name)
  return { ...declaration, content, fields, facets }
}

/** The PostgreSQL type of the column of a field. */
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

/** The fields of an input file, which follow `id` or `key`. */
export const inputFields = ({ content, series }: Dataset): Field[] =>
  content.filter((field) => field.derive === undefined && field.name !== series?.breakFlag)

export function fieldSchema(field: FieldShape): TSchema {
  const annotations = { description: field.description }
  const range = {
    ...(field.minimum === undefined ? {} : { minimum: field.minimum }),
    ...(field.maximum === undefined ? {} : { maximum: field.maximum }),
  }
  const length = field.maxLength === undefined ? {} : { maxLength: field.maxLength }
  const nullable = (schema: TSchema) => (field.nullable ? Type.Union([schema, Type.Null()], annotations) : schema)
  switch (field.kind) {
    case 'identifier':
    case 'integer':
      return nullable(Type.Integer({ ...annotations, ...range }))
    case 'number':
      return nullable(Type.Number({ ...annotations, ...range }))
    case 'text':
      return nullable(Type.String({ ...annotations, minLength: 1, ...length }))
    case 'code':
      return nullable(Type.String({ ...annotations, ...(field.vocabulary && { pattern: field.vocabulary.pattern }) }))
    case 'uri':
      return nullable(Type.String({ ...annotations, format: 'uri', ...length }))
    case 'date':
      return nullable(Type.String({ ...annotations, format: 'date' }))
    case 'boolean':
      return nullable(Type.Boolean(annotations))
    case 'choice':
      return nullable(Type.Enum([...(field.choices ?? [])], annotations))
    case 'object':
      return nullable(Type.Object({}, { ...annotations, additionalProperties: true }))
  }
}

interface RecordShape {
  readonly recordName: string
  readonly description: string
  readonly fields: readonly FieldShape[]
}

/** The JSON Schema of a published record. Every key is always present. */
export const recordSchema = ({ recordName, description, fields }: RecordShape) =>
  Type.Object(Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)])), {
    $id: recordName,
    description,
    additionalProperties: false,
  })
