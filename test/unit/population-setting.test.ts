// OUTBREAKS_POPULATION: a table that a node cannot use ends its start, without the path in the message.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { readServiceConfig } from '../../src/config.ts'

const CANARY = 'canary0value'
const valid = {
  DATABASE_URL: 'postgres://user@db.test:5432/outbreaks',
  OUTBREAKS_SECRET: randomBytes(32).toString('base64url'),
  OUTBREAKS_BASE_URL: 'https://api.test',
}

test('the population table must be readable, and a table', () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-config-'))
  after(() => rmSync(directory, { recursive: true, force: true }))
  const file = path.join(directory, `${CANARY}.csv`)
  const read = (OUTBREAKS_POPULATION: string) => readServiceConfig({ ...valid, OUTBREAKS_POPULATION }).population
  const fails = (text: string, message: RegExp) =>
    assert.throws(
      () => read(text),
      (error: Error) => message.test(error.message) && !error.message.includes(CANARY),
    )
  fails(`${CANARY}.csv`, /OUTBREAKS_POPULATION must be the absolute path/)
  fails(file, /this process cannot read it/)
  writeFileSync(file, '# source: A\n# licence: B\ncountry_code,year,inhabitants\nDE,2024,many\n')
  fails(file, /line 4 must be a country code, a year and a whole number/)
  writeFileSync(file, '# source: A\n# licence: B\ncountry_code,year,inhabitants\nDE,2024,83\n')
  assert.equal(read(file)?.source, 'A')
})
