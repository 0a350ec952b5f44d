// Query strings: which are accepted, and which are rejected with which code and parameter.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Type } from 'typebox'
import { askIfMeant, compileQuery, findNearest } from '../../../src/platform/http/query-string.ts'
import { Problem } from '../../../src/platform/problem.ts'
import { createObservedServer } from '../../fixtures/observed-server.ts'
import { fc } from '../../seed.ts'

const MAX = Number.MAX_SAFE_INTEGER
const schema = Type.Object({
  num: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX })),
  shift: Type.Optional(Type.Integer({ minimum: -10, maximum: 10 })),
  page: Type.Optional(Type.String({ minLength: 1, maxLength: 20 })),
  strict: Type.Optional(Type.Boolean()),
  order: Type.Optional(Type.Enum(['up', 'down'])),
  sort: Type.Optional(Type.Enum(['cases', '-cases', 'deaths', '-deaths'])),
  day: Type.Optional(Type.String({ format: 'date' })),
  place: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 3 })),
  level: Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: 9 }), { maxItems: 3 })),
})
const { app } = createObservedServer()
app.get('/things', { schema: { querystring: schema } }, async (request) => request.query)
app.get('/no-parameters', { schema: { querystring: Type.Object({}) } }, async (request) => request.query)
after(() => app.close())

const accepted: [query: string, values: object][] = [
  ['', {}],
  ['num=1', { num: 1 }],
  ['num=1000', { num: 1000 }],
  ['num=%35', { num: 5 }],
  ['%6Eum=5', { num: 5 }],
  ['offset=0', { offset: 0 }],
  [`offset=${MAX}`, { offset: MAX }],
  ['shift=-10', { shift: -10 }],
  ['shift=0', { shift: 0 }],
  ['page=x', { page: 'x' }],
  ['page=0', { page: '0' }],
  ['page=+x+', { page: ' x ' }],
  ['page=%C3%A9', { page: 'é' }],
  ['page=a%26num%3D5', { page: 'a&num=5' }],
  ['page=a=b', { page: 'a=b' }],
  [`page=${'x'.repeat(20)}`, { page: 'x'.repeat(20) }],
  ['num=5&offset=7&page=x', { num: 5, offset: 7, page: 'x' }],
  ['strict=true', { strict: true }],
  ['strict=false', { strict: false }],
  ['order=down', { order: 'down' }],
  ['day=2020-02-29', { day: '2020-02-29' }],
  ['place=a', { place: ['a'] }],
  ['place=a,b', { place: ['a,b'] }],
  ['place=b&num=5&place=a&place=+', { place: ['b', 'a', ' '], num: 5 }],
  ['level=9&level=1', { level: [9, 1] }],
]

