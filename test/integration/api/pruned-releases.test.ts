// Every statement that reads a release checks once, in its own snapshot, that the release is not pruned.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import sql, { type Sql } from 'sql-template-tag'
import {
  countMatches,
  countMatchingValues,
  selectEventSummaries,
  selectFacetCounts,
  selectFacetValues,
  selectMatches,
  selectMatchingColumns,
  selectSummariesOf,
} from '../../../src/api/filters/filter-sql.ts'
import { parseFilters } from '../../../src/api/filters/filters.ts'
import { selectBodies } from '../../../src/api/filters/sorted-page.ts'
import { selectCheckpoints, selectChunks } from '../../../src/api/paging/read-chunks.ts'
import { selectChanges } from '../../../src/api/queries/changes.ts'
import { selectEventNames, selectRecordBody, selectRecordVersions } from '../../../src/api/queries/records.ts'
import { selectPresent } from '../../../src/api/search/check-values.ts'
import { selectFrequentValues, selectScanned, selectSummaries } from '../../../src/api/search/read-values.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { pruneReleases } from '../../../src/publish/prune.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { createTestDatabase } from '../../database.ts'
import { writeNdjson } from '../../fixtures/releases.ts'

const PRUNED = 1
const KEPT = 2
const MISSING = 9
const UNUSED_ID = 1_000_000

const filters = parseFilters(hedOutbreaks, { event: ['Cholera_Testland_2020'] })
const scanOf = (release: number, values: string[]) => ({
  release,
  filters,
  drivingIndex: values.length === 0 ? null : { column: 'event', values },
  budget: 100,
})

/** Each statement with and without rows, because the check must not depend on them. */
const statements: Record<string, (release: number) => Sql> = {
  checkpoints: (release) => selectCheckpoints(hedOutbreaks, release),
  'event names': (release) => selectEventNames(hedOutbreaks, release),
  'a record': (release) => selectRecordBody(hedOutbreaks, release, 1),
  'no record': (release) => selectRecordBody(hedOutbreaks, release, UNUSED_ID),
  history: (release) => selectRecordVersions(hedOutbreaks, { id: 1, release, fromRelease: 0, limit: 9 }),
  'changes from it': (release) =>
    selectChanges(hedOutbreaks, { from: release, to: KEPT, fromId: 0, limit: 9, filters }, 9),
  'changes to it': (release) =>
    selectChanges(hedOutbreaks, { from: KEPT, to: release, fromId: 0, limit: 9, filters }, 9),
  'no changes': (release) =>
    selectChanges(hedOutbreaks, { from: release, to: KEPT, fromId: UNUSED_ID, limit: 9, filters }, 9),
  'facet counts': (release) => selectFacetCounts(hedOutbreaks, filters, release),
  'facet values': (release) => selectFacetValues(hedOutbreaks, release, ['event']),
  'no facet values': (release) => selectFacetValues(hedOutbreaks, release, []),
  events: (release) => selectEventSummaries(hedOutbreaks, { release, events: null, skip: 0, limit: 9 }),
  'no events': (release) => selectEventSummaries(hedOutbreaks, { release, events: null, skip: UNUSED_ID, limit: 9 }),
  'some events': (release) =>
    selectEventSummaries(hedOutbreaks, { release, events: ['Cholera_Testland_2020'], skip: 0, limit: 9 }),
  'events by name': (release) => selectSummariesOf(hedOutbreaks, release, ['Cholera_Testland_2020']),
  'records by id': (release) => selectBodies(hedOutbreaks, release, ['1']),
  'frequent values': (release) => selectFrequentValues(hedOutbreaks, release, 9),
  'parts of summaries': (release) => selectSummaries(hedOutbreaks, release, ['Cholera_Testland_2020']),
  'scanned values': (release) => selectScanned(hedOutbreaks, release, ['admin_l1', 'disease']),
  'present values': (release) =>
    selectPresent(hedOutbreaks, release, 'series_id', parseFilters(hedOutbreaks, { series_id: ['0'] })),
  ...Object.fromEntries(
    [[], ['Cholera_Testland_2020'], ['Nothing'], ['Cholera_Testland_2020', 'Nothing']].flatMap((values) => {
      const suffix = `by ${values.join(' or ') || 'id'}`
      return [
        [
          `page ${suffix}`,
          (release: number) =>
            selectMatches(hedOutbreaks, { ...scanOf(release, values), fromId: 0, skip: 0, limit: 9 }),
        ],
        [`count ${suffix}`, (release: number) => countMatches(hedOutbreaks, scanOf(release, values))],
        [
          `facets ${suffix}`,
          (release: number) => countMatchingValues(hedOutbreaks, scanOf(release, values), ['event']),
        ],
        [
          `columns ${suffix}`,
          (release: number) => selectMatchingColumns(hedOutbreaks, scanOf(release, values), ['id'], 9),
        ],
      ]
    }),
  ),
}

const url = await createTestDatabase()
const operator = openDatabase({ url, role: 'outbreaks_operator' })
const api = openDatabase({ url, role: 'outbreaks_api' })
const superuser = new pg.Client(url)
after(() => Promise.all([operator.close(), api.close(), superuser.end()]))

before(async () => {
  await superuser.connect()
  for (const cases of [1, 2, 3])
    await publishRelease(operator, hedOutbreaks, await writeNdjson([{ key: 'a', cases }, { key: 'b' }]))
  await pruneReleases(operator, hedOutbreaks, KEPT)
})

async function explain(statement: Sql): Promise<string> {
  const rows = await api.query<{ 'QUERY PLAN': string }>(sql`explain ${statement}`)
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

const failures: [release: number, code: string, detail: RegExp][] = [
  [PRUNED, 'release_pruned', /The records of release 1 are kept no longer\. The oldest that can be read is 2/],
  [MISSING, 'unavailable', /Release 9 has not reached this database yet/],
]

for (const [name, build] of Object.entries(statements)) {
  test(`${name}: reads a release that is kept, and fails for one that is pruned or missing`, async () => {
    await api.query(build(KEPT))
    for (const [release, code, message] of failures) await assert.rejects(api.query(build(release)), { code, message })
  })

  test(`${name}: the check is a one-time filter`, async () => {
    const plan = await explain(build(KEPT))
    assert.match(plan, /One-Time Filter:.*require_kept\('hed-outbreaks'::text, 2\)/)
    assert.equal(plan.match(/(?<!One-Time )Filter:.*require_kept/), null, plan)
  })
}

test('chunks: COPY fails for a pruned or missing release, with and without matching chunks', async () => {
  for (const number of [0, UNUSED_ID]) {
    await api.copyOut(selectChunks(hedOutbreaks, KEPT, number, 9))
    for (const [release, code, message] of failures)
      await assert.rejects(api.copyOut(selectChunks(hedOutbreaks, release, number, 9)), { code, message })
  }
})

test('the condition on from_release and to_release is written in one file', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const written = sources.filter((name) => /\bto_release > /.test(readFileSync(path.join('src', name), 'utf8')))
  assert.deepEqual(written, [path.join('storage', 'versions.ts')])
})
