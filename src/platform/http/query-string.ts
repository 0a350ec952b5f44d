// Query strings, read strictly: a parameter that is unknown, repeated, empty or out of range is a 400 that names it.
// A schema says what is allowed; nothing is clamped, trimmed, guessed or ignored.
import type { TObject, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Problem } from '../problem.ts'

type Raw = Record<string, string | string[]>
/** As much of a schema as decides how a parameter is read. */
interface Shape {
  type?: string
  items?: TSchema
  maxItems?: number
  enum?: readonly string[]
  format?: string
  minimum?: number
  maximum?: number
  description?: string
}

/** Reads a query string as it was split; throws a Problem. */
type ReadQuery = (raw: Raw) => Record<string, unknown>
type ReadParameter = (given: string | string[]) => unknown
type ReadValue = (given: string) => unknown

export function compileQuery({ properties }: TObject): ReadQuery {
  const parameters = new Map(
    Object.entries(properties).map(([name, property]): [string, ReadParameter] => [
      name,
      readParameter(name, property),
    ]),
  )
  return (raw) => {
    const values: Record<string, unknown> = {}
    for (const [name, given] of Object.entries(raw)) {
      const read = parameters.get(name)
      if (read === undefined) throw unknownParameter(name, [...parameters.keys()])
      values[name] = read(given)
    }
    return values
  }
}

function readParameter(name: string, property: TSchema): ReadParameter {
  const { items, maxItems } = property as Shape
  if (items !== undefined) return readList(name, readValue(name, items), maxItems)
  const read = readValue(name, property)
  return (given) => {
    if (Array.isArray(given)) throw repeatedParameter(name, `${name} was given ${given.length} times.`)
    return read(given)
  }
}

/** Only a list may be given several times, a value each. The same value twice is a slip: another one was meant. */
const readList =
  (name: string, read: ReadValue, maxItems = Number.POSITIVE_INFINITY): ReadParameter =>
  (given) => {
    const all = [given].flat()
    if (all.length > maxItems) {
      throw new Problem('invalid_parameter', `${name} takes at most ${maxItems} values.`, { parameter: name })
    }
    if (new Set(all).size < all.length) throw repeatedParameter(name, `${name} was given the same value twice.`)
    return all.map(read)
  }

/** Compiled when it is first given: most parameters never are. */
function readValue(name: string, schema: TSchema): ReadValue {
  let validator: ReturnType<typeof Compile> | undefined
  return (given) => {
    const value = decode(schema, given)
    validator ??= Compile(schema)
    if (validator.Check(value)) return value
    throw new Problem('invalid_parameter', `${name} ${describe(schema)}.`, { parameter: name })
  }
}

/** Only the plain decimal form is an integer: Number() would also take 1e3, 0x10, " 5" and 5.0. */
function decode(schema: Shape, given: string): unknown {
  if (schema.type === 'boolean') return given === 'true' || (given === 'false' ? false : given)
  if (schema.type !== 'integer') return given
  const value = Number(given)
  return /^(0|-?[1-9][0-9]*)$/.test(given) && Number.isSafeInteger(value) ? value : given
}

function describe({ type, minimum, maximum, format, description = '', ...schema }: Shape): string {
  if (type === 'integer') return `must be a whole number from ${minimum} to ${maximum}, written in plain digits`
  if (type === 'boolean') return 'must be true or false'
  if (schema.enum !== undefined) return `must be one of ${schema.enum.join(', ')}`
  if (format === 'date') return 'must be a calendar date, YYYY-MM-DD'
  return `has a form it cannot take. ${description}`.trim().replace(/\.$/, '')
}

const repeatedParameter = (name: string, detail: string) =>
  new Problem('repeated_parameter', detail, { parameter: name })

function unknownParameter(name: string, known: string[]): Problem {
  const shown = name.length > 40 ? `${name.slice(0, 40)}…` : name
  const taken = known.length === 0 ? 'No parameters are taken here' : `Parameters taken here: ${known.join(', ')}`
  return new Problem('unknown_parameter', `${JSON.stringify(shown)} is not a parameter of this address. ${taken}.`, {
    parameter: shown,
  })
}
