// The address of the client behind proxies: what a client writes into X-Forwarded-For itself is never believed.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { createHttpServer, type HttpServer } from '../../../src/platform/http/http-server.ts'
import { parseTrustedProxies } from '../../../src/variables.ts'

const apps = new Map<string, HttpServer>()
const lines: string[] = []
after(() => Promise.all([...apps.values()].map((app) => app.close())))

/** A server that trusts these proxies. It sends the address of the client, or never responds at /waits. */
async function open(networks: string[]): Promise<number> {
  const key = networks.join()
  const log = pino({ level: 'info', base: null }, { write: (line: string) => void lines.push(line) })
  const app = apps.get(key) ?? createHttpServer({ baseUrl: 'http://api.test', log, trustedProxies: networks })
  if (!apps.has(key)) {
    app.get('/', async ({ address }, reply) => reply.type('text/plain').send(address))
    app.get('/waits', () => new Promise(() => {}))
    await app.listen({ host: '::', port: 0 })
  }
  apps.set(key, app)
  return (app.server.address() as AddressInfo).port
}

async function addressOf(forwarded: string[], networks: string[], host = '127.0.0.1'): Promise<string> {
  const port = await open(networks)
  const headers = { 'X-Forwarded-For': forwarded }
  return new Promise((resolve, reject) => {
    request({ host, port, headers, agent: false, timeout: 5000 }, (response) => {
      response.setEncoding('utf8').on('data', resolve)
    })
      .on('error', reject)
      .end()
  })
}

const PROXY = ['127.0.0.1']
const TWO_PROXIES = ['127.0.0.0/8', '10.0.0.0/8', 'fd00::/8']

test('without trusted proxies the header is ignored', async () => {
  assert.equal(await addressOf(['203.0.113.9'], []), '127.0.0.1')
  assert.equal(await addressOf(['203.0.113.9'], ['10.0.0.0/8']), '127.0.0.1')
})

test('the control: with a list that trusts everyone, a client can choose its address', async () => {
  assert.equal(await addressOf(['203.0.113.9, 198.51.100.7'], ['0.0.0.0/1', '128.0.0.0/1']), '203.0.113.9')
})

const cases: [name: string, forwarded: string[], networks: string[], expected: string][] = [
  ['one address', ['198.51.100.7'], PROXY, '198.51.100.7'],
  ['the client wrote an address before the proxy appended one', ['203.0.113.9, 198.51.100.7'], PROXY, '198.51.100.7'],
  ['the client wrote the address of the proxy', ['127.0.0.1, 198.51.100.7'], PROXY, '198.51.100.7'],
  ['two headers', ['203.0.113.9', '198.51.100.7'], PROXY, '198.51.100.7'],
  ['two proxies', ['203.0.113.9, 198.51.100.7, 10.1.2.3'], TWO_PROXIES, '198.51.100.7'],
  ['only proxies', ['10.1.2.3, 10.9.9.9'], TWO_PROXIES, '10.1.2.3'],
  ['IPv6', ['2001:DB8::1'], PROXY, '2001:db8::1'],
  ['a trusted IPv6 network', ['198.51.100.7, fd12::1'], TWO_PROXIES, '198.51.100.7'],
  ['IPv4 in IPv6', ['::ffff:198.51.100.7'], PROXY, '198.51.100.7'],
  ['IPv4 in IPv6, trusted', ['198.51.100.7, ::ffff:10.0.0.1'], TWO_PROXIES, '198.51.100.7'],
  ['text that is not an address', ['203.0.113.9, unknown'], PROXY, '127.0.0.1'],
  ['an empty header', [''], PROXY, '127.0.0.1'],
  ['4,000 characters', [`${'1.1.1.1,'.repeat(500)}198.51.100.7`], PROXY, '198.51.100.7'],
]
for (const [name, forwarded, networks, expected] of cases)
  test(`X-Forwarded-For: ${name}`, async () => {
    assert.equal(await addressOf(forwarded, networks), expected)
  })

test('a connection by IPv6 is compared with IPv6 networks', async () => {
  assert.equal(await addressOf(['198.51.100.7'], ['::1'], '::1'), '198.51.100.7')
  assert.equal(await addressOf(['198.51.100.7'], PROXY, '::1'), '::1')
})

test('the address is in the log line of a connection that was lost', async () => {
  for (const [networks, expected] of [
    [PROXY, '198.51.100.7'],
    [[], '127.0.0.1'],
  ] as const) {
    const socket = connect(await open([...networks]), '127.0.0.1')
    await once(socket, 'connect')
    lines.length = 0
    socket.write('GET /waits HTTP/1.1\r\nhost: a\r\nx-forwarded-for: 198.51.100.7\r\n\r\n')
    await wait(100)
    socket.destroy()
    for (const end = Date.now() + 5000; lines.length === 0; await wait(10)) assert.ok(Date.now() < end, 'no line')
    assert.equal(JSON.parse(lines[0] ?? '').address, expected)
  }
})

const INVALID = [
  'example.org',
  '10.0.0.0/33',
  '10.0.0',
  'fd00::/129',
  '10.0.0.0/8/8',
  '10.0.0.0/',
  '10.0.0.0/x',
  '::/0',
]
for (const text of INVALID)
  test(`the list may not contain ${text}`, () => {
    assert.throws(() => parseTrustedProxies(text), /must be a list of addresses/)
  })
