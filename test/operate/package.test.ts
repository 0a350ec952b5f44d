// The packed package as an operator installs it (docs/operating/install.md), and then uses it.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { packPackage } from '../../dev/build/package.ts'
import { findFreePort } from '../../dev/postgres.ts'
import type { Credentials } from '../../dev/service.ts'
import { createEmptyDatabase } from '../database.ts'
import { obtainToken, verifyReleases } from '../fixtures/api-client.ts'
import { createDirectory, waitUntil } from '../fixtures/operate/program.ts'

describe('the installed package', { concurrency: false }, async () => {
  const root = path.resolve(import.meta.dirname, '../..')
  const home = createDirectory()
  const tarball = await packPackage(createDirectory())
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }
  execFileSync('tar', ['-xzf', tarball, '-C', home, '--strip-components=1'])
  const options = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  execFileSync('npm', ['ci', '--prefix', home, ...options], { stdio: 'pipe' })
  const program = (name: 'cli' | 'main') => path.join(home, 'src', `${name}.js`)
  const port = await findFreePort()
  const baseUrl = `http://127.0.0.1:${port}`
  const files = createDirectory()
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: await createEmptyDatabase(),
    OUTBREAKS_SECRET: randomBytes(32).toString('base64url'),
    OUTBREAKS_BASE_URL: baseUrl,
    OUTBREAKS_PORT: String(port),
    OUTBREAKS_FILES: files,
    OUTBREAKS_DRAIN_SECONDS: '0',
  }
  const outbreakctl = (...args: string[]): unknown =>
    JSON.parse(execFileSync(program('cli'), args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }))

  test('has no TypeScript and no development dependency', () => {
    assert.deepEqual(globSync('src/**/*.ts', { cwd: home }), [])
    for (const name of ['typescript', 'esbuild', '@biomejs/biome', 'playwright-core', 'preact', 'fast-check'])
      assert.ok(!existsSync(path.join(home, 'node_modules', name)), `${name} is installed`)
  })

  test('has the versions of the lock file, and no others', () => {
    const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string }>
    }
    const installed = globSync('node_modules/**/package.json', { cwd: home })
      .map((file) => path.dirname(file))
      .filter((location) => /(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/.test(location))
    for (const location of installed) {
      const { version: found } = JSON.parse(readFileSync(path.join(home, location, 'package.json'), 'utf8')) as {
        version: string
      }
      assert.equal(found, packages[location]?.version, location)
    }
    assert.ok(installed.length > 60, `only ${installed.length} were compared`)
  })

  test('has every program that deploy/cron runs, and they can be run', () => {
    const programs = globSync('deploy/*', { cwd: root, withFileTypes: true })
      .filter((entry) => entry.isFile() && (statSync(path.join(entry.parentPath, entry.name)).mode & 0o111) !== 0)
      .map(({ name }) => name)
    const cron = readFileSync(path.join(home, 'deploy/cron'), 'utf8')
    const named = programs.filter((name) => new RegExp(`\\b${name}\\b`).test(cron))
    assert.deepEqual(named.sort(), ['certificate-check', 'record-job', 'restore-drill'])
    for (const name of named) assert.ok(statSync(path.join(home, 'deploy', name)).mode & 0o111, `${name} cannot be run`)
  })

  test('outbreakctl says its version', () => {
    assert.equal(execFileSync(program('cli'), ['--version'], { env, encoding: 'utf8' }).trim(), version)
  })

  test('from an empty database to a verified release', async () => {
    outbreakctl('migrate')
    outbreakctl('key', 'rotate')
    const credentials = outbreakctl('client', 'create', '--name', 'Test') as Credentials
    outbreakctl('release', 'publish', path.join(home, 'sample/releases/1'))
    const server = spawn(program('main'), { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [server.stdout, server.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    after(() => server.kill('SIGKILL'))
    await waitUntil('the node is ready', async () =>
      fetch(`${baseUrl}/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    assert.deepEqual(await (await fetch(`${baseUrl}/live`)).json(), { status: 'live', version })
    assert.match(output, new RegExp(`"version":"${version}"`))
    const token = await obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl)
    assert.equal(await verifyReleases(baseUrl, token), 1)
    const page = await (await fetch(`${baseUrl}/explore/sign-in`)).text()
    assert.match(page, /Sign in/)
    const filtered = await waitUntil('a filtered answer', async () => {
      const response = await fetch(`${baseUrl}/v2/hed-outbreaks/facets?count_kind=new`, {
        headers: { authorization: `Bearer ${token}` },
      })
      return response.ok && ((await response.json()) as object)
    })
    assert.ok('event' in filtered)
    const file = await fetch(`${baseUrl}/v2/hed-outbreaks/releases/1/files/hed-outbreaks-1.parquet`, {
      headers: { authorization: `Bearer ${token}` },
    })
    assert.equal(file.status, 200)
    server.kill('SIGTERM')
    await waitUntil('it stops', async () => server.exitCode !== null)
    assert.equal(server.exitCode, 0)
  })

  test('a Parquet file is read by the compiled worker', () => {
    const [file] = globSync(path.join(files, '*.parquet'))
    assert.ok(file)
    const input = createDirectory()
    execFileSync('cp', [file, path.join(input, 'outbreaks.parquet')])
    execFileSync('cp', [path.join(home, 'sample/releases/1/release.json'), input])
    const { stdout } = spawnSync(program('cli'), ['release', 'check', input], { env, encoding: 'utf8' })
    const { findings } = JSON.parse(stdout) as { findings: { rule: string }[] }
    // A file of a release has fields that the service derives, which are no columns of an input.
    assert.ok(findings.length > 0)
    for (const { rule } of findings) assert.equal(rule, 'unknown')
  })
})
