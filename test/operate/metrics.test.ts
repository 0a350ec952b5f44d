// The metrics of a node, read by a real Prometheus, and the alerts: each fires by a real fault and ends when the fault does.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { createCluster, findFreePort } from '../../dev/postgres.ts'
import { createReplica } from '../../dev/replica.ts'
import { newSettings, outbreakctl, prepareDatabase, startService } from '../../dev/service.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { createDirectory, startProgram, waitUntil, withoutPrograms, writeIn } from '../fixtures/operate/program.ts'
import { startRedis, withoutRedis } from '../fixtures/redis-server.ts'

const root = path.resolve(import.meta.dirname, '../..')
const rules = readFileSync(path.join(root, 'deploy/prometheus/alerts.yml'), 'utf8')
const ALERTS = [...rules.matchAll(/alert: (\w+)/g)].map(([, name = '']) => name)
const skip = withoutPrograms('prometheus', 'promtool') || withoutRedis

describe('the rules and the dashboard', { skip: withoutPrograms('promtool') }, () => {
  const check = (...args: string[]) =>
    spawnSync('promtool', args, { encoding: 'utf8', cwd: path.join(root, 'deploy/prometheus') })

  test('promtool accepts the rules, and their tests pass', () => {
    for (const args of [
      ['check', 'rules', 'alerts.yml'],
      ['test', 'rules', 'alerts.test.yml'],
    ]) {
      const { status, stdout, stderr } = check(...args)
      assert.equal(status, 0, stdout + stderr)
    }
  })

  test('every alert has a test in which it fires and one in which it does not, and a runbook', () => {
    const tests = readFileSync(path.join(root, 'deploy/prometheus/alerts.test.yml'), 'utf8')
    const runbooks = readFileSync(path.join(root, 'docs/runbooks.md'), 'utf8')
    assert.ok(ALERTS.length >= 21)
    for (const name of ALERTS) {
      const [none, some] = ['exp_alerts: \\[\\]', 'exp_alerts:\\n'].map((alerts) =>
        new RegExp(`alertname: ${name}\n +${alerts}`).test(tests),
      )
      assert.ok(none && some, `${name} has not two tests`)
      assert.ok(runbooks.includes(`\n## ${name}\n`), `${name} has no runbook`)
      assert.ok(rules.includes(`runbook: docs/runbooks.md#${name.toLowerCase()}\n`), `${name} names no runbook`)
    }
    for (const [, name = ''] of runbooks.matchAll(/^## (Outbreaks\w+)$/gm))
      assert.ok(ALERTS.includes(name), `${name} has a runbook, but there is no such alert`)
  })

  test('a rule that cannot fire is found by its test', async () => {
    const directory = createDirectory()
    writeIn(directory, 'alerts.yml', rules.replace('outbreaks_ready == 0', 'outbreaks_ready == 2'))
    writeIn(directory, 'alerts.test.yml', readFileSync(path.join(root, 'deploy/prometheus/alerts.test.yml'), 'utf8'))
    assert.equal(spawnSync('promtool', ['test', 'rules', 'alerts.test.yml'], { cwd: directory }).status, 1)
  })
})

describe('a node that Prometheus reads', { skip, concurrency: false }, async () => {
  if (skip !== false) return
  const primary = await createCluster({ durable: true })
  after(() => primary.stop())
  const files = createDirectory()
  process.env['OUTBREAKS_FILES'] = files
  const settings = newSettings(primary.url)
  const credentials = await prepareDatabase(settings, path.join(root, 'sample/releases/1'))
  const replica = await createReplica(primary)
  after(() => replica.stop())
  const redis = await startRedis()
  const ports = [await findFreePort(), await findFreePort()]
  const start = (databaseUrl: string, metrics: number | undefined) =>
    startService(
      { ...settings, databaseUrl },
      { OUTBREAKS_REDIS_URL: redis.url, OUTBREAKS_METRICS_PORT: String(metrics) },
    )
  const onPrimary = await start(primary.url, ports[0])
  after(onPrimary.stop)
  let onReplica = await start(replica.url, ports[1])
  after(() => onReplica.stop())
  const token = await obtainToken(credentials, `${onPrimary.baseUrl}/oauth/token`, onPrimary.baseUrl)
  const get = (pathname: string) =>
    fetch(onPrimary.baseUrl + pathname, { headers: { authorization: `Bearer ${token}` } })

  const directory = createDirectory()
  // The same rules, with shorter waits. Nothing here runs the tasks that others wait for during hours.
  writeIn(directory, 'alerts.yml', rules.replaceAll(/for: \d+[sm]/g, 'for: 1s').replaceAll(/\[(5|10|15)m\]/g, '[10s]'))
  const targets = ports.map((port) => `"127.0.0.1:${port}"`).join(', ')
  const configuration = writeIn(
    directory,
    'prometheus.yml',
    `global: { scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms }
rule_files: [alerts.yml]
scrape_configs:
  - { job_name: outbreaks, static_configs: [{ targets: [${targets}] }] }
`,
  )
  const port = await findFreePort()
  await startProgram(
    'prometheus',
    [
      `--config.file=${configuration}`,
      `--storage.tsdb.path=${directory}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { port },
  )
  const query = async (expression: string): Promise<number[]> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`)
    const { data } = (await response.json()) as { data: { result: { value: [number, string] }[] } }
    return data.result.map(({ value }) => Number(value[1]))
  }
  const firing = async (): Promise<string[]> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/alerts`)
    const { data } = (await response.json()) as { data: { alerts: { state: string; labels: { alertname: string } }[] } }
    return data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname)
  }
  const waitFor = (name: string, isFiring: boolean) =>
    waitUntil(
      `${name} ${isFiring ? 'fires' : 'ends'}`,
      async () => (await firing()).includes(name) === isFiring,
      40_000,
    )

  test('promtool accepts the exposition', async () => {
    const text = await (await fetch(`http://127.0.0.1:${ports[0]}/metrics`)).text()
    const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
    // Its advice about names concerns the default metrics of prom-client.
    assert.ok(status === 0 || status === 3, stderr)
    assert.ok(!stderr.includes('outbreaks_'), stderr)
  })

  test('every metric of the rules and of the dashboard exists', async () => {
    await get('/v2/hed-outbreaks/outbreaks?num=1')
    await get('/v2/hed-outbreaks/outbreaks?num=nothing')
    const text = await (await fetch(`http://127.0.0.1:${ports[0]}/metrics`)).text()
    const dashboard = readFileSync(path.join(root, 'deploy/grafana/dashboards/outbreaks.json'), 'utf8')
    const names = new Set((rules + dashboard).match(/\b(outbreaks_[a-z_]+|nodejs_[a-z0-9_]+|process_[a-z_]+)\b/g))
    assert.ok(names.size >= 15)
    // deploy/record-job writes those of tasks, and the notifier those of deliveries (test/watches).
    for (const name of [...names].filter((one) => !/^outbreaks_(task|deliver)/.test(one))) {
      const base = name.replace(/_bucket$/, '')
      assert.ok(text.includes(`# TYPE ${base} `), `${name} is not a metric`)
    }
  })

  test('every query of the dashboard is accepted and has an answer', async () => {
    await waitUntil('Prometheus has read both nodes', async () => (await query('sum(outbreaks_ready)'))[0] === 2)
    const { panels } = JSON.parse(
      readFileSync(path.join(root, 'deploy/grafana/dashboards/outbreaks.json'), 'utf8'),
    ) as {
      panels: { title: string; targets: { expr: string }[] }[]
    }
    for (const { title, targets: queries } of panels)
      for (const { expr } of queries) {
        execFileSync('promtool', ['query', 'instant', `http://127.0.0.1:${port}`, expr], { stdio: 'pipe' })
        await waitUntil(`${title} has an answer`, async () => {
          await (await get('/v2/hed-outbreaks/outbreaks?num=1')).arrayBuffer()
          return (await query(expr.replaceAll('[5m]', '[1m]'))).length > 0
        })
      }
  })

  test('responses are counted by route, status and caller; a cached one too', async () => {
    const count = async (labels: string) => {
      const text = await (await fetch(`http://127.0.0.1:${ports[0]}/metrics`)).text()
      const line = text
        .split('\n')
        .find((candidate) => candidate.startsWith(`outbreaks_http_responses_total{${labels}}`))
      return Number(line?.split(' ').at(-1) ?? 0)
    }
    const good = 'method="GET",route="/v2/hed-outbreaks/outbreaks",status="200",caller="client"'
    const before = await count(good)
    for (let i = 0; i < 5; i++) await (await get('/v2/hed-outbreaks/outbreaks?num=3')).arrayBuffer()
    await waitUntil('five more', async () => (await count(good)) === before + 5)
    await fetch(`${onPrimary.baseUrl}/v2/hed-outbreaks/outbreaks`)
    assert.ok((await count('method="GET",route="/v2/hed-outbreaks/outbreaks",status="401",caller="none"')) >= 1)
    await fetch(`${onPrimary.baseUrl}/nothing/here`)
    assert.ok((await count('method="GET",route="none",status="404",caller="none"')) >= 1)
  })

  test('no metric has a client id, a token or an address', async () => {
    const text = await (await fetch(`http://127.0.0.1:${ports[0]}/metrics`)).text()
    for (const secret of [credentials.client_id, credentials.client_secret, token, settings.secret, 'postgres://'])
      assert.ok(!text.includes(secret))
  })

  test('the public port has no metrics, and the metrics port nothing else', async () => {
    assert.equal((await fetch(`${onPrimary.baseUrl}/metrics`)).status, 404)
    assert.equal((await fetch(`http://127.0.0.1:${ports[0]}/v2/hed-outbreaks/outbreaks`)).status, 404)
  })

  test('while all is well, no alert fires', async () => {
    assert.deepEqual(await firing(), [])
  })

  test('Redis is killed: OutbreaksQuotaNotShared', async () => {
    await redis.kill()
    const asked = waitUntil('the quota is counted alone', async () => {
      await (await get('/v2/hed-outbreaks/outbreaks?num=2')).arrayBuffer()
      return (await firing()).includes('OutbreaksQuotaNotShared')
    })
    await asked
    await redis.start()
    await waitUntil('the alert ends', async () => {
      await (await get('/v2/hed-outbreaks/outbreaks?num=2')).arrayBuffer()
      return !(await firing()).includes('OutbreaksQuotaNotShared')
    })
  })

  test('a replica stands still: OutbreaksNodesDisagree, then OutbreaksStale', async () => {
    await replica.pause()
    await outbreakctl(settings, 'release', 'publish', path.join(root, 'sample/releases/2'))
    await waitFor('OutbreaksNodesDisagree', true)
    await waitFor('OutbreaksStale', true)
    await replica.resume()
    await waitFor('OutbreaksStale', false)
    await waitFor('OutbreaksNodesDisagree', false)
  })

  test('the replica is killed: OutbreaksNodeNotReady', async () => {
    await replica.kill()
    await waitFor('OutbreaksNodeNotReady', true)
    await replica.start()
    await waitFor('OutbreaksNodeNotReady', false)
  })

  test('a node is killed: OutbreaksNodeDown', async () => {
    onReplica.process.kill('SIGKILL')
    await waitFor('OutbreaksNodeDown', true)
    onReplica = await start(replica.url, ports[1])
    await waitFor('OutbreaksNodeDown', false)
  })

  test('both databases are gone: OutbreaksNoNodeReady and OutbreaksServerErrors', async () => {
    await Promise.all([replica.kill(), primary.kill()])
    let num = 0
    await waitUntil('both alerts fire', async () => {
      num = (num % 900) + 1
      await (await get(`/v2/hed-outbreaks/outbreaks?num=${num}`)).arrayBuffer()
      const names = await firing()
      return names.includes('OutbreaksNoNodeReady') && names.includes('OutbreaksServerErrors')
    })
    await primary.start()
    await replica.start()
    await waitFor('OutbreaksNoNodeReady', false)
  })

  test('a file is damaged: OutbreaksFileDamaged', async () => {
    await writeFile(path.join(files, 'hed-outbreaks-2.csv.gz'), 'something else')
    await waitUntil('the alert fires', async () => {
      const response = await get('/v2/hed-outbreaks/releases/2/files/hed-outbreaks-2.csv.gz')
      assert.ok(response.status >= 500)
      return (await firing()).includes('OutbreaksFileDamaged')
    })
  })
})
