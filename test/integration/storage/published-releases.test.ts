// The list of releases: each has its own files and its own rejected rows.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { exportRelease } from '../../../src/publish/export/export-files.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { openDirectoryStore } from '../../../src/storage/files/directory-store.ts'
import { loadPublishedReleases } from '../../../src/storage/published-releases.ts'
import { createTestDatabase, openApiDatabase } from '../../database.ts'
import { writeNdjson } from '../../fixtures/releases.ts'

test('the files and rejected rows of one release are not those of another', async () => {
  const url = await createTestDatabase()
  const operator = openDatabase({ url, role: 'outbreaks_operator' })
  const api = openApiDatabase(url)
  const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-published-'))
  after(() => Promise.all([operator.close(), api.close(), rm(directory, { recursive: true, force: true })]))
  const store = openDirectoryStore(directory)

  await publishRelease(operator, hedOutbreaks, await writeNdjson([{ key: 'a', cases: 1 }]))
  const rejected = { key: 'b', host: 'plant' }
  await publishRelease(operator, hedOutbreaks, await writeNdjson([{ key: 'a', cases: 2 }, rejected]), {
    confirmedRejected: 1,
  })
  await publishRelease(operator, hedOutbreaks, await writeNdjson([{ key: 'a', cases: 3 }]))
  for (const release of [1, 2]) await exportRelease(operator, store, hedOutbreaks, release)

  const releases = (await loadPublishedReleases(api)).get(hedOutbreaks.name) ?? []
  assert.deepEqual(
    releases.map(({ number, files, rejected: count }) => [number, files.map(({ name }) => name), count]),
    [
      [1, ['hed-outbreaks-1.csv.gz', 'hed-outbreaks-1.ndjson.gz', 'hed-outbreaks-1.parquet'], 0],
      [2, ['hed-outbreaks-2.csv.gz', 'hed-outbreaks-2.ndjson.gz', 'hed-outbreaks-2.parquet'], 1],
      [3, [], 0],
    ],
  )
})
