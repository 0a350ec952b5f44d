// From the cells of one row to the cells of one record, by the declaration of the dataset and its rules. Pure but for memory.
import { type Dataset, type Derivation, type FieldValue, givenFields } from '../../datasets/define.ts'
import { isStorable } from '../../storage/normalise-text.ts'
import { type Cell, spell } from '../../storage/serialise-record.ts'
import type { Finding, Identity } from '../findings/findings.ts'
import type { Format, InputRow } from '../input/record-file.ts'
import { asNumber, type CellError, createCellReader, isRequired } from './check-cell.ts'

export interface ValidRow {
  identity: Identity
  /** In the order of the declaration, derived ones included. */
  cells: Cell[]
}

export type Report = (column: string | null, objection: CellError, severity: Finding['severity']) => void

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
    .filter(isRequired)
    .map(({ name }) => name)

const LONGEST_KEY = 500
/** Whether a series breaks here is known when the whole release is. */
const NO_BREAK = spell(false)

/** Gives the record, or null where something was reported. */
export function createRowValidator(dataset: Dataset, format: Format, today: string) {
  const given = givenFields(dataset).map((field) => ({
    name: field.name,
    qualifiedBy: field.qualifiedBy,
    read: createCellReader(field, format),
  }))
  const places = new Map(dataset.content.map((field, place) => [field.name, place]))
  const givenPlaces = given.map(({ name }) => places.get(name) ?? 0)
  const placeOf = (name: string) => places.get(name) ?? -1
  const brokenPlace = dataset.series === undefined ? undefined : places.get(dataset.series.broken)
  const derived = dataset.content.flatMap(({ derive }, place) =>
    derive === undefined ? [] : [{ derive: createDerivation(derive, placeOf), place }],
  )

  return ({ cells: raw, faults }: InputRow, report: Report): ValidRow | null => {
    let sound = true
    const fault: Fault = (column, rule, message) => {
      sound = false
      report(column, { rule, message }, 'error')
    }
    for (const { column, rule, message } of faults) fault(column, rule, message)
    if (!sound) return null
    const identity = readIdentity(raw[0], raw[1], format, fault)
    const cells = new Array<Cell>(dataset.content.length)
    const signs: Sign[] = []
    for (let i = 0; i < given.length; i++) {
      const { qualifiedBy, name, read } = given[i] as (typeof given)[number]
      const cell = raw[i + IDENTITY_COLUMNS]
      const [sign] = signs
      const decided = sign?.by === name && (cell === '' || cell === null) ? sign.qualifier : null
      const outcome = decided === null ? read(cell) : { cell: spell(decided), warning: null }
      if ('rule' in outcome) {
        fault(name, outcome.rule, outcome.message)
        continue
      }
      const { qualifier } = outcome
      cells[givenPlaces[i] as number] = outcome.cell
      if (outcome.warning !== null) report(name, outcome.warning, 'warning')
      if (sign?.by === name && outcome.cell.value !== sign.qualifier)
        fault(name, 'signed_count', `contradicts ${sign.count}, which is written as ${sign.qualifier}`)
      if (qualifier === undefined) continue
      if (sign !== undefined && sign.qualifier !== qualifier)
        fault(name, 'signed_count', `is ${qualifier}, and ${sign.count} is ${sign.qualifier}: give them a row each`)
      signs.push({ count: name, by: qualifiedBy, qualifier })
    }
    if (!sound || identity === null) return null
    const valueOf = (name: string): FieldValue => cells[placeOf(name)]?.value ?? null
    for (const { derive, place } of derived) cells[place] = derive(cells)
    if (brokenPlace !== undefined) cells[brokenPlace] = NO_BREAK
    for (const { name, severity, column, check } of dataset.rules) {
      const message = check(valueOf, today)
      if (message === null) continue
      sound &&= severity === 'warning'
      report(column, { rule: name, message }, severity)
    }
    return sound ? { identity, cells } : null
  }
}

/** A count was written with a sign, which says how exact the counts of the row are. */
interface Sign {
  count: string
  by: string | undefined
  qualifier: string
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

export function readIdentity(rawId: unknown, key: unknown, format: Format, fault: Fault): ValidRow['identity'] | null {
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
