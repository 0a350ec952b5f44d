// Every statement that reads a release checks once, in its own snapshot, that the release is not pruned.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import sql, { type Sql } from 'sql-template-tag'
import { selectChunkSizes } from '../../../src/api/paging/read-chunks.ts'
import { selectScannedChanges } from '../../../src/api/queries/changes.ts'
import { selectEventSummaries, selectSummariesOf } from '../../../src/api/queries/events.ts'
import { selectEventNames, selectRecordBody, selectRecordVersions } from '../../../src/api/queries/records.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { pruneReleases } from '../../../src/publish/prune.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { selectChunks } from '../../../src/storage/read-records.ts'
import { createTestDatabase, openApiDatabase } from '../../database.ts'
import { writeNdjson } from '../../fixtures/releases.ts'

const PRUNED = 1
const KEPT = 2
const MISSING = 9
const UNUSED_ID = 1_000_000
const SCAN = { fromId: 0, window: 9 }

/** Each statement with and without rows, because the check must not depend on them. */
const statements: Record<string, (release: number) => Sql> = {
  'sizes of chunks': (release) => selectChunkSizes(hedOutbreaks, release),
  'event names': (release) => selectEventNames(hedOutbreaks, release),
  'a record': (release) => selectRecordBody(hedOutbreaks, release, 1),
  'no record': (release) => selectRecordBody(hedOutbreaks, release, UNUSED_ID),
  history: (release) => selectRecordVersions(hedOutbreaks, { id: 1, release, fromRelease: 0, limit: 9 }),
  'changes from it': (release) => selectScannedChanges(hedOutbreaks, { ...SCAN, from: release, to: KEPT }, 9),
  'changes to it': (release) => selectScannedChanges(hedOutbreaks, { ...SCAN, from: KEPT, to: release }, 9),
  'no changes': (release) =>
    selectScannedChanges(hedOutbreaks, { ...SCAN, from: release, to: KEPT, fromId: UNUSED_ID }, 9),
  events: (release) => selectEventSummaries(hedOutbreaks, { release, events: null, sort: null, skip: 0, limit: 9 }),
  'no events': (release) =>
    selectEventSummaries(hedOutbreaks, { release, events: null, sort: null, skip: UNUSED_ID, limit: 9 }),
  'some events': (release) =>
    selectEventSummaries(hedOutbreaks, { release, events: ['Cholera_Testland_2020'], sort: null, skip: 0, limit: 9 }),
  'events by name': (release) =>
    selectSummariesOf(hedOutbreaks, { release, events: ['Cholera_Testland_2020'], sort: null, skip: 0, limit: 9 }),
}

const url = await createTestDatabase()
const operator = openDatabase({ url, role: 'outbreaks_operator' })
const api = openApiDatabase(url)
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
  [PRUNED, 'release_pruned', /The records of release 1 have been deleted\. The oldest release you can read is 2/],
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

test('the condition on from_release and to_release is written in one file for PostgreSQL and one for DuckDB', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const written = sources.filter((name) => /\bto_release > /.test(readFileSync(path.join('src', name), 'utf8')))
  assert.deepEqual(written, [path.join('columns', 'tables.ts'), path.join('storage', 'versions.ts')])
})
