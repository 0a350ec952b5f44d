// Age groups that have ages in common are never added up.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agesOverlap } from '../../../src/datasets/age-groups.ts'

test('age groups overlap if they have an age in common', () => {
  assert.equal(agesOverlap(['0-4', '5-14', '15+']), false)
  assert.equal(agesOverlap(['0-4', '5-14', '0-14']), true)
  assert.equal(agesOverlap(['<5', '5-14', '≥15', '65+']), true)
  assert.equal(agesOverlap(['under 5', '5 to 14 years', '15 and over']), false)
  assert.equal(agesOverlap(['7', '7-9']), true)
})
test('groups without numbers are not compared', () => assert.equal(agesOverlap(['adults', 'children', '0-4']), false))
