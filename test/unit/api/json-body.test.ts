// Bodies have exactly the keys of the interface, and records are sent byte for byte as they are stored.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  describeRanges,
  type ReleaseRange,
  serialiseArray,
  serialiseChange,
  serialiseEnvelope,
  serialiseVersion,
} from '../../../src/api/response/json-body.ts'
import { type Part, writeIdentity } from '../../../src/storage/gzip-splice.ts'
import { fc } from '../../seed.ts'

const textOf = (parts: Part[]) => writeIdentity(parts).toString()
const bodies = fc.array(fc.json({ maxDepth: 2 }))

test('v1 is a plain array of the records', () => {
  assert.deepEqual(serialiseArray([]), ['[]'])
  assert.deepEqual(serialiseArray(['{"id":1}', '{"id": 2}']), ['[{"id":1},\n{"id": 2}]'])
  fc.assert(
    fc.property(bodies, (records) =>
      assert.deepEqual(
        JSON.parse(textOf(serialiseArray(records))),
        records.map((record) => JSON.parse(record) as unknown),
      ),
    ),
  )
})

test('v2 is the envelope: has_more is true if and only if there is a cursor', () => {
  assert.deepEqual(serialiseEnvelope([], null).parts, ['{"data":[],"has_more":false,"next_page":null}'])
  assert.deepEqual(serialiseEnvelope(['{"id":1}'], 'abc').parts, [
    '{"data":[{"id":1}],"has_more":true,"next_page":"abc"}',
  ])
  fc.assert(
    fc.property(bodies, fc.option(fc.string({ minLength: 1 })), (records, next) => {
      assert.deepEqual(JSON.parse(textOf(serialiseEnvelope(records, next).parts)), {
        data: records.map((record) => JSON.parse(record) as unknown),
        has_more: next !== null,
        next_page: next,
      })
    }),
  )
})

test('a change has the text of the record before and after, and may leave them out', () => {
  const common = { id: '7', event: 'E', release: 3, kind: 'added' } as const
  const added = { ...common, change: 'added', before: null, after: '{"a": 1}' } as const
  const head = '{"id":7,"change":"added","release":3,"reason":"duplicate"'
  assert.equal(serialiseChange(added, 'duplicate'), `${head},"before":null,"after":{"a": 1}}`)
  assert.equal(serialiseChange(added, 'duplicate', { fields: null, bodies: ['after'] }), `${head},"after":{"a": 1}}`)
  assert.equal(serialiseChange(added, 'duplicate', { fields: ['a'], bodies: [] }), `${head},"fields":["a"]}`)
  const withdrawn = { ...common, change: 'withdrawn', before: '{"a": 1}', after: null } as const
  assert.equal(
    serialiseChange(withdrawn, 'duplicate'),
    `${head.replace('added', 'withdrawn')},"before":{"a": 1},"after":null}`,
  )
})

test('a version has the first release that contains it and the first that does not', () => {
  assert.equal(
    serialiseVersion({ from: 2, to: 5, body: '{"a": 1}' }),
    '{"from_release":2,"to_release":5,"record":{"a": 1}}',
  )
  assert.equal(serialiseVersion({ from: 2, to: null, body: '{}' }), '{"from_release":2,"to_release":null,"record":{}}')
})

test('a sentence lists the releases that contain a record', () => {
  const examples: [ranges: ReleaseRange[], sentence: string][] = [
    [[], 'No release contains it.'],
    [[{ from: 3, to: 4 }], 'These releases do: 3.'],
    [[{ from: 3, to: null }], 'These releases do: 3 and later.'],
    [
      [
        { from: 1, to: 2 },
        { from: 2, to: 5 },
        { from: 6, to: 7 },
        { from: 9, to: 10 },
        { from: 10, to: null },
      ],
      'These releases do: 1 to 4; 6; 9 and later.',
    ],
  ]
  for (const [ranges, sentence] of examples) assert.equal(describeRanges(ranges), sentence)
})
