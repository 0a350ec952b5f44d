// A node keeps its column index in a directory. Killed at any moment, while releases are published, it answers exactly after
// the next start. Two processes share the directory.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { newSettings, prepareDatabase, type Service, startService } from '../../../dev/service.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'
import { writeNdjson } from '../../fixtures/releases.ts'

const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 6)
const RECORDS = 500
const RETRIES = 40

const url = await createTestDatabase()
const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-index-journey-'))
const operator = openDatabase({ url, role: 'outbreaks_operator' })
const settings = newSettings(url)
const services: Service[] = []
after(async () => {
  for (const service of services) service.process.kill('SIGKILL')
  await operator.close()
  await rm(directory, { recursive: true, force: true })
})

/** Release r has RECORDS records; those whose number is divisible by r have r cases. */
const publish = async (release: number) =>
  publishRelease(
    operator,
    hedOutbreaks,
    await writeNdjson(
      Array.from({ length: RECORDS }, (_, i) => ({ key: `${i}`, cases: i % release === 0 ? release : 1000 })),
    ),
  )
const expectedCount = (release: number) => Math.ceil(RECORDS / release)

async function start(overrides: Record<string, string> = {}): Promise<Service> {
  const service = await startService(settings, { OUTBREAKS_INDEX: directory, ...overrides })
  services.push(service)
  return service
}

async function get(service: Service, token: string, target: string): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(`${service.baseUrl}/v2/hed-outbreaks/outbreaks?${target}`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(30_000),
    })
    if (response.status !== 503 || attempt === RETRIES) return response
    await response.arrayBuffer()
    await wait(250)
  }
}

async function assertCount(service: Service, token: string, release: number): Promise<void> {
  const response = await get(
    service,
    token,
    `release=${release}&cases_max=${release}&cases_min=${release}&count=exact&num=1`,
  )
  assert.equal(response.status, 200, await response.text())
  assert.equal(response.headers.get('outbreaks-count'), String(expectedCount(release)))
}

test('a node that is killed while releases are published answers exactly after the next start', async () => {
  const credentials = await prepareDatabase(settings)
  await publish(1)
  let published = 1
  for (let round = 1; round <= ROUNDS; round += 1) {
    const service = await start()
    const token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
    await assertCount(service, token, published)
    published += 1
    await publish(published)
    // Before, while and after the node extends its index.
    await wait(round * 150)
    service.process.kill('SIGKILL')
    await service.exited
  }
  const service = await start()
  const token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
  for (let release = published; release >= 1; release -= 1) await assertCount(service, token, release)
  assert.equal((await readdir(directory)).filter((name) => name.endsWith('.duckdb')).length, 1)

  const second = await start()
  const secondToken = await obtainToken(credentials, `${second.baseUrl}/oauth/token`, second.baseUrl)
  await assertCount(second, secondToken, published)
  assert.equal((await readdir(directory)).filter((name) => name.endsWith('.duckdb')).length, 2)
  await Promise.all([service.stop(), second.stop()])
})
