// What the vectors cannot say for every language: abort signals, timeouts, token functions, concurrent requests, cursors
// within a page, streams. A local HTTP server answers.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Damaged, InvalidParameter, NotComparable, Outbreaks, OutbreaksError, Unavailable } from '../../src/client.ts'

type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => void
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function serve(handler: Handler): Promise<string> {
  const server = createServer((request, response) => handler(request, response, new URL(request.url ?? '', 'http://x')))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const sendJson = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
const token = () => 'given'

test('a token function is called for each request, and with renew after a 401', async () => {
  const seen: (string | undefined)[] = []
  const baseUrl = await serve(({ headers }, response) => {
    seen.push(headers.authorization)
    if (headers.authorization === 'Bearer old') sendJson(response, 401, { code: 'invalid_token' })
    else sendJson(response, 200, { number: 1 })
  })
  const client = new Outbreaks({ baseUrl: `${baseUrl}/`, token: async ({ renew }) => (renew ? 'new' : 'old') })
  assert.equal((await client.release(1)).number, 1)
  assert.deepEqual(seen, ['Bearer old', 'Bearer new'])
})

test('without a token the request has none, and a 401 is an error at once', async () => {
  let requests = 0
  const baseUrl = await serve(({ headers }, response) => {
    requests += 1
    assert.equal(headers.authorization, undefined)
    sendJson(response, 401, { code: 'not_authenticated', detail: 'Send a token.' })
  })
  await assert.rejects(new Outbreaks({ baseUrl }).release(1), { name: 'NotAllowed', code: 'not_authenticated' })
  assert.equal(requests, 1)
})

test('concurrent requests share one token, and one renewal', async () => {
  let issued = 0
  let valid = ''
  const baseUrl = await serve(({ headers }, response, url) => {
    if (url.pathname === '/oauth/token') {
      issued += 1
      valid = `token-${issued}`
      setTimeout(() => sendJson(response, 200, { access_token: valid, expires_in: 3600 }), 20)
    } else if (headers.authorization === `Bearer ${valid}`) sendJson(response, 200, { number: 1 })
    else sendJson(response, 401, { code: 'invalid_token' })
  })
  const client = new Outbreaks({ baseUrl, clientId: 'client', clientSecret: 'secret' })
  const readMany = () => Promise.all(Array.from({ length: 20 }, () => client.release(1)))
  await readMany()
  assert.equal(issued, 1)
  valid = 'revoked'
  await readMany()
  assert.equal(issued, 2)
})

test('a failed token request is not kept', async () => {
  let requests = 0
  const baseUrl = await serve((_, response, url) => {
    if (url.pathname !== '/oauth/token') return sendJson(response, 200, { number: 1 })
    requests += 1
    if (requests === 1) return sendJson(response, 401, { error: 'invalid_client' })
    return sendJson(response, 200, { access_token: 'token-1', expires_in: 3600 })
  })
  const client = new Outbreaks({ baseUrl, clientId: 'client', clientSecret: 'secret' })
  await assert.rejects(client.release(1), { name: 'NotAllowed', code: 'invalid_client' })
  assert.equal((await client.release(1)).number, 1)
})

test('an abort ends the request, the wait before a retry, and a walk; it is not retried', async () => {
  let requests = 0
  const baseUrl = await serve((_, response) => {
    requests += 1
    if (requests > 1) sendJson(response, 503, { code: 'unavailable' }, { 'retry-after': '100' })
  })
  const client = new Outbreaks({ baseUrl, token })
  for (const expectedRequests of [1, 2]) {
    const controller = new AbortController()
    const reading = client.records({}, { signal: controller.signal }).toArray()
    await wait(200)
    assert.equal(requests, expectedRequests)
    controller.abort(new Error('no longer needed'))
    await assert.rejects(reading, /no longer needed/)
    assert.equal(requests, expectedRequests)
  }
  await assert.rejects(client.release(1, { signal: AbortSignal.abort(new Error('before')) }), /before/)
  const ended = new Outbreaks({ baseUrl, token, signal: AbortSignal.abort(new Error('all of them')) })
  await assert.rejects(ended.release(1), /all of them/)
  assert.equal(requests, 2)
})

test('a server that stops sending is a failure after the timeout', async () => {
  let requests = 0
  const baseUrl = await serve((_, response) => {
    requests += 1
    if (requests === 1) return
    if (requests === 2) return void response.writeHead(200, { 'content-type': 'application/json' }).write('{"number"')
    sendJson(response, 200, { number: 1 })
  })
  const client = new Outbreaks({ baseUrl, token, timeoutMs: 100 })
  assert.equal((await client.release(1)).number, 1)
  assert.equal(requests, 3)
})

test('a reader that takes longer than the timeout is not a failure', async () => {
  const lines = Array.from({ length: 50 }, (_, i) => `{"id":${i + 1},"note":"${'x'.repeat(10_000)}"}\n`)
  const baseUrl = await serve((_, response) => {
    response.writeHead(200, { 'outbreaks-release': '1', 'outbreaks-count': '50' }).end(lines.join(''))
  })
  let read = 0
  for await (const _ of new Outbreaks({ baseUrl, token, timeoutMs: 100 }).recordLines({ release: 1 })) {
    read += 1
    if (read % 25 === 1) await wait(200)
  }
  assert.equal(read, 50)
})

const PAGES: Record<string, { data: { id: number }[]; has_more: boolean; next_page: string | null }> = {
  '': { data: [{ id: 1 }, { id: 2 }], has_more: true, next_page: 'b' },
  b: { data: [{ id: 3 }, { id: 4 }], has_more: true, next_page: 'c' },
  c: { data: [{ id: 5 }], has_more: false, next_page: null },
}
const servePages = () =>
  serve((_, response, url) =>
    sendJson(response, 200, PAGES[url.searchParams.get('page') ?? ''], { 'outbreaks-release': '7' }),
  )

test('a walk that ends within a page goes on with that page: no record is lost', async () => {
  const client = new Outbreaks({ baseUrl: await servePages(), token })
  for (let stop = 1; stop <= 5; stop += 1) {
    const first = client.records()
    const ids: number[] = []
    for await (const { id } of first) {
      ids.push(id)
      if (id === stop) break
    }
    assert.equal(first.done, false)
    for await (const { id } of client.records({}, { cursor: first.cursor })) ids.push(id)
    assert.deepEqual([...new Set(ids)], [1, 2, 3, 4, 5], `stopped after ${stop}`)
  }
})

test('pages, items and toArray of a walk', async () => {
  const client = new Outbreaks({ baseUrl: await servePages(), token })
  const walk = client.records()
  assert.deepEqual([walk.cursor, walk.release, walk.done], [null, null, false])
  const sizes: number[] = []
  for await (const page of walk.pages()) sizes.push(page.length)
  assert.deepEqual(sizes, [2, 2, 1])
  assert.deepEqual([walk.cursor, walk.release, walk.done], [null, 7, true])
  assert.deepEqual(await walk.toArray(), [], 'a walk is read once')
  assert.equal((await client.records().toArray()).length, 5)
})

const FILE = Buffer.from('a file of a release\n'.repeat(1000))
const published = (file: Buffer = FILE) => ({
  number: 3,
  files: [{ name: 'x.csv', bytes: file.length, sha256: createHash('sha256').update(file).digest('hex') }],
})

test('a download as a stream, in memory, and with progress', async () => {
  const baseUrl = await serve((_, response, url) =>
    url.pathname.endsWith('.csv') ? void response.end(FILE) : sendJson(response, 200, published()),
  )
  const progress: number[] = []
  const client = new Outbreaks({ baseUrl, token })
  const download = await client.download('csv', { onProgress: (done) => progress.push(done) })
  assert.deepEqual(Buffer.from(await download.bytes()), FILE)
  assert.equal(progress.at(-1), FILE.length)
  assert.deepEqual(Buffer.from(await new Response(download.stream()).arrayBuffer()), FILE)
  const reader = download.stream().getReader()
  await reader.read()
  await reader.cancel()
})

test('a stream of altered or too many bytes fails before its end', async () => {
  const altered = Buffer.from(FILE)
  altered[FILE.length - 1] = 0
  for (const sent of [altered, Buffer.concat([FILE, Buffer.from('x')])]) {
    const baseUrl = await serve((_, response, url) =>
      url.pathname.endsWith('.csv') ? void response.end(sent) : sendJson(response, 200, published()),
    )
    const download = await new Outbreaks({ baseUrl, token }).download('csv')
    await assert.rejects(download.bytes(), Damaged)
    await assert.rejects(new Response(download.stream()).arrayBuffer(), Damaged)
  }
})

test('a download that is cut often ends as long as each connection brings bytes', async () => {
  let connections = 0
  const baseUrl = await serve(({ headers }, response, url) => {
    if (!url.pathname.endsWith('.csv')) return sendJson(response, 200, published())
    connections += 1
    const begin = Number(/\d+/.exec(headers.range ?? '')?.[0] ?? 0)
    response.writeHead(begin === 0 ? 200 : 206, {
      'content-length': String(FILE.length - begin),
      'content-range': `bytes ${begin}-${FILE.length - 1}/${FILE.length}`,
    })
    response.write(FILE.subarray(begin, begin + 2500), () => setTimeout(() => response.destroy(), 20))
  })
  const download = await new Outbreaks({ baseUrl, token }).download('csv')
  assert.deepEqual(Buffer.from(await download.bytes()), FILE)
  assert.equal(connections, 8)
})

test('a range that begins earlier is used, one that begins later is an error', async () => {
  for (const [begin, isRight] of [
    [50, true],
    [100, true],
    [150, false],
  ] as const) {
    const baseUrl = await serve((_, response, url) => {
      if (!url.pathname.endsWith('.csv')) return sendJson(response, 200, published())
      const range = { 'content-range': `bytes ${begin}-${FILE.length - 1}/${FILE.length}` }
      response.writeHead(206, range).end(FILE.subarray(begin))
    })
    const download = await new Outbreaks({ baseUrl, token }).download('csv')
    const rest = Array.fromAsync(download.after([FILE.subarray(0, 100)]))
    if (isRight) assert.deepEqual(Buffer.concat(await rest), FILE.subarray(100))
    else await assert.rejects(rest, Damaged)
  }
})

test('an abandoned download or walk leaves no timer', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const baseUrl = await serve((_, response, url) => {
    if (url.pathname.endsWith('.csv')) response.writeHead(206, { 'content-range': 'bytes 9-9/9' }).end(FILE)
    else if (url.pathname.endsWith('outbreaks'))
      sendJson(response, 200, { data: [{ id: 1 }], has_more: true, next_page: 'b' })
    else sendJson(response, 200, published())
  })
  const before = timers()
  const client = new Outbreaks({ baseUrl, token })
  await assert.rejects((await client.download('csv')).bytes(), Damaged)
  for await (const _ of client.records()) break
  await wait(20)
  assert.ok(timers() <= before)
})

