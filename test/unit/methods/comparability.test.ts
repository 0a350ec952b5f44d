// In which fields records must agree so that their counts may be added up.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { judgedFields } from '../../../src/methods/comparability.ts'

const { comparison } = hedOutbreaks.series as NonNullable<typeof hedOutbreaks.series>
const { separate, addable, parts } = comparison
const judgedBy = (field: string, across: string[] = [], ignored: string[] = []) =>
  judgedFields(comparison, { across, ignored }).find((one) => one.field === field)?.by

describe('records must agree', () => {
  for (const field of [...separate, 'place'])
    test(`in ${field}, also if it is added across`, () => {
      assert.equal(judgedBy(field), 'value')
      assert.equal(judgedBy(field, [field]), 'value')
    })
  for (const field of addable)
    test(`in ${field}, unless it is added across`, () => {
      assert.equal(judgedBy(field), 'value')
      assert.equal(judgedBy(field, [field]), undefined)
    })
  for (const field of parts)
    test(`in ${field}; if it is added across, in whether it is everyone`, () => {
      assert.equal(judgedBy(field), 'value')
      assert.equal(judgedBy(field, [field]), 'presence')
    })
  for (const field of [...separate, 'place', ...addable, ...parts])
    test(`not in ${field} if it is ignored`, () => {
      assert.equal(judgedBy(field, [], [field]), undefined)
    })
})

test('every field that identifies a series is judged or belongs to the place', () => {
  const { fields = [], place } = hedOutbreaks.series ?? {}
  const known = [...separate, ...addable, ...parts, ...(place?.fields ?? [])]
  assert.deepEqual(
    fields.filter((field) => !known.includes(field)),
    [],
  )
})
