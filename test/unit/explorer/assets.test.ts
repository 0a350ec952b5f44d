// The files of the explorer: read once, compressed once, and none if the explorer was not built.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { loadAssets } from '../../../src/explorer/assets.ts'

const directory = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-assets-'))
after(() => rmSync(directory, { recursive: true, force: true }))

test('without a build there are no files, so the service has no explorer', () => {
  assert.equal(loadAssets(path.join(directory, 'nowhere')), null)
  assert.equal(loadAssets(directory), null)
})

test('a build has its page, its style sheet, and every file plain and compressed', () => {
  mkdirSync(path.join(directory, 'assets'))
  writeFileSync(path.join(directory, 'index.html'), '<!doctype html>')
  for (const name of ['app-1.js', 'site-5.css', 'style-2.css', 'world-3.json', 'other-4.bin'])
    writeFileSync(path.join(directory, 'assets', name), name)
  const assets = loadAssets(directory)
  assert.ok(assets)
  assert.equal(assets.page.toString(), '<!doctype html>')
  assert.equal(assets.siteStyle, '/explore/assets/site-5.css')
  const types = new Set([...assets.files.values()].map(({ type }) => type.split(';')[0]))
  const expected = ['application/json', 'application/octet-stream', 'text/css', 'text/javascript']
  assert.deepEqual(types, new Set(expected))
  for (const [name, { plain, gzip }] of assets.files) {
    assert.equal(plain.toString(), name)
    assert.deepEqual(gunzipSync(gzip() ?? ''), plain)
  }
})
