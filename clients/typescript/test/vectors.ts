// Reads the vectors and the recorded answers that they name.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'

export const vectors = path.resolve(import.meta.dirname, '../../vectors')
const readText = (file: string) => readFileSync(path.join(vectors, file), 'utf8')

const answers = JSON.parse(readText('answers.json')) as Record<string, { body: string; base64?: boolean }>

export function bodyOf(name: string): Buffer {
  const { body, base64 = false } = answers[name] ?? assert.fail(`there is no answer ${name}`)
  return Buffer.from(body, base64 ? 'base64' : 'utf8')
}

export const valueAt = (value: unknown, pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], value)

/** A value that a recorded answer has: its body, or what is at this pointer of it. */
interface Reference {
  body_of: string
  at?: string
}

function resolve({ body_of, at }: Reference): unknown {
  const body = bodyOf(body_of).toString()
  return at === undefined ? body : valueAt(JSON.parse(body), at)
}

export const readVectors = (file: string) =>
  JSON.parse(readText(file), (_, value: Reference | null) =>
    value?.body_of === undefined ? value : resolve(value),
  ) as unknown
