// The writer of the column index stores no index that would lack records.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openIndexWriter } from '../../../src/columns/index-writer.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { readCells } from '../../../src/storage/serialise-record.ts'
import { createTestDatabase } from '../../database.ts'

const database = openDatabase({ url: await createTestDatabase(), role: 'outbreaks_operator' })
after(() => database.close())

test('a record whose series was not read', async () => {
  await database.dryRun(async (client) => {
    const index = await openIndexWriter(client, hedOutbreaks, 0)
    try {
      for (const id of [1, 2]) index.add(id, readCells(hedOutbreaks, { event: 'A' }))
      await assert.rejects(index.store(), /steps of 2 changed records are missing/)
    } finally {
      await index.close()
    }
  })
})
