// The closed list of errors: every code is documented, and every body has the same form.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Check } from 'typebox/value'
import {
  Problem,
  type ProblemCode,
  problemSchema,
  problems,
  problemType,
  toProblem,
} from '../../../src/platform/problem.ts'
import { BASE_URL, createObservedServer } from '../../fixtures/observed-server.ts'

const codes = Object.keys(problems) as ProblemCode[]

test('docs/errors.md has exactly one section for every code', () => {
  const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
  const sections = [...page.matchAll(/^## `?([a-z0-9_]+)`?$/gm)].map(([, code]) => code ?? '')
  // The page may also have sections for the codes of the token endpoint (RFC 6749).
  const documented = sections.filter((section) => Object.hasOwn(problems, section))
  assert.deepEqual(documented.toSorted(), codes.toSorted())
})

for (const code of codes) {
  test(`${code} has a body of the documented form and a URL that explains it`, async (t) => {
    const problem = new Problem(code, 'What was wrong.', { parameter: 'num', cause: new Error('private') })
    const body = problem.toBody(BASE_URL, 'request-1')
    assert.ok(Check(problemSchema, body))
    assert.deepEqual(
      [body['status'], body['detail'], body['type']],
      [problems[code][0], 'What was wrong.', problemType(BASE_URL, code)],
    )
    assert.ok(!JSON.stringify(body).includes('private'))
    const { app } = createObservedServer()
    t.after(() => app.close())
    const page = await app.inject(`/problems/${code}`)
    assert.deepEqual(page.json(), { type: body['type'], code, status: body['status'], title: problems[code][1] })
  })
}

test('every code has an error status and a different title', () => {
  const titles = codes.map((code) => problems[code][1])
  assert.equal(new Set(titles).size, titles.length)
  for (const title of titles) assert.match(title, /^[A-Z].*\.$/)
  for (const code of codes) assert.ok(problems[code][0] >= 400 && problems[code][0] < 600)
})

const conversions: [thrown: unknown, code: ProblemCode][] = [
  [new Problem('not_found', 'Nothing.'), 'not_found'],
  [Object.assign(new Error('secret'), { statusCode: 400 }), 'invalid_request'],
  [Object.assign(new Error('secret'), { statusCode: 413 }), 'content_too_large'],
  [Object.assign(new Error('secret'), { statusCode: 415 }), 'unsupported_media_type'],
  [Object.assign(new Error('secret'), { statusCode: 418 }), 'invalid_request'],
  [Object.assign(new Error('secret'), { statusCode: 503 }), 'unavailable'],
  [Object.assign(new Error('secret'), { statusCode: 200 }), 'internal_error'],
  [Object.assign(new Error('secret'), { statusCode: 'x' }), 'internal_error'],
  [new Error('secret'), 'internal_error'],
  ['secret', 'internal_error'],
  [null, 'internal_error'],
  [undefined, 'internal_error'],
]
for (const [thrown, code] of conversions) {
  test(`${thrown instanceof Error ? JSON.stringify({ ...thrown }) : String(thrown)} becomes ${code}`, () => {
    const problem = toProblem(thrown)
    assert.equal(problem.code, code)
    assert.ok(!problem.message.includes('secret'))
  })
}
