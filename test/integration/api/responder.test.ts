// Responses: the same text with and without gzip, ETag and 304, cached bodies, Link, and the timeout of rendering.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createSecretKey } from 'node:crypto'
import { before, test } from 'node:test'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { createResponder } from '../../../src/api/response/responder.ts'
import { createResponseCache } from '../../../src/api/response/response-cache.ts'
import type { PublishedRelease } from '../../../src/storage/published-releases.ts'
import { createObservedServer } from '../../fixtures/observed-server.ts'
import { HOME, openRoutes, type Query } from '../../fixtures/routes.ts'
import { fc } from '../../seed.ts'

const run = promisify(execFile)
const V1 = '/v1/hed-outbreaks/outbreaks'
const V2 = `${HOME}/outbreaks`
const RECORDS = 450
const routes = await openRoutes()
let origin: string

before(async () => {
  const rows = Array.from({ length: RECORDS }, (_, i) => ({
    key: `k${i}`,
    event: `Event_${i % 40}_Testland_2020`,
    cases: i,
  }))
  await routes.publish(rows)
  await routes.publish(rows.filter((_, i) => i % 7 !== 3))
  await routes.refresh()
  origin = await routes.listen()
})

const getIdentity = async (address: string, query: Query = {}) => {
  const response = await routes.inject(address, query, { 'accept-encoding': 'identity' })
  assert.equal(response.headers['content-encoding'], undefined)
  return response
}
const getGzip = async (address: string, query: Query = {}) => {
  const response = await routes.inject(address, query, { 'accept-encoding': 'gzip' })
  assert.equal(response.headers['content-encoding'], 'gzip')
  assert.equal(response.headers['content-length'], String(response.rawPayload.length))
  return response
}

const requests: [address: string, query: Query][] = [
  [V1, { num: 1000 }],
  [V1, { offset: 77, num: 250, release: 1 }],
  [V2, { num: 1000 }],
  [V2, { num: 90, release: 1 }],
  [`${HOME}/event-names`, {}],
  [`${HOME}/releases`, {}],
  [`${HOME}/changes`, { from: 1 }],
  [`${V2}/1`, {}],
  [`${V2}/1/history`, {}],
]
const IMMUTABLE = 'private, max-age=2592000, immutable'
/** These paths have other formats than JSON. */
const NEGOTIATED = [V2, `${HOME}/releases`, `${HOME}/changes`]
const varyOf = (address: string) => (NEGOTIATED.includes(address) ? 'accept, accept-encoding' : 'accept-encoding')

for (const [address, query] of requests) {
  test(`the text is the same with and without gzip, and the ETag differs: ${address} ${JSON.stringify(query)}`, async () => {
    const identity = await getIdentity(address, query)
    const gzip = await routes.inject(address, query, { 'accept-encoding': 'gzip' })
    const text = gzip.headers['content-encoding'] === 'gzip' ? gunzipSync(gzip.rawPayload).toString() : gzip.body
    assert.equal(text, identity.body)
    assert.equal(gzip.headers['content-encoding'], identity.rawPayload.length < 1024 ? undefined : 'gzip')
    for (const { statusCode, headers } of [identity, gzip]) {
      assert.deepEqual(
        [statusCode, headers['vary'], headers['cache-control']],
        [200, varyOf(address), query['release'] === undefined ? 'private, no-cache' : IMMUTABLE],
      )
      assert.match(String(headers['etag']), /^"[\w-]{43}"$/)
    }
    assert.notEqual(identity.headers['etag'], gzip.headers['etag'])
  })

  test(`304 if If-None-Match has the ETag, 200 if not: ${address} ${JSON.stringify(query)}`, async () => {
    const tag = String((await getIdentity(address, query)).headers['etag'])
    for (const ifNoneMatch of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const response = await routes.inject(address, query, { 'if-none-match': ifNoneMatch })
      assert.deepEqual([response.statusCode, response.body, response.headers['etag']], [304, '', tag], ifNoneMatch)
      assert.deepEqual([response.headers['vary'], response.headers['content-type']], [varyOf(address), undefined])
      assert.ok(Number(response.headers['outbreaks-release']) > 0)
    }
    for (const ifNoneMatch of ['"other"', tag.slice(1, -1), `${tag}x`, '']) {
      const response = await routes.inject(address, query, { 'if-none-match': ifNoneMatch })
      assert.deepEqual([response.statusCode, response.headers['etag']], [200, tag], ifNoneMatch)
    }
  })
}

