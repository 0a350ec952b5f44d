// The errors of outbreakctl when the database rejects it: one sentence that says what to do, exit code 1, no stack
// trace, no password. Every error comes from a real server.
import assert from 'node:assert/strict'
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { createCluster, findFreePort } from '../../../dev/postgres.ts'
import { migrate } from '../../../src/platform/postgres/migrate.ts'

const CLI = path.resolve(import.meta.dirname, '../../../src/cli.ts')
const PASSWORD = 'canary0password'
const PUBLISHER = 'publisher'

// A separate cluster, because these tests change its roles, access rules and certificate.
const cluster = await createCluster()
after(() => cluster.stop())

async function query<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

interface CommandResult {
  code: number | null
  stdout: string
  stderr: string
}

function outbreakctl(databaseUrl: string, ...args: string[]): Promise<CommandResult> {
  const env = { ...process.env, DATABASE_URL: databaseUrl, NODE_NO_WARNINGS: '1' }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [CLI, ...args], { env, timeout: 30_000 }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    )
  })
}

/** Asserts that the command fails with one sentence that matches. */
async function assertExplained(databaseUrl: string, sentence: RegExp, ...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await outbreakctl(databaseUrl, ...(args.length === 0 ? ['client', 'list'] : args))
  assert.match(stderr, /^outbreakctl: [^\n]+\n$/)
  assert.match(stderr, sentence)
  assert.ok(!stderr.includes(PASSWORD))
  assert.deepEqual([code, stdout], [1, ''])
}

/** The URL of a database of the cluster for another user. */
function urlFor(database: string, user: string, options: { password?: string; query?: string } = {}): string {
  const url = new URL(cluster.urlOf(database))
  url.username = user
  url.password = options.password ?? ''
  url.search = options.query ?? ''
  return url.href
}

const [directories] = await query<{ data: string }>(cluster.url, `select current_setting('data_directory') as data`)
const data = directories?.data ?? ''
const hba = path.join(data, 'pg_hba.conf')
const originalRules = readFileSync(hba, 'utf8')

before(async () => {
  await query(cluster.url, `create role secretive login superuser password '${PASSWORD}'`)
  await query(cluster.url, 'create role barred login')
  const rules = ['host all secretive all scram-sha-256', 'host all barred all reject']
  writeFileSync(hba, `${rules.join('\n')}\n${originalRules}`)
  await query(cluster.url, 'select pg_reload_conf()')
})

describe('before the first migration', () => {
  test('the operator role does not exist', async () => {
    await assertExplained(cluster.url, /older.*Run outbreakctl migrate/)
  })
  test('migrate by a user that may not create roles', async () => {
    await query(cluster.url, 'create role modest login')
    await query(cluster.url, 'create database modest owner modest')
    await assertExplained(urlFor('modest', 'modest'), /permission denied.*CREATEROLE/, 'migrate')
  })
})

