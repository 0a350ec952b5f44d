// Replacing one source: its absent records are withdrawn, and the records of all other sources stay as they are.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sql from 'sql-template-tag'
import { newSettings, outbreakctl } from '../../../dev/service.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { previewRelease, publishRelease } from '../../../src/publish/publish.ts'
import { rollbackTo } from '../../../src/publish/rollback.ts'
import { createTestDatabase } from '../../database.ts'
import { type Row, writeNdjson } from '../../fixtures/releases.ts'
import { readStoredRecords } from '../../fixtures/stored-records.ts'
import { fc } from '../../seed.ts'

const rowsOf = (source: string, cases: readonly number[]): Row[] =>
  cases.map((count, i) => ({ key: `${source}${i}`, source_name: source, cases: count }))
const A = rowsOf('A', Array<number>(40).fill(1))
const B = rowsOf('B', [5, 6, 7])

async function openStore(...rows: Row[]) {
  const url = await createTestDatabase()
  const database = openDatabase({ url, role: 'outbreaks_operator' })
  after(() => database.close())
  if (rows.length > 0) await publishRelease(database, hedOutbreaks, await writeNdjson(rows))
  return {
    url,
    database,
    replace: async (source: string, table: readonly Row[], options: object = {}) =>
      publishRelease(database, hedOutbreaks, await writeNdjson(table), { replacedSource: source, ...options }),
    bodies: async (release: number) =>
      (await readStoredRecords(database, release)).map(
        (body) => JSON.parse(body) as { id: number; source_name: string; cases: number; last_release: number },
      ),
  }
}

test('records of the source are added, corrected and withdrawn; other sources keep their versions', async () => {
  const { replace, bodies } = await openStore(...A, ...B)
  const table = [...A.slice(2), { ...A[1], key: 'A1', cases: 9 }, { key: 'A new', source_name: 'A', cases: 3 }]
  const { added, corrected, withdrawn, records } = await replace('A', table)
  assert.deepEqual([added, corrected, withdrawn, records], [1, 1, 1, 43])
  const [before, next] = [await bodies(1), await bodies(2)]
  const ofB = (all: typeof next) => all.filter(({ source_name }) => source_name === 'B')
  assert.deepEqual(ofB(next), ofB(before))
  assert.equal(next.filter(({ source_name, cases }) => source_name === 'A' && cases === 9).length, 1)
})

test('the same table again publishes nothing, and a rollback restores the withdrawn records', async () => {
  const { database, replace, bodies } = await openStore(...A, ...B)
  await replace('A', A.slice(1))
  assert.equal((await replace('A', A.slice(1))).unchanged, true)
  await rollbackTo(database, hedOutbreaks, 1, 'A test rolls back.')
  assert.equal((await bodies(3)).length, A.length + B.length)
})

test('a source that has no records yet is added', async () => {
  const { replace } = await openStore(...B)
  const { added, withdrawn, records } = await replace('A', A)
  assert.deepEqual([added, withdrawn, records], [40, 0, 43])
})

test('rows of another source are errors with file, line and rule, and can be confirmed as rejected', async () => {
  const { replace, bodies } = await openStore(...A, ...B)
  const table = [...A, { ...B[0], key: 'B0', source_name: 'B', cases: 50 }]
  await assert.rejects(
    replace('A', table),
    /1 row is invalid.*\n +records\.ndjson:41 source_name: is not A, the source/s,
  )
  const { corrected, rejected } = await replace('A', [{ ...A[0], key: 'A0', cases: 2 }, ...table.slice(1)], {
    confirmedRejected: 1,
  })
  assert.deepEqual([corrected, rejected], [1, 1])
  assert.equal((await bodies(2)).find(({ source_name }) => source_name === 'B')?.cases, 5)
})

test('a row that names a record of another source is an error, by key and by id', async () => {
  const { replace } = await openStore(...A, ...B)
  const message = /is record 41, which belongs to the source B/
  await assert.rejects(replace('A', [...A, { key: 'B0', source_name: 'A' }]), message)
  await assert.rejects(replace('A', [...A, { id: 41, source_name: 'A' }]), message)
})

test('base and --replace-source exclude each other', async () => {
  const { database } = await openStore(...A)
  const directory = await writeNdjson(A, { base: 1 })
  await assert.rejects(
    publishRelease(database, hedOutbreaks, directory, { replacedSource: 'A' }),
    /Remove "base" from release\.json: --replace-source needs the complete table/,
  )
})