const rejected: [query: string, code: string, parameter: string][] = [
  ...[
    '', // present without a value
    '0',
    '-1',
    '-0',
    '+5', // a space once decoded
    '%2B5',
    '1001',
    '01',
    '005',
    '1.0',
    '1.5',
    '1e2',
    '1E2',
    '0x10',
    '0b1',
    '0o7',
    '1_0',
    '1,0',
    '5n',
    '%205',
    '5%20',
    '5%0A',
    '5%00',
    '%D9%A5', // an Arabic-Indic five
    '%EF%BC%95', // a full-width five
    '9007199254740993',
    '99999999999999999999',
    'Infinity',
    '-Infinity',
    'NaN',
    'null',
    'undefined',
    'true',
    '[5]',
    '{}',
    '5;offset=3',
    '5%26offset=3',
    '%zz',
    '%',
    "5'--",
  ].map((value): [string, string, string] => [`num=${value}`, 'invalid_parameter', 'num']),
  ['num', 'invalid_parameter', 'num'],
  ['offset=-1', 'invalid_parameter', 'offset'],
  [`offset=${MAX}1`, 'invalid_parameter', 'offset'],
  ['offset=9007199254740992', 'invalid_parameter', 'offset'],
  ['shift=-11', 'invalid_parameter', 'shift'],
  ['shift=11', 'invalid_parameter', 'shift'],
  ['shift=--1', 'invalid_parameter', 'shift'],
  ['page=', 'invalid_parameter', 'page'],
  [`page=${'x'.repeat(21)}`, 'invalid_parameter', 'page'],
  ['num=5&num=5', 'repeated_parameter', 'num'],
  ['num=5&num=6&num=7', 'repeated_parameter', 'num'],
  ['page=a&num=1&page=b', 'repeated_parameter', 'page'],
  ['num=&num=', 'repeated_parameter', 'num'],
  ...['', '1', '0', 'True', 'TRUE', 'yes', 'true%20', 'null'].map((value): [string, string, string] => [
    `strict=${value}`,
    'invalid_parameter',
    'strict',
  ]),
  ['strict=true&strict=true', 'repeated_parameter', 'strict'],
  ['order=', 'invalid_parameter', 'order'],
  ['order=Up', 'invalid_parameter', 'order'],
  ['order=up&order=down', 'repeated_parameter', 'order'],
  ['day=', 'invalid_parameter', 'day'],
  ['day=2021-02-29', 'invalid_parameter', 'day'],
  ['day=2021-2-1', 'invalid_parameter', 'day'],
  ['day=20210201', 'invalid_parameter', 'day'],
  ['place=', 'invalid_parameter', 'place'],
  ['place=a&place=', 'invalid_parameter', 'place'],
  ['place=a&place=b&place=a', 'repeated_parameter', 'place'],
  ['place=a&place=b&place=c&place=d', 'invalid_parameter', 'place'],
  ['place[]=a', 'unknown_parameter', 'place[]'],
  ['level=1&level=x', 'invalid_parameter', 'level'],
  ['level=1&level=01', 'invalid_parameter', 'level'],
  ['level=10', 'invalid_parameter', 'level'],
  ['NUM=5', 'unknown_parameter', 'NUM'],
  ['num[]=5', 'unknown_parameter', 'num[]'],
  ['num%5B%5D=5', 'unknown_parameter', 'num[]'],
  ['num%20=5', 'unknown_parameter', 'num '],
  ['%20num=5', 'unknown_parameter', ' num'],
  ['limit=5', 'unknown_parameter', 'limit'],
  ['limit=5&limit=6', 'unknown_parameter', 'limit'],
  ['num=5&event=x', 'unknown_parameter', 'event'],
  ['__proto__=1', 'unknown_parameter', '__proto__'],
  ['constructor=1', 'unknown_parameter', 'constructor'],
  ['toString=1', 'unknown_parameter', 'toString'],
  ['hasOwnProperty=1', 'unknown_parameter', 'hasOwnProperty'],
  ['=5', 'unknown_parameter', ''],
  ['page.x=1', 'unknown_parameter', 'page.x'],
  [`${'n'.repeat(41)}=5`, 'unknown_parameter', `${'n'.repeat(40)}…`],
]

test('a required parameter that is missing', async () => {
  const parse = compileQuery(
    Type.Object({
      order: Type.Enum(['up', 'down']),
      from: Type.String({ description: 'The first release.' }),
      to: Type.Optional(Type.String()),
    }),
  )
  assert.deepEqual(parse({ order: 'up', from: '1' }), { order: 'up', from: '1' })
  const isProblem = (parameter: string, detail: string) => (error: unknown) =>
    error instanceof Problem &&
    error.code === 'invalid_parameter' &&
    error.parameter === parameter &&
    error.message === detail
  assert.throws(() => parse({ from: '1' }), isProblem('order', 'Add the parameter order. It must be one of up, down.'))
  assert.throws(() => parse({ order: 'up', to: '2' }), isProblem('from', 'Add the parameter from. The first release.'))
})

for (const [query, values] of accepted) {
  test(`?${query} is accepted`, async () => {
    const response = await app.inject(`/things?${query}`)
    assert.equal(response.statusCode, 200, response.body)
    assert.deepEqual(response.json(), values)
  })
}

