// The documentation as the service sends it: pages, redirects, types, and a policy that only hashes can extend.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { pino } from 'pino'
import { createHttpServer } from '../../../src/platform/http/http-server.ts'
import { loadDocumentation, registerDocumentation } from '../../../src/platform/pages/documentation.ts'

const directory = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-docs-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const hash = `'sha256-${'A'.repeat(43)}='`
const PAGE = '<!doctype html><p>errors</p>'

function build(name: string, hashes: string): string {
  const folder = path.join(directory, name)
  for (const file of ['errors', '_astro']) mkdirSync(path.join(folder, file), { recursive: true })
  writeFileSync(path.join(folder, 'index.html'), '<!doctype html>')
  writeFileSync(path.join(folder, 'errors/index.html'), PAGE)
  writeFileSync(path.join(folder, '_astro/a.1.css'), 'p {}')
  writeFileSync(path.join(folder, 'picture.png'), 'png')
  writeFileSync(path.join(folder, 'script-hashes.json'), hashes)
  return folder
}

test('without a build there is no documentation', () => {
  assert.equal(loadDocumentation(path.join(directory, 'nowhere')), null)
})

test('a file of hashes with anything else is refused, because it would change the policy', () => {
  for (const [i, text] of [`["'unsafe-inline'"]`, `["${hash}; img-src *"]`, '{}', `[1]`, 'none'].entries())
    assert.throws(() => loadDocumentation(build(`invalid-${i}`, text)), text)
  assert.notEqual(loadDocumentation(build('valid', JSON.stringify([hash]))), null)
})

const documentation = loadDocumentation(build('served', JSON.stringify([hash])))
assert.ok(documentation)
const app = createHttpServer({
  ...{ baseUrl: 'http://127.0.0.1', log: pino({ level: 'silent' }), connections: { maxConnections: 10 } },
  isDraining: () => false,
})
registerDocumentation(app, documentation)
after(() => app.close())

test('GET /docs/errors/: 200 with the policy, plain and compressed', async () => {
  const plain = await app.inject({ url: '/docs/errors/' })
  assert.equal(plain.statusCode, 200)
  assert.equal(plain.body, PAGE)
  assert.equal(plain.headers['content-type'], 'text/html; charset=utf-8')
  assert.equal(plain.headers['x-content-type-options'], 'nosniff')
  const policy = String(plain.headers['content-security-policy'])
  assert.ok(policy.startsWith(`default-src 'none'; script-src 'self' 'wasm-unsafe-eval' ${hash}; `))
  assert.doesNotMatch(
    policy.replace(/style-src-attr 'unsafe-inline'|'wasm-unsafe-eval'/g, ''),
    /unsafe-(?:inline|eval|hashes)|https?:|\*/,
  )
  const compressed = await app.inject({ url: '/docs/errors/', headers: { 'accept-encoding': 'gzip' } })
  assert.equal(compressed.headers['content-encoding'], 'gzip')
  assert.equal(gunzipSync(compressed.rawPayload).toString(), PAGE)
  assert.equal(compressed.headers['vary'], 'accept-encoding')
})

test('GET /docs and /docs/errors: 308 to the address with a slash', async () => {
  for (const [url, location] of [
    ['/docs', '/docs/'],
    ['/docs/errors', '/docs/errors/'],
  ]) {
    const response = await app.inject({ url: url ?? '' })
    assert.equal(response.statusCode, 308)
    assert.equal(response.headers['location'], location)
  }
})

test('files with a digest in their name are kept for ever, pages are not; a picture is not compressed again', async () => {
  const style = await app.inject({ url: '/docs/_astro/a.1.css' })
  assert.equal(style.headers['cache-control'], 'public, max-age=31536000, immutable')
  const page = await app.inject({ url: '/docs/' })
  assert.equal(page.headers['cache-control'], 'public, max-age=300')
  const picture = await app.inject({ url: '/docs/picture.png', headers: { 'accept-encoding': 'gzip' } })
  assert.equal(picture.headers['content-encoding'], undefined)
  assert.equal(picture.headers['content-type'], 'image/png')
})

test('404 for what was not built: the hashes, a path out of the folder, a name of an object', async () => {
  writeFileSync(path.join(directory, 'secret.txt'), 'secret')
  for (const url of [
    'script-hashes.json',
    '../secret.txt',
    '%2e%2e/secret.txt',
    '..%2fsecret.txt',
    'constructor',
    'x/',
  ]) {
    const response = await app.inject({ url: `/docs/${url}` })
    assert.equal(response.statusCode, 404, url)
    assert.doesNotMatch(response.body, /secret(?!\.txt)/, url)
  }
})
