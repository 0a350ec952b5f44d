// The unchanged counts of JHU, new and cumulative: their contradictions are real, so they give warnings and no errors.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { collectFindings } from '../../../src/publish/findings/findings.ts'
import { openRelease } from '../../../src/publish/input/read-release.ts'
import { validateRows } from '../../../src/publish/validate/validate-release.ts'
import { writeMapped } from '../../fixtures/mappings.ts'
import { filesOf, skipIfAbsent, wideMapping } from '../../fixtures/real-mappings.ts'

const REVISION = '2021-06-30'

/** The cumulative counts of each place by day. */
function readMatrix(count: 'confirmed' | 'deaths') {
  const [file = ''] = filesOf(`jhu-covid19/*${count}_global.${REVISION}.csv`)
  const [header = [], ...rows]: string[][] = parse(readFileSync(file), { bom: true })
  return {
    days: header.slice(4),
    places: new Map(
      rows.map(([province = '', country = '', , , ...cells]) => [`${country}|${province}`, cells.map(Number)]),
    ),
  }
}

/** A row for each place and day, with the count since the beginning or since the day before. */
function writeLong(since: 'the beginning' | 'the day before') {
  const [{ days, places }, deaths] = [readMatrix('confirmed'), readMatrix('deaths')]
  const lines = [...places].flatMap(([place, cases]) => {
    const [country, province] = place.split('|')
    const deathCounts = deaths.places.get(place) ?? []
    return days.flatMap((day, i) => {
      const countOf = (counts: readonly number[]) =>
        (counts[i] ?? 0) - (since === 'the beginning' ? 0 : (counts[i - 1] ?? 0))
      if (since === 'the day before' && i === 0) return []
      return `"${country}","${province}",${day},${countOf(cases)},${countOf(deathCounts)}`
    })
  })
  return ['Country/Region,Province/State,day,cases,deaths', ...lines, ''].join('\n')
}

for (const [since, kind, expected] of [
  ['the day before', 'new', { deaths_within_cases: 669, negative_correction: 151 + 116 }],
  ['the beginning', 'cumulative', { deaths_within_cases: 434 }],
] as const)
  test(`${kind} counts of 279 places: no row is rejected`, { skip: skipIfAbsent('jhu-covid19') }, async () => {
    const { wide: _, columns, ...mapping } = wideMapping()
    const counts = { cases: 'cases', deaths: 'deaths', count_kind: { constant: kind } }
    const directory = await writeMapped(
      { ...mapping, columns: { ...columns, ...counts } },
      { written: { 'table.csv': writeLong(since) } },
    )
    const { files } = await openRelease(directory)
    const findings = collectFindings()
    let records = 0
    for await (const batch of validateRows(hedOutbreaks, files, findings)) records += batch.length
    const { series_falls: _falls, ...warnings } = findings.warningCounts
    assert.deepEqual([findings.counts.errors, findings.counts.rejected, warnings], [0, 0, expected])
    assert.equal(records, 279 * (kind === 'new' ? 524 : 525))
  })
