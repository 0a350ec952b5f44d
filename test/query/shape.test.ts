// The two shapes: exactly the keys of the interface, with the records byte for byte as they are kept.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { shapeArray, shapeEnvelope } from '../../src/query/shape.ts'

const bodies = fc.array(fc.json({ maxDepth: 2 }))

test('v1 is a plain array of the records', () => {
  assert.equal(shapeArray([]), '[]')
  assert.equal(shapeArray(['{"id":1}', '{"id": 2}']), '[{"id":1},{"id": 2}]')
  fc.assert(
    fc.property(bodies, (records) =>
      assert.deepEqual(
        JSON.parse(shapeArray(records)),
        records.map((record) => JSON.parse(record) as unknown),
      ),
    ),
  )
})

test('v2 is the envelope: has_more says exactly whether there is a cursor', () => {
  assert.equal(shapeEnvelope([], null), '{"data":[],"has_more":false,"next_page":null}')
  assert.equal(shapeEnvelope(['{"id":1}'], 'abc'), '{"data":[{"id":1}],"has_more":true,"next_page":"abc"}')
  fc.assert(
    fc.property(bodies, fc.option(fc.string({ minLength: 1 })), (records, next) => {
      assert.deepEqual(JSON.parse(shapeEnvelope(records, next)), {
        data: records.map((record) => JSON.parse(record) as unknown),
        has_more: next !== null,
        next_page: next,
      })
    }),
  )
})
