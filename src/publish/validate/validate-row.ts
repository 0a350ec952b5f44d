// Validates a row by the declaration of the dataset and its rules, and gives the cells of a record. Caches cells; otherwise
// pure.
import { type Dataset, type Derivation, type FieldValue, inputFields } from '../../datasets/define.ts'
import { isStorable } from '../../storage/normalise-text.ts'
import { type Cell, toCell } from '../../storage/serialise-record.ts'
import type { Finding, Identity } from '../findings/findings.ts'
import { MAX_RECORD_BYTES } from '../input/limits.ts'
import type { Format, InputRow } from '../input/record-file.ts'
import { asNumber, type CellError, createCellValidator, isRequired } from './validate-cell.ts'

export interface ValidRow {
  identity: Identity
  /** In the order of the declaration, including derived cells. */
  cells: Cell[]
}

export type Report = (column: string | null, error: CellError, severity: Finding['severity']) => void

/** The columns of a row, in order. */
export const inputColumns = (dataset: Dataset): string[] => [
  'id',
  'key',
  ...inputFields(dataset).map(({ name }) => name),
]
const IDENTITY_COLUMNS = 2

/** The fields that must not be empty. */
export const requiredFields = (dataset: Dataset): string[] =>
  inputFields(dataset)
    .filter(isRequired)
    .map(({ name }) => name)

const MAX_KEY_LENGTH = 500

/** The validator gives the record, or null if it reported an error. */
export function createRowValidator(dataset: Dataset, format: Format, lastDay: string) {
  const inputs = inputFields(dataset).map((field) => ({
    name: field.name,
    qualifiedBy: field.qualifiedBy,
    validateCell: createCellValidator(field, format),
  }))
  const indexes = new Map(dataset.content.map((field, index) => [field.name, index]))
  const inputIndexes = inputs.map(({ name }) => indexes.get(name) ?? 0)
  const indexOf = (name: string) => indexes.get(name) ?? -1
  // mark-breaks.ts sets breaks later, when all records of the release are known.
  const noBreak = dataset.series && {
    index: indexOf(dataset.series.breakFlag),
    cell: toCell(dataset.series.breakFlag, false),
  }
  const derived = dataset.content.flatMap(({ name, derive }, index) =>
    derive === undefined ? [] : [{ derive: createDerivation(name, derive, indexOf), index }],
  )

  return ({ cells: raw, errors }: InputRow, report: Report): ValidRow | null => {
    let valid = true
    const reportError: ReportError = (column, rule, message) => {
      valid = false
      report(column, { rule, message }, 'error')
    }
    for (const { column, rule, message } of errors) reportError(column, rule, message)
    if (!valid) return null
    const identity = parseIdentity(raw[0], raw[1], format, reportError)
    const cells = new Array<Cell>(dataset.content.length)
    const signs: Sign[] = []
    for (let i = 0; i < inputs.length; i++) {
      const { qualifiedBy, name, validateCell } = inputs[i] as (typeof inputs)[number]
      const cell = raw[i + IDENTITY_COLUMNS]
      const [sign] = signs
      const impliedQualifier = sign?.by === name && (cell === '' || cell === null) ? sign.qualifier : null
      const result =
        impliedQualifier === null ? validateCell(cell) : { cell: toCell(name, impliedQualifier), warning: null }
      if ('rule' in result) {
        reportError(name, result.rule, result.message)
        continue
      }
      const { qualifier } = result
      cells[inputIndexes[i] as number] = result.cell
      if (result.warning !== null) report(name, result.warning, 'warning')
      if (sign?.by === name && result.cell.value !== sign.qualifier)
        reportError(name, 'signed_count', `contradicts ${sign.count}, whose sign means ${sign.qualifier}`)
      if (qualifier === undefined) continue
      if (sign !== undefined && sign.qualifier !== qualifier)
        reportError(
          name,
          'signed_count',
          `is ${qualifier}, but ${sign.count} is ${sign.qualifier}: use a separate row for each`,
        )
      signs.push({ count: name, by: qualifiedBy, qualifier })
    }
    if (!valid || identity === null) return null
    const valueOf = (name: string): FieldValue => cells[indexOf(name)]?.value ?? null
    for (const { derive, index } of derived) cells[index] = derive(cells)
    if (noBreak !== undefined) cells[noBreak.index] = noBreak.cell
    for (const { name, severity, column, check } of dataset.rules) {
      const message = check(valueOf, lastDay)
      if (message === null) continue
      valid &&= severity === 'warning'
      report(column, { rule: name, message }, severity)
    }
    const bytes = countBytes(cells)
    if (bytes > MAX_RECORD_BYTES)
      reportError(null, 'length', `has ${bytes} bytes as JSON; the limit is ${MAX_RECORD_BYTES}`)
    return valid ? { identity, cells } : null
  }
}

/** The bytes of the cells as JSON. Exact only where it matters: a character of UTF-16 has at most three bytes. */
function countBytes(cells: readonly Cell[]): number {
  let length = cells.length
  for (const { member } of cells) length += member.length
  if (length * 3 <= MAX_RECORD_BYTES) return length
  return cells.reduce((sum, { member }) => sum + 1 + Buffer.byteLength(member), 0)
}

/** A count with a sign such as <, which says how exact the counts of the row are. */
interface Sign {
  count: string
  by: string | undefined
  qualifier: string
}

/** Computes the value again only if one of its source cells differs from the previous row. */
function createDerivation(name: string, { from, compute }: Derivation, indexOf: (name: string) => number) {
  const indexes = from.map(indexOf)
  let sources: (Cell | undefined)[] = []
  let cached: Cell | undefined
  return (cells: readonly Cell[]): Cell => {
    if (cached !== undefined && indexes.every((index, i) => cells[index] === sources[i])) return cached
    sources = indexes.map((index) => cells[index])
    cached = toCell(name, compute(sources.map((cell) => cell?.value ?? null)))
    return cached
  }
}

type ReportError = (column: string | null, rule: string, message: string) => void

export function parseIdentity(
  rawId: unknown,
  key: unknown,
  format: Format,
  reportError: ReportError,
): ValidRow['identity'] | null {
  const id = format === 'csv' ? asNumber(rawId, /^[1-9]\d*$/) : rawId
  const hasId = id !== undefined && id !== null && id !== ''
  const hasKey = key !== undefined && key !== null && key !== ''
  if (hasId === hasKey) reportError(null, 'identity', 'must have an id or a key, and not both')
  else if (hasId) {
    if (Number.isSafeInteger(id) && (id as number) > 0) return { id: id as number }
    reportError('id', 'identity', 'must be a positive whole number')
  } else {
    if (typeof key === 'string' && key.length <= MAX_KEY_LENGTH && isStorable(key)) return { key }
    reportError('key', 'identity', `must be text of at most ${MAX_KEY_LENGTH} characters`)
  }
  return null
}
