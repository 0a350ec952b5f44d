// The OCI image: built twice the same, without a shell, and running as a user without rights on a file system that it cannot write;
// alone, and as each of our services in deploy/compose.yaml.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type BuiltImage, buildImage } from '../../dev/build/image.ts'
import { findFreePort } from '../../dev/postgres.ts'
import { createEmptyDatabase } from '../database.ts'
import { obtainToken, verifyReleases } from '../fixtures/api-client.ts'
import {
  type Composition,
  isOurs,
  LIMITS,
  PODMAN,
  startComposition,
  withoutCompose,
} from '../fixtures/operate/compose.ts'
import { createDirectory, waitUntil, withoutPrograms } from '../fixtures/operate/program.ts'

const skip = withoutPrograms('buildah', 'podman', 'runc') || (process.getuid?.() === 0 ? false : 'needs root')
const root = path.resolve(import.meta.dirname, '../..')
/** Three processes start at once, on a machine that may do more. */
const HEALTHY_MS = 120_000
/** As strict as deploy/compose.yaml and deploy/kubernetes. */
const RESTRICTED = [
  ...['--read-only', '--cap-drop', 'all', '--security-opt', 'no-new-privileges', '--network', 'host'],
  ...LIMITS,
]

describe('the image', { skip, concurrency: false, timeout: 1_800_000 }, () => {
  let image: BuiltImage
  const output = createDirectory()
  const podman = (...args: string[]) =>
    execFileSync('podman', [...PODMAN, ...args], { encoding: 'utf8', stdio: 'pipe' })
  before(async () => {
    image = await buildImage(output)
  })

  const inspect = () => JSON.parse(podman('image', 'inspect', image.name))[0]

  test('is the same when it is built again', async () => {
    const again = await buildImage(createDirectory())
    assert.equal(again.id, image.id)
    assert.deepEqual(readFileSync(again.sbom), readFileSync(image.sbom))
  })

  test('has labels, a user without rights and no shell', () => {
    const { Config, User = Config.User } = inspect()
    const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
    assert.equal(Config.Labels['org.opencontainers.image.version'], version)
    assert.match(Config.Labels['org.opencontainers.image.revision'], /^[0-9a-f]{40}$/)
    assert.equal(Config.Labels['org.opencontainers.image.licenses'], 'Apache-2.0')
    assert.equal(User, '65532:65532')
    assert.notEqual(spawnSync('podman', [...PODMAN, 'run', '--rm', ...RESTRICTED, image.name, '/bin/sh']).status, 0)
  })

  test('has an SBOM with the packages of npm, Node and the libraries', () => {
    const { bomFormat, components } = JSON.parse(readFileSync(image.sbom, 'utf8')) as {
      bomFormat: string
      components: { name: string; version: string; purl: string }[]
    }
    assert.equal(bomFormat, 'CycloneDX')
    for (const name of ['fastify', 'pg', 'node', 'libc6'])
      assert.ok(
        components.some((component) => component.name === name && component.version !== ''),
        `${name} is missing`,
      )
    assert.ok(!components.some(({ name }) => name === 'esbuild' || name === 'typescript'))
  })

  test('is smaller than 350 MB', (t) => {
    const megabytes = inspect().Size / 1e6
    t.diagnostic(`${Math.round(megabytes)} MB`)
    assert.ok(megabytes < 350, `${megabytes} MB`)
  })

  test('runs: from an empty database to a verified release, restricted and read-only', async () => {
    const port = await findFreePort()
    const baseUrl = `http://127.0.0.1:${port}`
    const databaseUrl = await createEmptyDatabase()
    const variables = {
      DATABASE_URL: databaseUrl,
      OUTBREAKS_SECRET: randomBytes(32).toString('base64url'),
      ...{ OUTBREAKS_BASE_URL: baseUrl, OUTBREAKS_PORT: String(port), OUTBREAKS_HOST: '127.0.0.1' },
      OUTBREAKS_DRAIN_SECONDS: '0',
    }
    const env = Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`])
    const outbreakctl = (...args: string[]) =>
      podman(
        'run',
        '--rm',
        ...RESTRICTED,
        ...env,
        '--volume',
        `${root}/sample:/sample:ro`,
        image.name,
        'outbreakctl',
        ...args,
      )
    outbreakctl('migrate')
    outbreakctl('key', 'rotate')
    const credentials = JSON.parse(outbreakctl('client', 'create', '--name', 'Test'))
    outbreakctl('release', 'publish', '/sample/releases/1')
    const name = `outbreaks-test-${process.pid}`
    podman('run', '--detach', '--name', name, '--memory', '700m', ...RESTRICTED, ...env, image.name)
    after(() => spawnSync('podman', [...PODMAN, 'rm', '--force', name]))
    await waitUntil('the node is ready', async () =>
      fetch(`${baseUrl}/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    const token = await obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl)
    assert.equal(await verifyReleases(baseUrl, token), 1)
    await waitUntil('a filtered answer', async () => {
      const response = await fetch(`${baseUrl}/v2/hed-outbreaks/facets?count_kind=new`, {
        headers: { authorization: `Bearer ${token}` },
      })
      return response.ok
    })
    const began = performance.now()
    podman('stop', '--time', '20', name)
    assert.ok(performance.now() - began < 15_000)
    assert.match(podman('logs', name), /"msg":"stopped"/)
  })

  // In the order of the commands at the top of the file.
  describe('in the services of deploy/compose.yaml', { skip: withoutCompose }, () => {
    const directory = createDirectory()
    const sample = path.join(root, 'sample/releases/1')
    const RUNNING = ['node1', 'node2', 'notifier']
    let services: Composition
    let token = ''
    before(async () => {
      services = await startComposition(directory, sample)
    })
    after(() => services?.stop())
    const urlOf = (service: string) => `http://${services.addressOf(service)}:8080`
    const operator = async (...args: string[]) =>
      JSON.parse(await services.compose('run', '--rm', '--no-deps', '-T', ...args))
    const read = (service: string, address: string) =>
      fetch(urlOf(service) + address, {
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(10_000),
      })
    const isHealthy = (service: string) =>
      services.podman('healthcheck', 'run', services.containerOf(service)).then(
        () => true,
        () => false,
      )

    test('migrate ends, and the nodes and the notifier become healthy', async () => {
      const ours = Object.values(services.file.services).filter(isOurs)
      assert.deepEqual([...new Set(ours.map((service) => service.image))], [image.name])
      await services.compose('up', '--detach', '--no-deps', 'migrate')
      const container = services.containerOf('migrate')
      assert.equal((await services.podman('wait', container)).trim(), '0', await services.podman('logs', container))
      await services.compose('up', '--detach', '--no-deps', ...RUNNING)
      for (const service of RUNNING) await waitUntil(`${service} is healthy`, () => isHealthy(service), HEALTHY_MS)
    })

    test('the operator makes a key, a client and a release, and verifies it with its files', async () => {
      await operator('operator', 'key', 'rotate')
      const credentials = await operator('operator', 'client', 'create', '--name', 'Test')
      await operator('operator', 'release', 'publish', '/input')
      const [{ release, differences }] = await operator('operator', 'release', 'verify')
      assert.deepEqual({ release, differences }, { release: 1, differences: [] })
      const { OUTBREAKS_BASE_URL: audience = '' } = services.file.services['node1']?.environment ?? {}
      token = await obtainToken(credentials, `${urlOf('node1')}/oauth/token`, audience)
    })

    test('with an index that no volume has, the operator would verify nothing', async () => {
      await assert.rejects(operator('-e', 'OUTBREAKS_INDEX=/index', 'operator', 'release', 'verify'), /OUTBREAKS_INDEX/)
    })

    test('both nodes answer: with filters, from the store, and from the notifier', async () => {
      for (const node of ['node1', 'node2']) {
        assert.equal(await verifyReleases(urlOf(node), token), 1)
        await waitUntil(
          'a filtered answer',
          async () => (await read(node, '/v2/hed-outbreaks/facets?count_kind=new')).ok,
        )
        const { files } = (await (await read(node, '/v2/hed-outbreaks/releases/1')).json()) as {
          files: { name: string }[]
        }
        const file = await read(node, `/v2/hed-outbreaks/releases/1/files/${files[0]?.name}`)
        assert.equal(file.status, 200, await file.text())
        const watches = await read(node, '/v2/hed-outbreaks/watches')
        assert.equal(watches.status, 200, await watches.text())
        const metrics = await fetch(`http://${services.addressOf(node)}:9464/metrics`)
        assert.match(await metrics.text(), /^outbreaks_ready 1$/m)
      }
    })

    test('without the database no node is healthy, and Caddy would wait', async () => {
      const { depends_on = {} } = services.file.services['caddy'] ?? {}
      assert.deepEqual(depends_on, {
        node1: { condition: 'service_healthy' },
        node2: { condition: 'service_healthy' },
      })
      await services.cluster.stopServer()
      for (const node of Object.keys(depends_on)) {
        await waitUntil(`${node} is not healthy`, async () => !(await isHealthy(node)))
        assert.equal((await fetch(`${urlOf(node)}/live`)).status, 200)
      }
    })
  })
})
