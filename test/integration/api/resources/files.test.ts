// Downloads: whole and in parts, by several at once, resumed, interrupted.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFile, truncate, unlink, writeFile } from 'node:fs/promises'
import { before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import {
  assertAllClosed,
  assertProblem,
  CSV,
  HOME,
  LARGE,
  LARGE_BYTES,
  openDownloads,
  startDownload,
} from '../../../fixtures/downloads.ts'

describe('the files of a release', async () => {
  const here = await openDownloads()
  let bytes: Buffer
  let sha256: string
  before(async () => {
    await here.export()
    bytes = await readFile(here.pathOf(CSV))
    sha256 = hash('sha256', bytes)
  })

  test('stand in its manifest with what proves them', async () => {
    const { files } = await here.manifest()
    assert.deepEqual(files[0], {
      ...{ name: CSV, media_type: 'text/csv; charset=utf-8', records: 2, bytes: bytes.length, sha256 },
      href: `https://api.test${HOME}/1/files/${CSV}`,
    })
    assert.deepEqual(
      files.map(({ name }) => name),
      [CSV, 'hed-outbreaks-1.ndjson', 'hed-outbreaks-1.parquet'],
    )
  })

  test('200: each comes whole, with type, size, name, tag and digest', async () => {
    for (const { name, media_type, bytes: size, sha256: digest } of (await here.manifest()).files) {
      const response = await here.get(String(name))
      const body = Buffer.from(await response.arrayBuffer())
      assert.equal(response.status, 200)
      assert.equal(hash('sha256', body), digest)
      assert.deepEqual(
        ['content-type', 'content-length', 'content-disposition', 'etag', 'repr-digest', 'accept-ranges'].map(
          (header) => response.headers.get(header),
        ),
        [
          ...[media_type, String(size), `attachment; filename="${name}"`, `"${digest}"`],
          ...[`sha-256=:${hash('sha256', body, 'base64')}:`, 'bytes'],
        ],
      )
      assert.deepEqual(
        ['outbreaks-release', 'cache-control'].map((header) => response.headers.get(header)),
        ['1', 'private'],
      )
    }
  })

  test('HEAD: the same headers and no body; a range means nothing to it', async () => {
    const [head, get] = await Promise.all([here.get(CSV, { range: 'bytes=0-1' }, 'HEAD'), here.get(CSV)])
    await get.arrayBuffer()
    assert.equal(head.status, 200)
    assert.equal((await head.arrayBuffer()).byteLength, 0)
    const own = ['date', 'x-request-id', 'connection', 'keep-alive']
    const plain = ({ headers }: Response) => [...headers].filter(([name]) => !own.includes(name))
    assert.deepEqual(plain(head), plain(get))
  })

  test('206: a part, with the digest of the whole', async () => {
    for (const [range, start, end] of [
      ['bytes=0-9', 0, 10],
      ['bytes=10-', 10, bytes.length],
      ['bytes=-5', bytes.length - 5, bytes.length],
      ['bytes=5-999999', 5, bytes.length],
    ] as const) {
      const response = await here.get(CSV, { range, 'if-range': `"${sha256}"` })
      assert.equal(response.status, 206)
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes.subarray(start, end))
      assert.equal(response.headers.get('content-range'), `bytes ${start}-${end - 1}/${bytes.length}`)
      assert.equal(response.headers.get('content-length'), String(end - start))
      assert.equal(response.headers.get('etag'), `"${sha256}"`)
    }
  })

  test('200: the whole where If-Range names another file, or the ranges are several', async () => {
    for (const headers of [
      { range: 'bytes=0-9', 'if-range': '"other"' },
      { range: 'bytes=0-9', 'if-range': `W/"${sha256}"` },
      { range: 'bytes=0-9', 'if-range': 'Sun, 15 Nov 2026 00:00:00 GMT' },
      { range: 'bytes=0-1,4-5' },
    ]) {
      const response = await here.get(CSV, headers)
      assert.equal(response.status, 200)
      assert.equal((await response.arrayBuffer()).byteLength, bytes.length)
    }
  })

  test('416: a range beyond the end, with the size', async () => {
    const response = await here.get(CSV, { range: `bytes=${bytes.length}-` })
    assert.equal(response.headers.get('content-range'), `bytes */${bytes.length}`)
    await assertProblem(response, 416, 'range_not_satisfiable')
  })

  test('304: the client has it already, also where it asks for an impossible part of it', async () => {
    for (const tags of [`"${sha256}"`, `W/"${sha256}"`, `"x", "${sha256}"`, '*']) {
      const response = await here.get(CSV, { 'if-none-match': tags, range: 'bytes=999999-' })
      assert.equal(response.status, 304)
      assert.equal(response.headers.get('etag'), `"${sha256}"`)
    }
    for (const tags of ['"x"', sha256, '']) assert.equal((await here.get(CSV, { 'if-none-match': tags })).status, 200)
  })

  test('404: no such release, no such file; the answer says which there are', async () => {
    for (const release of [2, 0, '01', '2026-01-01', 'x'])
      await assertProblem(await fetch(here.address(CSV, release)), 404, 'not_found')
    for (const name of [
      'x',
      'hed-outbreaks-2.csv',
      '..%2f..%2fetc%2fpasswd',
      '.%2e',
      `${CSV}%00`,
      'HED-OUTBREAKS-1.CSV',
    ]) {
      const detail = await assertProblem(await here.get(name), 404, 'not_found')
      assert.match(detail, /Release 1 has only the files hed-outbreaks-1\.csv, |There is no resource at this URL/)
    }
  })

  test('400 for a parameter, 405 for another method', async () => {
    await assertProblem(await here.get(`${CSV}?release=1`), 400, 'unknown_parameter')
    const response = await here.get(CSV, {}, 'DELETE')
    assert.match(response.headers.get('allow') ?? '', /GET.*HEAD/)
    await assertProblem(response, 405, 'method_not_allowed')
  })

  test('no file stays open', () => assertAllClosed(here))
})

