// Numbers that JavaScript would change are found, also deep inside a value; nesting is measured without recursion.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findInexactNumber, isDeeper } from '../../../../src/publish/input/json-value.ts'

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
