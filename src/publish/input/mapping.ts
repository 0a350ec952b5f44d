// Reads and validates mapping.json. Reads no records.
// docs/mapping.md describes its syntax, which is so small that a reader understands a mapping without running it.
import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { type Static, Type } from 'typebox'
import { Check, Errors } from 'typebox/schema'
import { OperatorError } from '../../platform/operator-error.ts'
import { createDateParser } from './date-format.ts'
import { requireUniqueKeys } from './json-value.ts'
import { type Encoding, readSettingsFile } from './read-text.ts'

const MAPPING_FILE = 'mapping.json'

const closed = { additionalProperties: false }
const someText = Type.String({ minLength: 1 })
const patternList = Type.Array(someText, { minItems: 1, maxItems: 1000 })
const constantSchema = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])
const partProperties = {
  from: Type.Optional(someText),
  constant: Type.Optional(constantSchema),
  split: Type.Optional(Type.Object({ by: someText, part: Type.Integer() }, closed)),
  null: Type.Optional(Type.Array(someText)),
  map: Type.Optional(Type.Record(Type.String(), constantSchema)),
  otherwise: Type.Optional(
    Type.Union([Type.Enum(['error', 'keep']), Type.Object({ constant: constantSchema }, closed)]),
  ),
  date: Type.Optional(someText),
  number: Type.Optional(
    Type.Union([Type.Literal(true), Type.Object({ thousands: Type.Enum([',', '.', ' ', "'"]) }, closed)]),
  ),
}
const partSchema = Type.Union([someText, Type.Object(partProperties, closed)])
const joinProperty = { join: Type.Optional(Type.Array(partSchema, { minItems: 1 })) }
const cellSchema = Type.Union([someText, Type.Object({ ...partProperties, ...joinProperty }, closed)])
const clauses = {
  encoding: Type.Optional(Type.Enum(['utf-8', 'windows-1252'])),
  wide: Type.Optional(Type.Object({ columns: patternList, name: someText, value: someText }, closed)),
  skip: Type.Optional(Type.Array(Type.Object({ where: cellSchema, is: Type.Array(Type.String()) }, closed))),
  key: Type.Optional(Type.Array(cellSchema, { minItems: 1 })),
  columns: Type.Optional(Type.Record(Type.String(), cellSchema)),
}
const groupSchema = Type.Object(
  {
    names: patternList,
    canonical: Type.Optional(Type.Literal(true)),
    use: Type.Optional(someText),
    ...clauses,
  },
  closed,
)
const mappingSchema = Type.Object({ ...clauses, files: Type.Optional(Type.Array(groupSchema)) }, closed)

type Group = Static<typeof groupSchema>
export interface Mapping extends Static<typeof mappingSchema> {
  /** The file of this mapping as the operator names it, for messages. */
  readonly origin: string
  /** The mapping files that groups use, by their path as written. */
  readonly used: ReadonlyMap<string, Mapping>
}
type WrittenCell = Static<typeof cellSchema>
/** A cell in its long form. A text is the short form for the column of that name. */
export type CellMapping = Exclude<WrittenCell, string>

/** The mapping of one file, with defaults and short forms expanded. */
export interface TableMapping {
  /** Creates an error at a location in the mapping file. */
  errorAt: (location: string, message: string) => OperatorError
  encoding: Encoding
  wide: { columns: readonly string[]; name: string; value: string } | null
  skip: { where: CellMapping; is: readonly string[] }[]
  key: CellMapping[]
  columns: [field: string, cell: CellMapping][]
}

/** Null if the directory has no mapping: its files are canonical. */
export async function readMapping(directory: string, names: readonly string[]): Promise<Mapping | null> {
  if (!names.includes(MAPPING_FILE)) return null
  const mapping = await readMappingFile(directory, MAPPING_FILE)
  const used = new Map<string, Mapping>()
  for (const [i, group] of (mapping.files ?? []).entries()) {
    validateGroup(group, `files.${i}`)
    if (group.use === undefined || used.has(group.use)) continue
    const usedMapping = await readMappingFile(directory, group.use)
    if (usedMapping.files?.some(({ canonical, use }) => canonical === true || use !== undefined))
      throw mappingError(group.use, 'files', 'cannot have canonical or use, because another mapping uses this file')
    used.set(group.use, usedMapping)
  }
  return { ...mapping, used }
}

async function readMappingFile(directory: string, origin: string): Promise<Mapping> {
  const file = path.resolve(directory, origin)
  await requireInside(directory, file, origin)
  const text = await readSettingsFile(file).catch((cause: unknown) => {
    if (cause instanceof OperatorError) throw cause
    throw new OperatorError(`${origin} cannot be read. Check that ${file} exists and is a mapping file.`, { cause })
  })
  let mapping: unknown
  try {
    mapping = JSON.parse(text)
  } catch (cause) {
    throw new OperatorError(`${origin} is not valid JSON: ${cause instanceof Error ? cause.message : ''}`, { cause })
  }
  requireUniqueKeys(text, origin)
  if (!Check(mappingSchema, mapping)) throw describeSchemaError(mapping, origin)
  return { ...mapping, origin, used: new Map() }
}

