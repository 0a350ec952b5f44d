// The demo image: from `podman run` to the first answer, with nothing but the image.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { buildDemoImage } from '../../dev/demo/image.ts'
import { findFreePort } from '../../dev/postgres.ts'
import { createDirectory, waitUntil, withoutPrograms } from '../fixtures/operate/program.ts'

const skip = withoutPrograms('buildah', 'podman', 'runc') || (process.getuid?.() === 0 ? false : 'needs root')
const driver = process.env['BUILDAH_STORAGE_DRIVER'] || 'vfs'
const PODMAN = ['--storage-driver', driver, '--cgroup-manager', 'cgroupfs', '--runtime', 'runc']
const LIMITS = ['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=2048:2048']
const name = `outbreaks-demo-${process.pid}`

describe('the demo image', { skip, concurrency: false, timeout: 900_000 }, () => {
  let baseUrl: string
  const podman = (...options: string[]) =>
    execFileSync('podman', [...PODMAN, ...options], { encoding: 'utf8', stdio: 'pipe' })

  before(async () => {
    const image = await buildDemoImage(createDirectory())
    const port = await findFreePort()
    baseUrl = `http://localhost:${port}`
    const variables = { OUTBREAKS_PORT: String(port), OUTBREAKS_BASE_URL: baseUrl }
    const env = Object.entries(variables).flatMap(([key, value]) => ['--env', `${key}=${value}`])
    podman('run', '--detach', '--name', name, '--network', 'host', ...LIMITS, ...env, image.name)
    await waitUntil('the instructions', () => Promise.resolve(readOutput().includes('/explore')), 120_000)
  })

  after(() => spawnSync('podman', [...PODMAN, 'rm', '--force', name]))

  function readOutput(): string {
    const { stdout, stderr } = spawnSync('podman', [...PODMAN, 'logs', name], { encoding: 'utf8' })
    return stdout + stderr
  }

  test('says what it is, and that it is not for production', () => {
    assert.match(readOutput(), /It is not for production/)
  })

  test('the commands that it prints give the first answer', () => {
    const commands = podman('logs', name).split('another terminal:')[1] ?? ''
    const answer = JSON.parse(execFileSync('sh', ['-c', commands], { encoding: 'utf8', timeout: 60_000 }))
    const [{ cases, deaths }] = answer.data
    assert.deepEqual({ cases, deaths }, { cases: 10_678, deaths: 4810 })
  })

  test('a guest can open the explorer', async () => {
    const page = await fetch(`${baseUrl}/explore`)
    assert.equal(page.status, 200)
  })

  test('ends cleanly, and writes that PostgreSQL was shut down', () => {
    podman('stop', '--time', '30', name)
    const { ExitCode } = JSON.parse(podman('inspect', name))[0].State
    assert.equal(ExitCode, 0)
    assert.match(readOutput(), /database system is shut down/)
  })
})
