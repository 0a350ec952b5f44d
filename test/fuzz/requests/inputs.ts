// Bad requests of twelve classes, in an endless sequence that depends only on the seed of the test run.
import { drawInt as int } from '../../seed.ts'
import type { RawRequest } from './connection.ts'

export interface FuzzContext {
  host: string
  token: string
  clientId: string
  clientSecret: string
  /** Valid cursors, to damage. */
  cursors: readonly string[]
  /** The parameters of each operation, by path with example values. */
  operations: readonly { path: string; parameters: readonly string[] }[]
  /** The path of a file, for ranges. */
  file: string
}

export interface FuzzInput extends RawRequest {
  class: string
}

const pick = <Item>(items: readonly Item[]): Item => items[int(items.length)] as Item
const chance = (percent: number): boolean => int(100) < percent
const times = <Item>(count: number, make: () => Item): Item[] => Array.from({ length: count }, make)
const bytes = (length: number): string => times(length, () => String.fromCharCode(int(256))).join('')

const NUMBERS = [
  ...['-1', '0', '1', '1000', '1001', '1e3', '0x10', '٥', '9007199254740993', '99999999999999999999', ' 5', '5 '],
  ...['+5', '05', '1.0', '1,000', 'NaN', 'Infinity', '-0', '1e400', '', '１', '²', '1_000', 'null', '5;', "5'"],
]
const TEXTS = [
  ...[
    "' or 1=1 --",
    '"; drop table release; --',
    '../../etc/passwd',
    '..%2f..%2fetc%2fpasswd',
    '%00',
    '\\',
    '%',
    '%zz',
  ],
  ...['{{7*7}}', '${jndi:ldap://x}', '<script>alert(1)</script>', '__proto__', 'constructor', 'toString', 'a\u0301'],
  ...[
    '\u202e',
    '\ud800',
    '𝒜',
    '\u0000',
    'İ',
    'ß',
    'ﬀ',
    '\ufeff',
    '🏳️‍🌈',
    'null',
    'undefined',
    '[]',
    '{}',
    'true',
    '*',
    '*',
  ],
]
const DAYS = ['2020-02-30', '0000-00-00', '9999-12-31', '2020-1-1', '20200101', '2020-01-01T00:00:00Z', '-001-01-01']
const METHODS = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'PURGE', 'QUERY'],
  ...['get', 'GETT', 'G', 'SEARCH', 'M-SEARCH', 'PRI'],
]
const MEDIA_TYPES = [
  ...['application/json', 'text/csv', 'application/x-ndjson', 'application/geo+json', 'application/vnd.apache.parquet'],
  ...[
    'application/vnd.apache.arrow.stream',
    '*/*',
    'text/*;q=0',
    '*/*;q=2',
    'application/json;q=abc',
    ';',
    ',,,',
    'a/b/c',
  ],
]
const RANGES = [
  ...['bytes=0-', 'bytes=-1', 'bytes=0-0', 'bytes=5-2', 'bytes=-0', 'bytes=99999999999999999999-', 'bytes=0-1,2-3'],
  ...['bytes=a-b', 'lines=1-2', 'bytes=', 'bytes=--1', 'bytes = 0-1', 'bytes=0-1;', 'BYTES=0-9', 'bytes=1e3-'],
]

/** Sends any text as bytes that a request line may have. */
const encode = (text: string): string =>
  chance(80) ? encodeURIComponent(text.toWellFormed()) : Buffer.from(text).toString('latin1').replace(/[\s]/g, '%20')

function value(): string {
  const kind = int(6)
  if (kind === 0) return pick(NUMBERS)
  if (kind === 1) return pick(DAYS)
  if (kind === 2) return bytes(int(12))
  if (kind === 3) return pick(TEXTS) + pick(TEXTS)
  return pick(TEXTS)
}

/** Changes, drops or repeats a few characters. */
function mutate(text: string): string {
  let mutated = text
  for (let i = int(3); i >= 0; i--) {
    const at = int(mutated.length + 1)
    const insert = pick([() => '', () => bytes(1), () => pick(TEXTS), () => mutated.slice(at, at + 5)])()
    mutated = mutated.slice(0, at) + insert + mutated.slice(at + int(3))
  }
  return mutated
}