test('any page has the same text with and without gzip, and gzip is used from 1,024 bytes on', () =>
  fc.assert(
    fc.asyncProperty(
      fc.nat(RECORDS + 10),
      // A page of one record has about 1,024 bytes.
      fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 1000 })),
      fc.integer({ min: 1, max: 2 }),
      async (offset, num, release) => {
        const query = { offset, num, release }
        const gzip = await routes.inject(V1, query, { 'accept-encoding': 'gzip' })
        const text = gzip.headers['content-encoding'] === 'gzip' ? gunzipSync(gzip.rawPayload).toString() : gzip.body
        const identity = await getIdentity(V1, query)
        assert.equal(text, identity.body)
        assert.equal(gzip.headers['content-encoding'], identity.rawPayload.length < 1024 ? undefined : 'gzip')
      },
    ),
    { numRuns: 150 },
  ))

test('curl and fetch decode gzip pages over HTTP, and HEAD has the headers of GET', async () => {
  for (const query of ['num=1000', 'num=130', 'num=400&release=1']) {
    const address = `${origin}${V2}?${query}`
    const { body } = await getIdentity(V2, Object.fromEntries(new URLSearchParams(query)))
    const fetched = await fetch(address)
    assert.equal(fetched.headers.get('content-encoding'), 'gzip')
    assert.equal(await fetched.text(), body)
    const { stdout } = await run('curl', ['-sS', '--compressed', '--max-time', '10', address], { maxBuffer: 1 << 24 })
    assert.equal(stdout, body)
    const head = await fetch(address, { method: 'HEAD' })
    for (const name of ['content-encoding', 'content-length', 'etag', 'vary'])
      assert.equal(head.headers.get(name), fetched.headers.get(name), name)
  }
})

test('the ETag depends on the query, the release and the encoding', async () => {
  const tagOf = async (address: string, query: Query, encoding = 'identity') =>
    String((await routes.inject(address, query, { 'accept-encoding': encoding })).headers['etag'])
  assert.equal(await tagOf(V2, {}), await tagOf(V2, { num: 100, release: 2 }))
  const tags = await Promise.all([
    tagOf(V2, {}),
    tagOf(V2, {}, 'gzip'),
    tagOf(V2, { num: 99 }),
    tagOf(V2, { release: 1 }),
    tagOf(V1, {}),
    tagOf(V1, { offset: 1 }),
    tagOf(`${V2}/1`, {}),
    tagOf(`${V2}/2`, {}),
    tagOf(`${HOME}/changes`, { from: 1 }),
    tagOf(`${HOME}/changes`, { from: 2 }),
  ])
  assert.equal(new Set(tags).size, tags.length)
})

test('an error has no ETag and is never 304', async () => {
  for (const ifNoneMatch of ['*', '"x"']) {
    const missing = await routes.inject(`${V2}/99999`, {}, { 'if-none-match': ifNoneMatch })
    assert.deepEqual([missing.statusCode, missing.headers['etag']], [404, undefined])
    const invalid = await routes.inject(V2, { num: 0 }, { 'if-none-match': ifNoneMatch })
    assert.deepEqual([invalid.statusCode, invalid.headers['etag']], [400, undefined])
  }
})

test('a cached body and a 304 need no database query', async () => {
  const cached = await getGzip(V2, { num: 321 })
  const tag = String((await getIdentity(V2, { num: 322 })).headers['etag'])
  await routes.superuser.query('alter table hed_outbreak_chunk rename to away')
  try {
    assert.equal((await getGzip(V2, { num: 321 })).body, cached.body)
    assert.equal((await routes.inject(V2, { num: 322 }, { 'if-none-match': tag })).statusCode, 304)
    assert.equal((await routes.inject(V2, { num: 323 })).statusCode, 500)
  } finally {
    await routes.superuser.query('alter table away rename to hed_outbreak_chunk')
  }
  assert.equal((await routes.inject(V2, { num: 323 })).statusCode, 200)
})

test('an offset after the last record gives an empty array', async () => {
  assert.deepEqual((await getIdentity(V1, { offset: RECORDS, release: 1 })).json(), [])
})

