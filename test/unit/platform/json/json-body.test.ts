// Bodies in JSON: what is no object, or has a member twice, is named and never half read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptJson } from '../../../../src/platform/http/json-body.ts'
import { createObservedServer } from '../../../fixtures/observed-server.ts'

const { app } = createObservedServer()
acceptJson(app)
app.post('/', async ({ body }) => ({ body }))

async function send(payload: string) {
  const response = await app.inject({
    method: 'POST',
    url: '/',
    headers: { 'content-type': 'application/json' },
    payload,
  })
  return { status: response.statusCode, body: response.json<Record<string, unknown>>() }
}

for (const [text, parameter] of [
  ['{"state":"active","state":"paused"}', 'state'],
  ['{"state":"active","st\\u0061te":"paused"}', 'state'],
  ['{"a":{"b":1,"b":2}}', 'b'],
] as const)
  test(`${text} has a member twice`, async () => {
    const { status, body } = await send(text)
    assert.deepEqual([status, body['code'], body['parameter']], [400, 'repeated_parameter', parameter])
  })

for (const text of ['{"state":"active"', '[]', 'null', '"state"'])
  test(`${text} is no object`, async () => {
    const { status, body } = await send(text)
    assert.deepEqual([status, body['code']], [400, 'invalid_request'])
  })

test('different objects can have the same members', async () => {
  const value = { a: { b: 1 }, c: [{ b: 1 }, { b: '"b":' }] }
  assert.deepEqual(await send(JSON.stringify(value)), { status: 200, body: { body: value } })
})
