// Two servers of which the first lacks a release: the second answers, and the first is asked last for a second.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import sql from 'sql-template-tag'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { combineServers } from '../../../src/platform/postgres/server-list.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { assertKept } from '../../../src/storage/versions.ts'
import { createTestDatabase } from '../../database.ts'
import { writeNdjson } from '../../fixtures/releases.ts'
import { wrapQueries } from '../../fixtures/wrap-queries.ts'

/** How long a server that lacks a release is asked last, and a margin. */
const BEHIND_MS = 1100

/** A database with releases 1 to `releases` whose queries are counted. */
async function openServer(releases: number) {
  const url = await createTestDatabase()
  const operator = openDatabase({ url, role: 'outbreaks_operator' })
  for (let release = 1; release <= releases; release++)
    await publishRelease(operator, hedOutbreaks, await writeNdjson([{ key: 'a', cases: release }]))
  await operator.close()
  const { control, wrapDatabase } = wrapQueries()
  return { control, database: wrapDatabase(openDatabase({ url, role: 'outbreaks_api' })) }
}

test('a server that lacks a release is asked last for a second, and then first again', async () => {
  const [behind, complete] = await Promise.all([openServer(1), openServer(2)])
  const servers = combineServers([behind.database, complete.database], () => assert.fail('both servers answer'))
  after(() => servers.close())
  const read = (release: number) => servers.query(sql`select ${assertKept(hedOutbreaks, release)}`)
  const counts = () => [behind.control.queries, complete.control.queries]
  await read(1)
  assert.deepEqual(counts(), [1, 0])
  await read(2)
  assert.deepEqual(counts(), [2, 1])
  await Promise.all([read(1), read(2), read(2)])
  assert.deepEqual(counts(), [2, 4])
  await wait(BEHIND_MS)
  await read(1)
  assert.deepEqual(counts(), [3, 4])
})
