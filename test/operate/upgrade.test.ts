// An upgrade under load, forward and back: the commands of docs/upgrade.md as typed, with its logins. Two nodes and a notifier run as
// their units say. Readers, as behind a balancer, see no failed request and the same bytes, and a client can be revoked in every
// state. Each version is a package, installed from its file; the newer one is this one with
// another migration, which only adds, and another name for the columns of its index.
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { globSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Duplex } from 'node:stream'
import { after, describe, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { packPackage } from '../../dev/build/package.ts'
import { createCluster, findFreePort } from '../../dev/postgres.ts'
import type { Credentials } from '../../dev/service.ts'
import { obtainToken, requestToken, verifyReleases } from '../fixtures/api-client.ts'
import { packNextVersion, readVersion } from '../fixtures/operate/next-version.ts'
import { createDirectory, waitUntil } from '../fixtures/operate/program.ts'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../..')
const sample = (release: number) => path.join(root, 'sample/releases', String(release))
const readPage = (name: string) => readFileSync(path.join(root, 'docs', name), 'utf8')
/** At which clients reach the nodes. */
const PUBLIC_URL = 'https://outbreaks.example.org'
const START_TIMEOUT_MS = 80_000

/** The commands of a chapter. */
function readCommands(page: string, chapter: string): string {
  const [, text = ''] = readPage(page).split(`\n## ${chapter}\n`)
  const blocks = [...(text.split('\n## ')[0] ?? '').matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block)
  assert.notEqual(blocks.length, 0, `${page} has no commands in ${chapter}`)
  return blocks.join('')
}

describe('an upgrade', { concurrency: false }, async () => {
  const cluster = await createCluster()
  after(() => cluster.stop())
  const superuser = new pg.Client(cluster.url)
  await superuser.connect()
  for (const statement of [
    'create role outbreaks_api nologin',
    'create role outbreaks_operator nologin',
    'create role outbreaks_notify nologin',
    'create role outbreaks_migration login',
    'create database outbreaks owner outbreaks_migration',
    'create role outbreaks_service login in role outbreaks_api',
    'create role outbreaks_notifier login in role outbreaks_notify',
    'create role outbreaks_desk login in role outbreaks_operator',
  ])
    await superuser.query(statement)
  await superuser.end()

  const machine = createDirectory()
  const downloads = createDirectory()
  const secrets = path.join(machine, 'secrets')
  for (const name of ['bin', 'cache', 'srv/outbreaks/files']) mkdirSync(path.join(machine, name), { recursive: true })
  execFileSync('sh', [path.join(root, 'deploy/create-secrets'), secrets, new URL(cluster.url).host])
  const environment: NodeJS.ProcessEnv = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(OUTBREAKS_|DATABASE_URL)/.test(name))),
    PATH: [path.join(machine, 'bin'), path.dirname(process.execPath), process.env['PATH']].join(':'),
  }

  /** A process of deploy/systemd, with the program, the login and the environment of its unit. */
  async function createUnit(file: string, variables: NodeJS.ProcessEnv = {}) {
    const text = readFileSync(path.join(root, 'deploy/systemd', file), 'utf8')
    const [, program = ''] = /^ExecStart=\/opt\/(.*)$/m.exec(text) ?? []
    const [, login = ''] = /^LoadCredential=database-url:\/etc\/outbreaks\/secrets\/(.*)$/m.exec(text) ?? []
    const port = await findFreePort()
    const baseUrl = `http://127.0.0.1:${port}`
    let running: ChildProcess | null = null
    let ready = false
    after(() => running?.kill('SIGKILL'))
    async function start(): Promise<void> {
      ready = false
      const child = spawn(path.join(machine, program), {
        env: {
          ...environment,
          DATABASE_URL_FILE: path.join(secrets, login),
          OUTBREAKS_SECRET_FILE: path.join(secrets, 'secret'),
          OUTBREAKS_BASE_URL: PUBLIC_URL,
          OUTBREAKS_PORT: String(port),
          OUTBREAKS_INDEX: path.join(machine, 'cache'),
          OUTBREAKS_DRAIN_SECONDS: '1',
          OUTBREAKS_RATE_LIMIT: '0',
          ...variables,
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let stderr = ''
      child.stderr.setEncoding('utf8').on('data', (part: string) => {
        stderr += part
      })
      running = child
      await waitUntil(
        `${file} is ready`,
        async () => {
          if (child.exitCode !== null) throw new Error(`exited with code ${child.exitCode}: ${stderr}`)
          return fetch(`${baseUrl}/ready`).then(
            ({ ok }) => ok,
            () => false,
          )
        },
        START_TIMEOUT_MS,
      )
      ready = true
    }
    async function restart(): Promise<void> {
      const child = running
      if (child?.exitCode === null) {
        child.kill('SIGTERM')
        await new Promise((resolve) => child.on('exit', resolve))
        assert.equal(child.exitCode, 0)
      }
      await start()
    }
    const isRunning = () => running?.exitCode === null
    const readLiveVersion = async () => ((await (await fetch(`${baseUrl}/live`)).json()) as { version: string }).version
    return { baseUrl, start, restart, isRunning, isReady: () => ready, readLiveVersion }
  }
  const notifier = await createUnit('outbreaks-notifier.service')
  const createNode = () => createUnit('outbreaks@.service', { OUTBREAKS_NOTIFIER_URL: notifier.baseUrl })
  const nodes = [await createNode(), await createNode()] as const
  const units = new Map([
    ['outbreaks@1', nodes[0]],
    ['outbreaks@2', nodes[1]],
    ['outbreaks-notifier', notifier],
  ])
  /** A function of the shell that asks here. */
  const passOn = (name: string) => `${name}() { echo "${name} $*" >&3; read -r status <&3; return "$status"; }`
  const readVersions = () => Promise.all(Array.from(units.values(), ({ readLiveVersion }) => readLiveVersion()))

  /**
   * Types commands in a shell, which has systemctl and curl from here: systemctl returns when the unit has restarted and `between`
   * has ended.
   */
  async function type(commands: string, variables: NodeJS.ProcessEnv = {}, between = async () => {}): Promise<string> {
    const script = commands
      .replaceAll('/opt/', `${machine}/`)
      .replaceAll('/usr/local/bin/', `${machine}/bin/`)
      .replaceAll('/etc/outbreaks/secrets', secrets)
      .replaceAll('/srv/', `${machine}/srv/`)
    const shell = spawn('bash', ['-euc', `${['systemctl', 'curl'].map(passOn).join('\n')}\n${script}`], {
      cwd: downloads,
      env: { ...environment, ...variables },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
    let [stdout, stderr] = ['', '']
    shell.stdout?.setEncoding('utf8').on('data', (part: string) => {
      stdout += part
    })
    shell.stderr?.setEncoding('utf8').on('data', (part: string) => {
      stderr += part
    })
    const calls = shell.stdio[3] as Duplex
    async function answer(call: string): Promise<void> {
      const [, node] = /^curl -fs 127\.0\.0\.1:808(\d)\/ready$/.exec(call) ?? []
      if (node !== undefined) return assert.ok(units.get(`outbreaks@${node}`)?.isReady(), call)
      const [, action, name = ''] = call.split(' ')
      const unit = units.get(name)
      if (unit === undefined || !['restart', 'try-restart'].includes(action ?? '')) throw new Error(`${call}?`)
      if (action === 'try-restart' && !unit.isRunning()) return
      await unit.restart()
      await between()
    }
    createInterface({ input: calls }).on('line', (call) => {
      void answer(call).then(
        () => calls.write('0\n'),
        (error: Error) => {
          stderr += error.message
          calls.write('1\n')
        },
      )
    })
    const code = await new Promise((resolve) => shell.on('close', resolve))
    if (code !== 0) throw new Error(`${commands}\n${stdout}\n${stderr}`)
    return stdout
  }
  const operator = {
    ...environment,
    DATABASE_URL_FILE: path.join(secrets, 'operator_url'),
    OUTBREAKS_SECRET_FILE: path.join(secrets, 'secret'),
  }
  const outbreakctl = async (version: string, ...args: string[]): Promise<unknown> =>
    JSON.parse((await run(path.join(machine, `outbreaks-${version}/src/cli.js`), args, { env: operator })).stdout)

  const built = path.join(createDirectory(), 'package')
  await packPackage(downloads, built)
  const before = readVersion(built)
  const [major = '', minor = ''] = before.split('.')
  const next = `${major}.${Number(minor) + 1}.0`
  const last = `${major}.${Number(minor) + 2}.0`
  /** The latest version that has migrated: only its commands create clients. */
  let migrated = before
  const follow = (chapter: string, variables: NodeJS.ProcessEnv = {}, between?: () => Promise<void>) =>
    type(readCommands('upgrade.md', chapter), { OLD: before, NEW: next, ...variables }, between)

  // docs/deploy.md, without the programs that this machine has.
  const programs = readCommands('deploy.md', '1. Programs').replace(/^(apt-get .*|.*\/opt\/node.*)\n/gm, '')
  assert.ok((await type(programs.replaceAll('X.Y.Z', before))).endsWith(`\n${before}\n`))
  await type('DATABASE_URL_FILE=/etc/outbreaks/secrets/migration_url outbreakctl migrate')
  await outbreakctl(before, 'key', 'rotate')
  const credentials = (await outbreakctl(before, 'client', 'create', '--name', 'Reader')) as Credentials
  for (const release of [1, 2, 3]) await outbreakctl(before, 'release', 'publish', sample(release))
  for (const unit of units.values()) await unit.start()
  const obtain = (client: Credentials, { baseUrl }: { baseUrl: string }) =>
    obtainToken(client, `${baseUrl}/oauth/token`, PUBLIC_URL)
  const token = await obtain(credentials, nodes[0])

  // The second needs the column index.
  const paths = ['outbreaks?num=50&', 'outbreaks?num=50&count_kind=new&', 'event-names?'].flatMap((query) =>
    [1, 2, 3].map((release) => `/v2/hed-outbreaks/${query}release=${release}`),
  )
  let redirected = 0
  /** From the first node that is ready and answers, as a balancer does it. */
  async function read(address: string, from: typeof nodes): Promise<string> {
    for (const { baseUrl, isReady } of from) {
      const headers = { authorization: `Bearer ${token}` }
      const response = isReady() ? await fetch(baseUrl + address, { headers }).catch(() => null) : null
      // A cursor has the time in it.
      if (response !== null) return `${response.status} ${(await response.text()).replace(/"next_page":"[^"]*"/, '')}`
      redirected += 1
    }
    return 'no node answered'
  }
  const expected = new Map<string, string>()
  for (const address of paths) expected.set(address, await read(address, nodes))
  for (const text of expected.values()) assert.equal(text.slice(0, 4), '200 ')

  /** Reads until `work` has ended; every response must be the expected one. */
  async function readWhile(t: TestContext, work: () => Promise<unknown>): Promise<void> {
    const reading = { isRunning: true }
    let requests = 0
    redirected = 0
    const bad: string[] = []
    const readers = [nodes, [nodes[1], nodes[0]] as const].map(async (from) => {
      for (let i = 0; reading.isRunning; i++) {
        const address = paths[i % paths.length] ?? ''
        const text = await read(address, from).catch(String)
        requests += 1
        if (text !== expected.get(address)) bad.push(`${address}: ${text.slice(0, 80)}`)
        await wait(20)
      }
    })
    await work().finally(() => {
      reading.isRunning = false
    })
    await Promise.all(readers)
    assert.deepEqual(bad.slice(0, 3), [], `${bad.length} of ${requests} failed`)
    t.diagnostic(`${requests} requests, ${redirected} of them to the other node, 0 failed`)
  }

  /** A client that has a token is disabled with the command of the version behind the link; both nodes reject it. */
  async function revoke(): Promise<void> {
    const client = (await outbreakctl(migrated, 'client', 'create', '--name', 'To revoke')) as Credentials
    const request = ({ baseUrl }: { baseUrl: string }) => requestToken(client, `${baseUrl}/oauth/token`, PUBLIC_URL)
    for (const node of nodes) await waitUntil('the node knows the client', async () => (await request(node)).ok)
    const headers = { authorization: `Bearer ${await obtain(client, nodes[0])}` }
    const readStatus = async ({ baseUrl }: { baseUrl: string }) =>
      (await fetch(`${baseUrl}/v2/whoami`, { headers })).status
    for (const node of nodes) assert.equal(await readStatus(node), 200)
    await run('outbreakctl', ['client', 'disable', client.client_id], { env: operator })
    for (const node of nodes) {
      await waitUntil('the node rejects the token', async () => (await readStatus(node)) === 401)
      assert.equal((await request(node)).ok, false)
    }
    revoked += 1
  }
  let revoked = 0

  test('the page names the login of each step', () => {
    const rows = [...readPage('upgrade.md').matchAll(/^\| .* \| `(\w+)` +\| `(\w+)` +\|$/gm)]
    for (const [, login, file = ''] of rows)
      assert.equal(new URL(readFileSync(path.join(secrets, file), 'utf8')).username, login)
    assert.deepEqual(new Set(rows.map(([, , file]) => file)), new Set(globSync('*_url', { cwd: secrets })))
  })

  test('nodes of the version before serve the same bytes while the next one is installed and migrates', async (t) => {
    packNextVersion(built, downloads, {
      version: next,
      migration: '9001_expand_something.sql',
      sql: `alter table client add column something text not null default 'nothing';
        create table another (number integer primary key);`,
    })
    await readWhile(t, async () => {
      await follow('1. Install')
      assert.equal((await type('outbreakctl --version')).trim(), before)
      await assert.rejects(
        outbreakctl(next, 'migrate'),
        /\(must be owner of table migration\)\. Use the migration login/,
      )
      await revoke()
      assert.match(await follow('2. Migrate'), /9001_expand_something/)
      migrated = next
      await revoke()
    })
    assert.deepEqual(await readVersions(), [before, before, before])
  })

  test('forward: after each restart both versions serve the same bytes, even while the newer one publishes', async (t) => {
    const states: string[][] = []
    await readWhile(t, async () => {
      await follow('3. Restart the nodes', {}, async () => {
        states.push(await readVersions())
        await revoke()
        if (states.length > 1) return
        await outbreakctl(next, 'release', 'publish', sample(4))
        for (const { baseUrl } of nodes)
          await waitUntil('the node has the release', async () => (await verifyReleases(baseUrl, token)) === 4)
      })
      const printed = await follow('4. Check')
      assert.ok(printed.startsWith(`${next}\n`))
      assert.match(printed, /"digest"/)
    })
    assert.deepEqual(states, [
      [next, before, before],
      [next, next, before],
      [next, next, next],
    ])
  })

  test('back: the version before starts again after the migration, and its commands list, revoke, verify', async (t) => {
    const { client_id } = (await outbreakctl(next, 'client', 'create', '--name', 'To revoke')) as Credentials
    const states: string[][] = []
    await readWhile(t, async () => {
      const printed = await follow('Go back', { CLIENT: client_id }, async () => {
        states.push(await readVersions())
        await revoke()
      })
      assert.match(printed, new RegExp(`"client_id": "${client_id}",[^}]*"disabled_at": null`), 'it is listed')
      assert.match(printed, new RegExp(`"client_id": "${client_id}",\\s+"disabled": true`))
      assert.match(printed, /"differences": \[\]/)
    })
    assert.deepEqual(states, [
      [before, next, next],
      [before, before, next],
      [before, before, before],
    ])
    for (const { baseUrl } of nodes) assert.equal(await verifyReleases(baseUrl, token), 4)
  })

  test('commands of the version before refuse the newer schema, and change nothing', async () => {
    await assert.rejects(outbreakctl(before, 'release', 'publish', sample(5)), /newer than this version/)
    await assert.rejects(outbreakctl(before, 'client', 'create', '--name', 'x'), /newer than this version/)
    assert.equal(await verifyReleases(nodes[0].baseUrl, token), 4)
  })

  test('the version before rolls back, and the newer version serves and verifies that release', async () => {
    const rollBack = (...options: string[]) =>
      outbreakctl(before, 'release', 'rollback', '--to', '3', '--note', 'Back.', ...options)
    // The message names the number, because more than 5% are withdrawn.
    const [, withdrawn = ''] = /--confirm-withdrawn (\d+)\./.exec(await rollBack().then(String, String)) ?? []
    const { release } = (await rollBack('--confirm-withdrawn', withdrawn)) as { release: number }
    assert.equal(release, 5)
    await follow('2. Migrate')
    const verified = (await outbreakctl(next, 'release', 'verify')) as { differences: string[] }[]
    assert.deepEqual(
      verified.map(({ differences }) => differences.length),
      [0, 0, 0, 0, 0],
    )
  })

  test('after a migration that removes something, only the latest version starts', async (t) => {
    packNextVersion(built, downloads, {
      version: last,
      migration: '9002_drop_something.sql',
      sql: 'drop table another; alter table client drop column something;',
    })
    await readWhile(t, async () => {
      await follow('1. Install', { NEW: last })
      await follow('2. Migrate', { NEW: last })
      migrated = last
      for (const version of [before, next])
        await assert.rejects(
          type(`ln -sfn outbreaks-${version} /opt/outbreaks\nsystemctl restart outbreaks@1`),
          /code 2: .*newer than this version/,
        )
      await follow('3. Restart the nodes', { NEW: last })
      await revoke()
    })
    assert.deepEqual(await readVersions(), [last, last, last])
    for (const { baseUrl } of nodes) assert.equal(await verifyReleases(baseUrl, token), 5)
    t.diagnostic(`${revoked} clients were revoked`)
  })
})
