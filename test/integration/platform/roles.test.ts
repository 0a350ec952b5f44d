// The privileges of each role in the database. A privilege that is not in this list fails the test.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import sql from 'sql-template-tag'
import type { Role } from '../../../src/platform/postgres/connection-settings.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { createTestDatabase, openApiDatabase } from '../../database.ts'

const tablePrivileges: Record<Role, Record<string, string[]>> = {
  outbreaks_api: {
    migration: ['select'],
    watched_topic: ['select'],
    dataset: ['select'],
    client: ['select'],
    client_secret: ['select'],
    signing_key: ['select'],
    release: ['select'],
    contract: ['select'],
    release_file: ['select'],
    release_rejection: ['select'],
    index_part: ['select'],
    notice: ['select'],
    watch: [],
    endpoint: [],
    delivery: [],
    delivery_attempt: [],
    audit_event: ['select(number)', 'select(digest)'],
    hed_outbreak_version: ['select'],
    hed_outbreak_key: ['select'],
    hed_outbreak_chunk: ['select'],
    hed_outbreak_digest: [],
    hed_outbreak_event: ['select'],
    hed_outbreak_series: [],
  },
  outbreaks_operator: {
    migration: ['select'],
    watched_topic: ['select'],
    dataset: ['select'],
    client: ['select', 'insert', 'update'],
    client_secret: ['select', 'insert', 'update'],
    signing_key: ['select', 'insert', 'update'],
    release: ['select', 'insert'],
    contract: ['select', 'insert'],
    release_file: ['select', 'insert'],
    release_rejection: ['select', 'insert'],
    index_part: ['select', 'insert', 'delete'],
    notice: ['select'],
    watch: ['select', 'insert', 'update', 'delete'],
    endpoint: ['select', 'update(state)', 'update(reason)'],
    delivery: ['select', 'update(next_attempt_at)', 'update(attempts_before)', 'update(state)'],
    delivery_attempt: ['select'],
    audit_event: ['select'],
    hed_outbreak_version: ['select', 'insert', 'update(to_release)'],
    hed_outbreak_key: ['select', 'insert'],
    hed_outbreak_chunk: ['select', 'insert', 'update(to_release)'],
    hed_outbreak_digest: ['select', 'insert', 'delete', 'update(sha256)'],
    hed_outbreak_event: ['select', 'insert', 'update(to_release)'],
    hed_outbreak_series: ['select', 'insert', 'delete'],
  },
  // What a node needs to verify tokens and to read figures, and the tables of watches. No records: the column index has them.
  outbreaks_notify: {
    migration: ['select'],
    watched_topic: ['select'],
    dataset: ['select'],
    client: ['select'],
    client_secret: ['select'],
    signing_key: ['select'],
    release: ['select'],
    contract: ['select'],
    release_file: ['select'],
    release_rejection: ['select'],
    index_part: ['select'],
    notice: ['select'],
    watch: ['select', 'insert', 'update', 'delete'],
    endpoint: ['select', 'insert', 'update', 'delete'],
    delivery: ['select', 'insert', 'update', 'delete'],
    delivery_attempt: ['select', 'insert', 'update', 'delete'],
    audit_event: [],
    hed_outbreak_version: [],
    hed_outbreak_key: [],
    hed_outbreak_chunk: [],
    hed_outbreak_digest: [],
    hed_outbreak_event: [],
    hed_outbreak_series: [],
  },
}
const executableFunctions: Record<Role | 'public', string[]> = {
  public: [],
  outbreaks_api: ['require_kept'],
  outbreaks_notify: ['require_kept'],
  outbreaks_operator: ['append_audit', 'lock_dataset', 'prune_releases', 'require_kept'],
}
const roles = Object.keys(tablePrivileges) as Role[]

after(() => Promise.all([admin.end(), api.close(), operator.close()]))
const url = await createTestDatabase()
const admin = new pg.Client(url)
await admin.connect()
const api = openApiDatabase(url)
const operator = openDatabase({ url, role: 'outbreaks_operator' })

const { rows: server } = await admin.query<{ version: number }>(
  `select current_setting('server_version_num')::integer as version`,
)
const TABLE_PRIVILEGES = [
  ...['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger'],
  ...((server[0]?.version ?? 0) >= 170_000 ? ['maintain'] : []),
]

/** The privileges of the role in the database: of the table first, then of single columns. */
async function readPrivileges(role: Role, table: string): Promise<string[]> {
  const { rows: tableRows } = await admin.query<{ verb: string }>(
    'select verb from unnest($3::text[]) with ordinality as v (verb, place) where has_table_privilege($1, $2, verb) order by place',
    [role, `public.${table}`, TABLE_PRIVILEGES],
  )
  const verbs = tableRows.map(({ verb }) => verb)
  const { rows: columnRows } = await admin.query<{ verb: string; name: string }>(
    `select verb, attname as name from pg_attribute, unnest(array['select', 'insert', 'update', 'references']) as verb
     where attrelid = $2::regclass and attnum > 0 and not attisdropped and verb <> all ($3)
       and has_column_privilege($1, attrelid, attnum, verb) order by attnum`,
    [role, `public.${table}`, verbs],
  )
  return [...verbs, ...columnRows.map(({ verb, name }) => `${verb}(${name})`)]
}

test('the list has every table', async () => {
  const { rows } = await admin.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')`,
  )
  for (const role of roles)
    assert.deepEqual(Object.keys(tablePrivileges[role]).sort(), rows.map(({ name }) => name).sort())
})

