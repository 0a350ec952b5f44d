// A synthetic release: the same bytes for the same plan, valid records, plausible epidemic curves and revisions.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parse } from 'csv-parse/sync'
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

const seriesId = hedOutbreaks.content.find(({ name }) => name === 'series_id')?.derive
const seriesOf = (row: SynthRow) => seriesId?.compute(seriesId.from.map((name) => row[name] ?? null))

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

test('the CSV has the values of the rows, cell by cell', async () => {
  const { written, bytes } = await write({ ...base, release: 2 }, 'cells')
  const [header, ...lines] = parse(bytes)
  assert.deepEqual(header, ['key', ...fields.map((field) => field.name)])
  assert.deepEqual(written, { records: lines.length, bytes: bytes.length })
  const toText = (value: unknown) =>
    value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : `${value}`
  assert.deepEqual(
    lines,
    releases[1]?.map((row) => Object.values(row).map(toText)),
  )
  for (const difficult of ['é', 'ñ', '中', '""', '"{""synthetic"":true}"\n'])
    assert.ok(bytes.includes(difficult), difficult)
})

test('release.json says that the release is synthetic, and an existing release is not overwritten', async () => {
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

test('an invalid plan is rejected', () => {
  for (const invalid of [{ records: 0 }, { records: 1.5 }, { records: Number.NaN }, { release: 0 }, { seed: -1 }]) {
    assert.throws(() => synthesise({ ...base, ...invalid }), RangeError)
  }
})

test('every row is valid by the declaration, in its order, and labelled as synthetic', () => {
  const checks = fields.map((field) => ({ field, schema: Compile(fieldSchema(field)) }))
  for (const row of synthesise({ records: 5000, seed: 11, release: 2 })) {
    assert.deepEqual(Object.keys(row), ['key', ...fields.map((field) => field.name)])
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

test('cumulative counts decrease at most once in a series, apart from corrected records, in every release', () => {
  let breaks = 0
  for (const rows of releases) {
    const highest = new Map<string, number>()
    const decreasedAt = new Map<unknown, string>()
    for (const row of rows) {
      if (row.count_kind !== 'cumulative') continue
      for (const count of ['cases', 'deaths']) {
        const value = row[count]
        if (typeof value !== 'number') continue
        const series = `${seriesOf(row)} ${count}`
        const decreased = value < (highest.get(series) ?? 0)
        if (decreased && !String(row.note).startsWith('Synthetic correction')) {
          const expected = decreasedAt.get(seriesOf(row)) ?? row.key
          assert.equal(row.key, expected, `${row.key}: ${count} decreased to ${value}`)
          decreasedAt.set(seriesOf(row), row.key)
          breaks++
        }
        highest.set(series, value)
      }
    }
  }
  assert.ok(breaks > 10)
})

test('there are many outbreaks with a skewed distribution of sizes', () => {
  const sizes = [...Map.groupBy(synthesise({ ...base, records: 100_000 }), (row) => row.event).values()]
  const largest = Math.max(...sizes.map((rows) => rows.length)) / 100_000
  assert.ok(sizes.length > 500 && sizes.length <= 2000, `${sizes.length} events`)
  assert.ok(largest > 0.06 && largest < 0.1, `the largest has ${largest}`)
})

test('new counts rise from a low level to a peak and fall to a low level again', () => {
  const newCounts = releases[0]?.filter((row) => row.count_kind === 'new') ?? []
  const curves = [...Map.groupBy(newCounts, (row) => seriesOf(row)).values()]
    .map((rows) => rows.map((row) => Number(row.cases)))
    .filter((curve) => Math.max(...curve) > 50)
  const waves = curves.filter((curve) => Math.max(curve.at(0) ?? 0, curve.at(-1) ?? 0) < Math.max(...curve) / 3)
  assert.ok(curves.length > 50 && waves.length / curves.length > 0.9, `${waves.length} of ${curves.length} are waves`)
})

test('a larger plan starts with the records of a smaller one', () => {
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

test('a revision keeps the changes of the previous one, apart from its own corrections', () => {
  const [first, second, third] = [byKey(releases[0]), byKey(releases[1]), byKey(releases[2])]
  const same = (key: string) => JSON.stringify(second.get(key)) === JSON.stringify(third.get(key))
  const kept = [...second.keys()].filter((key) => third.has(key))
  const changed = kept.filter((key) => !same(key))
  assert.ok(changed.length >= 160 && changed.length <= 240, `${changed.length} corrected`)
  for (const key of first.keys()) assert.ok(second.has(key) || !third.has(key), `${key} came back`)
})
