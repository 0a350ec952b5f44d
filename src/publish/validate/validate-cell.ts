// Decodes, normalises and validates a cell of a file by the declaration of its field.
// Most values of a column repeat (a place, a day, a source), so the results are cached.

import type { Field, FieldValue } from '../../datasets/define.ts'
import { isCalendarDate } from '../../platform/calendar-date.ts'
import { isStorable, normaliseText } from '../../storage/normalise-text.ts'
import { type Cell, toCell } from '../../storage/serialise-record.ts'
import { findLoss, isDeeper, type Loss } from '../input/json-value.ts'
import { MAX_OBJECT_DEPTH } from '../input/limits.ts'
import type { Format } from '../input/record-file.ts'
import { parseSignedCount, type SignedCount } from './signed-count.ts'

export interface CellError {
  rule: string
  message: string
}

/** A cell that passed validation. */
interface ValidCell {
  cell: Cell
  /** Says how the value was changed. */
  warning: CellError | null
  /** How exact the number is, from a sign such as <. */
  qualifier?: string | undefined
}

const MAX_CACHED_CELLS = 20_000

/** Whether an empty cell is an error. */
export const isRequired = (field: Field): boolean => validateValue(field, decodeCell(field, '')) !== null

/** The validator gives the valid cell or its error. */
export function createCellValidator(field: Field, format: Format): (raw: unknown) => ValidCell | CellError {
  const validate = (raw: unknown): ValidCell | CellError => {
    // A missing column counts as empty, so that a field that is added later does not break existing inputs.
    if (raw === undefined) {
      const empty = decodeCell(field, '')
      if (validateValue(field, empty) !== null) return { rule: 'required', message: 'is missing' }
      return { cell: toCell(field.name, empty as FieldValue), warning: null }
    }
    const isText = format === 'csv' || isJsonText(field, format, raw)
    if (isText && JSON_NUMBERS.has(field.kind) && typeof raw === 'string') {
      const loss = findLossInText(raw)
      if (loss !== null) return loss
    }
    const signed = field.qualifiedBy !== undefined && typeof raw === 'string' ? parseSignedCount(raw) : null
    if (signed !== null) return validateValue(field, signed.value) ?? toSignedCell(field, raw as string, signed)
    const decoded = isText ? decodeCell(field, raw ?? '') : raw
    const { value, warning } = normalise(field, decoded)
    return validateValue(field, value) ?? { cell: toCell(field.name, value as FieldValue), warning }
  }
  const cache = new Map<unknown, ValidCell | CellError>()
  // Successive rows often have equal cells, and comparing two texts is cheaper than a lookup.
  let previousRaw: unknown
  let previousCell: ValidCell | CellError | undefined
  return (raw) => {
    if (typeof raw === 'object') return validate(raw)
    if (previousCell !== undefined && previousRaw === raw) return previousCell
    let cell = cache.get(raw)
    if (cell === undefined) {
      const key = typeof raw === 'string' ? detach(raw) : raw
      cell = validate(key)
      if (cache.size >= MAX_CACHED_CELLS) cache.clear()
      cache.set(key, cell)
    }
    previousRaw = raw
    previousCell = cell
    return cell
  }
}

/** A cell is a slice that keeps a large piece of the file in memory. A cached text must not. */
const detach = (slice: string): string => JSON.parse(JSON.stringify(slice)) as string

const toSignedCell = ({ name, qualifiedBy }: Field, raw: string, { value, qualifier }: SignedCount): ValidCell => ({
  cell: toCell(name, value),
  warning: { rule: 'signed_count', message: `is published as ${value} with ${qualifiedBy} ${qualifier} (was ${raw})` },
  qualifier,
})

/** `validateValue` rejects text that cannot be stored. Text of white space only becomes null. */
function normalise({ kind }: Field, value: unknown): { value: unknown; warning: CellError | null } {
  if (kind !== 'text' || typeof value !== 'string' || !isStorable(value)) return { value, warning: null }
  const { text, changes } = normaliseText(value)
  if (changes.length === 0) return { value, warning: null }
  return { value: text === '' ? null : text, warning: { rule: 'text_normalised', message: changes.join('; ') } }
}

/** The kinds of fields whose text is JSON, or a number that can have a fraction. A whole number has a range. */
const JSON_NUMBERS: ReadonlySet<Field['kind']> = new Set(['object', 'number'])

/** Text that is not JSON gets its error later. */
function findLossInText(raw: string): Loss | null {
  try {
    return findLoss(raw)
  } catch {
    return null
  }
}

