// Warnings of new events: once for each, with a known event whose name differs in at most two letters.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collectFindings } from '../../../src/publish/findings/findings.ts'
import { createNewEventWarnings } from '../../../src/publish/validate/new-event-warnings.ts'

const KNOWN = 'Cholera_Haiti_2010'

function warn(known: readonly string[], ...events: string[]): string[] {
  const findings = collectFindings()
  const check = createNewEventWarnings(new Set(known), findings)
  for (const [i, event] of events.entries()) check({ file: 'a.csv', line: i + 2, event })
  return findings.warnings.map(({ line, message }) => `${line} ${message}`)
}

const NEW = 'is a new event'
const similar: [title: string, event: string, isSimilar: boolean][] = [
  ['one letter changed', 'Cholera_Haiti_2011', true],
  ['two letters changed', 'cholera_Haiti_2011', true],
  ['three letters changed', 'cholera_haiti_2011', false],
  ['two letters added in front', `xx${KNOWN}`, true],
  ['three letters added in front', `xxx${KNOWN}`, false],
  ['two letters removed at the end', 'Cholera_Haiti_20', true],
  ['two letters removed in the middle', 'Cholra_Hati_2010', true],
  ['a letter moved', 'holera_Haiti_2010C', true],
  ['a letter changed, one added and one removed', 'xolera_Haiti_20101', false],
  ['the same letters in another order', '0102_itiaH_arelohC', false],
]
for (const [title, event, isSimilar] of similar)
  test(`a new event with ${title} is ${isSimilar ? '' : 'not '}similar`, () => {
    const expected = isSimilar ? `${NEW}; did you mean ${KNOWN}?` : NEW
    assert.deepEqual(warn(['Another_Event_1', KNOWN], event), [`2 ${expected}`])
  })

test('a new event is reported once, a known one never, and nothing is new in the first release', () => {
  assert.deepEqual(warn([KNOWN], 'Other', KNOWN, 'Other', 'Third'), [`2 ${NEW}`, `5 ${NEW}`])
  assert.deepEqual(warn([], 'Other', 'Third'), [])
})
