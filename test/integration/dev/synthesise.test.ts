// A synthetic release: the same bytes for the same plan, valid records, plausible epidemic curves and revisions.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Compile } from 'typebox/compile'
import { type SynthPlan, type SynthRow, synthesise, writeSynthRelease } from '../../../dev/synth/synthesise.ts'
import { fieldSchema, inputFields } from '../../../src/datasets/define.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'

const fields = inputFields(hedOutbreaks)
const base: SynthPlan = { records: 20_000, seed: 7, release: 1 }
const releases = [1, 2, 3].map((release) => [...synthesise({ ...base, release })])
const byKey = (rows: SynthRow[] = []) => new Map(rows.map((row) => [row.key, row]))

let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'synth-'))
})
after(() => rm(directory, { recursive: true }))

async function write(plan: SynthPlan, name: string) {
  const written = await writeSynthRelease(plan, join(directory, name))
  const bytes = await readFile(join(directory, name, 'outbreaks.csv'))
  return { written, bytes }
}

test('the same plan gives the same bytes; another seed gives other bytes', async () => {
  const plan = { records: 3000, seed: 1, release: 2 }
  const [once, again, other] = [
    await write(plan, 'once'),
    await write(plan, 'again'),
    await write({ ...plan, seed: 2 }, 'other'),
  ]
  assert.ok(once.bytes.equals(again.bytes))
  assert.ok(!once.bytes.equals(other.bytes))
})

test('an invalid plan is rejected', () => {
  for (const invalid of [{ records: 0 }, { records: 1.5 }, { records: Number.NaN }, { release: 0 }, { seed: -1 }]) {
    assert.throws(() => synthesise({ ...base, ...invalid }), RangeError)
  }
})

test('every row is valid by the declaration, in its order, and labelled as synthetic; all have the same fields', () => {
  const checks = fields.map((field) => ({ field, schema: Compile(fieldSchema(field)) }))
  const rows = [...synthesise({ records: 5000, seed: 11, release: 2 })]
  const [first] = rows
  assert.ok(first !== undefined)
  const declared = ['key', ...fields.map(({ name }) => name)]
  assert.deepEqual(
    declared.filter((name) => name in first),
    Object.keys(first),
  )
  for (const row of rows) {
    assert.deepEqual(Object.keys(row), Object.keys(first))
    for (const { field, schema } of checks) {
      const value = row[field.name] ?? null
      const known = value === null || !field.vocabulary || field.vocabulary.has(String(value))
      assert.ok(schema.Check(value) && known, `${row.key}: ${field.name} is ${value}`)
    }
    assert.match(row.event as string, /^Synthetic_/)
    assert.deepEqual(row.extra, { synthetic: true })
  }
})

test('counts, dates and reasons agree within each row, in every release', () => {
  for (const row of releases.flat()) {
    const { cases, deaths, cases_missing, deaths_missing, date_low, date_high, date_report } = row
    assert.equal(cases === null, cases_missing !== null, row.key)
    assert.equal(deaths === null, deaths_missing !== null, row.key)
    if (cases !== null && deaths !== null) assert.ok(Number(deaths) <= Number(cases), row.key)
    const dates = [date_low, date_high, date_report].filter((date) => date !== null).map(String)
    assert.deepEqual(dates, dates.toSorted(), row.key)
  }
})

test('a revision corrects about 1 %, removes some and appends some, and keeps the keys and their order', () => {
  const [first, second] = [byKey(releases[0]), byKey(releases[1])]
  const kept = [...first.keys()].filter((key) => second.has(key))
  const corrected = kept.filter((key) => JSON.stringify(first.get(key)) !== JSON.stringify(second.get(key)))
  const recounted = corrected.filter((key) => first.get(key)?.cases !== second.get(key)?.cases)
  const removed = first.size - kept.length
  const appended = second.size - kept.length
  assert.ok(corrected.length >= 160 && corrected.length <= 240, `${corrected.length} corrected`)
  assert.equal(recounted.length, corrected.length)
  assert.ok(removed >= 5 && removed <= 40, `${removed} removed`)
  assert.equal(appended, 20)
  assert.deepEqual([...second.keys()].slice(0, kept.length), kept)
})
