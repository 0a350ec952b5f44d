// Strict parsing of query strings by a schema: an unknown, repeated, empty, invalid or missing parameter is a 400
// that names it. No value is clamped, trimmed, guessed or ignored.
import type { TObject, TSchema } from 'typebox'
import { Compile } from 'typebox/schema'
import { Problem } from '../problem.ts'

type RawQuery = Record<string, string | string[]>
/** The parts of a schema that decide how a parameter is parsed. */
interface ParameterSchema {
  type?: string
  items?: TSchema
  maxItems?: number
  enum?: readonly string[]
  format?: string
  minimum?: number
  maximum?: number
  description?: string
}

/** Parses a query string that is already split; throws a Problem. */
type ParseQuery = (raw: RawQuery) => Record<string, unknown>
type ParseParameter = (text: string | string[]) => unknown
type ParseValue = (text: string) => unknown

export function compileQuery({ properties, required }: TObject): ParseQuery {
  const parameters = new Map(
    Object.entries(properties).map(([name, property]): [string, ParseParameter] => [
      name,
      compileParameter(name, property),
    ]),
  )
  return (raw) => {
    const values: Record<string, unknown> = {}
    for (const [name, text] of Object.entries(raw)) {
      const parse = parameters.get(name)
      if (parse === undefined) throw unknownParameter(name, [...parameters.keys()])
      values[name] = parse(text)
    }
    for (const name of required ?? []) if (!Object.hasOwn(values, name)) throw missingParameter(name, properties[name])
    return values
  }
}

function compileParameter(name: string, property: TSchema): ParseParameter {
  const { items, maxItems } = property as ParameterSchema
  if (items !== undefined) return compileList(name, compileValue(name, items, true), maxItems)
  const parse = compileValue(name, property)
  return (text) => {
    if (Array.isArray(text)) throw repeatedParameter(name, `${name} was sent ${text.length} times. Send it once.`)
    return parse(text)
  }
}

/** Only a list can be repeated, with one value each. The same value twice is an error, because it is probably a mistake. */
const compileList =
  (name: string, parse: ParseValue, maxItems = Number.POSITIVE_INFINITY): ParseParameter =>
  (text) => {
    const texts = [text].flat()
    if (texts.length > maxItems) {
      throw new Problem(
        'invalid_parameter',
        `${name} takes at most ${maxItems} values, and the request has ${texts.length}.`,
        { parameter: name },
      )
    }
    if (new Set(texts).size < texts.length)
      throw repeatedParameter(name, `${name} has the same value twice. Send each value once.`)
    return texts.map(parse)
  }

/** Compiles the validator on first use, because most parameters are never used. */
function compileValue(name: string, schema: TSchema, isListed = false): ParseValue {
  let validator: ReturnType<typeof Compile> | undefined
  return (text) => {
    const value = decode(schema, text)
    validator ??= Compile(schema)
    if (validator.Check(value)) return value
    throw new Problem('invalid_parameter', describeMistake(name, schema, text, isListed), { parameter: name })
  }
}

function describeMistake(name: string, schema: ParameterSchema, text: string, isListed: boolean): string {
  if (text === '') return `${name} is empty. Leave it out, or give a value.`
  const [first, second] = text.split(',')
  if (isListed && first !== '' && second !== undefined && text.length <= MAX_COMPARED)
    return `${name} has one value each time. For several, repeat it: ${name}=${first}&${name}=${second}.`
  const shown = JSON.stringify(shorten(text))
  const meant = askIfMeant(text, schema.enum ?? [])
  if (meant !== '') return `${name} has no value ${shown}.${meant}`
  if (schema.format === 'date') return `${name} ${describeConstraint(schema)}. ${shown} is not one.`
  const isPlain = schema.type === 'integer' || schema.type === 'boolean' || schema.enum !== undefined
  return isPlain
    ? `${name} ${describeConstraint(schema)}.`
    : `${name} cannot be ${shown}. ${schema.description ?? ''}`.trim()
}

