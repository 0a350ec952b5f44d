// The PostgreSQL cluster of a test run, and databases of their own for its tests. The runner loads it (--test-global-setup).
// A run starts a cluster, or uses the one that TEST_CLUSTER_URL names (npm run test:cluster), which other runs may use too.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setInterval } from 'node:timers/promises'
import pg from 'pg'
import { type Cluster, createCluster } from '../dev/postgres.ts'
import { type Database, openDatabase } from '../src/platform/postgres/database.ts'
import { migrate } from '../src/platform/postgres/migrate.ts'
import { createWatcher } from '../src/platform/postgres/watcher.ts'

/** Any number will do, as long as every run takes the same. */
const SETUP_LOCK = 1_728_394_056
const SETUP_MS = 120_000
const SWEEP_MS = 5000
const PATIENT_MS = 15_000
/** Reads the run and the process out of the name of a database, also where a test has put something before or behind it. */
const NAME = '(?:^|_)(?:test|empty)_([0-9a-f]{8})_([0-9]+)_[0-9a-f]{12}'
const OWN_DATABASES = `
  select datname as name, (regexp_match(datname, '${NAME}'))[2]::int as pid
  from pg_database where (regexp_match(datname, '${NAME}'))[1] = $1`
/** Databases of runs that have ended, also by a kill, and templates for other migrations. Runs in progress keep theirs. */
const UNUSED_DATABASES = `
  with used as (
    select split_part(application_name, '_', 2) as run, substring(application_name from 'template_.*') as template
    from pg_stat_activity where application_name ~ '^run_[0-9a-f]{8}_template_'
  )
  select datname as name from pg_database
  where (regexp_match(datname, '${NAME}'))[1] not in (select run from used)
    or datname ~ '^(unfinished_)?template_[0-9a-f]{12}$' and datname not in (select template from used)`
const migrations = path.resolve(import.meta.dirname, '../migrations')

let cluster: Cluster | undefined
/** Open for as long as the run lasts, however it ends: its name tells other runs which databases are in use. */
let presence: pg.Client | undefined
let setup: Promise<void> | undefined

export function globalSetup(): Promise<void> {
  setup = openRun()
  return setup
}

export async function globalTeardown(): Promise<void> {
  // The run may be interrupted while it starts.
  await setup?.catch(() => {})
  if (cluster === undefined && presence !== undefined) await administer((admin) => dropOwn(admin, () => true))
  await presence?.end()
  await cluster?.stop()
}

async function openRun(): Promise<void> {
  if (!process.env['TEST_CLUSTER_URL']) {
    cluster = await createCluster()
    process.env['TEST_CLUSTER_URL'] = cluster.url
  }
  const template = nameTemplate(readMigrations())
  const run = randomBytes(4).toString('hex')
  process.env['TEST_TEMPLATE'] = template
  process.env['TEST_RUN'] = run
  presence = await connect(`run_${run}_${template}`).catch((error: unknown) => {
    throw new Error('TEST_CLUSTER_URL names a cluster that does not answer: unset it, or npm run test:cluster', {
      cause: error,
    })
  })
  // When the server goes away, the tests say so.
  presence.on('error', () => {})
  await administer(async (admin) => {
    const { rows } = await admin.query<{ version: string }>('select version()')
    console.log(`tests run on ${rows[0]?.version}`)
    await prepareCluster(admin, template)
  })
  if (process.execArgv.includes('--watch')) void sweep()
}

/** A watching run may last for days, so it drops the databases of test files that have ended. */
async function sweep(): Promise<void> {
  for await (const _ of setInterval(SWEEP_MS, undefined, { ref: false })) {
    await administer((admin) => dropOwn(admin, ({ pid }) => !isAlive(pid))).catch(() => {})
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Another digest where a migration was added, removed or edited, so that no run reads an outdated schema. */
export function nameTemplate(files: readonly { name: string; text: string }[]): string {
  const digest = createHash('sha256').update(JSON.stringify(files.map(({ name, text }) => [name, text])))
  return `template_${digest.digest('hex').slice(0, 12)}`
}

const readMigrations = () =>
  globSync('*.sql', { cwd: migrations })
    .sort()
    .map((name) => ({ name, text: readFileSync(path.join(migrations, name), 'utf8') }))

/** One run at a time: the first one creates the template, and the others find it. */
async function prepareCluster(admin: pg.Client, template: string): Promise<void> {
  await admin.query(`set statement_timeout = ${SETUP_MS}`)
  await admin.query('select pg_advisory_lock($1)', [SETUP_LOCK])
  const { rows: unused } = await admin.query<{ name: string }>(UNUSED_DATABASES)
  await dropDatabases(admin, unused)
  const { rowCount } = await admin.query('select from pg_database where datname = $1', [template])
  if (rowCount === 1) return
  // Renamed when it is complete: a run that was killed in between leaves no template without tables.
  const unfinished = `unfinished_${template}`
  await admin.query(`create database ${unfinished}`)
  await migrate(urlOf(unfinished))
  await admin.query(`alter database ${unfinished} rename to ${template}`)
}

async function dropOwn(admin: pg.Client, isUnused: (database: { pid: number }) => boolean): Promise<void> {
  const { rows } = await admin.query<{ name: string; pid: number }>(OWN_DATABASES, [setting('TEST_RUN')])
  await dropDatabases(admin, rows.filter(isUnused))
}

async function dropDatabases(admin: pg.Client, databases: readonly { name: string }[]): Promise<void> {
  for (const { name } of databases) await admin.query(`drop database if exists ${name} with (force)`)
}

/** The address of a database of its own, as superuser. It is dropped after the run. */
export async function createTestDatabase(): Promise<string> {
  const name = nameDatabase('test')
  await administer((admin) => admin.query(`create database ${name} template ${setting('TEST_TEMPLATE')}`))
  return urlOf(name)
}

/** The same without a schema. */
export async function createEmptyDatabase(): Promise<string> {
  const name = nameDatabase('empty')
  await administer((admin) => admin.query(`create database ${name}`))
  return urlOf(name)
}

const nameDatabase = (kind: 'test' | 'empty') =>
  `${kind}_${setting('TEST_RUN')}_${process.pid}_${randomBytes(6).toString('hex')}`

async function administer<Result>(work: (admin: pg.Client) => Promise<Result>): Promise<Result> {
  const admin = await connect('outbreaks_tests')
  try {
    return await work(admin)
  } finally {
    await admin.end()
  }
}

async function connect(name: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: setting('TEST_CLUSTER_URL'),
    connectionTimeoutMillis: 5000,
    application_name: name,
  })
  await client.connect()
  return client
}

/** What the global setup leaves for the processes of the test files. */
function setting(name: 'TEST_CLUSTER_URL' | 'TEST_TEMPLATE' | 'TEST_RUN'): string {
  const value = process.env[name]
  if (value === undefined) throw new Error('run the tests with npm test: it starts the database they need')
  return value
}

function urlOf(name: string): string {
  const url = new URL(setting('TEST_CLUSTER_URL'))
  url.pathname = `/${name}`
  return url.href
}

/** What a node reads with, but more patient: a node answers 503 after 0.8 s without a connection, and CI may be that slow. */
export const openApiDatabase = (url: string, connections = 10) =>
  openDatabase({ url, role: 'outbreaks_api', connections, connectTimeoutMs: PATIENT_MS })

/** The same for a request that waits for a round: a node answers 503 after a second. */
export const createPatientWatcher = (database: Database) =>
  createWatcher(database, assert.ifError, { refreshTimeoutMs: PATIENT_MS })