test('lines that break off are requested again from the same release, and none comes twice', async () => {
  const queries: string[] = []
  const baseUrl = await serve((_, response, url) => {
    queries.push(url.searchParams.get('release') ?? '')
    response.writeHead(200, { 'outbreaks-release': '4', 'outbreaks-count': '3' })
    if (queries.length > 1) return void response.end('{"id":1}\n{"id":2}\n{"id":3}\n')
    response.write('{"id":1}\n{"id":2}\n{"i', () => setTimeout(() => response.destroy(), 50))
  })
  const lines = await Array.fromAsync(new Outbreaks({ baseUrl, token }).recordLines())
  assert.deepEqual(lines, ['{"id":1}', '{"id":2}', '{"id":3}'])
  assert.deepEqual(queries, ['', '4'])
})

test('asOf restricts every request that has a release; another release in the call wins', async () => {
  const paths: string[] = []
  const baseUrl = await serve((request, response) => {
    paths.push(request.url ?? '')
    sendJson(response, 200, { data: [], has_more: false, next_page: null, text: '' })
  })
  const client = new Outbreaks({ baseUrl, token, dataset: 'other' }).asOf('2026-01-02')
  await client.records({ event: 'x' }).toArray()
  await client.events({ release: 5 }).toArray()
  await client.search('measles')
  await client.facets()
  await client.series({ event: 'x', interval: 'day' })
  await client.sums({ event: 'x' })
  await client.cite()
  await client.release()
  await client.history(2).toArray()
  assert.deepEqual(paths, [
    '/v2/other/outbreaks?num=1000&release=2026-01-02&event=x',
    '/v2/other/events?num=1000&release=5',
    '/v2/other/search?release=2026-01-02&q=measles',
    '/v2/other/facets?release=2026-01-02',
    '/v2/other/series?release=2026-01-02&event=x&interval=day&detail=full',
    '/v2/other/sums?release=2026-01-02&event=x&detail=full',
    '/v2/other/citation?release=2026-01-02',
    '/v2/other/releases/2026-01-02',
    '/v2/other/outbreaks/2/history?num=1000',
  ])
})

