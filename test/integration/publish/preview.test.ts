// A preview reports what publishing would change and changes nothing.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sql from 'sql-template-tag'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { previewRelease, publishRelease } from '../../../src/publish/publish.ts'
import { createTestDatabase } from '../../database.ts'
import { writeNdjson } from '../../fixtures/releases.ts'

const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator' })
after(() => database.close())
const rows = Array.from({ length: 40 }, (_, i) => ({ key: `k${i}`, event: i < 30 ? 'Cholera' : 'Measles', cases: i }))
const next = [
  ...rows.slice(1, 39).map((row) => (row.cases === 35 ? { ...row, cases: 36, note: 'Recounted.' } : row)),
  { key: 'new', event: 'Ebola' },
]

test('all records of the first release are added', async () => {
  const directory = await writeNdjson(rows)
  const { release, added, usual_changes, by_event, corrections } = await previewRelease(
    database,
    hedOutbreaks,
    directory,
  )
  assert.deepEqual([release, added, usual_changes, corrections], [1, 40, null, []])
  assert.deepEqual(by_event, [
    { event: 'Cholera', added: 30, corrected: 0, withdrawn: 0 },
    { event: 'Measles', added: 10, corrected: 0, withdrawn: 0 },
  ])
  await publishRelease(database, hedOutbreaks, directory)
})

test('a later release is reported by event and by field, with the usual number of changes', async () => {
  await publishRelease(database, hedOutbreaks, await writeNdjson([...rows, { key: 'x' }]))
  await publishRelease(database, hedOutbreaks, await writeNdjson(rows))
  const preview = await previewRelease(database, hedOutbreaks, await writeNdjson(next))
  assert.deepEqual([preview.release, preview.added, preview.corrected, preview.withdrawn], [4, 1, 1, 2])
  assert.equal(preview.usual_changes, 1)
  assert.deepEqual(preview.by_event, [
    { event: 'Measles', added: 0, corrected: 1, withdrawn: 1 },
    { event: 'Cholera', added: 0, corrected: 0, withdrawn: 1 },
    { event: 'Ebola', added: 1, corrected: 0, withdrawn: 0 },
  ])
  assert.deepEqual(preview.corrections, [
    { id: 36, event: 'Measles', field: 'cases', before: '35', after: '36' },
    { id: 36, event: 'Measles', field: 'note', before: 'null', after: '"Recounted."' },
  ])
})

test('a preview changes nothing, and publishing then gives the same summary', async () => {
  const count = async () =>
    (
      await database.query(sql`select (select count(*) from release) as releases,
      (select count(*) from hed_outbreak_version) as versions, (select count(*) from hed_outbreak_key) as keys`)
    )[0]
  const directory = await writeNdjson(next)
  const before = await count()
  const {
    usual_changes: _usual,
    by_event: _events,
    corrections: _fields,
    findings: _findings,
    ...previewed
  } = await previewRelease(database, hedOutbreaks, directory)
  assert.deepEqual(await count(), before)
  const published = await publishRelease(database, hedOutbreaks, directory)
  assert.deepEqual(published, previewed)
})
