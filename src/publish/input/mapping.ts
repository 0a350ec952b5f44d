// mapping.json: what it may say, and the sentence for whoever said something else. Reads no records.
// The language is described in docs/mapping.md; it is kept so small that it needs no program to be read.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { type Static, Type } from 'typebox'
import { Check, Errors } from 'typebox/value'
import { OperatorError } from '../../platform/operator-error.ts'
import { createDateReader } from './date-format.ts'
import type { Encoding } from './read-text.ts'

const MAPPING_FILE = 'mapping.json'

const closed = { additionalProperties: false }
const someText = Type.String({ minLength: 1 })
const constantSchema = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])
const partWords = {
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
const partSchema = Type.Union([someText, Type.Object(partWords, closed)])
const joinWord = { join: Type.Optional(Type.Array(partSchema, { minItems: 1 })) }
const cellSchema = Type.Union([someText, Type.Object({ ...partWords, ...joinWord }, closed)])
const clauses = {
  encoding: Type.Optional(Type.Enum(['utf-8', 'windows-1252'])),
  wide: Type.Optional(Type.Object({ columns: someText, name: someText, value: someText }, closed)),
  skip: Type.Optional(Type.Array(Type.Object({ where: cellSchema, is: Type.Array(Type.String()) }, closed))),
  key: Type.Optional(Type.Array(cellSchema, { minItems: 1 })),
  columns: Type.Optional(Type.Record(Type.String(), cellSchema)),
}
const groupSchema = Type.Object({ names: Type.Array(someText, { minItems: 1 }), ...clauses }, closed)
const mappingSchema = Type.Object({ ...clauses, files: Type.Optional(Type.Array(groupSchema)) }, closed)

export type Mapping = Static<typeof mappingSchema>
type WrittenCell = Static<typeof cellSchema>
/** A cell as written, but for the text that is short for the column of that name. */
export type CellMapping = Exclude<WrittenCell, string>

/** What holds for one file, everything spelt out. */
export interface TableMapping {
  encoding: Encoding
  wide: { columns: RegExp; name: string; value: string } | null
  skip: { where: CellMapping; is: readonly string[] }[]
  key: CellMapping[]
  columns: [field: string, cell: CellMapping][]
}

/** Null where the directory has no mapping: its files are canonical. */
export async function readMapping(directory: string, names: readonly string[]): Promise<Mapping | null> {
  if (!names.includes(MAPPING_FILE)) return null
  let mapping: unknown
  try {
    mapping = JSON.parse(await readFile(path.join(directory, MAPPING_FILE), 'utf8'))
  } catch (cause) {
    throw new OperatorError(`${MAPPING_FILE} is not JSON: ${cause instanceof Error ? cause.message : ''}`, { cause })
  }
  if (!Check(mappingSchema, mapping)) throw describeShape(mapping)
  return mapping
}

/** The settings of a file: those of the first group that names it, over those of the whole. */
export function tableOf({ files, ...whole }: Mapping, file: string): TableMapping {
  const at = files?.findIndex(({ names }) => names.some((glob) => path.matchesGlob(file, glob))) ?? -1
  const group = files?.[at]
  if (files !== undefined && group === undefined) throw fault('files', `no group names ${file}`)
  const settings = { ...whole, ...group, columns: { ...whole.columns, ...group?.columns } }
  if (settings.key === undefined) throw fault('key', `is missing for ${file}`)
  if (Object.keys(settings.columns).length === 0) throw fault('columns', `is missing for ${file}`)
  const placeOf = (clause: keyof typeof clauses) => (group?.[clause] === undefined ? clause : `files.${at}.${clause}`)
  const cellPlace = (field: string) =>
    group?.columns?.[field] === undefined ? `columns.${field}` : `files.${at}.columns.${field}`
  return {
    encoding: settings.encoding ?? 'utf-8',
    wide: settings.wide === undefined ? null : spellWide(settings.wide, placeOf('wide')),
    skip: (settings.skip ?? []).map(({ where, is }, i) => ({
      where: spellCell(where, `${placeOf('skip')}.${i}.where`),
      is,
    })),
    key: settings.key.map((part, i) => spellCell(part, `${placeOf('key')}.${i}`)),
    columns: Object.entries(settings.columns).map(([field, cell]) => [field, spellCell(cell, cellPlace(field))]),
  }
}

export const fault = (place: string, message: string) => new OperatorError(`${MAPPING_FILE} ${place}: ${message}`)

function spellWide({ columns, ...names }: { columns: string; name: string; value: string }, place: string) {
  try {
    return { columns: new RegExp(columns), ...names }
  } catch {
    throw fault(`${place}.columns`, 'is not a regular expression')
  }
}

function spellCell(short: WrittenCell, place: string): CellMapping {
  if (typeof short === 'string') return { from: short }
  const sources = [short.from, short.constant, short.join].filter((source) => source !== undefined)
  if (sources.length !== 1) throw fault(place, 'must have exactly one of from, constant and join')
  if (short.otherwise !== undefined && short.map === undefined) throw fault(place, 'has otherwise without map')
  if (short.date !== undefined && createDateReader(short.date) === null)
    throw fault(`${place}.date`, 'must hold a year (YYYY or YY), a month (MM or M) and a day (DD or D), each once')
  if (short.date !== undefined && short.number !== undefined) throw fault(place, 'has both date and number')
  return short.join === undefined
    ? short
    : { ...short, join: short.join.map((part, i) => spellCell(part, `${place}.join.${i}`)) }
}

/** One place, the deepest that is wrong: of a choice of shapes, that is the one the operator was writing. */
function describeShape(mapping: unknown): OperatorError {
  const errors = Errors(mappingSchema, mapping).filter(({ keyword }) => keyword !== 'anyOf')
  const depth = (place: string) => place.split('/').length
  const deepest = Math.max(...errors.map(({ instancePath }) => depth(instancePath)))
  const place = errors.find(({ instancePath }) => depth(instancePath) === deepest)?.instancePath ?? ''
  const messages = errors
    .filter(({ instancePath }) => instancePath === place)
    .map(({ keyword, message }) => (keyword === 'boolean' ? 'is not a word of the mapping' : message))
  return fault(place.slice(1).replaceAll('/', '.') || 'as a whole', [...new Set(messages)].join(', or '))
}
