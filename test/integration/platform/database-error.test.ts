// What outbreakctl says when the database refuses it: one sentence that says what to do, exit code 1, no stack, no password.
// Every refusal comes from a real server.
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

// A cluster of its own: its roles, its access rules and its certificate are changed here.
const cluster = await createCluster()
after(() => cluster.stop())

async function ask<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

interface Outcome {
  code: number | null
  stdout: string
  stderr: string
}

function outbreakctl(databaseUrl: string, ...args: string[]): Promise<Outcome> {
  const env = { ...process.env, DATABASE_URL: databaseUrl, NODE_NO_WARNINGS: '1' }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [CLI, ...args], { env, timeout: 30_000 }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    )
  })
}

/** Refused in one sentence that matches. */
async function assertRefused(databaseUrl: string, sentence: RegExp, ...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await outbreakctl(databaseUrl, ...(args.length === 0 ? ['client', 'list'] : args))
  assert.match(stderr, /^outbreakctl: [^\n]+\n$/)
  assert.match(stderr, sentence)
  assert.ok(!stderr.includes(PASSWORD))
  assert.deepEqual([code, stdout], [1, ''])
}

/** The address of a database of the cluster, for another login. */
function addressOf(database: string, user: string, more: { password?: string; query?: string } = {}): string {
  const url = new URL(cluster.urlOf(database))
  url.username = user
  url.password = more.password ?? ''
  url.search = more.query ?? ''
  return url.href
}

const [directories] = await ask<{ data: string }>(cluster.url, `select current_setting('data_directory') as data`)
const data = directories?.data ?? ''
const hba = path.join(data, 'pg_hba.conf')
const trusting = readFileSync(hba, 'utf8')

before(async () => {
  await ask(cluster.url, `create role secretive login superuser password '${PASSWORD}'`)
  await ask(cluster.url, 'create role barred login')
  const rules = ['host all secretive all scram-sha-256', 'host all barred all reject']
  writeFileSync(hba, `${rules.join('\n')}\n${trusting}`)
  await ask(cluster.url, 'select pg_reload_conf()')
})

describe('before anything was migrated', () => {
  test('the role that outbreakctl takes is not there', async () => {
    await assertRefused(cluster.url, /older.*run outbreakctl migrate/)
  })
  test('migrate by a login that may not create roles', async () => {
    await ask(cluster.url, 'create role modest login')
    await ask(cluster.url, 'create database modest owner modest')
    await assertRefused(addressOf('modest', 'modest'), /permission denied.*CREATEROLE/, 'migrate')
  })
})

describe('with a migrated database beside', () => {
  before(async () => {
    await ask(cluster.url, 'create database outbreaks')
    await migrate(cluster.urlOf('outbreaks'))
    await ask(cluster.url, `create role ${PUBLISHER} login in role outbreaks_operator`)
    await ask(cluster.url, 'create role stranger login')
    await ask(cluster.url, 'create database empty')
  })

  test('all is well with a login of the operator', async () => {
    const { code, stdout } = await outbreakctl(addressOf('outbreaks', PUBLISHER), 'client', 'list')
    assert.deepEqual([code, JSON.parse(stdout)], [0, []])
  })

  const refusals: Record<string, [databaseUrl: () => string, sentence: RegExp]> = {
    'a wrong password': [
      () => addressOf('outbreaks', 'secretive', { password: `${PASSWORD}0` }),
      /password authentication failed for user "secretive".*check.*DATABASE_URL/,
    ],
    'no password': [() => addressOf('outbreaks', 'secretive'), /requires a password.*DATABASE_URL/],
    'a login that is not there': [
      () => addressOf('outbreaks', 'nobody_here'),
      /role "nobody_here" does not exist.*check.*DATABASE_URL/,
    ],
    'a login that the access rules bar': [
      () => addressOf('outbreaks', 'barred', { password: PASSWORD }),
      /pg_hba\.conf.*DATABASE_URL/,
    ],
    'a login that is no member of the role': [
      () => addressOf('outbreaks', 'stranger'),
      /permission denied to set role "outbreaks_operator".*grant outbreaks_operator to/,
    ],
    'a database that is not there': [
      () => addressOf('nowhere', PUBLISHER),
      /database "nowhere" does not exist.*create it/,
    ],
    'a database that was never migrated': [() => addressOf('empty', PUBLISHER), /older.*run outbreakctl migrate/],
    'a server that offers no TLS': [
      () => addressOf('outbreaks', PUBLISHER, { query: '?sslmode=verify-full' }),
      /does not offer TLS.*sslmode/,
    ],
    'a certificate file that is not there': [
      () => addressOf('outbreaks', PUBLISHER, { query: '?sslmode=verify-full&sslrootcert=/nowhere/root.crt' }),
      /A file cannot be read.*\/nowhere\/root\.crt.*DATABASE_URL/,
    ],
    'a percent sign in the password that reads as the half of a letter': [
      () => addressOf('outbreaks', PUBLISHER).replace('publisher', `publisher:${PASSWORD}%e0`),
      /DATABASE_URL.*%25/,
    ],
    'a host that nobody knows': [
      () => 'postgres://someone@no-such-host.invalid/outbreaks',
      /(ENOTFOUND|EAI_AGAIN) no-such-host\.invalid.*check.*DATABASE_URL/,
    ],
  }
  for (const [title, [databaseUrl, sentence]] of Object.entries(refusals))
    test(title, () => assertRefused(databaseUrl(), sentence))

  for (const host of ['127.0.0.1', 'localhost'])
    test(`nothing listens at ${host}`, async () => {
      const url = `postgres://someone:${PASSWORD}@${host}:${await findFreePort()}/outbreaks`
      await assertRefused(url, /nothing listens there.*ECONNREFUSED.*check.*DATABASE_URL/)
      await assertRefused(url, /nothing listens there.*ECONNREFUSED.*check.*DATABASE_URL/, 'migrate')
    })

  test('migrate with a wrong password', () =>
    assertRefused(
      addressOf('outbreaks', 'secretive', { password: `${PASSWORD}0` }),
      /password authentication failed.*check.*DATABASE_URL/,
      'migrate',
    ))

  test('migrate where other tables stand in the way', async () => {
    await ask(cluster.url, 'create database other')
    await ask(cluster.urlOf('other'), 'create table release (number integer)')
    await assertRefused(cluster.urlOf('other'), /relation "release" already exists.*empty database/, 'migrate')
  })
})

