// The descriptions of a release over HTTP: status, headers, conditional requests, and releases that cannot be described.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { exportRelease } from '../../../../src/publish/export/export-files.ts'
import { pruneReleases } from '../../../../src/publish/prune.ts'
import { openDirectoryStore } from '../../../../src/storage/files/directory-store.ts'
import { HOME, openRoutes } from '../../../fixtures/routes.ts'

const FORMATS = {
  'croissant.json': 'application/ld+json; profile="http://mlcommons.org/croissant/1.1"',
  'datapackage.json': 'application/json; charset=utf-8',
  'dcat.jsonld': 'application/ld+json',
}
const names = Object.keys(FORMATS)

describe('the descriptions of a release', async () => {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-descriptions-'))
  after(() => rm(directory, { recursive: true, force: true }))
  const routes = await openRoutes()
  const store = openDirectoryStore(directory)
  const address = (release: number | string, name: string) => `${HOME}/releases/${release}/${name}`
  before(async () => {
    await routes.publish([{ key: 'a', source_name: 'Ministry' }, { key: 'b' }])
    await exportRelease(routes.operator, store, hedOutbreaks, 1)
    await routes.refresh()
  })

  for (const [name, type] of Object.entries(FORMATS)) {
    test(`200: ${name} with its type, name, release, ETag, and revalidated with each use`, async () => {
      const { statusCode, headers } = await routes.inject(address(1, name))
      assert.equal(statusCode, 200)
      assert.deepEqual(
        ['content-type', 'content-disposition', 'outbreaks-release', 'cache-control', 'vary'].map(
          (header) => headers[header],
        ),
        [type, `attachment; filename="${name}"`, '1', 'private, no-cache', 'accept-encoding'],
      )
      assert.match(String(headers.etag), /^"[\w-]{43}"$/)
    })

    test(`304: ${name} is unchanged`, async () => {
      const { headers } = await routes.inject(address(1, name))
      const repeated = await routes.inject(address(1, name), {}, { 'if-none-match': String(headers.etag) })
      assert.deepEqual([repeated.statusCode, repeated.body], [304, ''])
    })
  }

  test('each has the digest, size and URL of the files, the licence, the sources and the citation', async () => {
    const release = (await routes.inject(`${HOME}/releases/1`)).json<{
      files: { name: string; sha256: string; bytes: number; href: string }[]
    }>()
    for (const name of names) {
      const { body } = await routes.inject(address(1, name))
      const described = release.files.filter((file) => name !== 'datapackage.json' || !file.name.endsWith('.parquet'))
      assert.ok(described.length >= 2)
      for (const { sha256, bytes, href } of described)
        for (const part of [sha256, String(bytes), `"${href}"`]) assert.ok(body.includes(part), `${name} lacks ${part}`)
      for (const part of ['https://spdx.org/licenses/CC0-1.0.html', 'Ministry', 'Test ministry', 'release=1'])
        assert.ok(body.includes(part), `${name} lacks ${part}`)
    }
  })

  test('latest: the description of the newest release, with its address in Content-Location', async () => {
    for (const name of names) {
      const latest = await routes.inject(address('latest', name))
      assert.equal(latest.headers['content-location'], `https://api.test${address(1, name)}`)
      assert.equal(latest.body, (await routes.inject(address(1, name))).body)
    }
  })

  test('the metadata of a release links to its descriptions', async () => {
    const { headers } = await routes.inject(`${HOME}/releases/1`)
    assert.equal(
      headers['link'],
      Object.entries(FORMATS)
        .map(
          ([name, type]) =>
            `<https://api.test${address(1, name)}>; rel="describedby"; type="${type.replace(/;.*/, '')}"`,
        )
        .join(', '),
    )
  })

  test('HEAD: the headers of GET and no body', async () => {
    const url = await routes.listen()
    for (const name of names) {
      const [head, get] = await Promise.all(
        ['HEAD', 'GET'].map((method) =>
          fetch(url + address(1, name), { method, headers: { 'accept-encoding': 'identity' } }),
        ),
      )
      assert.equal(await head?.text(), '')
      assert.equal(head?.headers.get('content-length'), String((await get?.arrayBuffer())?.byteLength))
      for (const header of ['content-type', 'etag', 'cache-control', 'outbreaks-release'])
        assert.equal(head?.headers.get(header), get?.headers.get(header), header)
    }
  })

  test('404: a release that does not exist, and a text that is no number', async () => {
    for (const release of ['99', '0', 'x', '1.0'])
      for (const name of names) await routes.assertProblem(address(release, name), {}, 404, 'not_found')
  })

  test('400: a parameter', async () => {
    await routes.assertProblem(address(1, 'dcat.jsonld'), { format: 'xml' }, 400, 'unknown_parameter', 'format')
  })

  test('404 until the files are exported, without a link; then 200 at once; 410 when the release is pruned', async () => {
    await routes.publish([{ key: 'a' }, { key: 'b' }, { key: 'c' }])
    for (const name of names) {
      const { detail } = await routes.assertProblem(address(2, name), {}, 404, 'not_found')
      assert.match(detail, /^Release 2 has no files yet,/)
    }
    assert.equal((await routes.inject(`${HOME}/releases/2`)).headers['link'], undefined)
    await exportRelease(routes.operator, store, hedOutbreaks, 2)
    // The routes have not refreshed the list of releases since.
    assert.equal((await routes.inject(address(2, 'croissant.json'))).statusCode, 200)

    await pruneReleases(routes.operator, hedOutbreaks, 2)
    await routes.refresh()
    for (const name of names) await routes.assertProblem(address(1, name), {}, 410, 'release_pruned')
    assert.equal((await routes.inject(`${HOME}/releases/1`)).headers['link'], undefined)
  })
})
