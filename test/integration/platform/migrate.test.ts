// Migrations: many may start at once, on databases of one cluster, and each file is applied once in each.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, test } from 'node:test'
import pg from 'pg'
import { createCluster } from '../../../dev/postgres.ts'
import { migrate } from '../../../src/platform/postgres/migrate.ts'

const files = readdirSync(new URL('../../../migrations', import.meta.url))
  .map((file) => file.replace(/\.sql$/, ''))
  .sort()
// A cluster of its own: in the one of the test run the roles are there already.
const cluster = await createCluster()
after(() => cluster.stop())
const names = ['one', 'two', 'three']
const urlOf = (name: string) => cluster.url.replace(/\/postgres$/, `/${name}`)

async function ask<Row extends object>(url: string, text: string): Promise<Row[]> {
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

test('twenty at once on an empty database, and ten on its neighbours, all succeed and apply each file once', async (t) => {
  for (const name of names) await ask(cluster.url, `create database ${name}`)
  const began = performance.now()
  const applied = await Promise.all(
    Array.from({ length: 30 }, async (_, i) => {
      const name = i < 20 ? 'one' : i < 25 ? 'two' : 'three'
      return { name, files: await migrate(urlOf(name)) }
    }),
  )
  t.diagnostic(`${Math.round(performance.now() - began)} ms`)
  for (const name of names) {
    const ours = applied.filter((run) => run.name === name).flatMap((run) => run.files)
    assert.deepEqual(ours.sort(), files)
    const rows = await ask<{ name: string }>(urlOf(name), 'select name from migration order by id')
    assert.deepEqual(
      rows.map((row) => row.name),
      files,
    )
  }
})

test('on a migrated database nothing is done', async () => {
  assert.deepEqual(await migrate(urlOf('one')), [])
})

test('a database that cannot be reached is an error at once, not a wait', async () => {
  const began = performance.now()
  await assert.rejects(migrate(urlOf('none')), /"none" does not exist/)
  assert.ok(performance.now() - began < 3000)
})
