// Checks of JSON input: whether JSON.parse would change it silently, and whether it is nested too deeply. Pure.
import { findRepeatedKey } from '../../platform/json/repeated-key.ts'
import { OperatorError } from '../../platform/operator-error.ts'

/** What JSON.parse would change. */
export interface Loss {
  readonly rule: 'number' | 'repeated_key'
  readonly message: string
}

/** Of text that is JSON; null if JSON.parse changes nothing. */
export function findLoss(json: string): Loss | null {
  const inexact = findInexactNumber(json)
  if (inexact !== null)
    return { rule: 'number', message: `${shorten(inexact)} cannot be represented exactly: write it as a string` }
  const repeated = findRepeatedKey(json)
  return repeated === null
    ? null
    : { rule: 'repeated_key', message: `contains the key ${quote(repeated)} twice: remove one` }
}

/** Of a file with settings. */
export function requireUniqueKeys(json: string, name: string): void {
  const repeated = findRepeatedKey(json)
  if (repeated !== null) throw new OperatorError(`${name} contains the key ${quote(repeated)} twice. Remove one.`)
}

const quote = (key: string): string => JSON.stringify(shorten(key))

/** Only a string that matches can contain an inexact number. */
const LONG_NUMBER = /[\d.]{16}|\d[eE][+-]?\d{3}/
const MAX_DIGITS = 17
const MAX_SHOWN = 40

/** The text of the first number that JavaScript would change, or null. */
export function findInexactNumber(json: string): string | null {
  if (!LONG_NUMBER.test(json)) return null
  let inexact: string | null = null
  JSON.parse(json, (_, value: unknown, context: { source?: string } = {}) => {
    if (typeof value === 'number' && context.source !== undefined && !isExact(context.source, value))
      inexact ??= context.source
    return value
  })
  return inexact
}

/** A whole number must stay equal. Any other number may have 17 digits, the precision of a double. */
function isExact(source: string, value: number): boolean {
  if (!Number.isFinite(value)) return false
  if (/^-?\d+$/.test(source)) return BigInt(source) === BigInt(value)
  const digits = source
    .replace(/[eE].*$/, '')
    .replace(/\D/g, '')
    .replace(/^0+/, '')
  return digits.length <= MAX_DIGITS && (value !== 0 || digits === '')
}

/** An object without nested objects has depth 1. Not recursive: a line of brackets must not exhaust the stack. */
export function isDeeper(value: unknown, maxDepth: number): boolean {
  let level = [value].filter(isNested)
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) return true
    level = level.flatMap((inner) => Object.values(inner) as unknown[]).filter(isNested)
  }
  return false
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null

const shorten = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text)