const withoutOpenssl = spawnSync('openssl', ['version']).status === 0 ? false : 'openssl is not installed'

describe('over TLS', { skip: withoutOpenssl }, () => {
  const home = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-tls-'))
  after(() => rmSync(home, { recursive: true, force: true }))
  const certificate = path.join(data, 'server.crt')
  const root = path.join(home, 'root.crt')

  /** The server presents a certificate for the name, signed by itself. */
  async function present(name: string): Promise<void> {
    const key = path.join(data, 'server.key')
    const how = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=test']
    execFileSync('openssl', [...how, '-addext', `subjectAltName=${name}`, '-keyout', key, '-out', certificate], {
      stdio: 'ignore',
    })
    const { uid, gid } = statSync(data)
    for (const file of [key, certificate]) chownSync(file, uid, gid)
    writeFileSync(root, readFileSync(certificate))
    await ask(cluster.url, 'alter system set ssl = on')
    await ask(cluster.url, 'select pg_reload_conf()')
    const deadline = Date.now() + 10_000
    while (!(await presentsRoot())) assert.ok(Date.now() < deadline, 'the server does not present the certificate')
  }

  async function presentsRoot(): Promise<boolean> {
    const ssl = { ca: readFileSync(root), checkServerIdentity: () => undefined }
    const client = new pg.Client({ connectionString: cluster.url, ssl })
    const connected = await client.connect().then(
      () => true,
      () => false,
    )
    await client.end().catch(() => {})
    return connected
  }

  const trusted = () => `?sslmode=verify-full&sslrootcert=${root}`

  test('a certificate that nobody vouches for', async () => {
    await present('IP:127.0.0.1')
    const untrusted = addressOf('outbreaks', PUBLISHER, { query: '?sslmode=verify-full' })
    for (const args of [['client', 'list'], ['migrate']])
      await assertRefused(untrusted, /self-signed certificate.*sslrootcert/, ...args)
    const { code } = await outbreakctl(addressOf('outbreaks', PUBLISHER, { query: trusted() }), 'client', 'list')
    assert.equal(code, 0, 'with the certificate it is let in')
  })

  test('a certificate for another name', async () => {
    await present('DNS:elsewhere.test')
    await assertRefused(addressOf('outbreaks', PUBLISHER, { query: trusted() }), /altnames.*DATABASE_URL/)
  })

  test('a server that lets nobody in without TLS', async () => {
    writeFileSync(hba, 'local all all trust\nhostnossl all publisher all reject\n')
    appendFileSync(hba, trusting)
    await ask(cluster.url, 'select pg_reload_conf()')
    await assertRefused(addressOf('outbreaks', PUBLISHER), /pg_hba\.conf.*DATABASE_URL/)
  })
})
