// The schemas that an assistant reads: it pays for every word of them in every conversation. Bounds are checked, and not described.
import * as z from 'zod'

type Schema = Record<string, unknown>
const DROPPED = new Set(['$schema', 'maxLength', 'minLength', 'maximum', 'minimum', 'exclusiveMinimum', 'maxItems'])

function shorten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shorten)
  if (value === null || typeof value !== 'object') return value
  const { anyOf, propertyNames: _names, additionalProperties: _others, ...rest } = value as Schema
  const kept = Object.entries(rest).filter(([name]) => !DROPPED.has(name))
  const members = (anyOf ?? []) as Schema[]
  const items = members.find((member) => member['items'] !== undefined)?.['items']
  const isPlain = members.length > 0 && members.every(({ type }) => typeof type === 'string')
  return {
    ...Object.fromEntries(kept.map(([name, each]) => [name, shorten(each)])),
    ...(isPlain ? { type: members.map(({ type }) => type) } : anyOf === undefined ? {} : { anyOf: shorten(anyOf) }),
    ...(isPlain && items !== undefined ? { items: shorten(items) } : {}),
  }
}

/** The same checks, with a short description. It is written once, not for each server. */
export function shortSchema<Value extends z.ZodType>(schema: Value) {
  const described = shorten(z.toJSONSchema(schema, { io: 'input' })) as Schema
  const { validate } = schema['~standard']
  return {
    '~standard': {
      version: 1 as const,
      vendor: 'outbreak-data',
      validate,
      jsonSchema: { input: () => described, output: () => described },
    },
  }
}
