// A node that reaches its database over a slow link builds its column index from nothing. Meanwhile it serves pages without filters,
// and gives 503 for others. INDEX_RECORDS=1000000 for the measurement of docs/benchmarks.md.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '../../dev/postgres.ts'
import { type Credentials, newSettings, type Settings, startService } from '../../dev/service.ts'
import { writeSynthRelease } from '../../dev/synth/synthesise.ts'
import { createTestDatabase } from '../database.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { prepareInProcess } from '../fixtures/operate/prepared-database.ts'
import { createDirectory, waitUntil } from '../fixtures/operate/program.ts'
import { openSlowLink } from '../fixtures/operate/slow-link.ts'

const RECORDS = Number(process.env['INDEX_RECORDS'] ?? 2000)
const MEGABITS = [10, 20, 65, 100]
/** A million records at 10 Mbit/s take a small part of it. */
const TIMEOUT_MS = 300_000

describe(`a node with ${RECORDS} records`, () => {
  const directory = createDirectory()
  let settings: Settings
  let credentials: Credentials
  before(async () => {
    settings = newSettings(await createTestDatabase())
    const release = path.join(directory, 'release')
    await writeSynthRelease({ records: RECORDS, seed: 1, release: 1 }, release)
    credentials = await prepareInProcess(settings, release)
  })

  for (const megabits of MEGABITS)
    test(`builds its index at ${megabits} Mbit/s`, { timeout: TIMEOUT_MS + 60_000 }, async (context) => {
      const link = await openSlowLink(settings.databaseUrl, (megabits * 1e6) / 8)
      after(link.close)
      const port = await findFreePort()
      const baseUrl = `http://127.0.0.1:${port}`
      const startedAt = performance.now()
      const seconds = () => ((performance.now() - startedAt) / 1000).toFixed(1)
      const slow = { ...settings, databaseUrl: link.url }
      const starting = startService(slow, { OUTBREAKS_PORT: String(port) })
      const isReady = starting.then(seconds)
      const token = await waitUntil('a token', () =>
        obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl).catch(() => undefined),
      )
      const get = (query: string) =>
        fetch(`${baseUrl}/v2/hed-outbreaks/outbreaks?num=1${query}`, { headers: { authorization: `Bearer ${token}` } })

      const page = await get('')
      assert.equal(page.status, 200, await page.text())
      const paged = seconds()
      let unavailable = 0
      let filtered = await get('&cases_min=0&count=exact')
      while (filtered.status === 503 && performance.now() - startedAt < TIMEOUT_MS) {
        unavailable += 1
        assert.equal(filtered.headers.get('retry-after'), '1')
        await filtered.arrayBuffer()
        assert.equal((await get('')).status, 200)
        const ready = await fetch(`${baseUrl}/ready`)
        const { reasons } = (await ready.json()) as { reasons?: string[] }
        if (ready.status === 503) assert.deepEqual(reasons, ['index'])
        await wait(200)
        filtered = await get('&cases_min=0&count=exact')
      }
      const answered = seconds()
      assert.equal(filtered.status, 200, await filtered.text())
      assert.ok(Number(filtered.headers.get('outbreaks-count')) > RECORDS / 2)
      const service = await starting
      assert.doesNotMatch(service.output(), /the index failed/)
      assert.match(service.output(), /"reasons":\["index"\],"index":\{"hed-outbreaks":\{"state":"building"/)
      assert.match(service.output(), /"fetched_bytes":[1-9]\d*,"bytes":[1-9]\d*,"msg":"fetching the index"/)
      context.diagnostic(
        `${megabits} Mbit/s: page after ${paged} s, filtered answer after ${answered} s (${unavailable} × 503 before), ready after ${await isReady} s, ${(link.passed() / 1e6).toFixed(1)} MB from the database`,
      )
      await service.stop()
    })
})
