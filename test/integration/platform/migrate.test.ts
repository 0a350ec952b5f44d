// Concurrent migrations of several databases of one cluster: each file is applied once in each database.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, test } from 'node:test'
import pg from 'pg'
import { createCluster } from '../../../dev/postgres.ts'
import { migrate } from '../../../src/platform/postgres/migrate.ts'

const files = readdirSync(new URL('../../../migrations', import.meta.url))
  .map((file) => file.replace(/\.sql$/, ''))
  .sort()
// A separate cluster, because the roles exist already in the cluster of the test run.
const cluster = await createCluster()
after(() => cluster.stop())
const names = ['one', 'two', 'three']
const urlOf = (name: string) => cluster.url.replace(/\/postgres$/, `/${name}`)

async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query<Row>(text)
  await client.end()
  return rows
}

test('the files are numbered without a gap', () => {
  assert.deepEqual(
    files.map((file) => Number(file.slice(0, 4))),
    files.map((_file, i) => i + 1),
  )
})

test('twenty concurrent migrations of one database, and ten of two others, succeed and apply each file once', async (t) => {
  for (const name of names) await query(cluster.url, `create database ${name}`)
  const startedAt = performance.now()
  const applied = await Promise.all(
    Array.from({ length: 30 }, async (_, i) => {
      const name = i < 20 ? 'one' : i < 25 ? 'two' : 'three'
      return { name, files: await migrate(urlOf(name)) }
    }),
  )
  t.diagnostic(`${Math.round(performance.now() - startedAt)} ms`)
  for (const name of names) {
    const appliedHere = applied.filter((run) => run.name === name).flatMap((run) => run.files)
    assert.deepEqual(appliedHere.sort(), files)
    const rows = await query<{ name: string }>(urlOf(name), 'select name from migration order by id')
    assert.deepEqual(
      rows.map((row) => row.name),
      files,
    )
  }
})

test('a migrated database is not changed', async () => {
  assert.deepEqual(await migrate(urlOf('one')), [])
})

test('a database that does not exist is an error', async () => {
  await assert.rejects(migrate(urlOf('none')), /"none" does not exist/)
})
