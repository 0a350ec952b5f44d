// Behind PgBouncer in transaction mode a node works if its login has the settings that the pooler drops. Without them it does not
// start, and says which statements to run.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { createCluster, findFreePort } from '../../dev/postgres.ts'
import { newSettings, outbreakctl, prepareDatabase, startService } from '../../dev/service.ts'
import { obtainToken, verifyReleases } from '../fixtures/api-client.ts'
import { createDirectory, startProgram, withoutPrograms, writeIn } from '../fixtures/operate/program.ts'

const skip = withoutPrograms('pgbouncer')
const sample = new URL('../../sample/releases/1', import.meta.url).pathname
const LOGIN = 'outbreaks_service'

if (skip !== false) test('a node behind PgBouncer', { skip }, () => {})
else {
  const cluster = await createCluster()
  after(() => cluster.stop())
  const superuser = new pg.Client(cluster.url)
  await superuser.connect()
  // The server is stopped first.
  superuser.on('error', () => {})
  after(() => superuser.end())
  const direct = newSettings(cluster.url)
  const credentials = await prepareDatabase(direct, sample)
  await superuser.query(`create role ${LOGIN} login in role outbreaks_api`)

  const directory = createDirectory()
  const port = await findFreePort()
  const { hostname, port: serverPort } = new URL(cluster.url)
  const configuration = writeIn(
    directory,
    'pgbouncer.ini',
    `[databases]
postgres = host=${hostname} port=${serverPort} user=${LOGIN}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
auth_type = any
pool_mode = transaction
default_pool_size = 5
ignore_startup_parameters = options,extra_float_digits
`,
  )
  await startProgram('pgbouncer', [configuration], { port, unprivilegedIn: directory })
  const pooled = { ...direct, databaseUrl: `postgres://${LOGIN}@127.0.0.1:${port}/postgres` }

  /** The statements that the rejection of a node names. */
  async function readRefusal(): Promise<string[]> {
    const error = await startService(pooled).then(
      () => assert.fail('the node has started'),
      (reason: Error) => reason.message,
    )
    assert.match(error, /exited with code 2/)
    assert.match(error, /A connection pooler probably drops the settings/)
    return [...error.matchAll(/^alter role .*;$/gm)].map(([statement]) => statement)
  }

  test('without the settings of the login the node does not start, and names the statements', async () => {
    const statements = await readRefusal()
    for (const name of ['role', 'statement_timeout', 'default_transaction_read_only', 'lock_timeout'])
      assert.ok(
        statements.some((statement) => statement.includes(` set ${name} = `)),
        `${name} is not named`,
      )
  })

  test('outbreakctl refuses too', async () => {
    await superuser.query(`grant outbreaks_operator to ${LOGIN}`)
    await assert.rejects(outbreakctl(pooled, 'client', 'list'), /connection pooler probably drops the settings/)
    await superuser.query(`revoke outbreaks_operator from ${LOGIN}`)
  })

  test('with the named statements it serves, with every guard', async () => {
    for (const statement of await readRefusal()) await superuser.query(statement)
    await superuser.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${LOGIN}' and pid <> pg_backend_pid()`,
    )
    const node = await startService(pooled)
    after(node.stop)
    const token = await obtainToken(credentials, `${node.baseUrl}/oauth/token`, node.baseUrl)
    assert.equal(await verifyReleases(node.baseUrl, token), 1)
    const client = new pg.Client(pooled.databaseUrl)
    await client.connect()
    const { rows } = await client.query(
      `select current_user, current_setting('statement_timeout') as timeout, current_setting('transaction_read_only') as only`,
    )
    assert.deepEqual(rows, [{ current_user: 'outbreaks_api', timeout: '1500ms', only: 'on' }])
    await assert.rejects(client.query('select pg_sleep(5)'), /statement timeout/)
    await client.end()
  })

  test('many requests at once through five server connections: all answers are right', async () => {
    const node = await startService(pooled, { OUTBREAKS_CACHE_MB: '0' })
    after(node.stop)
    const token = await obtainToken(credentials, `${node.baseUrl}/oauth/token`, node.baseUrl)
    const bodies = await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const response = await fetch(`${node.baseUrl}/v2/hed-outbreaks/outbreaks?num=${1 + (i % 7)}`, {
          headers: { authorization: `Bearer ${token}` },
        })
        return { status: response.status, text: await response.text(), i }
      }),
    )
    const expected = new Map(bodies.slice(0, 7).map(({ text, i }) => [i % 7, text]))
    for (const { status, text, i } of bodies) {
      assert.equal(status, 200, text)
      assert.equal(text.replace(/"next_page".*/, ''), expected.get(i % 7)?.replace(/"next_page".*/, ''))
    }
  })
}
