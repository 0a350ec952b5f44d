// What commands print: JSON for programs, aligned text for people.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatAnswer } from '../../src/platform/terminal.ts'

const answers = [
  { name: 'a', when: new Date('2026-01-02T03:04:05.678Z'), count: 5, scopes: ['x', 'y'], ended: null },
  { name: 'longer', when: null, count: 12_345, scopes: [], ended: true },
]

test('a program gets the answer itself', () => {
  assert.deepEqual(JSON.parse(formatAnswer(answers, false)), JSON.parse(JSON.stringify(answers)))
  assert.equal(formatAnswer([], false), '[]')
})

test('a person gets a table of several answers', () => {
  assert.deepEqual(formatAnswer(answers, true).split('\n'), [
    'name    when                  count  scopes  ended',
    'a       2026-01-02T03:04:05Z  5      x y     -',
    'longer  -                     12345  -       true',
  ])
  assert.equal(formatAnswer([], true), '(none)')
})

test('a person gets one answer as a list', () => {
  assert.deepEqual(formatAnswer({ id: 1, longer_name: undefined }, true).split('\n'), [
    'id           1',
    'longer_name  -',
  ])
})

test('a list inside an answer is a table below it', () => {
  const findings = [
    { line: 2, rule: 'type' },
    { line: 10, rule: 'range' },
  ]
  assert.deepEqual(formatAnswer({ errors: 2, findings }, true).split('\n'), [
    'errors  2',
    '',
    'line  rule',
    '2     type',
    '10    range',
  ])
})
