// The address of the client behind proxies: what a client writes into X-Forwarded-For itself is never believed.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { createClientAddress, parseTrustedProxies } from '../../../src/platform/http/client-address.ts'

let trusted: string[] = []
let ask: (incoming: IncomingMessage) => string = createClientAddress([])
const server = createServer((incoming, response) => response.end(ask(incoming)))
await new Promise<void>((resolve) => server.listen(0, '::', resolve))
after(() => server.close())

/** The address that the server sees with this list, for a request with these X-Forwarded-For headers. */
async function addressOf(forwarded: string[], networks: string[], host = '127.0.0.1'): Promise<string> {
  if (networks !== trusted) ask = createClientAddress(networks)
  trusted = networks
  const { port } = server.address() as AddressInfo
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

test('the control: with a list that trusts everybody, a client can choose its address', async () => {
  assert.equal(await addressOf(['203.0.113.9, 198.51.100.7'], ['0.0.0.0/0']), '203.0.113.9')
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
  ['a port', ['198.51.100.7:4711'], PROXY, '198.51.100.7'],
  ['IPv6 with a port', ['[2001:db8::1]:4711'], PROXY, '2001:db8::1'],
  ['IPv4 in IPv6', ['::ffff:198.51.100.7'], PROXY, '198.51.100.7'],
  ['IPv4 in IPv6, trusted', ['198.51.100.7, ::ffff:10.0.0.1'], TWO_PROXIES, '198.51.100.7'],
  ['text that is not an address', ['203.0.113.9, unknown'], PROXY, '127.0.0.1'],
  ['text after a trusted proxy', ['203.0.113.9, _hidden, 10.1.2.3'], TWO_PROXIES, '10.1.2.3'],
  ['an empty header', [''], PROXY, '127.0.0.1'],
  ['an address with a control character', ['198.51.100.7\t9'], PROXY, '127.0.0.1'],
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

test('the address is known after the connection is closed', async () => {
  const addressOfClosed = createClientAddress(PROXY)
  let seen: IncomingMessage | undefined
  ask = (incoming) => {
    seen = incoming
    return addressOfClosed(incoming)
  }
  trusted = []
  const { port } = server.address() as AddressInfo
  const closed = new Promise<void>((resolve) => {
    server.once('connection', (socket) => socket.once('close', () => resolve()))
  })
  await new Promise<void>((resolve) => {
    request({ host: '127.0.0.1', port, agent: false, headers: { 'X-Forwarded-For': '198.51.100.7' } }, (response) => {
      response.resume().on('end', resolve)
    }).end()
  })
  await closed
  assert.equal(seen?.socket.destroyed, true)
  assert.equal(addressOfClosed(seen), '198.51.100.7')
})

for (const text of ['example.org', '10.0.0.0/33', '10.0.0', 'fd00::/129', '10.0.0.0/8/8', '10.0.0.0/', '10.0.0.0/x'])
  test(`the list may not contain ${text}`, () => {
    assert.throws(() => parseTrustedProxies(text), /must be a list of addresses/)
  })
