// A million records walked through v2 while two further releases, each changing 1 % and removing some, are published
// in the middle of the walk: exactly the release it started on. And v1 at random offsets equals v2's order.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { newSettings, outbreakctl, prepareDatabase, startService } from '../../../dev/service.ts'
import { synthesise, writeSynthRelease } from '../../../dev/synth/synthesise.ts'
import { givenFields } from '../../../src/datasets/define.ts'
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
  const answer = await outbreakctl<Row>(settings, 'release', 'publish', out)
  await rm(out, { recursive: true })
  return answer
}

const given = givenFields(hedOutbreaks).map((field) => field.name)
const contentOf = (row: Row) => JSON.stringify(given.map((name) => row[name]))
const fingerprint = (record: Row) => hash('md5', JSON.stringify(record)).slice(0, 16)

test(`a walk of ${RECORDS} records is whole and untorn while the data changes, and v1 agrees with it`, async (t) => {
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
  const seen: string[] = []
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
      seen.push(fingerprint(record))
    }
    next = next_page
    // Each publication begins here and ends before the walk has gone a third further.
    const third = Math.floor((seen.length / RECORDS) * 3) + 1
    if (seen.length < RECORDS && third > 1 && !publishing.has(third)) {
      const paused = performance.now()
      await publishing.get(third - 1)
      waited += performance.now() - paused
      publishing.set(third, publishRelease(third))
    }
  } while (next !== null)
  assert.equal(seen.length, RECORDS)
  assert.equal(expected.next().done, true)
  t.diagnostic(
    `walked ${seen.length} records in ${((performance.now() - began - waited) / 1000).toFixed(1)} s beside two publications`,
  )

  const [second, third] = await Promise.all(publishing.values())
  for (const [number, answer] of [
    [2, second],
    [3, third],
  ] as const) {
    t.diagnostic(`release ${number}: ${JSON.stringify(answer)}`)
    assert.equal(answer?.['release'], number)
    assert.ok(Math.abs(Number(answer['corrected']) / RECORDS - 0.01) < 0.002)
    assert.ok(Number(answer['withdrawn']) > 0)
  }
  await wait(2000)
  assert.equal((await readPage('num=1')).release, 3)

  for (let i = 0; i < 200; i++) {
    const offset = Math.floor((RECORDS * ((i * 7919) % 200)) / 200) + ((i * 31) % 997)
    const num = 1 + ((i * 37) % 1000)
    const { release, body } = await read(`v1/hed-outbreaks/outbreaks?release=1&offset=${offset}&num=${num}`)
    assert.equal(release, 1)
    assert.deepEqual((body as Row[]).map(fingerprint), seen.slice(offset, offset + num))
  }
})
