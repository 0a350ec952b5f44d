// What every role and PUBLIC may do in the database, read from the catalogue and compared with the committed list. Attacks of the
// two roles on the privileges of the owner, each beside a control in which it succeeds because its guard is removed.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import pg from 'pg'
import { listPrivileges, PRIVILEGES_FILE } from '../../../dev/list-privileges.ts'
import type { Role } from '../../../src/platform/postgres/connection-settings.ts'
import { migrate } from '../../../src/platform/postgres/migrate.ts'
import { createEmptyDatabase } from '../../database.ts'

const ROLES: readonly Role[] = ['outbreaks_api', 'outbreaks_operator']
const url = await createEmptyDatabase()
await migrate(url)
const admin = new pg.Client(url)
await admin.connect()
/** Logins like those of a deployment: members of the roles, and nothing else. */
const logins = ROLES.map((role) => [role, `login_${role}_${randomBytes(6).toString('hex')}`] as const)
for (const [role, login] of logins) await admin.query(`create role ${login} login in role ${role}`)
after(async () => {
  for (const [, login] of logins) await admin.query(`drop role ${login}`)
  await admin.end()
})
const committed = readFileSync(PRIVILEGES_FILE, 'utf8').trimEnd().split('\n')

/** Lines with + are not in the committed list, lines with - are not in the database. */
function compare(found: readonly string[], expected: readonly string[]): string[] {
  return [
    ...found.filter((line) => !expected.includes(line)).map((line) => `+ ${line}`),
    ...expected.filter((line) => !found.includes(line)).map((line) => `- ${line}`),
  ]
}

test(`the ${committed.length} privileges, owners and attributes are those of test/security/operator/privileges.txt`, async () => {
  const differences = compare(await listPrivileges(admin), committed)
  assert.deepEqual(differences, [], 'if this is intended, run node dev/list-privileges.ts and read the diff')
})

test('the list is sorted and has no line twice', () => {
  assert.deepEqual(committed, [...new Set(committed)].sort())
})

/** Changes the database, returns the differences, and takes the change back. */
async function plant(statement: string): Promise<string[]> {
  await admin.query('begin')
  try {
    await admin.query(statement)
    return compare(await listPrivileges(admin), committed)
  } finally {
    await admin.query('rollback')
  }
}

const extra = `role_${randomBytes(6).toString('hex')}`
const planted: [what: string, statement: string, difference: string][] = [
  ['a privilege on a table', 'grant delete on release to outbreaks_api', '+ outbreaks_api may DELETE table release'],
  [
    'a privilege on a column',
    'grant update (name) on client to outbreaks_api',
    '+ outbreaks_api may UPDATE column client.name',
  ],
  ['a privilege of PUBLIC', 'grant select on signing_key to public', '+ PUBLIC may SELECT table signing_key'],
  [
    'a privilege that can be passed on',
    'grant insert on client to outbreaks_api with grant option',
    '+ outbreaks_api may INSERT table client and pass it on',
  ],
  [
    'a function that everybody may execute',
    `grant execute on function lock_dataset(text) to public`,
    '+ PUBLIC may EXECUTE function lock_dataset(text)',
  ],
  ['a schema', 'create schema later', '+ owner owns schema later'],
  [
    'the right to create',
    'grant create on schema public to outbreaks_operator',
    '+ outbreaks_operator may CREATE schema public',
  ],
  [
    'the default for new functions',
    'alter default privileges grant execute on functions to public',
    '- default for new functions gives new objects everywhere to nobody else',
  ],
  [
    'a role attribute',
    'alter role outbreaks_operator createrole',
    '+ outbreaks_operator is a role with CREATEROLE, INHERIT',
  ],
  ['a membership', 'grant pg_read_all_data to outbreaks_api', '+ outbreaks_api is a member of pg_read_all_data'],
  [
    'a role that is new',
    `create role ${extra}; grant select on client to ${extra}`,
    `+ ${extra} may SELECT table client`,
  ],
  [
    'another owner',
    `create role ${extra}; alter function note_change() owner to ${extra}`,
    `+ ${extra} owns function note_change()`,
  ],
  [
    'a definer function without search_path',
    `create function later() returns integer language sql security definer return 1`,
    '+ function later() runs as its owner with no search_path',
  ],
  [
    'another search_path',
    'alter function lock_dataset(text) set search_path to public',
    '+ function lock_dataset(text) runs as its owner with search_path=public',
  ],
  [
    'temporary tables',
    `do $$ begin execute format('grant temporary on database %I to public', current_database()); end $$`,
    '+ PUBLIC may TEMPORARY database this database',
  ],
  [
    'a view',
    'create view leak as select * from client_secret; grant select on leak to outbreaks_api',
    '+ outbreaks_api may SELECT view leak',
  ],
  ['a sequence', 'create sequence later; grant usage on sequence later to public', '+ PUBLIC may USAGE sequence later'],
  [
    'a large object',
    'select lo_create(4711); grant select on large object 4711 to public',
    '+ PUBLIC may SELECT large object 4711',
  ],
]
for (const [what, statement, difference] of planted)
  test(`control: ${what} is found`, async () => {
    const found = await plant(statement)
    assert.ok(found.includes(difference), found.join('\n'))
  })

