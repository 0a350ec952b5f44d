// The rule for recommended answers on the events of the sample: how often it chooses, how often two readers who did not know it
// chose the same, and how stable it is. Prints the table of docs/recommended-answers.md.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { before, test } from 'node:test'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { PLACE } from '../../src/methods/comparability.ts'
import {
  recommendFor,
  type SeriesSummary,
  type SummarisedSet,
  summariseSeries,
} from '../../src/methods/event-summary.ts'
import type { Recommendation } from '../../src/methods/recommended-set.ts'
import { hasSeries, type Row } from '../../src/methods/record-series.ts'
import { openDatabase } from '../../src/platform/postgres/database.ts'
import { publishRelease } from '../../src/publish/publish.ts'
import { createTestDatabase } from '../database.ts'
import { readStoredRecords } from '../fixtures/stored-records.ts'

assert.ok(hasSeries(hedOutbreaks))
const dataset = hedOutbreaks
const RELEASES = 6
/** Of an event with more records, this many are left out in turn. */
const MOST_LEFT_OUT = 60

type Values = Record<string, unknown>
interface Label {
  readonly set: Values | null
  readonly also_fine: Values[]
}
type Labels = Record<string, Label>

/** By release, the records of each event. */
const releases: Map<string, Row[]>[] = []

before(async () => {
  const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator' })
  for (let number = 1; number <= RELEASES; number++) {
    await publishRelease(database, dataset, path.resolve(import.meta.dirname, `../../sample/releases/${number}`))
    const records = (await readStoredRecords(database, number)).map((text) => JSON.parse(text) as Row)
    releases.push(Map.groupBy(records, (row) => String(row['event'])))
  }
  await database.close()
})

const bySeries = (rows: readonly Row[]) => Map.groupBy(rows, (row) => row['series_id'])
const summarise = (rows: readonly Row[]) => summariseSeries(dataset, rows)
const choose = (summaries: readonly SeriesSummary[]) => {
  const found = recommendFor(dataset.series, summaries)
  return found === 'subjects' ? null : found
}
const chooseFor = (rows: readonly Row[]) => choose([...bySeries(rows).values()].map(summarise))

/** What was chosen, as text; empty if nothing was. */
const nameOf = (found: Recommendation<SummarisedSet> | null) =>
  found === null || found.doubt !== null
    ? ''
    : JSON.stringify([...found.chosen.values].filter(([field]) => field !== PLACE))

const { separate, parts } = dataset.series.comparison
const nameSummary = ({ comparison }: SeriesSummary) =>
  JSON.stringify([...separate, ...parts].map((field) => [field, comparison[field] ?? null]))

const isLabel = ({ values, members }: SummarisedSet, { country_code: country, ...label }: Values) =>
  [...values].every(
    ([field, value]) => field === PLACE || (label[field] ?? null) === (value === false ? null : value),
  ) &&
  (country === undefined || members.every(({ place }) => place['country_code'] === country))

test('two readers agree with the rule where it chooses', async () => {
  const latest = releases.at(-1) ?? assert.fail()
  for (const reader of ['a', 'b']) {
    const file = path.resolve(import.meta.dirname, `labels/reader-${reader}.json`)
    const labels = JSON.parse(await readFile(file, 'utf8')) as Labels
    let [chosen, agreed] = [0, 0]
    for (const [event, { set, also_fine: fine }] of Object.entries(labels)) {
      const found = chooseFor(latest.get(event) ?? [])
      if (found === null || found.doubt !== null) continue
      chosen += 1
      const isAgreed = set !== null && [set, ...fine].some((label) => isLabel(found.chosen, label))
      if (isAgreed) agreed += 1
      else console.log(`reader ${reader}, ${event}: ${set === null ? 'nothing' : JSON.stringify(set)}`)
    }
    const all = Object.keys(labels).length
    console.log(`reader ${reader}: ${chosen} of ${all} events chosen, ${agreed} of them agreed`)
    assert.ok(chosen / all >= 0.75 && agreed / chosen >= 0.95, `${agreed} of ${chosen} of ${all}`)
  }
})

test('the choice is the same in all releases that have the same sets, and without any one record', () => {
  let [picks, changedPicks] = [0, 0]
  for (const [i, release] of releases.entries())
    for (const [event, rows] of release) {
      const earlier = releases[i - 1]?.get(event)
      if (earlier === undefined) continue
      const [old, now] = [nameOf(chooseFor(earlier)), nameOf(chooseFor(rows))]
      picks += 1
      if (old !== now) {
        changedPicks += 1
        console.log(`release ${i + 1}, ${event}: ${old === '' ? 'nothing' : old} to ${now === '' ? 'nothing' : now}`)
      }
    }
  let [rounds, changed] = [0, 0]
  for (const [event, rows] of releases.at(-1) ?? []) {
    const series = [...bySeries(rows).entries()]
    const summaries = new Map(series.map(([id, own]) => [id, summarise(own)]))
    const now = nameOf(choose([...summaries.values()]))
    const step = Math.max(1, Math.floor(rows.length / MOST_LEFT_OUT))
    for (let at = 0; at < rows.length && rows.length > 1; at += step) {
      const row = rows[at] as Row
      const rest = series.find(([id]) => id === row['series_id'])?.[1].filter((other) => other !== row) ?? []
      const without = new Map(summaries)
      if (rest.length === 0) without.delete(row['series_id'])
      else without.set(row['series_id'], summarise(rest))
      const then = choose([...without.values()])
      rounds += 1
      // Without its only record a set cannot be chosen.
      const isGone = ![...without.values()].some((summary) => nameSummary(summary) === now)
      if (nameOf(then) !== now && !isGone) {
        changed += 1
        console.log(
          `${event} without record ${row['id']}: ${nameOf(then) === '' ? `nothing (${then?.doubt})` : nameOf(then)}`,
        )
      }
    }
  }
  console.log(
    `releases: ${changedPicks} of ${picks} choices changed; one record left out: ${changed} of ${rounds} changed`,
  )
  assert.ok(changedPicks / picks <= 0.02 && changed / rounds <= 0.02)
})

test('the table of every event', () => {
  const lines: string[] = []
  for (const [event, rows] of [...(releases.at(-1) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const found = chooseFor(rows)
    if (found === null || found.leftOut.length === 0) continue
    const numbers = ({ totals }: SummarisedSet) =>
      [...totals].flatMap(([count, total]) =>
        total === null ? [] : [`${total.toLocaleString('en')} ${total === 1 ? count.slice(0, -1) : count}`],
      )
    const describe = (set: SummarisedSet) =>
      `${dataset.series.preference?.describe(set.values, set.countries)}: ${numbers(set).join(', ')}`
    const pick = found.doubt === null ? describe(found.chosen) : `nothing: ${found.doubt}`
    const steps = [...new Set(found.leftOut.map((left) => left.step))].join(', ')
    lines.push(`| ${event} | ${pick} | ${steps} | ${found.leftOut.length} |`)
  }
  console.log(lines.join('\n'))
  assert.ok(lines.length > 50)
})
