// What the cache of answers keeps, for whom, and what it never keeps; and how deep a message may be nested.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAnswerCache } from '../../../src/mcp/answer-cache.ts'
import { assertShallow, TooDeep } from '../../../src/mcp/json-depth.ts'

const HEADERS = { 'mcp-protocol-version': '2026-07-28' }
const TYPE = 'application/json'
const call = (id: unknown, given: object = { event: 'a' }, meta: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'count', arguments: given, _meta: meta },
})
const answer = (id: unknown, result: object = { structuredContent: { outcome: 'answer' } }) =>
  JSON.stringify({ result, jsonrpc: '2.0', id })

test('an answer is found again with the id of the new call, whoever asks and whatever the progress token', () => {
  const cache = createAnswerCache(1, () => '6')
  cache.keep(HEADERS, call(1, { event: 'a' }, { progressToken: 1 }), { type: TYPE, text: answer(1) })
  for (const id of [2, 'two', '"},"result":{"a":"']) {
    const found = cache.find(HEADERS, call(id, { event: 'a' }, { progressToken: 7 }))
    assert.deepEqual(JSON.parse(found?.text ?? ''), JSON.parse(answer(id)))
  }
})

test('another question, revision or newest release finds nothing', () => {
  let newest = '6'
  const cache = createAnswerCache(1, () => newest)
  cache.keep(HEADERS, call(1), { type: TYPE, text: answer(1) })
  assert.equal(cache.find(HEADERS, call(1, { event: 'b' })), null)
  assert.equal(cache.find({ 'mcp-protocol-version': '2025-06-18' }, call(1)), null)
  assert.equal(cache.find(HEADERS, { ...call(1), method: 'tools/list' }), null)
  assert.notEqual(cache.find(HEADERS, call(1)), null)
  newest = '7'
  assert.equal(cache.find(HEADERS, call(1)), null)
})

test('errors, notifications and answers without their id are not kept', () => {
  const cache = createAnswerCache(1, () => '6')
  const texts = [
    answer(1, { isError: true, structuredContent: {} }),
    JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32_602, message: 'structuredContent' } }),
    answer(2),
    `${answer(1)} and more`,
  ]
  for (const text of texts) {
    cache.keep(HEADERS, call(1), { type: TYPE, text })
    assert.equal(cache.find(HEADERS, call(1)), null, text)
  }
  for (const id of [undefined, null, 1.5e300, {}]) {
    cache.keep(HEADERS, call(id), { type: TYPE, text: answer(id) })
    if (typeof id !== 'number') assert.equal(cache.find(HEADERS, call(id)), null)
  }
})

test('an event of a stream is kept as it is', () => {
  const cache = createAnswerCache(1, () => '6')
  cache.keep(HEADERS, call(1), { type: 'text/event-stream', text: `event: message\ndata: ${answer(1)}\n\n` })
  assert.equal(cache.find(HEADERS, call(2))?.text, `event: message\ndata: ${answer(2)}\n\n`)
})

test('without memory nothing is kept', () => {
  const cache = createAnswerCache(0, () => '6')
  cache.keep(HEADERS, call(1), { type: TYPE, text: answer(1) })
  assert.equal(cache.find(HEADERS, call(1)), null)
})

test('JSON is refused where it is nested more than 32 deep; brackets in texts do not count', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`
  assertShallow(nested(32))
  assertShallow(JSON.stringify({ text: `${'['.repeat(100)}\\"${'{'.repeat(100)}`, other: '\\' }))
  assertShallow(`[${'[1],'.repeat(1000)}[1]]`)
  for (const levels of [33, 100_000]) assert.throws(() => assertShallow(nested(levels)), TooDeep)
  assert.throws(() => assertShallow(`{"a":"\\\\",${'"b":{'.repeat(40)}`), TooDeep)
})