/** Only the plain decimal form is an integer: Number() would also accept 1e3, 0x10, " 5" and 5.0. */
function decode(schema: ParameterSchema, text: string): unknown {
  if (schema.type === 'boolean') return text === 'true' || (text === 'false' ? false : text)
  if (schema.type !== 'integer') return text
  const value = Number(text)
  return /^(0|-?[1-9][0-9]*)$/.test(text) && Number.isSafeInteger(value) ? value : text
}

function describeConstraint({ type, minimum, maximum, ...schema }: ParameterSchema): string {
  if (type === 'integer') return `must be a whole number from ${minimum} to ${maximum}, in plain digits`
  if (type === 'boolean') return 'must be true or false'
  if (schema.enum !== undefined) return `must be one of ${listChoices(schema.enum)}`
  return 'must be a date that exists, as YYYY-MM-DD'
}

/** Each choice once, even if it can be reversed with a minus. */
function listChoices(choices: readonly string[]): string {
  const plain = choices.filter((choice) => !(choice.startsWith('-') && choices.includes(choice.slice(1))))
  return `${plain.join(', ')}${plain.length < choices.length ? '. Put - before it for the greatest first' : ''}`
}

const shorten = (text: string) => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text)

const repeatedParameter = (name: string, detail: string) =>
  new Problem('repeated_parameter', detail, { parameter: name })

function missingParameter(name: string, schema: ParameterSchema = {}): Problem {
  const form = schema.enum === undefined ? schema.description : `It ${describeConstraint(schema)}.`
  return new Problem('invalid_parameter', `Add the parameter ${name}. ${form ?? ''}`.trim(), { parameter: name })
}

function unknownParameter(name: string, known: string[]): Problem {
  const shown = shorten(name)
  const accepted = known.length === 0 ? 'It takes none' : `The parameters are ${known.join(', ')}`
  return new Problem(
    'unknown_parameter',
    `${JSON.stringify(shown)} is not a parameter of this URL.${askIfMeant(name, known)} ${accepted}.`,
    {
      parameter: shown,
    },
  )
}

/** Names with more errors than a third of their letters are something else. */
const TOLERANCE = 3
const MAX_NAMES = 3
/** A longer text is not repeated, and compared with nothing. */
const MAX_COMPARED = 100
const MAX_SHOWN = 40

/** Those that differ in the fewest letters or contain the text, best first. */
export function findNearest(text: string, names: readonly string[]): string[] {
  const asked = text.toLowerCase()
  // One word is missing: `-cases` for `-total_cases`.
  const [, sign = '', word = ''] = /^(-?)(.*)$/s.exec(asked) ?? []
  const lacksWord = (name: string) => name.startsWith('-') === (sign === '-') && name.endsWith(`_${word}`)
  const near = names
    .map((name) => ({ name, errors: lacksWord(name) ? 1 : countErrors(asked, name.toLowerCase()) }))
    .filter(({ name, errors }) => errors * TOLERANCE <= asked.length || (asked.length > 2 && name.includes(asked)))
    .sort((a, b) => a.errors - b.errors)
  const best = near[0]?.errors ?? 0
  return near
    .filter(({ errors }) => errors <= best + 1)
    .slice(0, MAX_NAMES)
    .map(({ name }) => name)
}

/** How many letters have to be changed, added or removed (Levenshtein). */
function countErrors(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++)
      next.push(Math.min((row[j] ?? 0) + Number(a[i] !== b[j]), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    row = next
  }
  return row[b.length] ?? 0
}

/** " Did you mean a or b?", or nothing. */
export function askIfMeant(text: string, names: readonly string[]): string {
  const nearest = text.length > MAX_COMPARED ? [] : findNearest(text, names)
  return nearest.length === 0 ? '' : ` Did you mean ${nearest.join(' or ')}?`
}
