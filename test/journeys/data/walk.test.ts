// A walk over a million records with v2 reads exactly the release it started on, although two more releases are published
// during the read, each with 1 % corrections and some withdrawals. v1 returns the same records at random offsets.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { newSettings, outbreakctl, prepareDatabase, startService } from '../../../dev/service.ts'
import { synthesise, writeSynthRelease } from '../../../dev/synth/synthesise.ts'
import { inputFields } from '../../../src/datasets/define.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'

const RECORDS = Number(process.env['WALK_RECORDS'] ?? 1_000_000)
const SEED = 7
type Row = Record<string, unknown>

const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-walk-'))
after(() => rm(directory, { recursive: true, force: true }))
const settings = newSettings(await createTestDatabase())

async function writeRelease(release: number): Promise<string> {
  const out = path.join(directory, String(release))
  await writeSynthRelease({ records: RECORDS, seed: SEED, release }, out)
  return out
}

async function publishRelease(release: number): Promise<Row> {
  const out = await writeRelease(release)
  const summary = await outbreakctl<Row>(settings, 'release', 'publish', out)
  await rm(out, { recursive: true })
  return summary
}

const given = inputFields(hedOutbreaks).map((field) => field.name)
const contentOf = (row: Row) => JSON.stringify(given.map((name) => row[name]))
const fingerprint = (record: Row) => hash('md5', JSON.stringify(record)).slice(0, 16)

test(`a walk over ${RECORDS} records is complete and consistent while releases are published, and v1 agrees with it`, async (t) => {
  const credentials = await prepareDatabase(settings, await writeRelease(1))
  const service = await startService(settings)
  after(() => service.stop())
  const token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)

  async function read(query: string) {
    const response = await fetch(`${service.baseUrl}/${query}`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(10_000),
    })
    assert.equal(response.status, 200)
    return { release: Number(response.headers.get('outbreaks-release')), body: await response.json() }
  }
  const readPage = async (parameters: string) => {
    const { release, body } = await read(`v2/hed-outbreaks/outbreaks?${parameters}`)
    return { release, ...(body as { data: Row[]; has_more: boolean; next_page: string | null }) }
  }

  const expected = synthesise({ records: RECORDS, seed: SEED, release: 1 })
  const fingerprints: string[] = []
  const publishing = new Map<number, Promise<Row>>()
  let lastId = 0
  let next: string | null = null
  const began = performance.now()
  let waited = 0
  do {
    const { release, data, has_more, next_page } = await readPage(`num=1000${next === null ? '' : `&page=${next}`}`)
    assert.equal(release, 1)
    assert.equal(has_more, next_page !== null)
    for (const record of data) {
      assert.ok(Number(record['id']) > lastId)
      lastId = Number(record['id'])
      assert.equal(contentOf(record), contentOf(expected.next().value ?? {}))
      fingerprints.push(fingerprint(record))
    }
    next = next_page
    // After each third of the walk a publication starts; the next one waits for it.
    const third = Math.floor((fingerprints.length / RECORDS) * 3) + 1
    if (fingerprints.length < RECORDS && third > 1 && !publishing.has(third)) {
      const paused = performance.now()
      await publishing.get(third - 1)
      waited += performance.now() - paused
      publishing.set(third, publishRelease(third))
    }
  } while (next !== null)
  assert.equal(fingerprints.length, RECORDS)
  assert.equal(expected.next().done, true)
  t.diagnostic(
    `walked ${fingerprints.length} records in ${((performance.now() - began - waited) / 1000).toFixed(1)} s during two publications`,
  )

  const [second, third] = await Promise.all(publishing.values())
  for (const [number, summary] of [
    [2, second],
    [3, third],
  ] as const) {
    t.diagnostic(`release ${number}: ${JSON.stringify(summary)}`)
    assert.equal(summary?.['release'], number)
    assert.ok(Math.abs(Number(summary['corrected']) / RECORDS - 0.01) < 0.002)
    assert.ok(Number(summary['withdrawn']) > 0)
  }
  await wait(2000)
  assert.equal((await readPage('num=1')).release, 3)

  for (let i = 0; i < 200; i++) {
    const offset = Math.floor((RECORDS * ((i * 7919) % 200)) / 200) + ((i * 31) % 997)
    const num = 1 + ((i * 37) % 1000)
    const { release, body } = await read(`v1/hed-outbreaks/outbreaks?release=1&offset=${offset}&num=${num}`)
    assert.equal(release, 1)
    assert.deepEqual((body as Row[]).map(fingerprint), fingerprints.slice(offset, offset + num))
  }
})
