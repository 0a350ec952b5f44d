// From the cells of one row to the values of one record, by the declaration of the dataset. Pure.
import { type Content, type Dataset, type Field, type FieldValue, givenFields } from '../datasets/define.ts'

export interface CheckedRow {
  /** What the operator names the record by: an id of ours, or a key of theirs. */
  identity: { id: number } | { key: string }
  content: Content
}

type Report = (column: string | null, message: string) => void
type RawRow = Record<string, unknown>

const LONGEST_KEY = 500

/** Gives the record, or null where something was reported. */
export function createRowCheck(dataset: Dataset, format: 'csv' | 'ndjson') {
  const fields = givenFields(dataset)
  const known = new Set(['id', 'key', ...fields.map((field) => field.name)])
  const decode = format === 'csv' ? decodeCell : (_field: Field, raw: unknown) => raw

  return (row: RawRow, report: Report): CheckedRow | null => {
    let sound = true
    const fault: Report = (column, message) => {
      sound = false
      report(column, message)
    }
    for (const name in row) if (!known.has(name)) fault(name, 'is not a field of this dataset')
    const given: Content = {}
    for (const field of fields) {
      const raw = row[field.name]
      if (raw === undefined) {
        fault(field.name, 'is missing')
        continue
      }
      const value = decode(field, raw)
      const objection = judge(field, value)
      if (objection === null) given[field.name] = value as FieldValue
      else fault(field.name, objection)
    }
    const identity = readIdentity(row, format, fault)
    return sound && identity !== null ? { identity, content: dataset.derive(given) } : null
  }
}

function readIdentity(row: RawRow, format: 'csv' | 'ndjson', fault: Report): CheckedRow['identity'] | null {
  const id = format === 'csv' ? asNumber(row['id'], /^[1-9]\d*$/) : row['id']
  const key = row['key']
  const hasId = id !== undefined && id !== null && id !== ''
  const hasKey = key !== undefined && key !== null && key !== ''
  if (hasId === hasKey) fault(null, 'a record carries either an id or a key')
  else if (hasId) {
    if (Number.isSafeInteger(id) && (id as number) > 0) return { id: id as number }
    fault('id', 'must be a positive whole number')
  } else {
    if (typeof key === 'string' && key.length <= LONGEST_KEY && isStorable(key)) return { key }
    fault('key', `must be a text of at most ${LONGEST_KEY} characters`)
  }
  return null
}

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

const asNumber = (raw: unknown, shape: RegExp): unknown =>
  typeof raw === 'string' && shape.test(raw) ? Number(raw) : raw

function asJson(raw: unknown): unknown {
  try {
    return JSON.parse(String(raw))
  } catch {
    return raw
  }
}

/** What is wrong with the value, or null. */
function judge(field: Field, value: unknown): string | null {
  if (value === null) return field.nullable ? null : 'must not be empty'
  switch (field.kind) {
    case 'identifier':
    case 'integer':
      return Number.isSafeInteger(value) ? judgeRange(field, value as number) : 'must be a whole number'
    case 'number':
      return Number.isFinite(value) ? judgeRange(field, value as number) : 'must be a number'
    case 'boolean':
      return typeof value === 'boolean' ? null : 'must be true or false'
    case 'date':
      return typeof value === 'string' && isDate(value) ? null : 'must be a day of the calendar, as YYYY-MM-DD'
    case 'choice':
      return field.choices?.includes(value as string) ? null : `must be one of ${field.choices?.join(', ')}`
    case 'code':
      return typeof value === 'string' && field.vocabulary?.has(value)
        ? null
        : `must be a code of ${field.vocabulary?.name}`
    case 'uri':
      return typeof value === 'string' && isWebAddress(value) ? null : 'must be an http(s) address'
    case 'text':
      return typeof value === 'string' && value !== '' && isStorable(value)
        ? null
        : 'must be a text, or null where unknown'
    case 'object':
      return typeof value === 'object' && !Array.isArray(value) && isStorable(JSON.stringify(value))
        ? null
        : 'must be a JSON object'
  }
}

function judgeRange({ minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY }: Field, value: number) {
  return value >= minimum && value <= maximum ? null : `must be from ${minimum} to ${maximum}`
}

/** PostgreSQL keeps no NUL, and half of a surrogate pair is no character. */
const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0') && !text.includes('\\u0000')

const isWebAddress = (text: string) => /^https?:\/\/\S+$/.test(text) && URL.canParse(text) && isStorable(text)

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)?.map(Number) ?? []
  if (year === undefined || month === undefined || day === undefined) return false
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= days
}
