// Assertions on responses. A failed one says in a few words what was expected and what the service returned.
// This file sends no requests and prints nothing. No message includes a raw body, because it may contain a token.
import { isDeepStrictEqual } from 'node:util'

export interface ServiceResponse {
  readonly url: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}
export type Row = Record<string, unknown>

/** The statement of the title is not true. */
export class Failure extends Error {}
/** The dataset does not allow the check; this says nothing about the service. */
export class Skipped extends Error {}

/** Formats a value of unknown type for a message. */
export const show = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value))

export function expectThat(condition: boolean, expected: string, actual: unknown): asserts condition {
  if (!condition) throw new Failure(`expected ${expected}, got ${show(actual)}`)
}

export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  expectThat(isDeepStrictEqual(actual, expected), `${what} ${show(expected)}`, actual)
}

export function expectStatus(response: ServiceResponse, ...expected: number[]): void {
  expectThat(expected.includes(response.status), `status ${expected.join(' or ')}`, response.status)
}

export function expectHeader(response: ServiceResponse, name: string, pattern: RegExp, expected: string): void {
  const value = response.headers.get(name)
  expectThat(pattern.test(value ?? ''), `header ${name} ${expected}`, value)
}

export function expectJsonType(response: ServiceResponse): void {
  expectHeader(response, 'content-type', /^application\/json\s*(;|$)/i, 'application/json')
}

export function readJson(response: ServiceResponse): unknown {
  try {
    return JSON.parse(response.text)
  } catch {
    throw new Failure(`expected a JSON body, got ${response.text.length} characters that are not JSON`)
  }
}

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)
const kindOf = (value: unknown) => (Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`)

export function readObject(response: ServiceResponse): Row {
  const body = readJson(response)
  if (!isRow(body)) throw new Failure(`expected a JSON object, got ${kindOf(body)}`)
  return body
}

export function asArray(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw new Failure(`expected ${what} to be an array, got ${kindOf(value)}`)
  return value
}

export function asRows(value: unknown, what: string): Row[] {
  const rows = asArray(value, what)
  if (!rows.every(isRow)) throw new Failure(`expected ${what} to contain only objects`)
  return rows
}

/** The records of a v1 response. */
export function readRecords(response: ServiceResponse): Row[] {
  expectStatus(response, 200)
  return asRows(readJson(response), 'the body')
}

export interface Envelope {
  readonly data: Row[]
  readonly has_more: unknown
  readonly next_page: unknown
}

/** The v2 page envelope. A separate check tests that it has no other keys. */
export function readEnvelope(response: ServiceResponse): Envelope {
  expectStatus(response, 200)
  const body = readObject(response)
  return { data: asRows(body.data, 'data'), has_more: body.has_more, next_page: body.next_page }
}

export const idsOf = (records: Row[]) => records.map((record) => record.id)

/** Compares record by record, so that the message names only the first record that differs. */
export function expectSameRecords(actual: Row[], expected: Row[]): void {
  expectEqual('number of records', actual.length, expected.length)
  const different = actual.findIndex((record, index) => !isDeepStrictEqual(record, expected[index]))
  if (different === -1) return
  expectEqual(`at index ${different} the record with id`, actual[different]?.id, expected[different]?.id)
  expectThat(false, `at index ${different} equal fields`, 'different values')
}

/** An error of the API: RFC 9457. The section on errors checks the other members. */
export function expectProblem(
  response: ServiceResponse,
  status: number,
  members: { code?: string; parameter?: string } = {},
) {
  expectStatus(response, status)
  const problem = readObject(response)
  for (const [name, value] of Object.entries(members)) expectEqual(name, problem[name], value)
}

/** An error of the token endpoint: RFC 6749 section 5.2. */
export function expectOAuthError(response: ServiceResponse, status: number, error: string): void {
  expectStatus(response, status)
  expectEqual('error', readObject(response).error, error)
}

/** RFC 6750 section 3: the scheme and the quoted parameters of a challenge. */
export function readChallenge(response: ServiceResponse): { scheme: string; parameters: Record<string, string> } {
  const value = response.headers.get('www-authenticate') ?? ''
  const pairs = [...value.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', text = '']) => [name, text])
  return { scheme: value.split(' ')[0] ?? '', parameters: Object.fromEntries(pairs) }
}
