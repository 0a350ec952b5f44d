// Checks of JSON input: whether JavaScript represents its numbers exactly, and whether it is nested too deeply. Pure.

/** Only a text that matches can contain an inexact number. */
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

export const describeInexactNumber = (source: string): string =>
  `${source.length > MAX_SHOWN ? `${source.slice(0, MAX_SHOWN)}…` : source} cannot be represented exactly: write it as a string`