/** Errors quote the mapping, so it must not be a path or link to a file that the author of the directory cannot read. */
async function requireInside(directory: string, file: string, origin: string): Promise<void> {
  const relative = await Promise.all([realpath(directory), realpath(file)]).then(
    ([real, target]) => path.relative(real, target),
    () => path.relative(directory, file),
  )
  if (relative === '..' || relative.startsWith(`..${path.sep}`))
    throw new OperatorError(`${origin} is not in the release directory. Copy the mapping file into it.`)
}

/** The clauses of such a group come from nowhere, or from the other file. */
function validateGroup(group: Group, location: string): void {
  if ((group.canonical ?? group.use) !== undefined && Object.keys(group).length > 2)
    throw mappingError(MAPPING_FILE, location, 'a group with canonical or use can have only names besides')
}

/** The settings of a file: those of the first group whose names match it, then the top-level ones. Null if it is canonical. */
export function findTableMapping(mapping: Mapping, file: string): TableMapping | null {
  const { files, used, origin, ...defaults } = mapping
  const errorAt = (location: string, message: string) => mappingError(origin, location, message)
  const groupIndex = files?.findIndex(({ names }) => matchesAny(file, names)) ?? -1
  const group = files?.[groupIndex]
  if (files !== undefined && group === undefined) throw errorAt('files', `no group matches ${file}`)
  if (group?.canonical === true) return null
  const usedMapping = group?.use === undefined ? undefined : used.get(group.use)
  if (usedMapping !== undefined) return findTableMapping(usedMapping, file)
  const settings = { ...defaults, ...group, columns: { ...defaults.columns, ...group?.columns } }
  if (settings.key === undefined) throw errorAt('key', `missing for ${file}`)
  if (Object.keys(settings.columns).length === 0) throw errorAt('columns', `missing for ${file}`)
  const locateClause = (clause: keyof typeof clauses) =>
    group?.[clause] === undefined ? clause : `files.${groupIndex}.${clause}`
  const locateColumn = (field: string) =>
    group?.columns?.[field] === undefined ? `columns.${field}` : `files.${groupIndex}.columns.${field}`
  return {
    errorAt,
    encoding: settings.encoding ?? 'utf-8',
    wide: settings.wide ?? null,
    skip: (settings.skip ?? []).map(({ where, is }, i) => ({
      where: expandCell(where, `${locateClause('skip')}.${i}.where`, errorAt),
      is,
    })),
    key: settings.key.map((part, i) => expandCell(part, `${locateClause('key')}.${i}`, errorAt)),
    columns: Object.entries(settings.columns).map(([field, cell]) => [
      field,
      expandCell(cell, locateColumn(field), errorAt),
    ]),
  }
}
const mappingError = (origin: string, location: string, message: string) =>
  new OperatorError(`${origin} ${location}: ${message}`)

type MappingErrorAt = TableMapping['errorAt']

function expandCell(written: WrittenCell, location: string, errorAt: MappingErrorAt): CellMapping {
  if (typeof written === 'string') return { from: written }
  const sources = [written.from, written.constant, written.join].filter((source) => source !== undefined)
  if (sources.length !== 1) throw errorAt(location, 'must have exactly one of from, constant and join')
  if (written.otherwise !== undefined && written.map === undefined)
    throw errorAt(location, 'otherwise works only together with map')
  if (written.date !== undefined && createDateParser(written.date) === null)
    throw errorAt(
      `${location}.date`,
      'must contain a year (YYYY or YY), a month (MM or M) and a day (DD or D), each once',
    )
  if (written.date !== undefined && written.number !== undefined)
    throw errorAt(location, 'can have date or number, not both')
  return written.join === undefined
    ? written
    : { ...written, join: written.join.map((part, i) => expandCell(part, `${location}.join.${i}`, errorAt)) }
}

/** Describes only the deepest error: where several forms are allowed, it belongs to the form that the operator used. */
function describeSchemaError(mapping: unknown, origin: string): OperatorError {
  const errors = Errors(mappingSchema, mapping)[1].filter(({ keyword }) => keyword !== 'anyOf')
  const depth = (location: string) => location.split('/').length
  const deepest = Math.max(...errors.map(({ instancePath }) => depth(instancePath)))
  const location = errors.find(({ instancePath }) => depth(instancePath) === deepest)?.instancePath ?? ''
  const messages = errors
    .filter(({ instancePath }) => instancePath === location)
    .map(({ keyword, message }) => (keyword === 'boolean' ? 'is not a property of a mapping' : message))
  return mappingError(
    origin,
    location.slice(1).replaceAll('/', '.') || '(top level)',
    [...new Set(messages)].join(', or '),
  )
}

/** In a pattern only * is special: it stands for any text. Never goes back within a name, so no pattern takes long. */
export function matchesAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matchesPattern(name, pattern))
}

function matchesPattern(name: string, pattern: string): boolean {
  const [start = '', ...middle] = pattern.split('*')
  const end = middle.pop()
  if (end === undefined) return name === pattern
  if (name.length < start.length + end.length || !name.startsWith(start) || !name.endsWith(end)) return false
  const inner = name.slice(start.length, name.length - end.length)
  let position = 0
  for (const part of middle) {
    const found = inner.indexOf(part, position)
    if (found === -1) return false
    position = found + part.length
  }
  return true
}