test('a page has a Link to the next page with the same query; the last page has none', async () => {
  let address: string | undefined = `https://api.test${V2}?num=5&release=1&event=Event_7_Testland_2020`
  const ids: unknown[] = []
  for (let pages = 0; address !== undefined; pages++) {
    assert.ok(pages < 20)
    const response = await routes.inject(address.replace('https://api.test', ''), {}, { 'accept-encoding': 'identity' })
    const { data, next_page: next } = response.json<{ data: { id: number }[]; next_page: string | null }>()
    ids.push(...data.map(({ id }) => id))
    address = /^<([^>]+)>; rel="next"$/.exec(String(response.headers['link'] ?? ''))?.[1]
    assert.equal(address === undefined, next === null)
  }
  assert.deepEqual(ids, [...new Set(ids)])
  assert.equal(ids.length, Math.ceil((RECORDS - 7) / 40))
})

const bodies: [what: string, parts: string[], encoding: string | undefined][] = [
  ['1,023 bytes', ['a'.repeat(1023)], undefined],
  ['1,024 bytes', ['a'.repeat(1024)], 'gzip'],
  ['1,024 bytes in 512 characters', ['é'.repeat(512)], 'gzip'],
  ['1,023 bytes in many parts', ['[', ...Array.from({ length: 1021 }, () => 'a'), ']'], undefined],
  ['1,024 bytes in many parts', ['[', ...Array.from({ length: 1022 }, () => 'a'), ']'], 'gzip'],
]
test('a page is immutable if its cursor has the release, whatever the parameters beside it', async () => {
  for (const [address, query] of [
    [V2, {}],
    [V2, { release: 'latest' }],
    [V2, { release: 1 }],
    [`${HOME}/changes`, { from: 1 }],
    [`${HOME}/changes`, { from: 1, to: 'latest' }],
    [`${HOME}/changes`, { from: 1, to: 2 }],
  ] as [string, Query][]) {
    const controlOf = async (more: Query) =>
      (await routes.inject(address, { ...query, num: 1, ...more })).headers['cache-control']
    const isNamed = query['release'] === 1 || query['to'] === 2
    assert.equal(await controlOf({}), isNamed ? IMMUTABLE : 'private, no-cache', `${address} ${JSON.stringify(query)}`)
    const { next } = await routes.getPage(address, { ...query, num: 1 })
    assert.equal(await controlOf({ page: next ?? assert.fail('there is one page') }), IMMUTABLE)
    const lists = await routes.inject(`${HOME}/releases`, { num: 1 })
    const { next_page: page } = lists.json<{ next_page: string }>()
    const second = await routes.inject(`${HOME}/releases`, { num: 1, page })
    assert.deepEqual(
      [lists, second].map(({ headers }) => headers['cache-control']),
      Array(2).fill('private, no-cache'),
    )
  }
})

for (const [what, parts, encoding] of bodies) {
  test(`a body of ${what} is sent ${encoding === undefined ? 'without' : 'with'} gzip`, async () => {
    const { app } = createObservedServer()
    const cursorKey = createSecretKey(Buffer.alloc(32))
    const respond = createResponder({ cache: createResponseCache(1), cursorKey, baseUrl: 'https://api.test' })
    const release = { number: 1, publishedAt: new Date(0) } as PublishedRelease
    app.get('/', async (request, reply) =>
      respond(request, reply, { release, isImmutable: false, variant: '', render: () => parts }),
    )
    const response = await app.inject({ url: '/', headers: { 'accept-encoding': 'gzip' } })
    assert.deepEqual([response.statusCode, response.headers['content-encoding']], [200, encoding])
    await app.close()
  })
}

test('a response that takes too long to render is 503 after ten seconds, and the next request renders it again', async () => {
  const { app } = createObservedServer()
  const respond = createResponder({
    cache: createResponseCache(1),
    cursorKey: createSecretKey(Buffer.alloc(32)),
    baseUrl: 'https://api.test',
  })
  const release = { number: 1, publishedAt: new Date(0) } as PublishedRelease
  let hangs = true
  app.get('/slow', async (request, reply) =>
    respond(request, reply, {
      release,
      isImmutable: false,
      variant: '',
      render: () => (hangs ? new Promise(() => {}) : ['[]']),
    }),
  )
  const began = performance.now()
  const timedOut = await app.inject('/slow')
  assert.deepEqual([timedOut.statusCode, timedOut.json().code], [503, 'unavailable'])
  assert.ok(performance.now() - began > 9000)
  hangs = false
  assert.equal((await app.inject('/slow')).body, '[]')
  await app.close()
})