test('a dataset without a source cannot have one replaced', async () => {
  const { database } = await openStore()
  const dataset = { ...hedOutbreaks, content: hedOutbreaks.content.filter(({ name }) => name !== 'source_name') }
  const replace = async () => publishRelease(database, dataset, await writeNdjson(A), { replacedSource: 'A' })
  await assert.rejects(replace, /has no field source_name, so --replace-source cannot be used/)
})

test('more than 5 % of the source need confirmation, although they are less than 5 % of the release', async () => {
  const large = rowsOf('Large', Array<number>(200).fill(1))
  const { replace } = await openStore(...large, ...B)
  await assert.rejects(
    replace('B', B.slice(1)),
    /would withdraw 1 of 3 records. If that is right, add --confirm-withdrawn 1/,
  )
  assert.equal((await replace('B', B.slice(1), { confirmedWithdrawn: 1 })).withdrawn, 1)
})

test('an empty table withdraws the source only with confirmation', async () => {
  const { replace, bodies } = await openStore(...A, ...B)
  await assert.rejects(replace('B', []), /would withdraw 3 of 3 records/)
  await replace('B', [], { confirmedWithdrawn: 3 })
  assert.equal((await bodies(2)).length, A.length)
})

test('a preview reports the changes of the source and publishes nothing', async () => {
  const { database, bodies } = await openStore(...A, ...B)
  const directory = await writeNdjson(B.slice(0, 2))
  const preview = await previewRelease(database, hedOutbreaks, directory, { replacedSource: 'B' })
  assert.deepEqual([preview.added, preview.corrected, preview.withdrawn], [0, 0, 1])
  assert.deepEqual(await bodies(2), await bodies(1))
})

test('outbreakctl takes the option for preview and publish', async () => {
  const { url } = await openStore(...A, ...B)
  const directory = await writeNdjson(A.slice(1))
  const settings = newSettings(url)
  for (const command of ['preview', 'publish']) {
    const args = ['release', command, directory, '--replace-source', 'A']
    const { withdrawn } = await outbreakctl<{ withdrawn: number }>(settings, ...args)
    assert.equal(withdrawn, 1, command)
  }
})

test('two replacements and a complete publication at once: each is published completely or fails', async () => {
  const { database, replace, bodies } = await openStore(...A, ...B)
  const complete = await writeNdjson([...A, ...B, { key: 'C0', source_name: 'C', cases: 1 }])
  const results = await Promise.allSettled([
    replace('A', [...A, { key: 'A new', source_name: 'A', cases: 1 }]),
    replace('B', [...B, { key: 'B new', source_name: 'B', cases: 1 }]),
    publishRelease(database, hedOutbreaks, complete, { confirmedWithdrawn: 2 }),
  ])
  const published = results.filter(({ status }) => status === 'fulfilled').length
  assert.ok(published >= 1)
  for (const result of results)
    if (result.status === 'rejected') assert.match(String(result.reason), /Another command is publishing/)
  assert.equal((await database.query(sql`select from release`)).length, 1 + published)
  const keys = (await bodies(1 + published)).map(({ id }) => id)
  assert.equal(new Set(keys).size, keys.length)
})

test('while another command publishes, a replacement is rejected', async () => {
  const { database, replace } = await openStore(...A, ...B)
  await database.transaction(async (client) => {
    await client.query(sql`select lock_dataset(${hedOutbreaks.name})`)
    await assert.rejects(replace('B', B), /Another command is publishing/)
  })
})

test('random tables of one source: the release equals the complete directory with the other sources', async () => {
  const tables = fc.sample(fc.array(fc.nat(9), { maxLength: 12 }), 6)
  const [whole, parts] = [await openStore(...A, ...B), await openStore(...A, ...B)]
  for (const [i, cases] of tables.entries()) {
    const table = rowsOf('B', cases)
    const confirm = async (publish: (confirmedWithdrawn: number) => Promise<unknown>) =>
      publish(0).catch((error: Error) => publish(Number(/withdraw (\d+)/.exec(error.message)?.[1])))
    const directory = await writeNdjson([...A, ...table])
    await confirm((confirmedWithdrawn) =>
      publishRelease(whole.database, hedOutbreaks, directory, { confirmedWithdrawn }),
    )
    await confirm((confirmedWithdrawn) => parts.replace('B', table, { confirmedWithdrawn }))
    const last =
      'select max(number)::integer as number, (array_agg(digest order by number desc))[1] as digest from release'
    const [expected, found] = await Promise.all(
      [whole, parts].map(({ database }) => database.query<{ number: number; digest: string }>(sql([last]))),
    )
    assert.deepEqual(found, expected, `table ${i}`)
  }
})
