// A real browser reads gzip pages of the running service: the bytes are the same as without gzip.
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
/** Smaller bodies are sent without gzip. */
const GZIP_FROM_BYTES = 1024
const PAGES = Number(process.env['BROWSER_PAGES'] ?? 200)
const TIMEOUT_MS = 10_000

interface PageRequest {
  urls: string[]
  token: string
  timeoutMs: number
}

interface PageResponse {
  status: number
  encoding: string | null
  sha256: string
  /** Only for a page of v2. */
  next: string | null
  records: number
}

/** Runs in the browser, so it can use only its argument. Requests are sequential, to avoid load shedding. */
async function readInPage({ urls, token, timeoutMs }: PageRequest): Promise<PageResponse[]> {
  const read = async (url: string): Promise<PageResponse> => {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${token}` },
      cache: 'no-store',
      signal: AbortSignal.timeout(timeoutMs),
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
  const responses: PageResponse[] = []
  for (const url of urls) responses.push(await read(url))
  return responses
}

describe('a browser', { skip }, () => {
  let service: Service
  let token: string
  let browser: Browser
  let page: Page
  const recordCounts = new Map<number, number>()

  before(async () => {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-browser-'))
    const settings = newSettings(await createTestDatabase())
    const credentials = await prepareDatabase(settings)
    const synthesise = async (release: number) => {
      const out = path.join(directory, String(release))
      await writeSynthRelease({ records: RECORDS, seed: 1, release }, out)
      return out
    }
    const directories = await Promise.all(RELEASES.map(synthesise))
    for (const [i, out] of directories.entries()) {
      const { records } = await outbreakctl<{ records: number }>(settings, 'release', 'publish', out)
      recordCounts.set(RELEASES[i] ?? 0, records)
    }
    await rm(directory, { recursive: true })
    service = await startService(settings)
    token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
    browser = await openBrowser()
    page = await browser.newPage()
    // The only page whose Content-Security-Policy allows requests to the service.
    await page.goto(`${service.baseUrl}/reference`, { timeout: 20_000 })
  })
  after(() => browser.close())
  after(() => service.stop())

  const read = (urls: string[], from = page) => from.evaluate(readInPage, { urls, token, timeoutMs: TIMEOUT_MS })

  async function readIdentity(pathname: string): Promise<Buffer> {
    const response = await fetch(service.baseUrl + pathname, {
      headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    assert.deepEqual([response.status, response.headers.get('content-encoding')], [200, null])
    return Buffer.from(await response.arrayBuffer())
  }

  /** Compares the responses in the browser with those without gzip, and returns them. */
  async function assertSameAsIdentity(paths: string[]): Promise<PageResponse[]> {
    const responses = await read(paths)
    for (const [i, { status, encoding, sha256 }] of responses.entries()) {
      const pathname = paths[i] ?? ''
      const identity = await readIdentity(pathname)
      const expected = [200, identity.length < GZIP_FROM_BYTES ? null : 'gzip', hash('sha256', identity)]
      assert.deepEqual([status, encoding, sha256], expected, pathname)
    }
    return responses
  }

  const sizes = fc.integer({ min: 1, max: 1000 })

  test('reads the same bytes of any v1 page as without gzip', async (t) => {
    const pages = fc.record({ offset: fc.nat(RECORDS + 10), num: sizes, release: fc.constantFrom(...RELEASES) })
    const paths = fc
      .sample(pages, PAGES)
      .map(({ offset, num, release }) => `${V1}?offset=${offset}&num=${num}&release=${release}`)
    const compressed = (await assertSameAsIdentity(paths)).filter(({ encoding }) => encoding === 'gzip').length
    t.diagnostic(`${compressed} of ${PAGES} with gzip`)
    assert.ok(compressed > PAGES / 2)
  })

  test('reads the same bytes of all v2 pages, and of a page from any cursor, as without gzip', async (t) => {
    const cursors: string[] = []
    for (const release of RELEASES) {
      let [next, seen]: [string | null, number] = [null, 0]
      do {
        const position = next === null ? `release=${release}` : `page=${next}`
        const [response] = await assertSameAsIdentity([`${V2}?num=97&${position}`])
        seen += response?.records ?? 0
        next = response?.next ?? null
        if (next !== null) cursors.push(next)
      } while (next !== null)
      assert.equal(seen, recordCounts.get(release))
    }
    const pages = fc.record({ cursor: fc.constantFrom(...cursors), num: sizes })
    await assertSameAsIdentity(fc.sample(pages, PAGES).map(({ cursor, num }) => `${V2}?num=${num}&page=${cursor}`))
    t.diagnostic(`${cursors.length + RELEASES.length} pages in order, ${PAGES} at random`)
  })

  // Chromium does not verify the checksum of a gzip body, so the digest of the decompressed bytes is compared.
  test('rejects a body that was damaged in transit, or reads bytes with another digest', async (t) => {
    const pathname = `${V1}?num=330&release=2`
    const complete = await readGzip(service.baseUrl + pathname, token)
    const damageAt = (index: number) => complete.with(index, (complete[index] ?? 0) ^ 0xff)
    const bodies = new Map([
      ['/whole', complete],
      ...[0.1, 0.3, 0.5, 0.7, 0.9].map((part) => [`/${part}`, damageAt(Math.floor(complete.length * part))] as const),
      ['/cut', complete.subarray(0, complete.length / 2)],
    ])
    const server = createServer((request, response) => {
      const body = bodies.get(request.url ?? '') ?? Buffer.alloc(0)
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': body.length }).end(body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    after(() => server.close())
    const elsewhere = await browser.newPage()
    await elsewhere.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)

    const expected = hash('sha256', await readIdentity(pathname))
    for (const name of bodies.keys()) {
      const sha256 = await read([name], elsewhere).then(
        ([response]) => response?.sha256,
        () => 'rejected',
      )
      assert.equal(sha256 === expected, name === '/whole', `${name}: ${sha256}`)
      t.diagnostic(`${name}: ${sha256}`)
    }
  })
})

/** The gzip bytes of the response. */
const readGzip = (url: string, token: string): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip' }
    get(url, { headers, timeout: TIMEOUT_MS }, (response) => {
      assert.equal(response.headers['content-encoding'], 'gzip')
      resolve(buffer(response))
    })
      .on('error', reject)
      .on('timeout', () => reject(new Error('no response')))
  })