/** A session of a login with the role. */
async function connectAs(role: Role): Promise<pg.Client> {
  const address = new URL(url)
  address.username = logins.find(([name]) => name === role)?.[1] ?? ''
  const client = new pg.Client(address.href)
  await client.connect()
  return client
}

/** Runs statements in a session that is not read-only any more, and takes them back. Returns the SQLSTATE of the error. */
async function attack(role: Role, ...statements: string[]): Promise<string> {
  const client = await connectAs(role)
  try {
    await client.query('begin; set local transaction read write')
    for (const statement of statements) await client.query(statement)
    return 'succeeded'
  } catch (error) {
    return (error as pg.DatabaseError).message.startsWith('ran as ')
      ? (error as Error).message
      : String((error as pg.DatabaseError).code)
  } finally {
    await client.end()
  }
}

/** Removes a guard, runs the work, and puts the guard back. */
async function without<Result>(remove: string, restore: string, work: () => Promise<Result>): Promise<Result> {
  await admin.query(remove)
  try {
    return await work()
  } finally {
    await admin.query(restore)
  }
}
const onDatabase = (verb: string) => `do $$ begin execute format('${verb}', current_database()); end $$`
const withTemp = <Result>(work: () => Promise<Result>) =>
  without(
    onDatabase('grant temporary on database %I to public'),
    onDatabase('revoke temporary on database %I from public'),
    work,
  )

const STEAL = `returns integer language plpgsql as $$ begin raise exception 'ran as %', current_user; end $$`
const CAST_ATTACK = [
  `create type pg_temp.bait as (x integer); create function pg_temp.steal(pg_temp.bait) ${STEAL};
   create cast (pg_temp.bait as integer) with function pg_temp.steal(pg_temp.bait) as implicit;
   create temp table trap (dataset text, number pg_temp.bait)`,
  `create trigger trap after insert on trap for each row execute function note_change();
   insert into trap values ('hed-outbreaks', row(1)::pg_temp.bait)`,
]
const TEMPORARY_VIEWS = `create function pg_temp.steal() ${STEAL};
   create temp view release as select 'hed-outbreaks'::text as dataset, pg_temp.steal() as number, null::timestamptz as pruned_at;
   create temp view dataset as select 'hed-outbreaks'::text as name, pg_temp.steal()::text as table_prefix`

