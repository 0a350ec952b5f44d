// From one cell of a file to the cell of a record, by the declaration of its field: read, normalised, judged and spelt.
// Most cells repeat (a place, a day, a source), so a column remembers what it has already judged and spelt.
import type { Field, FieldValue } from '../../datasets/define.ts'
import { isStorable, normaliseText } from '../../storage/normalise-text.ts'
import { type Cell, spell } from '../../storage/serialise-record.ts'
import { describeLostNumber, findLostNumber, isDeeper } from '../input/json-value.ts'
import type { Format } from '../input/record-file.ts'
import { readSignedCount, type SignedCount } from './signed-count.ts'

export interface CellError {
  rule: string
  message: string
}

/** A cell that can be published. */
interface GoodCell {
  cell: Cell
  /** What was changed in it. */
  warning: CellError | null
  /** How exact the number is, by the sign it was written with. */
  qualifier?: string | undefined
}

const REMEMBERED_CELLS = 20_000
/** Objects inside objects. */
const DEEPEST = 10

/** An empty cell does not fill the field. */
export const isRequired = (field: Field): boolean => judge(field, decodeCell(field, '')) !== null

/** The cell, or what is wrong with it. */
export function createCellReader(field: Field, format: Format): (raw: unknown) => GoodCell | CellError {
  const read = (raw: unknown): GoodCell | CellError => {
    // A column that is not there is an empty one: a field that is added later must not break an input.
    if (raw === undefined) {
      const empty = decodeCell(field, '')
      if (judge(field, empty) !== null) return { rule: 'required', message: 'is missing' }
      return { cell: spell(empty as FieldValue), warning: null }
    }
    const isText = format === 'csv' || holdsJson(field, format, raw)
    if (isText && field.kind === 'object' && typeof raw === 'string') {
      const lost = findLostInText(raw)
      if (lost !== null) return { rule: 'number', message: describeLostNumber(lost) }
    }
    const signed = field.qualifiedBy !== undefined && typeof raw === 'string' ? readSignedCount(raw) : null
    if (signed !== null) return judge(field, signed.value) ?? spellSigned(raw as string, signed)
    const decoded = isText ? decodeCell(field, raw ?? '') : raw
    const { value, warning } = normalise(field, decoded)
    return judge(field, value) ?? { cell: spell(value as FieldValue), warning }
  }
  const memory = new Map<unknown, GoodCell | CellError>()
  // Neighbours are often alike, and comparing two texts is cheaper than looking one up.
  let rawAbove: unknown
  let cellAbove: GoodCell | CellError | undefined
  return (raw) => {
    if (typeof raw === 'object') return read(raw)
    if (cellAbove !== undefined && rawAbove === raw) return cellAbove
    let cell = memory.get(raw)
    if (cell === undefined) {
      const own = typeof raw === 'string' ? detach(raw) : raw
      cell = read(own)
      if (memory.size >= REMEMBERED_CELLS) memory.clear()
      memory.set(own, cell)
    }
    rawAbove = raw
    cellAbove = cell
    return cell
  }
}

/** A cell is a slice that keeps its whole piece of the file alive; what is remembered must not. */
const detach = (slice: string): string => JSON.parse(JSON.stringify(slice)) as string

const spellSigned = (raw: string, { value, qualifier }: SignedCount): GoodCell => ({
  cell: spell(value),
  warning: { rule: 'signed_count', message: `is written as ${raw}: taken as ${value}, ${qualifier}` },
  qualifier,
})

/** Text that is not storable is left for `judge` to refuse. What is only white space is null. */
function normalise({ kind }: Field, value: unknown): { value: unknown; warning: CellError | null } {
  if (kind !== 'text' || typeof value !== 'string' || !isStorable(value)) return { value, warning: null }
  const { text, changes } = normaliseText(value)
  if (changes.length === 0) return { value, warning: null }
  return { value: text === '' ? null : text, warning: { rule: 'text_normalised', message: changes.join('; ') } }
}

/** Text that is no JSON is refused for that. */
function findLostInText(raw: string): string | null {
  try {
    return findLostNumber(raw)
  } catch {
    return null
  }
}

/** A table of Parquet has no objects of any shape: they stand in it as texts, or not at all. */
const holdsJson = ({ kind }: Field, format: Format, raw: unknown) =>
  format === 'parquet' && kind === 'object' && (raw === null || typeof raw === 'string')

/** A cell of CSV is text: an empty one is null, or the empty object where an object is asked for. */
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

/** What is wrong with the value, or null. */
function judge(field: Field, value: unknown): CellError | null {
  if (value === null) return field.nullable ? null : { rule: 'required', message: 'must not be empty' }
  const demand = (held: boolean | undefined, rule: string, message: string) => (held ? null : { rule, message })
  switch (field.kind) {
    case 'identifier':
    case 'integer':
      return demand(Number.isSafeInteger(value), 'type', 'must be a whole number') ?? judgeRange(field, value as number)
    case 'number':
      return demand(Number.isFinite(value), 'type', 'must be a number') ?? judgeRange(field, value as number)
    case 'boolean':
      return demand(typeof value === 'boolean', 'type', 'must be true or false')
    case 'date':
      return demand(typeof value === 'string' && isDate(value), 'type', 'must be a day of the calendar, as YYYY-MM-DD')
    case 'choice':
      return demand(field.choices?.includes(value as string), 'choice', `must be one of ${field.choices?.join(', ')}`)
    case 'code':
      return demand(
        typeof value === 'string' && field.vocabulary?.has(value),
        'vocabulary',
        `must be a code of ${field.vocabulary?.name}`,
      )
    case 'uri':
      return (
        demand(typeof value === 'string' && isWebAddress(value), 'type', 'must be an http(s) address') ??
        judgeLength(field, value as string)
      )
    case 'text':
      return (
        demand(
          typeof value === 'string' && value !== '' && isStorable(value),
          'type',
          'must be a text, or null where unknown',
        ) ?? judgeLength(field, value as string)
      )
    case 'object':
      return (
        demand(typeof value === 'object' && !Array.isArray(value), 'type', 'must be a JSON object') ??
        judgeObject(field, value as object)
      )
  }
}

function judgeRange({ minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY }: Field, value: number) {
  return value >= minimum && value <= maximum
    ? null
    : { rule: 'range', message: `must be from ${minimum} to ${maximum}` }
}

/** In characters, as a reader counts them: code points. */
function judgeLength({ longest = Number.POSITIVE_INFINITY }: Field, text: string): CellError | null {
  if (text.length <= longest) return null
  const characters = Array.from(text).length
  return characters <= longest
    ? null
    : { rule: 'length', message: `has ${characters} characters, and may have ${longest}` }
}

function judgeObject(field: Field, value: object): CellError | null {
  if (isDeeper(value, DEEPEST)) return { rule: 'depth', message: `is nested deeper than ${DEEPEST} levels` }
  const json = JSON.stringify(value)
  // Half of a surrogate pair and NUL are written as escapes.
  if (/\\u(?:d[89a-f]|0000)/.test(json) && !isStorableInside(value))
    return { rule: 'type', message: 'holds a text with NUL or with half of a surrogate pair' }
  return judgeLength(field, json)
}

const isStorableInside = (value: unknown): boolean => {
  if (typeof value === 'string') return isStorable(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, inner]) => isStorable(key) && isStorableInside(inner))
}

const isWebAddress = (text: string) =>
  /^https?:\/\/[^\s\p{Cc}\p{Cf}]+$/u.test(text) && URL.canParse(text) && isStorable(text)

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)?.map(Number) ?? []
  if (year === undefined || month === undefined || day === undefined) return false
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= days
}