export function* createInputs(context: FuzzContext): Generator<FuzzInput, never> {
  const { host, token, operations, cursors, file } = context
  const authorised: [string, string][] = [
    ['host', host],
    ['authorization', `Bearer ${token}`],
  ]
  const get = (target: string, ...headers: [string, string][]): RawRequest => ({
    method: 'GET',
    target: target.replace(/[\r\n ]/g, '%20') || '/',
    headers: [...authorised, ...headers],
  })
  const query = (pairs: readonly [string, string][]) =>
    pairs.map(([name, text]) => `${encode(name)}=${encode(text)}`).join('&')
  const anyParameter = (parameters: readonly string[]) => (parameters.length === 0 ? 'num' : pick(parameters))

  const classes: Record<string, () => RawRequest> = {
    paths: () => {
      const { path } = pick(operations)
      const parts = path.split('/')
      parts[int(parts.length)] = pick([() => encode(value()), () => '..', () => '%2e%2e', () => '', () => '.'])()
      return get(chance(10) ? `http://${pick(['elsewhere.test', host, '[::1', ''])}${path}` : parts.join('/'))
    },
    parameters: () => {
      const { path, parameters } = pick(operations)
      return get(
        `${path}?${query(times(1 + int(4), () => [chance(85) ? anyParameter(parameters) : value(), value()]))}`,
      )
    },
    headers: () => {
      const { path } = pick(operations)
      const name = pick(['accept', 'accept-encoding', 'if-none-match', 'x-request-id', 'if-range', 'origin', 'cookie'])
      const text = pick([
        () => pick(MEDIA_TYPES),
        () => value(),
        () => times(int(20), () => pick(MEDIA_TYPES)).join(','),
      ])()
      return get(path, [
        name,
        Buffer.from(text)
          .toString('latin1')
          .replace(/\p{Cc}/gu, ''),
      ])
    },
    cursors: () => {
      const { path } = pick(operations.filter(({ parameters }) => parameters.includes('page')))
      return get(`${path}?page=${encode(chance(90) ? mutate(pick(cursors)) : pick(cursors))}`)
    },
    ranges: () => get(file, ['range', chance(50) ? pick(RANGES) : mutate(pick(RANGES)).replace(/[^\x20-\x7e]/g, '')]),
    'token bodies': () => tokenRequest(context),
    encodings: () => {
      const { path, parameters } = pick(operations)
      const text = pick([
        '%ff',
        '%c0%af',
        '%ed%a0%80',
        '%',
        '%u0041',
        '+',
        '%2B',
        '%00',
        '%0d%0aset-cookie:a=b',
        '\xff',
      ])
      return get(`${path}?${anyParameter(parameters)}=${text}${chance(50) ? text : ''}`)
    },
    methods: () => ({ ...get(chance(80) ? pick(operations).path : '/oauth/token'), method: pick(METHODS) }),
    numbers: () => {
      const { path, parameters } = pick(operations)
      const name = pick([
        'num',
        'offset',
        'release',
        'from',
        'to',
        'cases_min',
        'deaths_max',
        'bbox',
        'pathogen_taxon_id',
      ])
      const known = parameters.includes(name) ? name : anyParameter(parameters)
      return get(
        `${path.replace(/(?<=\/)\d+/, () => (chance(50) ? encode(pick(NUMBERS)) : '1'))}?${known}=${encode(pick(NUMBERS))}`,
      )
    },
    unicode: () => {
      const { path, parameters } = pick(operations)
      const text = times(1 + int(8), () => String.fromCodePoint(int(0x11_0000))).join('')
      return get(`${path}?${anyParameter(parameters)}=${encodeURIComponent(text.toWellFormed())}`)
    },
    duplicates: () => {
      const { path, parameters } = pick(operations)
      const name = anyParameter(parameters)
      const repeated = pick([
        'accept',
        'range',
        'x-request-id',
        'if-none-match',
        'authorization',
        'host',
        'accept-encoding',
      ])
      const headers: [string, string][] = chance(50) ? [[repeated, value().replace(/[^\x20-\x7e]/g, '')]] : []
      return get(
        `${path}?${query(times(2 + int(3), () => [name, chance(50) ? '1' : value()]))}`,
        ...headers,
        ...headers,
      )
    },
    sizes: () => {
      const { path, parameters } = pick(operations)
      const length = pick([500, 2000, 4000, 7000, 9000])
      return pick([
        () => get(`${path}?${anyParameter(parameters)}=${'a'.repeat(length)}`),
        () => get(`${path}?${query(times(Math.min(length, 600), () => [anyParameter(parameters), '1']))}`),
        () => get(path, ['x-large', 'b'.repeat(length)]),
        () => get(path, ...times(int(120), (): [string, string] => [`x-${int(1e6)}`, 'c'])),
        () => get(`/${'d/'.repeat(length / 4)}`),
      ])()
    },
  }
  for (;;) {
    for (const [name, create] of Object.entries(classes)) yield { ...create(), class: name }
  }
}

function tokenRequest({ host, clientId, clientSecret }: FuzzContext): RawRequest {
  const valid: Record<string, unknown> = {
    client_id: clientId,
    client_secret: clientSecret,
    audience: `http://${host}`,
    grant_type: 'client_credentials',
  }
  const name = pick([...Object.keys(valid), 'scope', '__proto__', 'extra'])
  const wrong = pick<() => unknown>([
    ...[
      value,
      () => null,
      () => [],
      () => ({}),
      () => int(1000),
      () => true,
      () => 'a'.repeat(int(9000)),
      () => undefined,
    ],
    () => [clientId, clientSecret],
  ])()
  const json = JSON.stringify({ ...valid, [name]: wrong })
  const form = new URLSearchParams(
    Object.entries({ ...valid, [name]: wrong }).map(([key, text]): [string, string] => [key, String(text)]),
  ).toString()
  const text = pick([
    ...[() => json, () => form, () => mutate(json), () => mutate(form), () => '', () => '['.repeat(int(8000))],
    ...[
      () => `${json}${json}`,
      () => json.replace('{', `{"client_id":"x",`),
      () => `\ufeff${json}`,
      () => bytes(int(200)),
    ],
  ])()
  const body = Buffer.from(text, pick(['utf8', 'latin1', 'utf16le']))
  const types = [
    'application/json',
    'application/x-www-form-urlencoded',
    'text/plain',
    'application/json; charset=x',
    '',
  ]
  const headers: [string, string][] = [
    ['host', host],
    ['content-type', chance(80) ? pick(types.slice(0, 2)) : pick(types)],
    ['content-length', String(body.length)],
  ]
  if (chance(10)) headers.push(['authorization', `Basic ${Buffer.from(mutate(`${clientId}:x`)).toString('base64')}`])
  if (chance(5)) headers.push(['content-encoding', 'gzip'])
  return { method: chance(95) ? 'POST' : pick(METHODS.slice(0, 6)), target: '/oauth/token', headers, body }
}