for (const role of roles) {
  for (const [table, verbs] of Object.entries(tablePrivileges[role])) {
    test(`${role} on ${table}: ${verbs.join(', ') || 'nothing'}`, async () => {
      assert.deepEqual(await readPrivileges(role, table), verbs)
    })
  }

  test(`${role} owns nothing, cannot create objects and has no role attributes`, async () => {
    const { rows } = await admin.query(
      `select rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls, rolcanlogin,
         has_schema_privilege(rolname, 'public', 'create') as creates_tables,
         has_database_privilege(rolname, current_database(), 'create') as creates_schemas,
         exists (select from pg_class where relowner = pg_roles.oid) as owns,
         exists (select from pg_auth_members where member = pg_roles.oid) as inherits
       from pg_roles where rolname = $1`,
      [role],
    )
    assert.deepEqual([...new Set(Object.values(rows[0] as object))], [false])
  })
}

for (const [role, names] of Object.entries(executableFunctions)) {
  test(`${role} may execute ${names.join(', ') || 'no function'}`, async () => {
    const { rows } = await admin.query<{ name: string }>(
      `select proname as name from pg_proc where pronamespace = 'public'::regnamespace
         and has_function_privilege($1, oid, 'execute') order by 1`,
      [role],
    )
    assert.deepEqual(
      rows.map(({ name }) => name),
      names,
    )
  })
}

test('PUBLIC may not execute a function of a later migration', async () => {
  await admin.query('begin')
  await admin.query('create function later() returns integer language sql as $$ select 1 $$')
  const { rows } = await admin.query(`select has_function_privilege('public', 'later()', 'execute') as open`)
  await admin.query('rollback')
  assert.deepEqual(rows, [{ open: false }])
})

test('every SECURITY DEFINER function searches pg_catalog first and pg_temp last', async () => {
  const { rows } = await admin.query<{ name: string; config: string[] | null }>(
    `select proname as name, proconfig as config from pg_proc
     where pronamespace = 'public'::regnamespace and prosecdef`,
  )
  assert.ok(rows.length >= 2)
  for (const { name, config } of rows)
    assert.ok(config?.includes('search_path=pg_catalog, public, pg_temp'), `${name}: ${config}`)
})

test('an unexpected privilege is detected', async () => {
  await admin.query('begin')
  await admin.query('grant delete, update (revision) on hed_outbreak_version to outbreaks_api')
  assert.deepEqual(await readPrivileges('outbreaks_api', 'hed_outbreak_version'), [
    'select',
    'delete',
    'update(revision)',
  ])
  await admin.query('rollback')
})

test('a session has its role, and a session of the API is read-only', async () => {
  const state = sql`select current_user as role, current_setting('transaction_read_only') as read_only`
  assert.deepEqual(await api.query(state), [{ role: 'outbreaks_api', read_only: 'on' }])
  assert.deepEqual(await operator.query(state), [{ role: 'outbreaks_operator', read_only: 'off' }])
})

test('parameters of the URL do not change the role or the timeouts of a session', async () => {
  const lax = new URL(url)
  lax.searchParams.set('options', '-c search_path=public')
  lax.searchParams.set('statement_timeout', '0')
  const database = openApiDatabase(lax.href)
  const [row] = await database.query(sql`select current_user as role,
    current_setting('transaction_read_only') as read_only, current_setting('statement_timeout') as timeout`)
  await database.close()
  assert.deepEqual(row, { role: 'outbreaks_api', read_only: 'on', timeout: '1500ms' })
})

const denied: [role: Role, statement: string][] = [
  ['outbreaks_api', `insert into watched_topic (topic) values ('x')`],
  ['outbreaks_api', 'update client set generation = 1'],
  ['outbreaks_api', 'delete from release'],
  ['outbreaks_api', 'create table x (y int)'],
  ['outbreaks_notify', 'update client set disabled_at = null'],
  ['outbreaks_notify', `insert into client_secret (secret_sha256, client_id) values ('', 'x')`],
  ['outbreaks_notify', `update signing_key set sealed_private_key = ''`],
  [
    'outbreaks_notify',
    `insert into notice (dataset, seq, kind, release, at) values ('hed-outbreaks', 9, 'pruned', 1, now())`,
  ],
  ['outbreaks_notify', `insert into index_part (dataset) values ('hed-outbreaks')`],
  ['outbreaks_notify', 'select * from hed_outbreak_chunk'],
  ['outbreaks_notify', 'select * from audit_event'],
  ['outbreaks_notify', `select prune_releases('hed-outbreaks', 2)`],
  ['outbreaks_notify', 'create table x (y int)'],
  ['outbreaks_notify', 'alter role outbreaks_notify superuser'],
  ['outbreaks_api', 'select * from watch'],
  ['outbreaks_api', 'select * from delivery'],
  ['outbreaks_operator', 'update notice set seq = 9'],
  ['outbreaks_operator', 'delete from notice'],
  ['outbreaks_operator', 'delete from release'],
  ['outbreaks_operator', 'update release set records = 0'],
  ['outbreaks_operator', 'update hed_outbreak_version set revision = 0'],
  ['outbreaks_operator', `update hed_outbreak_chunk set deflated = ''`],
  ['outbreaks_operator', 'delete from hed_outbreak_chunk'],
  ['outbreaks_operator', 'truncate hed_outbreak_version'],
  ['outbreaks_operator', 'delete from client'],
  ['outbreaks_operator', 'create table x (y int)'],
  ['outbreaks_operator', 'alter role outbreaks_operator superuser'],
]
for (const [role, statement] of denied) {
  test(`${role} gets permission denied: ${statement}`, async () => {
    const client = new pg.Client(url)
    await client.connect()
    // In a session that is not read-only any more.
    await client.query(`set role ${role}; set default_transaction_read_only = off`)
    await assert.rejects(client.query(statement), { code: '42501' })
    await client.end()
  })
}
