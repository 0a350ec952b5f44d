// If-None-Match: which values name an entity tag (RFC 9110, 13.1.2).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchesIfNoneMatch } from '../../../src/api/response/conditional-request.ts'

const TAG = '"abc-_1"'

for (const header of [TAG, `W/${TAG}`, '*', `"other", ${TAG}`, `"other",W/${TAG},"more"`, `, ${TAG} ,`])
  test(`${header} matches ${TAG}`, () => assert.equal(matchesIfNoneMatch(header, TAG), true))

for (const header of [undefined, '', '"other"', 'abc-_1', `${TAG}x`, `w/${TAG}`, `W/ ${TAG}`, '"ABC-_1"', ',,', '**'])
  test(`${header} does not match ${TAG}`, () => assert.equal(matchesIfNoneMatch(header, TAG), false))

test('a weak entity tag matches a strong one with the same text', () => {
  assert.equal(matchesIfNoneMatch(TAG, `W/${TAG}`), true)
})

test('a header of thousands of tags is read in linear time', () => {
  const header = `${'"x", '.repeat(200_000)}${TAG}`
  const began = performance.now()
  assert.equal(matchesIfNoneMatch(header, TAG), true)
  assert.ok(performance.now() - began < 1000)
})
