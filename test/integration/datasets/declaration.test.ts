// The declaration and the DDL both name the columns of a dataset and must agree.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { catalogue } from '../../../src/datasets/catalogue.ts'
import { columnType, type Dataset } from '../../../src/datasets/define.ts'
import { createTestDatabase } from '../../database.ts'

const client = new pg.Client(await createTestDatabase())
await client.connect()

async function describeTable(table: string) {
  const { rows } = await client.query<{ name: string; type: string; nullable: boolean }>(
    `select column_name as name, data_type as type, is_nullable = 'YES' as nullable
     from information_schema.columns where table_name = $1`,
    [table],
  )
  return sortByName(rows)
}

/** A later migration adds its column at the end of the table, wherever the declaration has the field. */
const sortByName = <Named extends { name: string }>(named: readonly Named[]) =>
  named.toSorted((a, b) => (a.name < b.name ? -1 : 1))

const declared = (dataset: Dataset) =>
  sortByName(dataset.fields.map((field) => ({ name: field.name, type: columnType(field), nullable: field.nullable })))

/** Columns of the version table that are not fields. */
const bookkeeping = ['from_release', 'to_release', 'content_sha256', 'body']

for (const dataset of catalogue) {
  test(`${dataset.name}: the version table has exactly the declared columns, types and nullability`, async () => {
    const columns = await describeTable(`${dataset.table}_version`)
    const fields = columns.filter((column) => !bookkeeping.includes(column.name))
    assert.deepEqual(fields, declared(dataset))
    assert.equal(columns.length, fields.length + bookkeeping.length)
  })

  test(`${dataset.name}: an additional column is detected`, async () => {
    await client.query('begin')
    await client.query(`alter table ${dataset.table}_version add column unexpected text`)
    const columns = (await describeTable(`${dataset.table}_version`)).filter(({ name }) => !bookkeeping.includes(name))
    await client.query('rollback')
    assert.notDeepEqual(columns, declared(dataset))
  })
}

test('the connection closes', () => client.end())
