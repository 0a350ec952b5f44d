// Downloads: complete files, ranges, conditional requests, concurrent, resumed and interrupted downloads.
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
  const downloads = await openDownloads()
  let bytes: Buffer
  let sha256: string
  before(async () => {
    await downloads.export()
    bytes = await readFile(downloads.pathOf(CSV))
    sha256 = hash('sha256', bytes)
  })

  test('are listed in the metadata of the release with size and digest', async () => {
    const { files } = await downloads.manifest()
    assert.deepEqual(files[0], {
      ...{ name: CSV, media_type: 'application/gzip', records: 2, bytes: bytes.length, sha256 },
      href: `https://api.test${HOME}/1/files/${CSV}`,
    })
    assert.deepEqual(
      files.map(({ name }) => name),
      [CSV, 'hed-outbreaks-1.ndjson.gz', 'hed-outbreaks-1.parquet'],
    )
  })

  test('200: each file is complete, with type, size, name, ETag and digest', async () => {
    for (const { name, media_type, bytes: size, sha256: digest } of (await downloads.manifest()).files) {
      const response = await downloads.get(String(name))
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
        ['1', 'private, max-age=2592000, immutable'],
      )
    }
  })

  test('HEAD: the headers of GET and no body, also with a Range', async () => {
    const [head, get] = await Promise.all([downloads.get(CSV, { range: 'bytes=0-1' }, 'HEAD'), downloads.get(CSV)])
    await get.arrayBuffer()
    assert.equal(head.status, 200)
    assert.equal((await head.arrayBuffer()).byteLength, 0)
    const varying = ['date', 'x-request-id', 'connection', 'keep-alive']
    const constant = ({ headers }: Response) => [...headers].filter(([name]) => !varying.includes(name))
    assert.deepEqual(constant(head), constant(get))
  })

  test('206: a range, with the digest of the complete file', async () => {
    for (const [range, start, end] of [
      ['bytes=0-9', 0, 10],
      ['bytes=10-', 10, bytes.length],
      ['bytes=-5', bytes.length - 5, bytes.length],
      ['bytes=5-999999', 5, bytes.length],
    ] as const) {
      const response = await downloads.get(CSV, { range, 'if-range': `"${sha256}"` })
      assert.equal(response.status, 206)
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes.subarray(start, end))
      assert.equal(response.headers.get('content-range'), `bytes ${start}-${end - 1}/${bytes.length}`)
      assert.equal(response.headers.get('content-length'), String(end - start))
      assert.equal(response.headers.get('etag'), `"${sha256}"`)
    }
  })

  test('200: the complete file if If-Range does not match, or for several ranges', async () => {
    for (const headers of [
      { range: 'bytes=0-9', 'if-range': '"other"' },
      { range: 'bytes=0-9', 'if-range': `W/"${sha256}"` },
      { range: 'bytes=0-9', 'if-range': 'Sun, 15 Nov 2026 00:00:00 GMT' },
      { range: 'bytes=0-1,4-5' },
    ]) {
      const response = await downloads.get(CSV, headers)
      assert.equal(response.status, 200)
      assert.equal((await response.arrayBuffer()).byteLength, bytes.length)
    }
  })

  test('416: a range beyond the end, with the size of the file', async () => {
    const response = await downloads.get(CSV, { range: `bytes=${bytes.length}-` })
    assert.equal(response.headers.get('content-range'), `bytes */${bytes.length}`)
    await assertProblem(response, 416, 'range_not_satisfiable')
  })

  test('304: If-None-Match matches, also with an unsatisfiable range', async () => {
    for (const tags of [`"${sha256}"`, `W/"${sha256}"`, `"x", "${sha256}"`, '*']) {
      const response = await downloads.get(CSV, { 'if-none-match': tags, range: 'bytes=999999-' })
      assert.equal(response.status, 304)
      assert.equal(response.headers.get('etag'), `"${sha256}"`)
    }
    for (const tags of ['"x"', sha256, ''])
      assert.equal((await downloads.get(CSV, { 'if-none-match': tags })).status, 200)
  })

  test('404: unknown release or file; detail lists the files', async () => {
    for (const release of [2, 0, '01', '2026-01-01', 'x'])
      await assertProblem(await fetch(downloads.address(CSV, release)), 404, 'not_found')
    for (const name of [
      'x',
      'hed-outbreaks-2.csv.gz',
      '..%2f..%2fetc%2fpasswd',
      '.%2e',
      `${CSV}%00`,
      'HED-OUTBREAKS-1.CSV',
    ]) {
      const detail = await assertProblem(await downloads.get(name), 404, 'not_found')
      assert.match(detail, /Release 1 has hed-outbreaks-1\.csv\.gz, |There is nothing at this URL/)
    }
  })

  test('400 for a parameter, 405 for another method', async () => {
    await assertProblem(await downloads.get(`${CSV}?release=1`), 400, 'unknown_parameter')
    const response = await downloads.get(CSV, {}, 'DELETE')
    assert.match(response.headers.get('allow') ?? '', /GET.*HEAD/)
    await assertProblem(response, 405, 'method_not_allowed')
  })

  test('no file stays open', () => assertAllClosed(downloads))
})

