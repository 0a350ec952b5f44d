// One real PostgreSQL for a whole test run, and a fresh migrated database for whoever asks.
// Loaded by the runner itself (--test-global-setup) and imported by the tests.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { type Cluster, createCluster } from '../dev/postgres.ts'
import { migrate } from '../src/platform/postgres/migrate.ts'

const TEMPLATE = 'template_outbreaks'
let cluster: Cluster | undefined

export async function globalSetup(): Promise<void> {
  cluster = await createCluster()
  process.env['TEST_CLUSTER_URL'] = cluster.url
  const version = await administer((admin) => admin.query<{ version: string }>('select version()'))
  console.log(`tests run on ${version.rows[0]?.version}`)
  await administer((admin) => admin.query(`create database ${TEMPLATE}`))
  await migrate(urlOf(TEMPLATE))
}

export async function globalTeardown(): Promise<void> {
  await cluster?.stop()
}

/** The address of a database of its own, as superuser. It goes with the cluster. */
export async function createTestDatabase(): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await administer((admin) => admin.query(`create database ${name} template ${TEMPLATE}`))
  return urlOf(name)
}

/** The same without a schema. */
export async function createEmptyDatabase(): Promise<string> {
  const name = `empty_${randomBytes(6).toString('hex')}`
  await administer((admin) => admin.query(`create database ${name}`))
  return urlOf(name)
}

async function administer<Result>(work: (admin: pg.Client) => Promise<Result>): Promise<Result> {
  const admin = new pg.Client({ connectionString: clusterUrl(), connectionTimeoutMillis: 5000 })
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.end()
  }
}

function clusterUrl(): string {
  const url = process.env['TEST_CLUSTER_URL']
  if (url === undefined) throw new Error('run the tests with npm test: it starts the database they need')
  return url
}

const urlOf = (name: string) => clusterUrl().replace(/\/[^/]*$/, `/${name}`)