test('404 where the node has no files, and where a release has none yet; a moment after the export they are found', async () => {
  const bare = await openDownloads({ configured: false })
  await bare.export()
  assert.match(await assertProblem(await bare.get(CSV), 404, 'not_found'), /This node has no release files/)
  const here = await openDownloads()
  assert.match(await assertProblem(await here.get(CSV), 404, 'not_found'), /Release 1 has no files yet/)
  assert.deepEqual((await here.manifest()).files, [])
  await here.export()
  const response = await here.get(CSV)
  assert.equal(response.status, 200)
  await response.arrayBuffer()
})

test('410 for a release that was pruned, which lists no files either', async () => {
  const here = await openDownloads()
  await here.export()
  await here.superuser.query('update release set pruned_at = now()')
  await here.refresh()
  await assertProblem(await here.get(CSV), 410, 'release_pruned')
  assert.deepEqual((await here.manifest()).files, [])
})

describe('a large file', async () => {
  const unreadTimeoutMs = 2400
  const here = await openDownloads({ checkTimeoutMs: 10_000, unreadTimeoutMs })
  let bytes: Buffer
  before(async () => {
    bytes = await here.addLarge()
  })

  test('comes whole to two at once, and to one who takes longer than any handler may', async () => {
    const slowly = async () => {
      const parts: Buffer[] = []
      let pausedAt = 0
      let taken = 0
      for await (const part of await startDownload(here.address(LARGE))) {
        parts.push(part as Buffer)
        taken += (part as Buffer).length
        if (taken - pausedAt < 2_000_000) continue
        pausedAt = taken
        await wait(250)
      }
      return Buffer.concat(parts)
    }
    const quickly = async () => Buffer.from(await (await here.get(LARGE)).arrayBuffer())
    for (const body of await Promise.all([slowly(), quickly(), quickly()])) assert.ok(body.equals(bytes))
  })

  test('is closed when the client gives up in the middle', async () => {
    const response = await startDownload(here.address(LARGE))
    response.once('data', () => response.destroy())
    await wait(50)
    await assertAllClosed(here)
  })

  test('can be resumed where it broke off', async () => {
    const first = await here.get(LARGE, { range: 'bytes=0-9999999' })
    const rest = await here.get(LARGE, { range: 'bytes=10000000-', 'if-range': first.headers.get('etag') ?? '' })
    const parts = await Promise.all([first, rest].map((part) => part.arrayBuffer()))
    assert.ok(Buffer.concat(parts.map((part) => Buffer.from(part))).equals(bytes))
  })

  test('is cut off when the client takes nothing for too long', async () => {
    const response = await startDownload(here.address(LARGE))
    const began = performance.now()
    await assertNotOpenWithin(10_000)
    const ms = performance.now() - began
    assert.ok(ms > unreadTimeoutMs / 2 - 100 && ms < unreadTimeoutMs + 600, `${ms} ms`)
    response.on('error', () => {}).destroy()
  })

  async function assertNotOpenWithin(milliseconds: number): Promise<void> {
    for (let waited = 0; waited < milliseconds && (await here.countOpen()) > 0; waited += 100) await wait(100)
    assert.equal(await here.countOpen(), 0)
  }

  test('that vanishes while it is sent is sent to its end', async () => {
    const response = await startDownload(here.address(LARGE))
    await unlink(here.pathOf(LARGE))
    const parts: Buffer[] = []
    for await (const part of response) parts.push(part as Buffer)
    assert.ok(Buffer.concat(parts).equals(bytes))
    await assertProblem(await here.get(LARGE), 500, 'file_damaged')
    await writeFile(here.pathOf(LARGE), bytes)
  })

  test('that becomes shorter while it is sent breaks off: it never looks whole', async () => {
    const response = await startDownload(here.address(LARGE))
    await truncate(here.pathOf(LARGE), LARGE_BYTES / 2)
    await assert.rejects(response.toArray(), /aborted/)
    assert.match(here.logged(), /hed-outbreaks-1\.large ends at byte 15000000, before 30000000/)
    await assertAllClosed(here)
  })
})
