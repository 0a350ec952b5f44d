// The restore drill with a real pgBackRest: backups to a repository, a restore to the end and to a point in time, and what the
// drill says when a backup is damaged. Also what to do when the secret, a key, a file or a release is lost.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { type Cluster, createCluster, findFreePort, unprivilegedAccount } from '../../dev/postgres.ts'
import { newSettings, outbreakctl, prepareDatabase, type Settings, startService } from '../../dev/service.ts'
import { obtainToken, requestToken, verifyReleases } from '../fixtures/api-client.ts'
import { createDirectory, withoutPrograms, writeIn } from '../fixtures/operate/program.ts'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../..')
const sample = (release: number) => path.join(root, 'sample/releases', String(release))

/** The latest server of the machine that its pgBackRest supports. */
const server = findServer()
const { bin } = server
const skip = withoutPrograms('pgbackrest') || (bin === undefined && server.reason)

describe('a restore', { skip, concurrency: false }, () => {
  let cluster: Cluster
  let settings: Settings
  let superuser: pg.Client
  let environment: Record<string, string | undefined>
  const account = unprivilegedAccount()
  const own = (file: string) => account !== null && chownSync(file, account.uid, account.gid)
  const directory = createDirectory()
  chmodSync(directory, 0o755)

  const backRest = (...args: string[]) =>
    run('pgbackrest', ['--stanza=outbreaks', ...args], { env: environment, ...account })
  const drill = (...args: string[]) =>
    run(path.join(root, 'deploy/restore-drill'), ['outbreaks', ...args], {
      env: environment,
      ...account,
      cwd: directory,
    })

  after(async () => {
    await superuser.end()
    await cluster.stop()
  })
  before(async () => {
    cluster = await createCluster({ durable: true, ...(bin !== undefined && { bin }) })
    superuser = new pg.Client(cluster.url)
    await superuser.connect()
    const { rows } = await superuser.query<{ data: string; sockets: string }>(
      `select current_setting('data_directory') as data, current_setting('unix_socket_directories') as sockets`,
    )
    const { data = '', sockets = '' } = rows[0] ?? {}
    for (const name of ['repo', 'log', 'spool', 'lock', 'tmp']) {
      mkdirSync(path.join(directory, name))
      own(path.join(directory, name))
    }
    const configuration = writeIn(
      directory,
      'pgbackrest.conf',
      `[global]
repo1-path=${directory}/repo
repo1-cipher-type=aes-256-cbc
repo1-cipher-pass=${randomBytes(24).toString('hex')}
repo1-retention-full=2
log-path=${directory}/log
lock-path=${directory}/lock
spool-path=${directory}/spool
start-fast=y
[outbreaks]
pg1-path=${data}
pg1-port=${new URL(cluster.url).port}
pg1-socket-path=${sockets}
pg1-user=postgres
`,
    )
    own(configuration)
    environment = {
      PATH: `${bin}:${process.env['PATH']}`,
      ...{ PGBACKREST_CONFIG: configuration, POSTGRES_BIN: bin, TMPDIR: path.join(directory, 'tmp') },
      ...{
        DRILL_DATABASE: 'postgres',
        DRILL_PORT: String(await findFreePort()),
        DRILL_TIMEOUT: '60',
        PGUSER: 'postgres',
      },
      OUTBREAKCTL: `${process.execPath} ${root}/src/cli.ts`,
    }
    await superuser.query(`alter system set archive_mode = on`)
    await superuser.query(
      `alter system set archive_command = 'PGBACKREST_CONFIG=${configuration} pgbackrest --stanza=outbreaks archive-push %p'`,
    )
    await superuser.end()
    await cluster.stopServer()
    await cluster.start()
    superuser = new pg.Client(cluster.url)
    await superuser.connect()
    settings = newSettings(cluster.url)
    environment['OUTBREAKS_SECRET'] = settings.secret
    await prepareDatabase(settings, sample(1))
    await outbreakctl(settings, 'release', 'publish', sample(2))
    await backRest('stanza-create')
    await backRest('--type=full', 'backup')
  })

  const digests = async () =>
    (
      await outbreakctl<{ release: number; digest: string; differences: string[] }[]>(settings, 'release', 'verify')
    ).map(({ release, digest, differences }) => ({ release, digest, differences }))
  const readDrill = (stdout: string) =>
    (
      JSON.parse(stdout.slice(stdout.indexOf('['), stdout.lastIndexOf(']') + 1)) as {
        release: number
        digest: string
        differences: string[]
      }[]
    ).map(({ release, digest, differences }) => ({ release, digest, differences }))

  test('of everything has every release with its digest', async () => {
    await outbreakctl(settings, 'release', 'publish', sample(3))
    await superuser.query('select pg_switch_wal()')
    await wait(2000)
    const { stdout } = await drill()
    assert.deepEqual(readDrill(stdout), await digests())
    assert.match(
      stdout.trim().split('\n').at(-1) ?? '',
      /^restore drill: ok, the secret decrypts the keys, newest release 3 of /,
    )
  })

  test('to a point in time has the releases of that time', async () => {
    const { rows } = await superuser.query<{ now: string }>(`select clock_timestamp()::text as now`)
    await wait(1500)
    await outbreakctl(settings, 'release', 'publish', sample(4))
    await superuser.query('select pg_switch_wal()')
    await wait(2000)
    const { stdout } = await drill('--type=time', `--target=${rows[0]?.now}`, '--target-action=promote')
    assert.deepEqual(
      readDrill(stdout),
      (await digests()).filter(({ release }) => release <= 3),
    )
  })

  test('of a repository with a damaged file fails, and the drill says so', async () => {
    const files = await run('find', [path.join(directory, 'repo/backup'), '-name', '*.gz'])
    const [largest = ''] = (await run('ls', ['-S', ...files.stdout.trim().split('\n')])).stdout.split('\n')
    const intact = readFileSync(largest)
    const damaged = Buffer.from(intact)
    damaged.fill(0, Math.floor(damaged.length / 2), Math.floor(damaged.length / 2) + 64)
    writeFileSync(largest, damaged)
    await assert.rejects(drill(), (error: { code: number }) => error.code !== 0)
    writeFileSync(largest, intact)
    await drill()
  })

  test('without the secret, or with another one, fails, and the drill says so', async () => {
    for (const [secret, message] of [
      ['', /name your copy of the secret/],
      [randomBytes(32).toString('base64url'), /your copy of the secret does not decrypt the signing keys/],
    ] as const) {
      environment['OUTBREAKS_SECRET'] = secret
      await assert.rejects(drill(), (error: { stderr: string }) => message.test(error.stderr))
    }
    environment['OUTBREAKS_SECRET'] = settings.secret
  })

  test('of a backup without a signing key fails: it would prove nothing about the secret', async () => {
    const archive = async (statements: string) => {
      await superuser.query(`set session_replication_role = replica; ${statements}`)
      await superuser.query('select pg_switch_wal()')
      await wait(2000)
    }
    await archive('create table kept as select * from signing_key; delete from signing_key')
    await assert.rejects(drill(), (error: { stderr: string }) => /has no signing key/.test(error.stderr))
    await archive('insert into signing_key select * from kept; drop table kept')
    await drill()
  })

  test('leaves nothing behind', async () => {
    const left = await readdir(path.join(directory, 'tmp'))
    assert.deepEqual(
      left.filter((name) => name.startsWith('restore-drill')),
      [],
    )
  })
})

