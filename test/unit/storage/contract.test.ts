// Which changes of a declaration a contract allows, and how a newer contract reads an older record.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldShape } from '../../../src/datasets/define.ts'
import { findBreakingChanges, findContract, readVersion } from '../../../src/storage/contract.ts'

const field = (name: string, more: Partial<FieldShape> = {}): FieldShape => ({
  name,
  kind: 'text',
  description: '',
  nullable: true,
  ...more,
})
const last = field('last_release', { kind: 'integer', nullable: false })
const [id, event] = [field('id', { kind: 'identifier', nullable: false }), field('event', { nullable: false })]
const published = [id, event, field('sex', { kind: 'choice', choices: ['female', 'male'] })]

const allowed: [string, FieldShape[]][] = [
  ['the same fields', published],
  ['a new field at the end', [...published, field('note')]],
  ['a new field in the middle', [id, field('note'), ...published.slice(1)]],
  ['another description', [id, { ...event, description: 'Name of the event.' }, published[2] as FieldShape]],
  ['a longer list of choices', [id, event, field('sex', { kind: 'choice', choices: ['female', 'male', 'other'] })]],
]
for (const [change, declared] of allowed)
  test(`${change}: allowed`, () => assert.deepEqual(findBreakingChanges(published, declared), []))

const rejected: [string, FieldShape[], string][] = [
  ['a field is removed', [id, event], 'sex was choice and is removed'],
  ['a field is renamed', [id, event, field('gender', { kind: 'choice' })], 'sex was choice and is removed'],
  ['a field becomes another kind', [id, event, field('sex')], 'sex was choice and is now text'],
  [
    'a field becomes nullable',
    [id, field('event'), published[2] as FieldShape],
    'event was never null and can now be null',
  ],
  [
    'a field becomes required',
    [id, event, { ...(published[2] as FieldShape), nullable: false }],
    'sex could be null and no longer can',
  ],
  [
    'a choice is removed',
    [id, event, field('sex', { kind: 'choice', choices: ['female'] })],
    'sex no longer allows male',
  ],
  ['a new field is required', [...published, field('note', { nullable: false })], 'note is new and must allow null'],
  ['a field moves', [event, id, published[2] as FieldShape], 'id has moved'],
]
for (const [change, declared, message] of rejected)
  test(`${change}: rejected`, () => assert.equal(findBreakingChanges(published, declared)[0], message))

const contracts = [
  { firstRelease: 1, fields: [...published, last] },
  { firstRelease: 4, fields: [...published, last].map((each) => ({ ...each, description: 'Another description.' })) },
  { firstRelease: 6, fields: [id, event, field('note'), published[2] as FieldShape, last] },
]

test('a release has the contract that was current when it was published', () => {
  const since = [1, 3, 4, 5, 6, 9].map((release) => {
    const { fields, keysSince } = findContract(contracts, release)
    return [release, contracts.findIndex((contract) => contract.fields === fields), keysSince]
  })
  // Another description is another contract with the same keys.
  assert.deepEqual(since, [
    [1, 0, 1],
    [3, 0, 1],
    [4, 1, 1],
    [5, 1, 1],
    [6, 2, 6],
    [9, 2, 6],
  ])
  assert.throws(() => findContract([], 1), /release 1 has no contract/)
})

test('a version keeps its text, with null for fields that were added later', () => {
  const written = (release: number, note = '') =>
    `{"id":1,"event":"Ä \\"b\\":6}",${note}"sex":null,"last_release":${release}}`
  const read = (release: number, body: string) => readVersion(findContract(contracts, release), body)
  assert.equal(read(5, written(1)), written(1))
  assert.equal(read(6, written(6, '"note":"n",')), written(6, '"note":"n",'))
  assert.equal(read(6, written(5)), written(5, '"note":null,'))
  assert.equal(read(60, written(5)), written(5, '"note":null,'))
})