test('fromEnv reads three variables and names the one that is missing', async () => {
  const names = ['OUTBREAKS_URL', 'OUTBREAKS_CLIENT_ID', 'OUTBREAKS_CLIENT_SECRET']
  const before = names.map((name) => process.env[name])
  cleanups.push(() =>
    names.forEach((name, i) => (before[i] === undefined ? delete process.env[name] : (process.env[name] = before[i]))),
  )
  for (const name of names) process.env[name] = 'x'
  assert.ok(Outbreaks.fromEnv() instanceof Outbreaks)
  for (const name of names) {
    delete process.env[name]
    assert.throws(() => Outbreaks.fromEnv(), new RegExp(name))
    process.env[name] = 'x'
  }
  delete process.env['OUTBREAKS_CLIENT_ID']
  assert.ok(Outbreaks.fromEnv({ token }) instanceof Outbreaks)
})

test('the classes of errors', () => {
  assert.ok(NotComparable.prototype instanceof InvalidParameter)
  assert.ok(InvalidParameter.prototype instanceof OutbreaksError)
  assert.ok(new Unavailable({ status: 0, code: 'no_answer', detail: '' }) instanceof Error)
})

test('no secret and no token is in an error', async () => {
  const baseUrl = await serve((_, response, url) =>
    url.pathname === '/oauth/token'
      ? sendJson(response, 200, { access_token: 'very-private', expires_in: 3600 })
      : sendJson(response, 404, { code: 'not_found', detail: 'no' }),
  )
  const client = new Outbreaks({ baseUrl, clientId: 'client', clientSecret: 'very-private-too' })
  const error: unknown = await client.release(1).catch((caught: unknown) => caught)
  const { inspect } = await import('node:util')
  assert.doesNotMatch(inspect([error, client], { depth: 9, showHidden: true }), /very-private/)
})
