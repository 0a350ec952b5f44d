// What a check may expect of an answer, and how it fails: what was expected and what was seen, in a few words.
// Never sends a request and never prints; a raw body never enters a message, for it may hold a token.
import { isDeepStrictEqual } from 'node:util'

export interface Answer {
  readonly url: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}
export type Row = Record<string, unknown>

/** The service did not do what the title says. */
export class Failure extends Error {}
/** The dataset does not allow the question; says nothing about the service. */
export class Skipped extends Error {}

/** A value of unknown type inside a message. */
export const show = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value))

export function expectThat(holds: boolean, expected: string, seen: unknown): asserts holds {
  if (!holds) throw new Failure(`expected ${expected}, seen ${show(seen)}`)
}

export function expectEqual(what: string, seen: unknown, expected: unknown): void {
  expectThat(isDeepStrictEqual(seen, expected), `${what} ${show(expected)}`, seen)
}

export function expectStatus(answer: Answer, ...expected: number[]): void {
  expectThat(expected.includes(answer.status), `status ${expected.join(' or ')}`, answer.status)
}

export function expectHeader(answer: Answer, name: string, pattern: RegExp, expected: string): void {
  const value = answer.headers.get(name)
  expectThat(pattern.test(value ?? ''), `header ${name} ${expected}`, value)
}

export function expectJsonType(answer: Answer): void {
  expectHeader(answer, 'content-type', /^application\/json\s*(;|$)/i, 'application/json')
}

export function readJson(answer: Answer): unknown {
  try {
    return JSON.parse(answer.text)
  } catch {
    throw new Failure(`expected a JSON body, seen ${answer.text.length} characters that are not JSON`)
  }
}

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)
const kindOf = (value: unknown) => (Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`)

export function readObject(answer: Answer): Row {
  const body = readJson(answer)
  if (!isRow(body)) throw new Failure(`expected a JSON object, seen ${kindOf(body)}`)
  return body
}

export function asArray(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw new Failure(`expected ${what} to be an array, seen ${kindOf(value)}`)
  return value
}

export function asRows(value: unknown, what: string): Row[] {
  const rows = asArray(value, what)
  if (!rows.every(isRow)) throw new Failure(`expected ${what} to hold objects only`)
  return rows
}

/** The records of a v1 answer. */
export function readRecords(answer: Answer): Row[] {
  expectStatus(answer, 200)
  return asRows(readJson(answer), 'the body')
}

export interface Envelope {
  readonly data: Row[]
  readonly has_more: unknown
  readonly next_page: unknown
}

/** The V2 page envelope; that it has no other keys is a check of its own. */
export function readEnvelope(answer: Answer): Envelope {
  expectStatus(answer, 200)
  const body = readObject(answer)
  return { data: asRows(body.data, 'data'), has_more: body.has_more, next_page: body.next_page }
}

export const idsOf = (records: Row[]) => records.map((record) => record.id)

/** Equal record by record, so that the message names the first that differs and not two thousand that do not. */
export function expectSameRecords(seen: Row[], expected: Row[]): void {
  expectEqual('number of records', seen.length, expected.length)
  const at = seen.findIndex((record, index) => !isDeepStrictEqual(record, expected[index]))
  if (at !== -1) expectEqual(`at index ${at} the record with id`, seen[at]?.id, expected[at]?.id)
  expectThat(at === -1, `at index ${at} equal fields`, 'other values')
}

/** An error on the base address: RFC 9457. Its further members are checked once each, in the section on errors. */
export function expectProblem(answer: Answer, status: number, members: { code?: string; parameter?: string } = {}) {
  expectStatus(answer, status)
  const problem = readObject(answer)
  for (const [name, value] of Object.entries(members)) expectEqual(name, problem[name], value)
}

/** An error of the token endpoint: RFC 6749 section 5.2. */
export function expectOAuthError(answer: Answer, status: number, error: string): void {
  expectStatus(answer, status)
  expectEqual('error', readObject(answer).error, error)
}

/** RFC 6750 section 3: the scheme and the quoted parameters of a challenge. */
export function readChallenge(answer: Answer): { scheme: string; parameters: Record<string, string> } {
  const value = answer.headers.get('www-authenticate') ?? ''
  const pairs = [...value.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', text = '']) => [name, text])
  return { scheme: value.split(' ')[0] ?? '', parameters: Object.fromEntries(pairs) }
}