describe('what is lost, and what to do', { concurrency: false }, () => {
  let cluster: Cluster
  let settings: Settings
  let credentials: Awaited<ReturnType<typeof prepareDatabase>>
  const files = createDirectory()
  before(async () => {
    process.env['OUTBREAKS_FILES'] = files
    cluster = await createCluster()
    settings = newSettings(cluster.url)
    credentials = await prepareDatabase(settings, sample(1))
    await outbreakctl(settings, 'release', 'publish', sample(2))
  })
  after(async () => {
    delete process.env['OUTBREAKS_FILES']
    await cluster.stop()
  })

  test('the secret: with a new one, key rotate makes the service issue tokens again', async () => {
    const renewed = { ...settings, secret: randomBytes(32).toString('base64url') }
    const { kid } = await outbreakctl<{ kid: string }[]>(settings, 'key', 'list').then(([key]) => key ?? assert.fail())
    await outbreakctl(renewed, 'key', 'disable', kid)
    await outbreakctl(renewed, 'key', 'rotate', '--notice', '0')
    const node = await startService(renewed)
    const token = await obtainToken(credentials, `${node.baseUrl}/oauth/token`, node.baseUrl)
    assert.equal(await verifyReleases(node.baseUrl, token), 2)
    await node.stop()
    settings = renewed
  })

  test('a key: after key disable its tokens end, and a new key signs', async () => {
    const node = await startService(settings)
    const earlier = await obtainToken(credentials, `${node.baseUrl}/oauth/token`, node.baseUrl)
    await outbreakctl(settings, 'key', 'rotate', '--notice', '0')
    const keys = await outbreakctl<{ kid: string; signs_from: string }[]>(settings, 'key', 'list')
    const oldest = keys.toSorted((a, b) => (a.signs_from < b.signs_from ? -1 : 1)).at(-2)
    await outbreakctl(settings, 'key', 'disable', oldest?.kid ?? '')
    await wait(2000)
    const refused = await fetch(`${node.baseUrl}/v2/hed-outbreaks/outbreaks?num=1`, {
      headers: { authorization: `Bearer ${earlier}` },
    })
    assert.equal(refused.status, 401)
    assert.equal((await requestToken(credentials, `${node.baseUrl}/oauth/token`, node.baseUrl)).status, 200)
    await node.stop()
  })

  test('a file: verify names it, export writes it with the same digest', async () => {
    rmSync(path.join(files, 'hed-outbreaks-1.ndjson.gz'))
    const verify = () => outbreakctl<{ release: number; differences: string[] }[]>(settings, 'release', 'verify')
    await assert.rejects(verify(), (error: Error) => JSON.stringify(error.cause ?? '').includes('is missing'))
    await outbreakctl(settings, 'release', 'export', '--release', '1')
    assert.deepEqual(
      (await verify()).map(({ differences }) => differences),
      [[], []],
    )
  })

  test('a release that was damaged in the database: verify names it', async () => {
    const superuser = new pg.Client(cluster.url)
    await superuser.connect()
    await superuser.query(`update release set digest = decode(repeat('00', 32), 'hex') where number = 1`)
    await assert.rejects(outbreakctl(settings, 'release', 'verify'), (error: Error) =>
      JSON.stringify(error.cause ?? '').includes('digest'),
    )
    await superuser.end()
  })
})

