// An upgrade under load, forward and back: nodes serve while a newer version migrates the schema, alongside nodes of the newer
// version. Readers see no error and the same bytes, and a client can be revoked in every state. The commands are those of
// docs/upgrade.md, with its logins. The newer version is this one with another migration, which only adds.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { createCluster, findFreePort } from '../../dev/postgres.ts'
import { type Credentials, newSettings } from '../../dev/service.ts'
import { obtainToken, requestToken, verifyReleases } from '../fixtures/api-client.ts'
import { createDirectory, waitUntil, writeIn } from '../fixtures/operate/program.ts'

const root = path.resolve(import.meta.dirname, '../..')
const sample = (release: number) => path.join(root, 'sample/releases', String(release))

describe('an upgrade', { concurrency: false }, async () => {
  const cluster = await createCluster()
  after(() => cluster.stop())
  const superuser = new pg.Client(cluster.url)
  await superuser.connect()
  for (const statement of [
    'create role outbreaks_api nologin',
    'create role outbreaks_operator nologin',
    'create role outbreaks_migration login',
    'create database outbreaks owner outbreaks_migration',
    'create role outbreaks_service login in role outbreaks_api',
    'create role outbreaks_desk login in role outbreaks_operator',
  ])
    await superuser.query(statement)
  await superuser.end()
  const settings = newSettings(cluster.urlOf('outbreaks'))
  const urlOf = (login: string) => settings.databaseUrl.replace('postgres@', `${login}@`)
  const env = { ...process.env, DATABASE_URL: urlOf('outbreaks_desk'), OUTBREAKS_SECRET: settings.secret }
  const machine = createDirectory()
  const secrets = path.join(machine, 'secrets')
  mkdirSync(secrets)
  writeIn(secrets, 'migration_url', urlOf('outbreaks_migration'))
  writeIn(secrets, 'operator_url', urlOf('outbreaks_desk'))

  /** This program with more migrations, in its own directory. */
  function install(version: string, migrations: Readonly<Record<string, string>>) {
    const directory = path.join(machine, `outbreaks-${version}`)
    for (const name of ['src', 'migrations', 'reference', 'package.json'])
      cpSync(path.join(root, name), path.join(directory, name), { recursive: true })
    for (const [name, text] of Object.entries(migrations)) writeIn(path.join(directory, 'migrations'), name, text)
    symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'))
    chmodSync(writeIn(path.join(directory, 'src'), 'cli.js', `#!${process.execPath}\nimport './cli.ts'\n`), 0o755)
    const outbreakctl = (...args: string[]): unknown =>
      JSON.parse(
        execFileSync(process.execPath, [path.join(directory, 'src/cli.ts'), ...args], {
          env,
          encoding: 'utf8',
          stdio: 'pipe',
        }),
      )
    async function start() {
      const port = await findFreePort()
      const baseUrl = `http://127.0.0.1:${port}`
      const node = spawn(process.execPath, [path.join(directory, 'src/main.ts')], {
        env: {
          ...env,
          DATABASE_URL: urlOf('outbreaks_service'),
          OUTBREAKS_BASE_URL: baseUrl,
          OUTBREAKS_PORT: String(port),
          OUTBREAKS_DRAIN_SECONDS: '1',
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let stderr = ''
      node.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text
      })
      after(() => node.kill('SIGKILL'))
      const exited = new Promise<number | null>((resolve) => node.on('exit', resolve))
      await waitUntil('the node is ready', async () => {
        if (node.exitCode !== null) throw new Error(`exited with code ${node.exitCode}: ${stderr}`)
        return fetch(`${baseUrl}/ready`).then(
          ({ ok }) => ok,
          () => false,
        )
      })
      const stop = () => {
        node.kill('SIGTERM')
        return exited
      }
      return { baseUrl, stop, token: await obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl) }
    }
    return { outbreakctl, start }
  }
  /** Types the commands of a chapter of docs/upgrade.md. Restarting nodes is left to the test. */
  function follow(chapter: string, variables: Readonly<Record<string, string>> = {}): string {
    const page = readFileSync(path.join(root, 'docs/upgrade.md'), 'utf8')
    const [, text = ''] = page.split(`\n## ${chapter}\n`)
    const blocks = [...(text.split('\n## ')[0] ?? '').matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block)
    assert.notEqual(blocks.length, 0, `the page has no commands in ${chapter}`)
    const script = blocks.join('').replaceAll('/opt/', `${machine}/`).replaceAll('/etc/outbreaks/secrets', secrets)
    const shell = `set -eu\nsystemctl() { :; }\noutbreakctl() { ${machine}/outbreaks/src/cli.js "$@"; }\n${script}`
    const { DATABASE_URL: _, ...rest } = env
    const names = { OLD: 'old', NEW: 'new', OUTBREAKS_SECRET: settings.secret }
    return execFileSync('bash', ['-c', shell], {
      env: { ...rest, ...names, ...variables },
      encoding: 'utf8',
      stdio: 'pipe',
    })
  }
  type Node = Awaited<ReturnType<ReturnType<typeof install>['start']>>

  const expansion = {
    '9001_expand_something.sql': `alter table client add column something text not null default 'nothing';
      create table another (number integer primary key);`,
  }
  const before = install('old', {})
  const next = install('new', expansion)
  execFileSync(process.execPath, [path.join(machine, 'outbreaks-old/src/cli.ts'), 'migrate'], {
    env: { ...env, DATABASE_URL: urlOf('outbreaks_migration') },
    stdio: 'pipe',
  })
  before.outbreakctl('key', 'rotate')
  const credentials = before.outbreakctl('client', 'create', '--name', 'Reader') as Credentials
  for (const release of [1, 2, 3]) before.outbreakctl('release', 'publish', sample(release))

  const paths = ['/v2/hed-outbreaks/outbreaks?num=50&release=', '/v2/hed-outbreaks/event-names?release='].flatMap(
    (start) => [1, 2, 3].map((release) => start + release),
  )
  async function read({ baseUrl, token }: Node, address: string) {
    const response = await fetch(baseUrl + address, { headers: { authorization: `Bearer ${token}` } })
    const text = await response.text()
    // A cursor has the time in it.
    return { status: response.status, text: text.replace(/"next_page":"[^"]*"/, '') }
  }
  let old = await before.start()
  const expected = new Map<string, string>()
  for (const address of paths) expected.set(address, (await read(old, address)).text)

  /** Reads from a node until `work` has ended; every response must be the expected one. */
  async function readWhile(node: Node, work: () => Promise<unknown>): Promise<number> {
    const reading = { isRunning: true }
    let requests = 0
    const bad: string[] = []
    const reader = (async () => {
      for (let i = 0; reading.isRunning; i++) {
        const address = paths[i % paths.length] ?? ''
        const { status, text } = await read(node, address)
        requests += 1
        if (status !== 200 || text !== expected.get(address)) bad.push(`${status} ${address} ${text.slice(0, 80)}`)
      }
    })()
    await work()
    reading.isRunning = false
    await reader
    assert.deepEqual(bad.slice(0, 3), [], `${bad.length} of ${requests}`)
    return requests
  }

  function failureOf(work: () => unknown): string {
    try {
      work()
      return ''
    } catch (error) {
      return (error as Error).message
    }
  }

  /** A client that has a token is disabled; the node rejects it. */
  async function revokeWith({ outbreakctl }: ReturnType<typeof install>, { baseUrl }: Node): Promise<void> {
    const created = (await createClient()) as Credentials
    const request = () => requestToken(created, `${baseUrl}/oauth/token`, baseUrl)
    await waitUntil('the node knows the client', async () => (await request()).ok)
    const token = await obtainToken(created, `${baseUrl}/oauth/token`, baseUrl)
    outbreakctl('client', 'disable', created.client_id)
    const headers = { authorization: `Bearer ${token}` }
    await waitUntil('the node rejects the token', async () => {
      const { status } = await fetch(`${baseUrl}/v2/whoami`, { headers })
      return status === 401
    })
    assert.equal((await request()).ok, false)
  }
  /** With the version that knows the schema. */
  async function createClient() {
    try {
      return before.outbreakctl('client', 'create', '--name', 'To revoke')
    } catch {
      return next.outbreakctl('client', 'create', '--name', 'To revoke')
    }
  }

  test('nodes of the version before serve the same bytes while the schema is migrated', async (t) => {
    const requests = await readWhile(old, async () => {
      await wait(500)
      assert.throws(() => next.outbreakctl('migrate'), /\(must be owner of table migration\)\. Use the migration login/)
      await revokeWith(before, old)
      assert.match(follow('2. Migrate'), /9001_expand_something/)
      await revokeWith(before, old)
      await wait(1000)
    })
    t.diagnostic(`${requests} requests to the version before`)
  })

  test('the way back: a node of the version before starts again after it, and its commands list, revoke, verify', async () => {
    follow('3. Restart the nodes')
    assert.match(follow('4. Check'), /"digest"/)
    await old.stop()
    const { client_id } = next.outbreakctl('client', 'create', '--name', 'To revoke') as Credentials
    const printed = follow('Go back', { CLIENT: client_id })
    assert.match(printed, new RegExp(`"client_id": "${client_id}",\\s+"disabled": true`))
    old = await before.start()
    await revokeWith(before, old)
    assert.equal(await verifyReleases(old.baseUrl, old.token), 3)
  })

  test('both versions serve the same bytes side by side, even while the newer one publishes', async (t) => {
    const node = await next.start()
    const requests = await Promise.all([
      readWhile(node, () => wait(3000)),
      readWhile(old, async () => {
        next.outbreakctl('release', 'publish', sample(4))
        await wait(2000)
      }),
    ])
    t.diagnostic(`${requests.join(' and ')} requests`)
    for (const one of [node, old]) assert.equal(await verifyReleases(one.baseUrl, one.token), 4)
    assert.equal(await node.stop(), 0)
  })

  test('commands of the version before refuse the newer schema, and change nothing', async () => {
    assert.throws(() => before.outbreakctl('release', 'publish', sample(5)), /newer than this version/)
    assert.throws(() => before.outbreakctl('client', 'create', '--name', 'x'), /newer than this version/)
    assert.equal(await verifyReleases(old.baseUrl, old.token), 4)
  })

  test('the version before rolls back, and the newer version serves and verifies that release', async () => {
    const rollBack = (withdrawn: string) =>
      before.outbreakctl(
        ...['release', 'rollback', '--to', '3', '--note', 'Back.', '--confirm-withdrawn', withdrawn],
      ) as { release: number }
    // The message names the number, if more than 5% are withdrawn.
    const [, withdrawn = '1'] = /--confirm-withdrawn (\d+)\./.exec(failureOf(() => rollBack('999999'))) ?? []
    if (withdrawn !== '1') assert.equal(rollBack(withdrawn).release, 5)
    const verified = next.outbreakctl('release', 'verify') as { release: number; differences: string[] }[]
    assert.deepEqual(
      verified.map(({ differences }) => differences.length),
      [0, 0, 0, 0, 0],
    )
  })

  test('after a migration that removes something, only the latest version starts', async () => {
    const last = install('last', {
      ...expansion,
      '9002_drop_something.sql': 'drop table another; alter table client drop column something;',
    })
    follow('2. Migrate', { NEW: 'last' })
    await assert.rejects(next.start(), /code 2: .*newer than this version/)
    const node = await last.start()
    assert.equal(await verifyReleases(node.baseUrl, node.token), 5)
    await node.stop()
    await old.stop()
  })
})