/** Parquet has no columns for arbitrary objects: they are stored as JSON text. */
const isJsonText = ({ kind }: Field, format: Format, raw: unknown) =>
  format === 'parquet' && kind === 'object' && (raw === null || typeof raw === 'string')

/** Decodes the text of a CSV cell. An empty cell is null, or {} for an object. */
function decodeCell(field: Field, raw: unknown): unknown {
  if (raw === '') return field.kind === 'object' ? {} : null
  switch (field.kind) {
    case 'identifier':
    case 'integer':
      return asNumber(raw, /^(0|-?[1-9]\d*)$/)
    case 'number':
      return asNumber(raw, /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/)
    case 'boolean':
      return raw === 'true' ? true : raw === 'false' ? false : raw
    case 'object':
      return asJson(raw)
    default:
      return raw
  }
}

export const asNumber = (raw: unknown, shape: RegExp): unknown =>
  typeof raw === 'string' && shape.test(raw) ? Number(raw) : raw

function asJson(raw: unknown): unknown {
  try {
    return JSON.parse(String(raw))
  } catch {
    return raw
  }
}

/** The error of the value, or null. */
function validateValue(field: Field, value: unknown): CellError | null {
  if (value === null) return field.nullable ? null : { rule: 'required', message: 'must not be empty' }
  const requireThat = (condition: boolean | undefined, rule: string, message: string) =>
    condition ? null : { rule, message }
  switch (field.kind) {
    case 'identifier':
    case 'integer':
      return (
        requireThat(Number.isSafeInteger(value), 'type', 'must be a whole number') ??
        validateRange(field, value as number)
      )
    case 'number':
      return requireThat(Number.isFinite(value), 'type', 'must be a number') ?? validateRange(field, value as number)
    case 'boolean':
      return requireThat(typeof value === 'boolean', 'type', 'must be true or false')
    case 'date':
      return requireThat(
        // PostgreSQL has no year 0.
        typeof value === 'string' && isCalendarDate(value) && !value.startsWith('0000'),
        'type',
        'must be a date that exists, as YYYY-MM-DD',
      )
    case 'choice':
      return requireThat(
        field.choices?.includes(value as string),
        'choice',
        `must be one of ${field.choices?.join(', ')}`,
      )
    case 'code':
      return requireThat(
        typeof value === 'string' && field.vocabulary?.has(value),
        'vocabulary',
        `must be a code of ${field.vocabulary?.name}`,
      )
    case 'uri':
      return (
        requireThat(typeof value === 'string' && isWebAddress(value), 'type', 'must be an http or https URL') ??
        validateLength(field, value as string)
      )
    case 'text':
      return (
        requireThat(
          typeof value === 'string' && value !== '' && isStorable(value),
          'type',
          'must not be an empty string: use null for unknown',
        ) ?? validateLength(field, value as string)
      )
    case 'object':
      return (
        requireThat(typeof value === 'object' && !Array.isArray(value), 'type', 'must be a JSON object') ??
        validateObject(field, value as object)
      )
  }
}

function validateRange(
  { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY }: Field,
  value: number,
) {
  return value >= minimum && value <= maximum
    ? null
    : { rule: 'range', message: `must be from ${minimum} to ${maximum}` }
}

/** Counts characters as code points. */
function validateLength({ maxLength = Number.POSITIVE_INFINITY }: Field, text: string): CellError | null {
  if (text.length <= maxLength) return null
  const characters = Array.from(text).length
  return characters <= maxLength
    ? null
    : { rule: 'length', message: `has ${characters} characters; the limit is ${maxLength}` }
}

function validateObject(field: Field, value: object): CellError | null {
  if (isDeeper(value, MAX_OBJECT_DEPTH))
    return { rule: 'depth', message: `is nested deeper than ${MAX_OBJECT_DEPTH} levels` }
  const json = JSON.stringify(value)
  // JSON.stringify escapes NUL and half of a surrogate pair.
  if (/\\u(?:d[89a-f]|0000)/.test(json) && !isStorableInside(value))
    return { rule: 'type', message: 'contains NUL or an incomplete character (half of a surrogate pair)' }
  return validateLength(field, json)
}

const isStorableInside = (value: unknown): boolean => {
  if (typeof value === 'string') return isStorable(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, inner]) => isStorable(key) && isStorableInside(inner))
}

const isWebAddress = (text: string) =>
  /^https?:\/\/[^\s\p{Cc}\p{Cf}]+$/u.test(text) && URL.canParse(text) && isStorable(text)
