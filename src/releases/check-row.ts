// From the cells of one row to the cells of one record, by the declaration of the dataset. Pure but for its memory:
// most cells repeat (a place, a day, a source), so a column remembers what it has already judged and spelt.
import { type Dataset, type Derivation, type Field, type FieldValue, givenFields } from '../datasets/define.ts'
import { type Cell, spell } from '../records/render.ts'
import type { Finding } from './finding.ts'
import type { Format, InputRow } from './input/record-file.ts'

/** What the operator names a record by: an id of ours, or a key of theirs. */
export type Identity = { id: number } | { key: string }

export interface CheckedRow {
  identity: Identity
  /** In the order of the declaration, derived ones included. */
  cells: Cell[]
}

export interface Objection {
  rule: string
  message: string
}

export type Report = (column: string | null, objection: Objection, severity: Finding['severity']) => void

/** What a row is asked for, in this order. */
export const inputColumns = (dataset: Dataset): string[] => [
  'id',
  'key',
  ...givenFields(dataset).map(({ name }) => name),
]
const IDENTITY_COLUMNS = 2

/** The fields that an empty cell does not fill. */
export const requiredFields = (dataset: Dataset): string[] =>
  givenFields(dataset)
    .filter((field) => judge(field, decodeCell(field, '')) !== null)
    .map(({ name }) => name)

const LONGEST_KEY = 500
const REMEMBERED_CELLS = 20_000

/** Gives the record, or null where something was reported. */
export function createRowCheck(dataset: Dataset, format: Format, today: string) {
  const given = givenFields(dataset).map((field) => ({ name: field.name, read: createCellReader(field, format) }))
  const places = new Map(dataset.content.map((field, place) => [field.name, place]))
  const givenPlaces = given.map(({ name }) => places.get(name) ?? 0)
  const placeOf = (name: string) => places.get(name) ?? -1
  const derived = dataset.content.flatMap(({ derive }, place) =>
    derive === undefined ? [] : [{ derive: createDerivation(derive, placeOf), place }],
  )

  return ({ cells: raw, faults }: InputRow, report: Report): CheckedRow | null => {
    let sound = true
    const fault: Fault = (column, rule, message) => {
      sound = false
      report(column, { rule, message }, 'error')
    }
    for (const { column, rule, message } of faults) fault(column, rule, message)
    if (!sound) return null
    const identity = readIdentity(raw[0], raw[1], format, fault)
    const cells = new Array<Cell>(dataset.content.length)
    for (let i = 0; i < given.length; i++) {
      const { name, read } = given[i] as (typeof given)[number]
      const cell = read(raw[i + IDENTITY_COLUMNS])
      if ('rule' in cell) fault(name, cell.rule, cell.message)
      else cells[givenPlaces[i] as number] = cell
    }
    if (!sound || identity === null) return null
    const valueOf = (name: string): FieldValue => cells[placeOf(name)]?.value ?? null
    for (const { derive, place } of derived) cells[place] = derive(cells)
    for (const { name, severity, column, object } of dataset.rules) {
      const message = object(valueOf, today)
      if (message === null) continue
      sound &&= severity === 'warning'
      report(column, { rule: name, message }, severity)
    }
    return sound ? { identity, cells } : null
  }
}

/** Computes anew only where one of the cells it follows from is another one than in the row before. */
function createDerivation({ from, compute }: Derivation, placeOf: (name: string) => number) {
  const places = from.map(placeOf)
  let sources: (Cell | undefined)[] = []
  let made: Cell | undefined
  return (cells: readonly Cell[]): Cell => {
    if (made !== undefined && places.every((place, i) => cells[place] === sources[i])) return made
    sources = places.map((place) => cells[place])
    made = spell(compute(sources.map((cell) => cell?.value ?? null)))
    return made
  }
}

type Fault = (column: string | null, rule: string, message: string) => void

/** The cell, or what is wrong with it. */
function createCellReader(field: Field, format: Format): (raw: unknown) => Cell | Objection {
  const read = (raw: unknown): Cell | Objection => {
    if (raw === undefined) return { rule: 'required', message: 'is missing' }
    const value = format === 'csv' || holdsJson(field, format, raw) ? decodeCell(field, raw ?? '') : raw
    return judge(field, value) ?? spell(value as FieldValue)
  }
  const memory = new Map<unknown, Cell | Objection>()
  // Neighbours are often alike, and comparing two texts is cheaper than looking one up.
  let rawAbove: unknown
  let cellAbove: Cell | Objection | undefined
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

export function readIdentity(
  rawId: unknown,
  key: unknown,
  format: Format,
  fault: Fault,
): CheckedRow['identity'] | null {
  const id = format === 'csv' ? asNumber(rawId, /^[1-9]\d*$/) : rawId
  const hasId = id !== undefined && id !== null && id !== ''
  const hasKey = key !== undefined && key !== null && key !== ''
  if (hasId === hasKey) fault(null, 'identity', 'a record carries either an id or a key')
  else if (hasId) {
    if (Number.isSafeInteger(id) && (id as number) > 0) return { id: id as number }
    fault('id', 'identity', 'must be a positive whole number')
  } else {
    if (typeof key === 'string' && key.length <= LONGEST_KEY && isStorable(key)) return { key }
    fault('key', 'identity', `must be a text of at most ${LONGEST_KEY} characters`)
  }
  return null
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
function judge(field: Field, value: unknown): Objection | null {
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
      return demand(typeof value === 'string' && isWebAddress(value), 'type', 'must be an http(s) address')
    case 'text':
      return demand(
        typeof value === 'string' && value !== '' && isStorable(value),
        'type',
        'must be a text, or null where unknown',
      )
    case 'object':
      return demand(
        typeof value === 'object' && !Array.isArray(value) && isStorable(JSON.stringify(value)),
        'type',
        'must be a JSON object',
      )
  }
}

function judgeRange({ minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY }: Field, value: number) {
  return value >= minimum && value <= maximum
    ? null
    : { rule: 'range', message: `must be from ${minimum} to ${maximum}` }
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
