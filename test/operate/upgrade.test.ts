// An upgrade under load: nodes serve while a newer version migrates the schema, alongside nodes of the newer version, until they
// are drained. Readers see no error and the same bytes. The newer version is this one with another migration, which only adds.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '../../dev/postgres.ts'
import { type Credentials, newSettings } from '../../dev/service.ts'
import { createEmptyDatabase } from '../database.ts'
import { obtainToken, verifyReleases } from '../fixtures/api-client.ts'
import { createDirectory, waitUntil, writeIn } from '../fixtures/operate/program.ts'

const root = path.resolve(import.meta.dirname, '../..')
const sample = (release: number) => path.join(root, 'sample/releases', String(release))

describe('an upgrade', { concurrency: false }, async () => {
  const settings = newSettings(await createEmptyDatabase())
  const env = { ...process.env, DATABASE_URL: settings.databaseUrl, OUTBREAKS_SECRET: settings.secret }

  /** This program with more migrations, in its own directory. */
  function install(migrations: Readonly<Record<string, string>>) {
    const directory = createDirectory()
    for (const name of ['src', 'migrations', 'package.json'])
      cpSync(path.join(root, name), path.join(directory, name), { recursive: true })
    for (const [name, text] of Object.entries(migrations)) writeIn(path.join(directory, 'migrations'), name, text)
    symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'))
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
        env: { ...env, OUTBREAKS_BASE_URL: baseUrl, OUTBREAKS_PORT: String(port), OUTBREAKS_DRAIN_SECONDS: '1' },
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
  type Node = Awaited<ReturnType<ReturnType<typeof install>['start']>>

  const expansion = {
    '9001_expand_something.sql': `alter table client add column something text not null default 'nothing';
      create table another (number integer primary key);`,
  }
  const before = install({})
  const next = install(expansion)
  before.outbreakctl('migrate')
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

  test('nodes of the version before serve the same bytes while the schema is migrated', async (t) => {
    const requests = await readWhile(old, async () => {
      await wait(500)
      const { applied } = next.outbreakctl('migrate') as { applied: string[] }
      assert.ok(applied.includes('9001_expand_something'))
      await wait(1000)
    })
    t.diagnostic(`${requests} requests to the version before`)
  })

  test('a node of the version before starts again after it', async () => {
    await old.stop()
    old = await before.start()
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
    assert.throws(() => before.outbreakctl('release', 'publish', sample(5)), /newer than this program/)
    assert.throws(() => before.outbreakctl('client', 'create', '--name', 'x'), /newer than this program/)
    assert.equal(await verifyReleases(old.baseUrl, old.token), 4)
  })

  test('after a migration that removes something, only the latest version starts', async () => {
    const last = install({
      ...expansion,
      '9002_drop_something.sql': 'drop table another; alter table client drop column something;',
    })
    last.outbreakctl('migrate')
    await assert.rejects(next.start(), /code 2: .*newer than this program/)
    const node = await last.start()
    assert.equal(await verifyReleases(node.baseUrl, node.token), 4)
    await node.stop()
    await old.stop()
  })
})
