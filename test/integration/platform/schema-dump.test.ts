// docs/schema.sql is the schema that the migrations create.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import pg from 'pg'
import { dumpSchema, findPgDump, SCHEMA_FILE } from '../../../dev/dump-schema.ts'
import { createTestDatabase } from '../../database.ts'

const pgDump = findPgDump()
const skip =
  pgDump === undefined && 'POSTGRES_BIN does not name the binaries of PostgreSQL 15, whose pg_dump wrote the file'

test('docs/schema.sql equals the migrated schema, and a change of the schema is detected', { skip }, async () => {
  const url = await createTestDatabase()
  const committed = readFileSync(SCHEMA_FILE, 'utf8')
  assert.equal(dumpSchema(pgDump ?? '', url), committed, 'run POSTGRES_BIN=… node dev/dump-schema.ts')
  const client = new pg.Client(url)
  await client.connect()
  await client.query('alter table release add column unexpected text')
  await client.end()
  assert.notEqual(dumpSchema(pgDump ?? '', url), committed)
})