for (const role of ROLES) {
  test(`${role}: a cast of a temporary type fails at the first statement, without TEMP`, async () => {
    assert.equal(await attack(role, ...CAST_ATTACK), '42501')
  })

  test(`${role}: with TEMP it still may not execute the trigger function`, async () => {
    await withTemp(async () => {
      assert.equal(await attack(role, CAST_ATTACK[0] ?? ''), 'succeeded')
      assert.equal(await attack(role, ...CAST_ATTACK), '42501')
    })
  })

  for (const statement of [
    'create temp table x (y integer)',
    'create temp view release as select 1',
    `create function pg_temp.f() returns integer language sql return 1`,
    'create schema x',
    'create table x (y integer)',
    'create type x as (y integer)',
    'create function f() returns integer language sql return 1',
    `create role ${extra} superuser`,
    'alter role current_user superuser',
    'set session authorization postgres',
    'set local session_replication_role = replica',
    'alter table release disable trigger all',
    'alter default privileges for role postgres grant all on tables to public',
    `select pg_read_file('postgresql.conf')`,
    `copy release to program 'cat'`,
    `select lo_import('/etc/hostname')`,
    'create extension dblink',
    `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'postgres' and pid <> pg_backend_pid()`,
  ])
    test(`${role} may not: ${statement}`, async () => assert.equal(await attack(role, statement), '42501'))

  test(`${role}: large objects need the statement of docs/operating/database.md, and without it they can be created`, async () => {
    const guide = readFileSync(path.resolve(import.meta.dirname, '../../../docs/operating/database.md'), 'utf8')
    const revoke =
      /^revoke execute on function lo_create[^;]*;/m.exec(guide)?.[0] ?? assert.fail('it is not in the guide')
    const attacks = ['select lo_create(0)', `select lo_from_bytea(0, 'x')`, 'select lo_creat(-1)']
    for (const statement of attacks) assert.equal(await attack(role, statement), 'succeeded')
    await without(revoke, revoke.replace('revoke', 'grant').replace(' from public', ' to public'), async () => {
      for (const statement of attacks) assert.equal(await attack(role, statement), '42501')
    })
  })
}

test('control: a definer function for triggers that PUBLIC may execute runs the cast as the owner', async () => {
  const definer = `create function planted() returns trigger language plpgsql security definer as
    $$ declare n integer; begin n := new.number; return null; end $$; grant execute on function planted() to public`
  await withTemp(() =>
    without(definer, 'drop function planted()', async () => {
      const statements = CAST_ATTACK.map((statement) => statement.replace('note_change()', 'planted()'))
      assert.match(await attack('outbreaks_api', ...statements), /^ran as /)
    }),
  )
})

for (const call of [`prune_releases('hed-outbreaks', 1)`, `lock_dataset('hed-outbreaks')`])
  test(`outbreaks_operator: ${call} does not read a temporary view`, async () => {
    assert.equal(await attack('outbreaks_operator', TEMPORARY_VIEWS), '42501')
    await withTemp(async () => {
      const result = await attack('outbreaks_operator', TEMPORARY_VIEWS, `select ${call}`)
      assert.ok(result === 'succeeded' || result === 'P0001', result)
    })
  })

test('control: a definer function without search_path and with plain names runs code of a temporary view', async () => {
  const definer = `create function planted() returns integer language plpgsql security definer as
    $$ begin return (select max(number) from release); end $$; grant execute on function planted() to outbreaks_operator`
  await withTemp(() =>
    without(definer, 'drop function planted()', async () =>
      assert.match(await attack('outbreaks_operator', TEMPORARY_VIEWS, 'select planted()'), /^ran as /),
    ),
  )
})

/** Fails with a division by zero if the lock is not free. */
const TAKE_LOCK = `select 1 / lock_dataset('hed-outbreaks')::integer`

test('an advisory lock of outbreaks_api does not delay lock_dataset, which publishing takes', async () => {
  const client = await connectAs('outbreaks_api')
  try {
    await client.query(`select pg_advisory_lock(hashtextextended('publish hed-outbreaks', 0))`)
    assert.equal(await attack('outbreaks_operator', TAKE_LOCK), 'succeeded')
    for (const statement of [
      `select lock_dataset('hed-outbreaks')`,
      'select from dataset for share',
      'lock table release',
    ])
      assert.equal(await attack('outbreaks_api', statement), '42501')
  } finally {
    await client.end()
  }
})

test('control: a lock of outbreaks_operator does delay lock_dataset', async () => {
  const client = await connectAs('outbreaks_operator')
  try {
    await client.query(`begin; select lock_dataset('hed-outbreaks')`)
    assert.equal(await attack('outbreaks_operator', TAKE_LOCK), '22012')
  } finally {
    await client.end()
  }
})

test('after the attacks the privileges are the same', async () => {
  assert.deepEqual(compare(await listPrivileges(admin), committed), [])
})
