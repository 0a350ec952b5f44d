// Query strings, read strictly: a parameter that is unknown, repeated, empty or out of range is a 400 that names it.
// A schema says what is allowed; nothing is clamped, trimmed, guessed or ignored.
import type { TObject, TSchema } from 'typebox'
import { Errors } from 'typebox/value'
import { Problem } from './problem.ts'

type Raw = Record<string, string | string[]>

export function readQuery(schema: TObject, raw: Raw): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, given] of Object.entries(raw)) {
    const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    if (property === undefined) throw unknownParameter(name, Object.keys(schema.properties))
    if (Array.isArray(given)) {
      throw new Problem('repeated_parameter', `${name} was given ${given.length} times.`, { parameter: name })
    }
    values[name] = readValue(name, property, given)
  }
  return values
}

function readValue(name: string, schema: TSchema, given: string): unknown {
  const value = decode(schema, given)
  const [fault] = Errors(schema, value)
  if (fault === undefined) return value
  throw new Problem('invalid_parameter', `${name} ${describe(schema)}.`, { parameter: name })
}

/** Only the plain decimal form is an integer: Number() would also take 1e3, 0x10, " 5" and 5.0. */
function decode(schema: TSchema, given: string): unknown {
  if (!('type' in schema) || schema.type !== 'integer') return given
  const value = Number(given)
  return /^(0|-?[1-9][0-9]*)$/.test(given) && Number.isSafeInteger(value) ? value : given
}

function describe(schema: TSchema): string {
  const { type, minimum, maximum, description } = schema as {
    type?: string
    minimum?: number
    maximum?: number
    description?: string
  }
  if (type !== 'integer') return `has a form it cannot take. ${description ?? ''}`.trim().replace(/\.$/, '')
  return `must be a whole number from ${minimum} to ${maximum}, written in plain digits`
}

function unknownParameter(name: string, known: string[]): Problem {
  const shown = name.length > 40 ? `${name.slice(0, 40)}…` : name
  const taken = known.length === 0 ? 'No parameters are taken here' : `Parameters taken here: ${known.join(', ')}`
  return new Problem('unknown_parameter', `${JSON.stringify(shown)} is not a parameter of this address. ${taken}.`, {
    parameter: shown,
  })
}
