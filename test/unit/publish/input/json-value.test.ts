// Numbers and objects that JavaScript would change are found, also deep inside a value; nesting is measured without recursion.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findRepeatedKey } from '../../../../src/platform/json/repeated-key.ts'
import { findInexactNumber, findLoss, isDeeper } from '../../../../src/publish/input/json-value.ts'
import { MAX_LINE_LENGTH } from '../../../../src/publish/input/limits.ts'

for (const json of [
  '9007199254740991',
  '-9007199254740991',
  '10000000000000000',
  '0.12345678901234567',
  '1.5e300',
  '0.0000000000000000',
  '"12345678901234567890"',
  '{"a":[1,2.5]}',
])
  test(`${json} is exact`, () => assert.equal(findInexactNumber(json), null))

for (const [json, number] of [
  ['9007199254740993', '9007199254740993'],
  ['-9007199254740993', '-9007199254740993'],
  ['1e400', '1e400'],
  ['-1e999', '-1e999'],
  ['1e-400', '1e-400'],
  ['0.123456789012345678', '0.123456789012345678'],
  ['{"a":[1,{"b":12345678901234567890}]}', '12345678901234567890'],
] as const)
  test(`${json} is not exact`, () => assert.equal(findInexactNumber(json), number))

test('the depth of a value', () => {
  assert.equal(isDeeper(1, 0), false)
  assert.equal(isDeeper({}, 0), true)
  assert.equal(isDeeper({ a: 1 }, 1), false)
  assert.equal(isDeeper({ a: [] }, 1), true)
  assert.equal(isDeeper({ a: [{ b: null }] }, 3), false)
})

for (const json of [
  '{}',
  '{"a":1,"b":"a"}',
  '{"a":{"a":{"a":1}}}',
  '[{"a":1},{"a":2}]',
  '{"a":"\\"a\\":1, \\"a\\":2"}',
  '{"a":["a","a:","b"],"b":"\\\\"}',
  '{"__proto__":1,"constructor":2}',
  '"a"',
])
  test(`${json} has no repeated key`, () => assert.equal(findRepeatedKey(json), null))

for (const [json, key] of [
  ['{"a":1,"a":2}', 'a'],
  ['{"a":1,"b":2,"a" : 1}', 'a'],
  ['{"a":1,"\\u0061":2}', 'a'],
  ['{"x":{"a":1,"b":{"b":1},"b":[]}}', 'b'],
  ['{"x":{"a":1},"y":[{"a":1,"a":1}]}', 'a'],
  ['{"":1,"":2}', ''],
  ['{"__proto__":1,"__proto__":2}', '__proto__'],
] as const)
  test(`${json} has a repeated key`, () => assert.equal(findRepeatedKey(json), key))

test('a line of many repeated keys takes no long time', () => {
  const json = `{${'"a":{},'.repeat(200_000)}"b":1}`
  const startedAt = performance.now()
  assert.equal(findRepeatedKey(json), 'a')
  assert.ok(performance.now() - startedAt < 2000)
})

for (const [name, json] of [
  ['a string', `{"a":"${'x'.repeat(MAX_LINE_LENGTH)}"}`],
  ['escaped quotes', `{"a":"${'\\"'.repeat(MAX_LINE_LENGTH / 2)}"}`],
  ['a key', `{"${'k'.repeat(MAX_LINE_LENGTH)}":1}`],
] as const)
  test(`the longest line, of ${name}, is read`, () => assert.equal(findRepeatedKey(json), null))

test('what is lost is described, with a long key shortened', () => {
  assert.deepEqual(findLoss('{"cases":1,"cases":2}'), {
    rule: 'repeated_key',
    message: 'contains the key "cases" twice: remove one',
  })
  const key = 'k'.repeat(50)
  assert.match(findLoss(`{"${key}":1,"${key}":2}`)?.message ?? '', /^contains the key "k{40}…" twice/)
  assert.equal(findLoss('{"a":1e400}')?.rule, 'number')
  assert.equal(findLoss('{"a":1}'), null)
})
