// The tables of every dataset are of the form that dev/dataset-tables.ts prints, whatever migrations made them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { formatTablesSql } from '../../../dev/dataset-tables.ts'
import { catalogue } from '../../../src/datasets/catalogue.ts'
import { createTestDatabase } from '../../database.ts'

const client = new pg.Client(await createTestDatabase())
await client.connect()

/** The columns, indexes, constraints and options of the tables with this prefix, without the prefix. */
async function describeTables(prefix: string) {
  const tables = ['version', 'key', 'chunk', 'digest'].map((name) => `${prefix}_${name}`)
  const statements = [
    `select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns
     where table_name = any($1) order by table_name, ordinal_position`,
    'select indexdef from pg_indexes where tablename = any($1) order by 1',
    `select conrelid::regclass::text, contype, pg_get_constraintdef(oid) from pg_constraint
     where conrelid::regclass::text = any($1) and contype <> 'n' order by 1, 2, 3`,
    `select relname, reloptions, relacl::text from pg_class where relname = any($1) order by 1`,
    `select attrelid::regclass::text, attname, attstorage, attacl::text from pg_attribute
     where attrelid::regclass::text = any($1) and attnum > 0 and not attisdropped order by 1, attnum`,
  ]
  const described: unknown[] = []
  for (const statement of statements) described.push((await client.query(statement, [tables])).rows)
  return JSON.stringify(described, null, 1).replaceAll(prefix, 'PREFIX')
}

for (const dataset of catalogue) {
  test(`${dataset.name}: its tables are those of dev/dataset-tables.ts, and another column is detected`, async () => {
    const prefix = 'another_sample'
    await client.query('begin')
    await client.query(formatTablesSql({ ...dataset, name: 'another', table: prefix }))
    assert.equal(await describeTables(dataset.table), await describeTables(prefix))
    await client.query(`alter table ${prefix}_version add column unexpected text`)
    assert.notEqual(await describeTables(dataset.table), await describeTables(prefix))
    await client.query('rollback')
  })
}

test('the connection closes', () => client.end())
