// The forms of a request target (RFC 9112 3.2), sent on a socket: absolute form gives the same response as the path.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import path from 'node:path'
import { after, test } from 'node:test'
import { newSettings, prepareDatabase, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'

const settings = newSettings(await createTestDatabase())
const credentials = await prepareDatabase(settings, path.resolve(import.meta.dirname, '../../../sample/releases/1'))
const service = await startService(settings)
after(() => service.process.kill('SIGKILL'))
const { host, hostname, port } = new URL(service.baseUrl)
const token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)

/** The response without the headers that differ between requests. */
async function exchange(method: string, target: string) {
  const socket = connect(Number(port), hostname)
  const timeout = setTimeout(() => socket.destroy(), 10_000)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => {})
  socket.write(
    `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n` +
      'x-request-id: target-test-1\r\nconnection: close\r\n\r\n',
  )
  await once(socket, 'close')
  clearTimeout(timeout)
  const [header = '', ...body] = Buffer.concat(chunks).toString('latin1').split('\r\n\r\n')
  const [status = '', ...lines] = header.split('\r\n')
  const headers = lines.filter((line) => !/^(date|ratelimit):/i.test(line)).toSorted()
  // The window of the quota may get a second shorter between two requests.
  const text = body.join('\r\n\r\n').replace(/"resets_in":\d+/, '"resets_in":0')
  return { status: Number(status.split(' ')[1]), headers, body: text }
}

const findHeader = ({ headers }: { headers: string[] }, name: string) =>
  headers.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)

const targets: [target: string, status: number][] = [
  ['/v2/hed-outbreaks/outbreaks?num=1', 200],
  ['/v1/hed-outbreaks/outbreaks?offset=3&num=2', 200],
  ['/v2/hed-outbreaks/event-names', 200],
  ['/v2/hed-outbreaks/outbreaks/1', 200],
  ['/v2/hed-outbreaks/outbreaks/1/history?num=1', 200],
  ['/v2/hed-outbreaks/releases', 200],
  ['/v2/hed-outbreaks/releases/1', 200],
  ['/v2/hed-outbreaks/changes?from=1', 200],
  ['/v2/hed-outbreaks/events?num=1', 200],
  ['/v2/hed-outbreaks/facets?num=1', 200],
  ['/v2/hed-outbreaks/schema', 200],
  ['/v2/hed-outbreaks/citation', 200],
  ['/v2/hed-outbreaks/feed', 200],
  ['/v2/hed-outbreaks/outbreaks?nmu=1', 400],
  ['/v2/hed-outbreaks/releases/99/files/x.csv', 404],
  ['/v2/whoami', 200],
  ['/oauth/token', 405],
  ['/openapi.json', 200],
  ['/reference/', 200],
  ['/live', 200],
  ['/problems/not_found', 200],
  ['/nowhere', 404],
  ['/', 200],
]
for (const [target, status] of targets) {
  test(`${status}: ${target} gives the same response in absolute form`, async () => {
    for (const method of ['GET', 'HEAD']) {
      const origin = await exchange(method, target)
      assert.equal(origin.status, status, origin.body)
      // The service does not compare the authority, because its base URL is configured.
      for (const authority of [service.baseUrl, 'http://elsewhere.test:99', 'HTTPS://api.test'])
        assert.deepEqual(await exchange(method, authority + target), origin)
    }
  })
}

test('an absolute target without a path is the root, with or without a query', async () => {
  assert.deepEqual(await exchange('GET', service.baseUrl), await exchange('GET', '/'))
  assert.deepEqual(await exchange('GET', `${service.baseUrl}?x=1`), await exchange('GET', '/?x=1'))
})

test('Link has the base URL and the path for every form of the target', async () => {
  const response = await exchange('GET', 'http://elsewhere.test/v2/hed-outbreaks/outbreaks?num=1')
  const link = /^<(.*)>; rel="next"$/.exec(findHeader(response, 'link') ?? '')?.[1] ?? ''
  assert.ok(link.startsWith(`${service.baseUrl}/v2/hed-outbreaks/outbreaks?`), link)
  const next = await exchange('GET', link)
  assert.equal(next.status, 200)
  assert.deepEqual(await exchange('GET', link.slice(service.baseUrl.length)), next)
})

test('405: OPTIONS * lists the methods of all resources', async () => {
  const response = await exchange('OPTIONS', '*')
  assert.deepEqual([response.status, JSON.parse(response.body).code], [405, 'method_not_allowed'])
  assert.deepEqual(findHeader(response, 'allow')?.split(', ').toSorted(), ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST'])
})

const rejected: [method: string, target: string][] = [
  ['GET', '*'],
  ['CONNECT', 'elsewhere.test:443'],
  ['GET', 'elsewhere.test:443'],
  ['GET', 'ftp://elsewhere.test/v2/hed-outbreaks/outbreaks'],
  ['GET', 'http:///v2/hed-outbreaks/outbreaks'],
]
for (const [method, target] of rejected) {
  test(`400 invalid_request: ${method} ${target}`, async () => {
    const response = await exchange(method, target)
    assert.equal(response.status, 400, response.body)
    assert.equal(JSON.parse(response.body).code, 'invalid_request')
    assert.equal(findHeader(response, 'content-type'), 'application/problem+json')
    assert.match(findHeader(response, 'x-content-type-options') ?? '', /nosniff/)
  })
}