test('404 if the node has no files or the release has none yet, and 200 after the export', async () => {
  const withoutFiles = await openDownloads({ configured: false })
  await withoutFiles.export()
  assert.match(
    await assertProblem(await withoutFiles.get(CSV), 404, 'not_found'),
    /This node does not offer release files/,
  )
  const downloads = await openDownloads()
  assert.match(await assertProblem(await downloads.get(CSV), 404, 'not_found'), /Release 1 has no files yet/)
  assert.deepEqual((await downloads.manifest()).files, [])
  await downloads.export()
  const response = await downloads.get(CSV)
  assert.equal(response.status, 200)
  await response.arrayBuffer()
})

test('410 for a pruned release, whose metadata has no files', async () => {
  const downloads = await openDownloads()
  await downloads.export()
  await downloads.superuser.query('update release set pruned_at = now()')
  await downloads.refresh()
  await assertProblem(await downloads.get(CSV), 410, 'release_pruned')
  assert.deepEqual((await downloads.manifest()).files, [])
})

describe('a large file', async () => {
  const downloads = await openDownloads({ checkTimeoutMs: 10_000 })
  let bytes: Buffer
  before(async () => {
    bytes = await downloads.addLarge()
  })

  test('is complete for two concurrent clients and for a client slower than the handler timeout of other routes', async () => {
    const slowly = async () => {
      const parts: Buffer[] = []
      let pausedAt = 0
      let taken = 0
      for await (const part of await startDownload(downloads.address(LARGE))) {
        parts.push(part as Buffer)
        taken += (part as Buffer).length
        if (taken - pausedAt < 2_000_000) continue
        pausedAt = taken
        await wait(250)
      }
      return Buffer.concat(parts)
    }
    const quickly = async () => Buffer.from(await (await downloads.get(LARGE)).arrayBuffer())
    for (const body of await Promise.all([slowly(), quickly(), quickly()])) assert.ok(body.equals(bytes))
  })

  test('is closed when the client aborts the download', async () => {
    const response = await startDownload(downloads.address(LARGE))
    response.once('data', () => response.destroy())
    await wait(50)
    await assertAllClosed(downloads)
  })

  test('can be resumed with a range', async () => {
    const first = await downloads.get(LARGE, { range: 'bytes=0-9999999' })
    const second = await downloads.get(LARGE, { range: 'bytes=10000000-', 'if-range': first.headers.get('etag') ?? '' })
    const parts = await Promise.all([first, second].map((part) => part.arrayBuffer()))
    assert.ok(Buffer.concat(parts.map((part) => Buffer.from(part))).equals(bytes))
  })

  test('is closed when the client reads nothing for too long', async () => {
    // Long enough for a busy machine to begin its response.
    const impatient = await openDownloads({ checkTimeoutMs: 10_000, unreadTimeoutMs: 5000 })
    await impatient.addLarge()
    const response = await startDownload(impatient.address(LARGE))
    for (let waited = 0; waited < 60_000 && (await impatient.countOpen()) > 0; waited += 100) await wait(100)
    assert.equal(await impatient.countOpen(), 0)
    response.on('error', () => {}).destroy()
  })

  test('that is deleted during a download is sent to its end', async () => {
    const response = await startDownload(downloads.address(LARGE))
    await unlink(downloads.pathOf(LARGE))
    const parts: Buffer[] = []
    for await (const part of response) parts.push(part as Buffer)
    assert.ok(Buffer.concat(parts).equals(bytes))
    await assertProblem(await downloads.get(LARGE), 500, 'file_damaged')
    await writeFile(downloads.pathOf(LARGE), bytes)
  })

  test('that is truncated during a download aborts the response', async () => {
    const response = await startDownload(downloads.address(LARGE))
    await truncate(downloads.pathOf(LARGE), LARGE_BYTES / 2)
    await assert.rejects(response.toArray(), /aborted/)
    assert.match(downloads.logged(), /hed-outbreaks-1\.large ends at byte 15000000, before 30000000/)
    await assertAllClosed(downloads)
  })
})
