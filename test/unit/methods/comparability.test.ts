// Which counts may be added up, and which choices a refusal lists.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FieldValue } from '../../../src/datasets/define.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { type Contribution, describeMixture, findMixedFields } from '../../../src/methods/comparability.ts'

const { comparison } = hedOutbreaks.series as NonNullable<typeof hedOutbreaks.series>
const contribution = (values: Record<string, FieldValue>, more: Partial<Contribution> = {}): Contribution => ({
  read: (field) => values[field] ?? null,
  ...{ exclusivePlace: null, records: 1, firstDay: 10, lastDay: 20 },
  ...more,
})
const mixedIn = (all: Contribution[], across: string[] = [], ignored: string[] = []) =>
  findMixedFields(all, comparison, { across, ignored })

describe('counts are not added up', () => {
  for (const field of comparison.separate)
    test(`over ${field}, not even on request`, () => {
      const all = [contribution({ [field]: 'a' }), contribution({ [field]: 'b' })]
      assert.deepEqual(mixedIn(all), [field])
      assert.deepEqual(mixedIn(all, [field]), [field])
      assert.deepEqual(mixedIn(all, [], [field]), [])
      assert.deepEqual(mixedIn([contribution({ [field]: null }), contribution({ [field]: 'b' })]), [field])
    })
  for (const field of [...comparison.addable, ...comparison.parts])
    test(`over ${field}, except on request`, () => {
      const all = [contribution({ [field]: 'a' }), contribution({ [field]: 'b' })]
      assert.deepEqual(mixedIn(all), [field])
      assert.deepEqual(mixedIn(all, [field]), [])
    })
  for (const field of comparison.parts)
    test(`over everyone and a part by ${field}, not even on request`, () => {
      const all = [contribution({ [field]: null }), contribution({ [field]: 'b' })]
      assert.deepEqual(mixedIn(all, [field]), [field])
    })
  test('over a place that may contain the others', () => {
    const world = contribution({}, { exclusivePlace: 'world' })
    const other = contribution({}, { exclusivePlace: 'region' })
    assert.deepEqual(mixedIn([world, contribution({})]), ['place'])
    assert.deepEqual(mixedIn([world, other]), ['place'])
    assert.deepEqual(mixedIn([world]), [])
  })
})

test('a refusal lists the values and the comparable choices, the largest first', () => {
  const all = [
    contribution({ case_status: 'confirmed', source_name: 'A' }, { records: 2 }),
    contribution({ case_status: 'suspected', source_name: 'A' }, { records: 5, firstDay: 5 }),
    contribution({ case_status: 'suspected', source_name: 'B' }, { records: 4, lastDay: 30 }),
    contribution({ case_status: 'suspected', source_name: 'B' }, { records: 3, lastDay: null }),
  ]
  const { mixed, choices } = describeMixture(all, ['case_status', 'source_name'])
  assert.deepEqual(mixed[0], {
    field: 'case_status',
    values: [
      { value: 'suspected', records: 12, firstDay: 5, lastDay: 30 },
      { value: 'confirmed', records: 2, firstDay: 10, lastDay: 20 },
    ],
  })
  assert.deepEqual(
    choices.map(({ values, records }) => [...values.values(), records]),
    [
      ['suspected', 'B', 7],
      ['suspected', 'A', 5],
      ['confirmed', 'A', 2],
    ],
  )
})
