// Findings of an input: errors always stop the publication, and a rejected row is described by its cells.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collectFindings, errorAt, InputError } from '../../../src/publish/findings/findings.ts'
import { describeRow } from '../../../src/publish/findings/rejected-rows.ts'

const error = errorAt('a.csv', 2)('cases', 'kind', 'is not a number')

test('an error without a rejected row also throws', () => {
  const findings = collectFindings()
  findings.add(error)
  assert.throws(() => findings.throwIfErrors(), InputError)
})

test('an error message has the first twenty findings, and how many follow', () => {
  const linesOf = (findings: number) => new InputError(Array<typeof error>(findings).fill(error)).message.split('\n')
  assert.deepEqual([linesOf(20).length, linesOf(20).at(-1)], [21, '  a.csv:2 cases: is not a number'])
  assert.deepEqual([linesOf(23).length, linesOf(23).at(-1)], [22, '  … and 3 more'])
})

test('without errors nothing is thrown', () => {
  const findings = collectFindings()
  findings.add({ ...error, severity: 'warning' })
  findings.throwIfErrors()
  assert.deepEqual(findings.counts, { errors: 0, warnings: 1, rejected: 0 })
})

test('a row is described by its cells, without empty ones', () => {
  const cells = ['a', null, '', undefined, 7, true, { deep: [1] }, [2]]
  const columns = cells.map((_, i) => `c${i}`)
  assert.deepEqual(JSON.parse(describeRow(columns, cells)), {
    c0: 'a',
    c4: '7',
    c5: 'true',
    c6: 'an object',
    c7: 'an object',
  })
})

test('a long cell is truncated after 200 characters', () => {
  const cell = (text: string) => (JSON.parse(describeRow(['a'], [text])) as { a: string }).a
  assert.equal(cell('x'.repeat(200)), 'x'.repeat(200))
  assert.equal(cell('x'.repeat(201)), `${'x'.repeat(200)}…`)
  assert.equal(cell('a\0b'), 'a\ufffdb')
})