describe('with a migrated database', () => {
  before(async () => {
    await query(cluster.url, 'create database outbreaks')
    await migrate(cluster.urlOf('outbreaks'))
    await query(cluster.url, `create role ${PUBLISHER} login in role outbreaks_operator`)
    await query(cluster.url, 'create role stranger login')
    await query(cluster.url, 'create database empty')
  })

  test('a member of the operator role succeeds', async () => {
    const { code, stdout } = await outbreakctl(urlFor('outbreaks', PUBLISHER), 'client', 'list')
    assert.deepEqual([code, JSON.parse(stdout)], [0, []])
  })

  const errorCases: Record<string, [databaseUrl: () => string, sentence: RegExp]> = {
    'a wrong password': [
      () => urlFor('outbreaks', 'secretive', { password: `${PASSWORD}0` }),
      /password authentication failed for user "secretive".*Check.*DATABASE_URL/,
    ],
    'no password': [() => urlFor('outbreaks', 'secretive'), /needs a password.*DATABASE_URL/],
    'a user that does not exist': [
      () => urlFor('outbreaks', 'nobody_here'),
      /role "nobody_here" does not exist.*Check.*DATABASE_URL/,
    ],
    'a user that pg_hba.conf rejects': [
      () => urlFor('outbreaks', 'barred', { password: PASSWORD }),
      /pg_hba\.conf.*DATABASE_URL/,
    ],
    'a user that is not a member of the role': [
      () => urlFor('outbreaks', 'stranger'),
      /permission denied to set role "outbreaks_operator".*grant outbreaks_operator to/,
    ],
    'a database that does not exist': [
      () => urlFor('nowhere', PUBLISHER),
      /database "nowhere" does not exist.*Create it/,
    ],
    'a database that was never migrated': [() => urlFor('empty', PUBLISHER), /older.*Run outbreakctl migrate/],
    'a server without TLS': [
      () => urlFor('outbreaks', PUBLISHER, { query: '?sslmode=verify-full' }),
      /does not offer TLS.*sslmode/,
    ],
    'a certificate file that does not exist': [
      () => urlFor('outbreaks', PUBLISHER, { query: '?sslmode=verify-full&sslrootcert=/nowhere/root.crt' }),
      /A file cannot be read.*\/nowhere\/root\.crt.*DATABASE_URL/,
    ],
    'a percent sign in the password that is not valid percent-encoding': [
      () => urlFor('outbreaks', PUBLISHER).replace('publisher', `publisher:${PASSWORD}%e0`),
      /DATABASE_URL.*%25/,
    ],
    'an unknown host': [
      () => 'postgres://someone@no-such-host.invalid/outbreaks',
      /(ENOTFOUND|EAI_AGAIN) no-such-host\.invalid.*Check.*DATABASE_URL/,
    ],
  }
  for (const [title, [databaseUrl, sentence]] of Object.entries(errorCases))
    test(title, () => assertExplained(databaseUrl(), sentence))

  for (const host of ['127.0.0.1', 'localhost'])
    test(`nothing listens at ${host}`, async () => {
      const url = `postgres://someone:${PASSWORD}@${host}:${await findFreePort()}/outbreaks`
      await assertExplained(url, /Nothing listens.*ECONNREFUSED.*Check.*DATABASE_URL/)
      await assertExplained(url, /Nothing listens.*ECONNREFUSED.*Check.*DATABASE_URL/, 'migrate')
    })

  test('migrate with a wrong password', () =>
    assertExplained(
      urlFor('outbreaks', 'secretive', { password: `${PASSWORD}0` }),
      /password authentication failed.*Check.*DATABASE_URL/,
      'migrate',
    ))

  test('migrate on a database with a table of the same name', async () => {
    await query(cluster.url, 'create database other')
    await query(cluster.urlOf('other'), 'create table release (number integer)')
    await assertExplained(cluster.urlOf('other'), /relation "release" already exists.*empty database/, 'migrate')
  })
})

const withoutOpenssl = spawnSync('openssl', ['version']).status === 0 ? false : 'openssl is not installed'

describe('over TLS', { skip: withoutOpenssl }, () => {
  const home = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-tls-'))
  after(() => rmSync(home, { recursive: true, force: true }))
  const certificate = path.join(data, 'server.crt')
  const root = path.join(home, 'root.crt')

  /** Gives the server a self-signed certificate for the name. */
  async function installCertificate(name: string): Promise<void> {
    const key = path.join(data, 'server.key')
    const options = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=test']
    execFileSync('openssl', [...options, '-addext', `subjectAltName=${name}`, '-keyout', key, '-out', certificate], {
      stdio: 'ignore',
    })
    const { uid, gid } = statSync(data)
    for (const file of [key, certificate]) chownSync(file, uid, gid)
    writeFileSync(root, readFileSync(certificate))
    await query(cluster.url, 'alter system set ssl = on')
    await query(cluster.url, 'select pg_reload_conf()')
    const deadline = Date.now() + 10_000
    while (!(await usesCertificate())) assert.ok(Date.now() < deadline, 'the server does not use the certificate')
  }

  async function usesCertificate(): Promise<boolean> {
    const ssl = { ca: readFileSync(root), checkServerIdentity: () => undefined }
    const client = new pg.Client({ connectionString: cluster.url, ssl })
    const connected = await client.connect().then(
      () => true,
      () => false,
    )
    await client.end().catch(() => {})
    return connected
  }

  const trustedQuery = () => `?sslmode=verify-full&sslrootcert=${root}`

  test('an untrusted certificate', async () => {
    await installCertificate('IP:127.0.0.1')
    const untrusted = urlFor('outbreaks', PUBLISHER, { query: '?sslmode=verify-full' })
    for (const args of [['client', 'list'], ['migrate']])
      await assertExplained(untrusted, /self-signed certificate.*sslrootcert/, ...args)
    const { code } = await outbreakctl(urlFor('outbreaks', PUBLISHER, { query: trustedQuery() }), 'client', 'list')
    assert.equal(code, 0, 'with the certificate in sslrootcert it succeeds')
  })

  test('a certificate for another host name', async () => {
    await installCertificate('DNS:elsewhere.test')
    await assertExplained(urlFor('outbreaks', PUBLISHER, { query: trustedQuery() }), /altnames.*DATABASE_URL/)
  })

  test('a server that requires TLS', async () => {
    writeFileSync(hba, 'local all all trust\nhostnossl all publisher all reject\n')
    appendFileSync(hba, originalRules)
    await query(cluster.url, 'select pg_reload_conf()')
    await assertExplained(urlFor('outbreaks', PUBLISHER), /pg_hba\.conf.*DATABASE_URL/)
  })
})
