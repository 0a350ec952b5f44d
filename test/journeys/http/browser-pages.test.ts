// A browser reads spliced pages: from the running service, packed as it always asks for them, the same bytes as without.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { newSettings, outbreakctl, prepareDatabase, type Service, startService } from '../../../dev/service.ts'
import { writeSynthRelease } from '../../../dev/synth/synthesise.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'
import { fc } from '../../seed.ts'
import { openBrowser, skip } from './browser.ts'

const RECORDS = 2000
const RELEASES = [1, 2, 3]
const V1 = '/v1/hed-outbreaks/outbreaks'
const V2 = '/v2/hed-outbreaks/outbreaks'
/** A body that has fewer bytes without gzip is sent so. */
const GZIP_FROM_BYTES = 1024
const PAGES = Number(process.env['BROWSER_PAGES'] ?? 200)
const WAIT_MS = 10_000

interface Question {
  addresses: string[]
  token: string
  wait: number
}

interface Read {
  status: number
  encoding: string | null
  sha256: string
  /** Of a page of v2. */
  next: string | null
  records: number
}

/** Runs in the browser, so it may use nothing but what it is given. One after the other: nobody is to be overloaded. */
async function readInPage({ addresses, token, wait }: Question): Promise<Read[]> {
  const read = async (address: string): Promise<Read> => {
    const response = await fetch(address, {
      headers: { authorization: `Bearer ${token}` },
      cache: 'no-store',
      signal: AbortSignal.timeout(wait),
    })
    const bytes = await response.arrayBuffer()
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
    const text = new TextDecoder().decode(bytes)
    const body = text.startsWith('{"data":')
      ? (JSON.parse(text) as { data: unknown[]; next_page: string | null })
      : null
    return {
      status: response.status,
      encoding: response.headers.get('content-encoding'),
      sha256: Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join(''),
      next: body?.next_page ?? null,
      records: body?.data.length ?? 0,
    }
  }
  const answers: Read[] = []
  for (const address of addresses) answers.push(await read(address))
  return answers
}

describe('a browser', { skip }, () => {
  let service: Service
  let token: string
  let browser: Browser
  let page: Page
  const recordsOf = new Map<number, number>()

  before(async () => {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-browser-'))
    const settings = newSettings(await createTestDatabase())
    const credentials = await prepareDatabase(settings)
    const synthesise = async (release: number) => {
      const out = path.join(directory, String(release))
      await writeSynthRelease({ records: RECORDS, seed: 1, release }, out)
      return out
    }
    const made = await Promise.all(RELEASES.map(synthesise))
    for (const [i, out] of made.entries()) {
      const { records } = await outbreakctl<{ records: number }>(settings, 'release', 'publish', out)
      recordsOf.set(RELEASES[i] ?? 0, records)
    }
    await rm(directory, { recursive: true })
    service = await startService(settings)
    token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
    browser = await openBrowser()
    page = await browser.newPage()
    // The one page of the service whose policy lets it ask the service.
    await page.goto(`${service.baseUrl}/reference`, { timeout: 20_000 })
  })
  after(() => browser.close())
  after(() => service.stop())

  const read = (addresses: string[], from = page) => from.evaluate(readInPage, { addresses, token, wait: WAIT_MS })

  async function readBare(address: string): Promise<Buffer> {
    const response = await fetch(service.baseUrl + address, {
      headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' },
      signal: AbortSignal.timeout(WAIT_MS),
    })
    assert.deepEqual([response.status, response.headers.get('content-encoding')], [200, null])
    return Buffer.from(await response.arrayBuffer())
  }

  /** Gives what the browser read. */
  async function assertSame(addresses: string[]): Promise<Read[]> {
    const answers = await read(addresses)
    for (const [i, { status, encoding, sha256 }] of answers.entries()) {
      const address = addresses[i] ?? ''
      const bare = await readBare(address)
      const expected = [200, bare.length < GZIP_FROM_BYTES ? null : 'gzip', hash('sha256', bare)]
      assert.deepEqual([status, encoding, sha256], expected, address)
    }
    return answers
  }

  const sizes = fc.integer({ min: 1, max: 1000 })

  test('reads any page of v1 as it is without gzip', async (t) => {
    const places = fc.record({ offset: fc.nat(RECORDS + 10), num: sizes, release: fc.constantFrom(...RELEASES) })
    const addresses = fc
      .sample(places, PAGES)
      .map(({ offset, num, release }) => `${V1}?offset=${offset}&num=${num}&release=${release}`)
    const packed = (await assertSame(addresses)).filter(({ encoding }) => encoding === 'gzip').length
    t.diagnostic(`${packed} of ${PAGES} came packed`)
    assert.ok(packed > PAGES / 2)
  })

  test('walks v2 from the first page to the last, and reads a page from any cursor as it is without gzip', async (t) => {
    const cursors: string[] = []
    for (const release of RELEASES) {
      let [next, seen]: [string | null, number] = [null, 0]
      do {
        const place = next === null ? `release=${release}` : `page=${next}`
        const [answer] = await assertSame([`${V2}?num=97&${place}`])
        seen += answer?.records ?? 0
        next = answer?.next ?? null
        if (next !== null) cursors.push(next)
      } while (next !== null)
      assert.equal(seen, recordsOf.get(release))
    }
    const places = fc.record({ cursor: fc.constantFrom(...cursors), num: sizes })
    await assertSame(fc.sample(places, PAGES).map(({ cursor, num }) => `${V2}?num=${num}&page=${cursor}`))
    t.diagnostic(`${cursors.length + RELEASES.length} pages walked, ${PAGES} at random`)
  })

  // Chromium does not look at the checksum of a body: what it inflates is compared, by its digest.
  test('refuses a body that was damaged on the way, or reads what is noticed to be another', async (t) => {
    const address = `${V1}?num=330&release=2`
    const whole = await readPacked(service.baseUrl + address, token)
    const damaged = (at: number) => whole.with(at, (whole[at] ?? 0) ^ 0xff)
    const bodies = new Map([
      ['/whole', whole],
      ...[0.1, 0.3, 0.5, 0.7, 0.9].map((part) => [`/${part}`, damaged(Math.floor(whole.length * part))] as const),
      ['/cut', whole.subarray(0, whole.length / 2)],
    ])
    const server = createServer((request, response) => {
      const body = bodies.get(request.url ?? '') ?? Buffer.alloc(0)
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': body.length }).end(body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    after(() => server.close())
    const elsewhere = await browser.newPage()
    await elsewhere.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)

    const expected = hash('sha256', await readBare(address))
    for (const name of bodies.keys()) {
      const sha256 = await read([name], elsewhere).then(
        ([answer]) => answer?.sha256,
        () => 'refused',
      )
      assert.equal(sha256 === expected, name === '/whole', `${name}: ${sha256}`)
      t.diagnostic(`${name}: ${sha256}`)
    }
  })
})

/** The bytes as they are sent. */
const readPacked = (address: string, token: string): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip' }
    get(address, { headers, timeout: WAIT_MS }, (response) => {
      assert.equal(response.headers['content-encoding'], 'gzip')
      resolve(buffer(response))
    })
      .on('error', reject)
      .on('timeout', () => reject(new Error('no answer')))
  })