for (const [query, code, parameter] of rejected) {
  test(`?${query} gives ${code}`, async () => {
    const response = await app.inject(`/things?${query}`)
    assert.equal(response.statusCode, 400, response.body)
    const body = response.json()
    assert.deepEqual([body.code, body.parameter], [code, parameter])
    assert.ok(body.detail.length < 240)
  })
}

test('a resource without parameters rejects every parameter', async () => {
  assert.equal((await app.inject('/no-parameters')).statusCode, 200)
  assert.match((await app.inject('/no-parameters?num=5')).json().detail, /It takes none/)
})

test('any query is accepted or gives a Problem that names a parameter', () => {
  const names = fc.oneof(
    fc.constantFrom('num', 'offset', 'shift', 'page', 'strict', 'day', 'place', 'level'),
    fc.string({ unit: 'binary' }),
  )
  const values = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.integer().map(String),
    fc.array(fc.string(), { minLength: 2 }),
  )
  fc.assert(
    fc.property(fc.dictionary(names, values), (raw) => {
      try {
        const parsed = compileQuery(schema)(raw)
        assert.deepEqual(Object.keys(parsed), Object.keys(raw))
      } catch (error) {
        assert.ok(error instanceof Problem && error.status === 400 && error.parameter !== undefined, String(error))
        assert.ok(JSON.stringify(error.toBody('https://api.test', 'id')).isWellFormed())
      }
    }),
    { numRuns: 2000 },
  )
})

test('an integer in range is accepted in plain digits and rejected in any other form', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: MAX }), (n) =>
      assert.deepEqual(compileQuery(schema)({ offset: `${n}` }), { offset: n }),
    ),
    { numRuns: 1000 },
  )
  fc.assert(
    fc.property(fc.integer({ min: 0, max: MAX }), fc.constantFrom('0', '+', ' ', '-', '.', 'e'), (n, character) => {
      assert.throws(() => compileQuery(schema)({ offset: `${character}${n}` }), Problem)
      if (character !== '0') assert.throws(() => compileQuery(schema)({ offset: `${n}${character}` }), Problem)
    }),
    { numRuns: 1000 },
  )
})

const NAMES = ['disease', 'disease_icd11', 'date_from', 'date_to', 'total_cases', '-total_cases', 'new_cases']

test('the nearest names are found, and nothing else', () => {
  assert.deepEqual(findNearest('diseas', NAMES), ['disease'])
  assert.deepEqual(findNearest('Date_fro', NAMES), ['date_from', 'date_to'])
  assert.deepEqual(findNearest('-cases', NAMES), ['-total_cases'])
  assert.deepEqual(findNearest('cases', NAMES), ['total_cases', 'new_cases'])
  assert.deepEqual(findNearest('format', NAMES), [])
  assert.deepEqual(findNearest('', NAMES), [])
})

test('a mistake is told with what to write instead', async () => {
  const sentences: Record<string, string> = {
    'order=dow': 'order has no value "dow". Did you mean down?',
    'order=sideways': 'order must be one of up, down.',
    'day=2021-02-31': 'day must be a date that exists, as YYYY-MM-DD. "2021-02-31" is not one.',
    [`page=${'x'.repeat(50)}`]: `page cannot be "${'x'.repeat(40)}…".`,
    'num=1&num=2': 'num was sent 2 times. Send it once.',
    'sort=best': 'sort must be one of cases, deaths. Put - before it for the greatest first.',
  }
  for (const [query, sentence] of Object.entries(sentences))
    assert.equal((await app.inject(`/things?${query}`)).json().detail, sentence)
})

test('a long text is not compared', () => {
  assert.equal(askIfMeant('x'.repeat(101), ['x'.repeat(101)]), '')
  assert.equal(askIfMeant('dat_to', NAMES), ' Did you mean date_to?')
})
