// What a synthetic release promises: the same bytes for the same plan, valid records, curves that add up, honest revisions.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { Compile } from 'typebox/compile'
import { type SynthPlan, type SynthRow, synthesise, writeSynthRelease } from '../../../dev/synth/synthesise.ts'
import { fieldSchema, givenFields } from '../../../src/datasets/define.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'

const given = givenFields(hedOutbreaks)
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

const seriesId = hedOutbreaks.content.find(({ name }) => name === 'series_id')?.derive
const seriesOf = (row: SynthRow) => seriesId?.compute(seriesId.from.map((name) => row[name] ?? null))

test('the same plan gives the same bytes, another seed gives others', async () => {
  const plan = { records: 3000, seed: 1, release: 2 }
  const [once, again, other] = [
    await write(plan, 'once'),
    await write(plan, 'again'),
    await write({ ...plan, seed: 2 }, 'other'),
  ]
  assert.ok(once.bytes.equals(again.bytes))
  assert.ok(!once.bytes.equals(other.bytes))
})

test('the CSV says what the rows say, cell by cell', async () => {
  const { written, bytes } = await write({ ...base, release: 2 }, 'cells')
  const [header, ...lines] = parse(bytes)
  assert.deepEqual(header, ['key', ...given.map((field) => field.name)])
  assert.deepEqual(written, { records: lines.length, bytes: bytes.length })
  const print = (value: unknown) =>
    value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : `${value}`
  assert.deepEqual(
    lines,
    releases[1]?.map((row) => Object.values(row).map(print)),
  )
  for (const difficult of ['é', 'ñ', '中', '""', '"{""synthetic"":true}"\n'])
    assert.ok(bytes.includes(difficult), difficult)
})

test('release.json says that the release is synthetic, and keeps it from being written over', async () => {
  const plan = { records: 100, seed: 3, release: 1 }
  await write(plan, 'manifest')
  assert.deepEqual((await readdir(join(directory, 'manifest'))).sort(), ['outbreaks.csv', 'release.json'])
  const manifest = JSON.parse(await readFile(join(directory, 'manifest', 'release.json'), 'utf8'))
  assert.deepEqual(Object.keys(manifest), ['title', 'licence', 'note'])
  assert.match(manifest.title, /^Synthetic .*100 records, seed 3, release 1$/)
  assert.match(manifest.note, /^Synthetic: /)
  assert.equal(manifest.licence, 'CC0-1.0')
  await assert.rejects(writeSynthRelease(plan, join(directory, 'manifest')), /release\.json exists already/)
})

test('a plan that makes no sense is refused', () => {
  for (const fault of [{ records: 0 }, { records: 1.5 }, { records: Number.NaN }, { release: 0 }, { seed: -1 }]) {
    assert.throws(() => synthesise({ ...base, ...fault }), RangeError)
  }
})

test('every row is valid by the declaration, in its order, and labelled as synthetic', () => {
  const checks = given.map((field) => ({ field, schema: Compile(fieldSchema(field)) }))
  for (const row of synthesise({ records: 5000, seed: 11, release: 2 })) {
    assert.deepEqual(Object.keys(row), ['key', ...given.map((field) => field.name)])
    for (const { field, schema } of checks) {
      const value = row[field.name]
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

test('cumulative counts fall at most once in a series, but for corrected records, in every release', () => {
  let breaks = 0
  for (const rows of releases) {
    const highest = new Map<string, number>()
    const fallen = new Map<unknown, string>()
    for (const row of rows) {
      if (row.count_kind !== 'cumulative') continue
      for (const count of ['cases', 'deaths']) {
        const value = row[count]
        if (typeof value !== 'number') continue
        const series = `${seriesOf(row)} ${count}`
        const fell = value < (highest.get(series) ?? 0)
        if (fell && !String(row.note).startsWith('Synthetic correction')) {
          const place = fallen.get(seriesOf(row)) ?? row.key
          assert.equal(row.key, place, `${row.key}: ${count} fell to ${value}`)
          fallen.set(seriesOf(row), row.key)
          breaks++
        }
        highest.set(series, value)
      }
    }
  }
  assert.ok(breaks > 10)
})

test('outbreaks are many and of skewed sizes', () => {
  const sizes = [...Map.groupBy(synthesise({ ...base, records: 100_000 }), (row) => row.event).values()]
  const largest = Math.max(...sizes.map((rows) => rows.length)) / 100_000
  assert.ok(sizes.length > 500 && sizes.length <= 2000, `${sizes.length} events`)
  assert.ok(largest > 0.06 && largest < 0.1, `the largest has ${largest}`)
})

test('new counts rise from little to a peak and go back to little', () => {
  const fresh = releases[0]?.filter((row) => row.count_kind === 'new') ?? []
  const curves = [...Map.groupBy(fresh, (row) => seriesOf(row)).values()]
    .map((rows) => rows.map((row) => Number(row.cases)))
    .filter((curve) => Math.max(...curve) > 50)
  const waves = curves.filter((curve) => Math.max(curve.at(0) ?? 0, curve.at(-1) ?? 0) < Math.max(...curve) / 3)
  assert.ok(curves.length > 50 && waves.length / curves.length > 0.9, `${waves.length} of ${curves.length} are waves`)
})

test('a longer plan begins with the records of a shorter one', () => {
  const shorter = [...synthesise({ ...base, records: 500 })]
  assert.deepEqual(shorter, releases[0]?.slice(0, 500))
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

test('what one revision did, the next one leaves, but for its own share', () => {
  const [first, second, third] = [byKey(releases[0]), byKey(releases[1]), byKey(releases[2])]
  const same = (key: string) => JSON.stringify(second.get(key)) === JSON.stringify(third.get(key))
  const kept = [...second.keys()].filter((key) => third.has(key))
  const changed = kept.filter((key) => !same(key))
  assert.ok(changed.length >= 160 && changed.length <= 240, `${changed.length} corrected`)
  for (const key of first.keys()) assert.ok(second.has(key) || !third.has(key), `${key} came back`)
})
