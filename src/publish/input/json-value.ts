// JSON from outside: whether a number in it survives being read, and whether a value is nested too deep. Pure.

/** Only a text with such a run of characters can hold a number that does not survive. */
const SUSPECT = /[\d.]{16}|\d[eE][+-]?\d{3}/
const MOST_DIGITS = 17
const SHOWN = 40

/** The first number that would become another one by being read, as it is written; null where all survive. */
export function findLostNumber(json: string): string | null {
  if (!SUSPECT.test(json)) return null
  let lost: string | null = null
  JSON.parse(json, (_, value: unknown, context: { source?: string } = {}) => {
    if (typeof value === 'number' && context.source !== undefined && !survives(context.source, value))
      lost ??= context.source
    return value
  })
  return lost
}

/** A whole number must be the same; of others 17 digits are as many as a double tells apart. */
function survives(source: string, value: number): boolean {
  if (!Number.isFinite(value)) return false
  if (/^-?\d+$/.test(source)) return BigInt(source) === BigInt(value)
  const digits = source
    .replace(/[eE].*$/, '')
    .replace(/\D/g, '')
    .replace(/^0+/, '')
  return digits.length <= MOST_DIGITS && (value !== 0 || digits === '')
}

/** An object without others in it has one level. Without recursion: a line of brackets must not exhaust the stack. */
export function isDeeper(value: unknown, most: number): boolean {
  let level = [value].filter(isNested)
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > most) return true
    level = level.flatMap((inner) => Object.values(inner) as unknown[]).filter(isNested)
  }
  return false
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null

export const describeLostNumber = (source: string): string =>
  `${source.length > SHOWN ? `${source.slice(0, SHOWN)}…` : source} cannot be kept exactly: write it as a text`
