// When a secret expires, as the operator writes it: days or a date.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidArgumentError } from 'commander'
import { parseExpiry } from '../../../src/auth/provisioning/commands.ts'

const NOW = Date.parse('2026-11-16T12:00:00Z')
const parse = (text: string) => parseExpiry(text, undefined, NOW).toISOString()

for (const [text, expected] of Object.entries({
  1: '2026-11-17T12:00:00.000Z',
  90: '2027-02-14T12:00:00.000Z',
  3650: '2036-11-13T12:00:00.000Z',
  '2026-11-17': '2026-11-17T00:00:00.000Z',
  '2028-02-29': '2028-02-29T00:00:00.000Z',
}))
  test(`${text} is ${expected}`, () => assert.equal(parse(text), expected))

for (const text of [
  ...['', '0', '-1', '1.5', '1e2', '3651', '99999', ' 1', '1 ', 'never', 'tomorrow', 'NaN', 'Infinity'],
  ...[
    '2026-11-16',
    '2026-11-15',
    '2027-02-29',
    '2027-02-30',
    '2027-13-01',
    '2027-1-1',
    '2040-01-01',
    '2027-01-01T00:00:00Z',
  ],
])
  test(`${JSON.stringify(text)} is refused`, () => assert.throws(() => parse(text), InvalidArgumentError))