/** By the release notes of pgBackRest: from which version on it supports which PostgreSQL. */
function findServer(): { bin?: string; reason: string } {
  const SUPPORT = [
    ['2.57', 18],
    ['2.54', 17],
    ['2.48', 16],
    ['2.42', 15],
  ] as const
  const print = (program: string, option: string) => spawnSync(program, [option], { encoding: 'utf8' }).stdout ?? ''
  const [, backRest = '0.0'] = /([\d.]+)/.exec(print('pgbackrest', 'version')) ?? []
  const [, latest = 0] =
    SUPPORT.find(([version]) => backRest.localeCompare(version, 'en', { numeric: true }) >= 0) ?? []
  const given = process.env['POSTGRES_BIN']
  const servers = (given ? [given] : globSync('/usr/lib/postgresql/*/bin'))
    .map((directory) => ({
      directory,
      version: Number(/ (\d+)/.exec(print(path.join(directory, 'postgres'), '--version'))?.[1]),
    }))
    .sort((a, b) => b.version - a.version)
  const supported = servers.find(({ version }) => version <= latest)?.directory
  const found = servers.map(({ version }) => version).join(', ') || 'none'
  const reason = `pgBackRest ${backRest} supports PostgreSQL up to ${latest}, and installed is ${found}: set POSTGRES_BIN`
  return { ...(supported !== undefined && { bin: supported }), reason }
}
