// Attempts of a session in one of the two roles to run code as the owner of the schema. If a defence has several
// layers, a test removes the outer one to check the inner one.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import pg from 'pg'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import type { Role } from '../../../src/platform/postgres/connection-settings.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { migrate } from '../../../src/platform/postgres/migrate.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { createTestDatabase } from '../../database.ts'
import { writeNdjson } from '../../fixtures/releases.ts'

// Privileges on a database are not copied from its template: PUBLIC has TEMP in this one, as after a restore.
const lax = await createTestDatabase()
const migrated = `migrated_${randomBytes(6).toString('hex')}`
const owner = `owner_${randomBytes(6).toString('hex')}`
const strict = new URL(lax)
strict.pathname = `/${migrated}`
strict.username = owner

after(() => runAsSuperuser(`drop database if exists ${migrated} with (force)`, `drop role if exists ${owner}`))

test('a migration does not need CREATEROLE if the roles exist', async () => {
  await runAsSuperuser(`create role ${owner} login`, `create database ${migrated} owner ${owner}`)
  await migrate(strict.href)
})

async function runAsSuperuser(...statements: string[]): Promise<void> {
  const client = new pg.Client(lax)
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Runs work in a session of the role that is not read-only any more. */
async function attack<Result>(url: string, role: Role, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const superuser = new URL(url)
  superuser.username = 'postgres'
  const client = new pg.Client(superuser.href)
  await client.connect()
  try {
    await client.query(`set role ${role}; set default_transaction_read_only = off; begin`)
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The body of the attacker's function: reports the user that runs it. */
const RAISE_USER = `raise exception 'ran as %', current_user;`

for (const role of ['outbreaks_api', 'outbreaks_operator'] as const) {
  test(`${role} cannot make a trigger function of the owner call a cast of the attacker`, async () => {
    await attack(lax, role, async (client) => {
      await client.query(`
        create type pg_temp.bait as (x integer);
        create function pg_temp.steal(pg_temp.bait) returns integer language plpgsql as $$ begin ${RAISE_USER} end $$;
        create cast (pg_temp.bait as integer) with function pg_temp.steal(pg_temp.bait) as implicit;
        create temp table trap (dataset text, number pg_temp.bait)`)
      const attach = client.query(`
        create trigger trap after insert on trap for each row execute function note_change();
        insert into trap values ('hed-outbreaks', row(1)::pg_temp.bait)`)
      await assert.rejects(attach, { code: '42501' })
    })
  })

  test(`${role} cannot create objects, not even temporary ones`, async () => {
    for (const statement of [
      'create temp table x (y int)',
      `create function pg_temp.x() returns int language sql as 'select 1'`,
      'create schema x',
      'create table x (y int)',
    ])
      await attack(strict.href, role, (client) => assert.rejects(client.query(statement), { code: '42501' }))
  })
}

test('outbreaks_operator cannot make prune_releases read a temporary view', async () => {
  await attack(lax, 'outbreaks_operator', async (client) => {
    await client.query(`
      create function pg_temp.steal() returns boolean language plpgsql as $$ begin ${RAISE_USER} end $$;
      create temp view release as select 'hed-outbreaks'::text as dataset, 1 as number, null::timestamptz as pruned_at
        where pg_temp.steal();
      create temp view hed_outbreak_version as select 1 as to_release where pg_temp.steal()`)
    await assert.rejects(client.query(`select prune_releases('hed-outbreaks', 1)`), /is not there to be kept/)
  })
})

test('outbreaks_api cannot block publishing', async () => {
  const operator = openDatabase({ url: lax, role: 'outbreaks_operator' })
  await attack(lax, 'outbreaks_api', async (client) => {
    await client.query(`select pg_advisory_lock(hashtextextended('publish hed-outbreaks', 0)); savepoint before`)
    for (const statement of [`select lock_dataset('hed-outbreaks')`, 'select from dataset for share'])
      await assert.rejects(client.query(statement), { code: '42501' }).finally(() => client.query('rollback to before'))
    await publishRelease(operator, hedOutbreaks, await writeNdjson([{ key: 'a' }]))
  }).finally(operator.close)
})
