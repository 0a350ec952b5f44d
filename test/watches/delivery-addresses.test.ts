// No address that a client names leads into this network: literals in every form, names, names that change, redirects, proxies.
// Each has a control: the same address is reached if the operator trusts its origin.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, describe, it, before as prepare } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { EgressPolicy } from '../../src/platform/egress/checked-connection.ts'
import { post } from '../../src/platform/egress/post.ts'
import { isPublicAddress } from '../../src/platform/egress/special-purpose-ranges.ts'
import { createCertificates } from '../fixtures/watches/certificates.ts'
import { startNameServer } from '../fixtures/watches/name-server.ts'

/** Reach the receiver of this test on loopback. */
const LOOPBACK = [
  ...['127.0.0.1', '127.1', '127.0.1', '127.255.255.254', '2130706433', '0x7f000001', '0x7f.0x0.0x0.0x1', '0x7f.1'],
  ...['017700000001', '0177.0.0.1', '0177.0.0.01', '127.0.0.0x1', '127.0x000001', '127.000.000.001', '127.0.0.1.'],
  ...['１２７.０.０.１', '127。0。0。1', '0.0.0.0', '0', '0x0', '00', '[::1]', '[0:0:0:0:0:0:0:1]', '[::]'],
  ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]', 'localhost', 'LOCALHOST', 'localhost.'],
  ...['loopback.test', 'mapped.test', 'six.test', 'zero.test', 'mixed.test', 'alias.deep.name.test'],
]
/** Reach nothing here, and would in another network. */
const SPECIAL = [
  ...['10.0.0.1', '10.255.255.255', '10.1', '167772161', '0xa000001', '012.0.0.1', '172.16.0.1', '172.31.255.255'],
  ...['192.168.0.1', '192.168.1', '3232235521', '0xc0a80001', '0300.0250.0.1', '192.168.255.255', '100.64.0.1'],
  ...['100.100.100.200', '100.127.255.255', '169.254.169.254', '169.254.0.1', '2852039166', '0xa9fea9fe'],
  ...['0251.0376.0251.0376', '169.254.43518', '0xa9.0xfe.0xa9.0xfe', '168.63.129.16', '192.0.0.1', '192.0.0.192'],
  ...['192.0.2.1', '192.31.196.1', '192.52.193.1', '192.88.99.1', '192.175.48.1', '198.18.0.1', '198.19.255.255'],
  ...['198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '4294967295'],
  ...['0.1.2.3', '0.255.255.255', '[::2]', '[::127.0.0.1]', '[::10.0.0.1]', '[::ffff:10.0.0.1]', '[::ffff:a9fe:a9fe]'],
  ...['[::ffff:192.168.0.1]', '[::ffff:8.8.8.8]', '[::ffff:0:127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b::127.0.0.1]'],
  ...['[64:ff9b::10.0.0.1]', '[64:ff9b:1::1]', '[100::1]', '[100:0:0:1::1]', '[2001::1]', '[2001:0:7f00:1::]'],
  ...['[2001:2::1]', '[2001:10::1]', '[2001:20::1]', '[2001:30::1]', '[2001:1ff:ffff::1]', '[2001:db8::1]'],
  ...['[2002:7f00:1::]', '[2002:a00:1::1]', '[2002:c0a8:1::1]', '[2620:4f:8000::1]', '[3fff::1]', '[3fff:fff::1]'],
  ...[
    '[4000::1]',
    '[5f00::1]',
    '[8000::1]',
    '[fc00::1]',
    '[fd00::1]',
    '[fd00:ec2::254]',
    '[fdff:ffff::1]',
    '[fe80::1]',
  ],
  ...['[febf::1]', '[fec0::1]', '[feff::1]', '[ff00::1]', '[ff02::1]', '[ff0e::1]', '[ffff:ffff::1]'],
  ...['private.test', 'metadata.test', 'unique-local.test', 'nat64.test', 'sixtofour.test', 'carrier.test'],
]
/** What is no URL, or no URL of a receiver. */
const MALFORMED = [
  ...[
    'https://[fe80::1%25eth0]/',
    'https://[::1%lo]/',
    'http://8.8.8.8/',
    'https://8.8.8.8:22/',
    'https://8.8.8.8:8443/',
  ],
  ...['https://user:password@8.8.8.8/', 'https://8.8.8.8@127.0.0.1/', 'ftp://8.8.8.8/', 'file:///etc/passwd'],
  ...[
    'https://127.0.0.1\\@8.8.8.8/',
    'https://256.0.0.1/',
    'https://',
    'gopher://127.0.0.1/',
    'https://a b/',
    '//127.0.0.1/',
  ],
]
const NAMES: Record<string, readonly string[]> = {
  'loopback.test': ['127.0.0.1'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'six.test': ['::1'],
  'zero.test': ['0.0.0.0'],
  'mixed.test': ['127.0.0.1', '8.8.8.8'],
  'alias.deep.name.test': ['127.0.0.1', '::1'],
  'private.test': ['10.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'unique-local.test': ['fd00::1'],
  'nat64.test': ['64:ff9b::7f00:1'],
  'sixtofour.test': ['2002:7f00:1::1'],
  'carrier.test': ['100.64.0.1'],
  localhost: ['127.0.0.1', '::1'],
}

describe('addresses of receivers', () => {
  const certificates = createCertificates()
  const systemAuthorities = getCACertificates('default')
  const server = createServer(
    certificates.issue(
      'DNS:loopback.test,DNS:mixed.test,DNS:alias.deep.name.test,DNS:localhost,IP:127.0.0.1,IP:127.255.255.254,IP:0.0.0.0,IP:::1,IP:::',
    ),
    (request, response) => {
      reached++
      if (request.url === '/redirect') response.writeHead(302, { location: `https://127.0.0.1:${port}/` })
      if (request.url === '/flood') return flood()
      response.end('{}')
      function flood() {
        if (!response.destroyed) response.write(Buffer.alloc(2 ** 16), () => setImmediate(flood))
      }
    },
  )
  let reached = 0
  let connections = 0
  let port = 0
  let asked = 0
  let names: Awaited<ReturnType<typeof startNameServer>>
  let policy: EgressPolicy
  const send = (url: string, more: Partial<EgressPolicy> = {}) =>
    post(new URL(url), { headers: {}, body: '{}', timeoutMs: 5000 }, { ...policy, ...more })
  const withPort = (host: string) => `https://${host}:${port}/`

  prepare(async () => {
    setDefaultCACertificates([...systemAuthorities, certificates.authority])
    server.on('connection', () => connections++)
    server.listen(0, '::')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
    names = await startNameServer((name) => {
      // The first questions, of A and of AAAA, are of the check; later ones would be of the connection.
      if (name === 'rebinding.test') return asked++ < 2 ? ['8.8.8.8'] : ['127.0.0.1']
      return NAMES[name] ?? []
    })
    policy = { trustedOrigins: [], proxyUrl: null, port, lookup: names.lookup }
  })
  after(() => {
    setDefaultCACertificates(systemAuthorities)
    server.closeAllConnections()
    server.close()
    names.close()
    certificates.remove()
  })

  it(`refuses ${LOOPBACK.length + SPECIAL.length + MALFORMED.length} addresses without opening a connection`, async () => {
    assert.ok(LOOPBACK.length + SPECIAL.length + MALFORMED.length >= 120)
    for (const host of [...LOOPBACK, ...SPECIAL])
      await assert.rejects(send(withPort(host)), { code: 'ADDRESS_REFUSED' }, `${host} was not refused`)
    for (const url of MALFORMED)
      await assert.rejects(
        async () => send(url),
        { code: /^(ADDRESS_REFUSED|ERR_INVALID_URL)$/ },
        `${url} was not refused`,
      )
    assert.deepEqual({ connections, reached }, { connections: 0, reached: 0 })
  })

  it('reaches the same addresses of loopback without the guard', async () => {
    for (const host of LOOPBACK) {
      const { origin } = new URL(withPort(host))
      // A mapped address is in no certificate: what matters is that the connection was opened.
      const before = connections
      await send(withPort(host), { trustedOrigins: [origin] }).catch(() => {})
      assert.equal(connections, before + 1, `${host} is not on loopback, so refusing it shows nothing`)
    }
    assert.ok(reached > 20)
  })

  it('connects to the address that it checked, not to what the name has become', async () => {
    asked = 0
    const before = connections
    // 8.8.8.8 passes the check. Nothing answers there on this port, and loopback must not either.
    await assert.rejects(
      post(new URL(withPort('rebinding.test')), { headers: {}, body: '', timeoutMs: 500 }, policy),
      ({ code }: NodeJS.ErrnoException) => code !== 'ADDRESS_REFUSED',
    )
    assert.equal(connections, before)
    // The control: a check and a connection that each resolve the name reach loopback.
    asked = 0
    const [checked] = await names.lookup('rebinding.test')
    assert.ok(isPublicAddress(checked?.address ?? ''))
    const [used] = await names.lookup('rebinding.test')
    const socket = connect(port, used?.address)
    await once(socket, 'connect')
    socket.destroy()
  })

  it('follows no redirect and reads little of an endless response', async () => {
    const origins = { trustedOrigins: [`https://localhost:${port}`] }
    const before = reached
    assert.equal((await send(`https://localhost:${port}/redirect`, origins)).status, 302)
    assert.equal(reached, before + 1)
    const { status, text } = await send(`https://localhost:${port}/flood`, origins)
    assert.deepEqual([status, text.length], [200, 4096])
  })

  it('does not accept a certificate of another name', async () => {
    const other = `https://127.0.0.2:${port}`
    await assert.rejects(send(`${other}/`, { trustedOrigins: [other] }), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  })

  it('gives the same answers through a proxy, which gets the checked address', async () => {
    const tunnels: string[] = []
    const logins: (string | undefined)[] = []
    const proxy = createHttpServer()
    proxy.on('connect', (request, socket: Socket) => {
      tunnels.push(request.url ?? '')
      logins.push(request.headers['proxy-authorization'])
      const target = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        socket.pipe(target).pipe(socket)
      })
      for (const end of [socket, target]) end.on('error', () => end.destroy())
      socket.on('close', () => target.destroy())
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const proxyUrl = `http://someone:pass%20word@127.0.0.1:${(proxy.address() as AddressInfo).port}`
    try {
      for (const host of [...LOOPBACK, ...SPECIAL])
        await assert.rejects(send(withPort(host), { proxyUrl }), { code: 'ADDRESS_REFUSED' }, `${host} was not refused`)
      assert.deepEqual(tunnels, [])
      const trusted = { proxyUrl, trustedOrigins: [`https://loopback.test:${port}`] }
      assert.equal((await send(withPort('loopback.test'), trusted)).status, 200)
      assert.deepEqual(tunnels, [`127.0.0.1:${port}`])
      assert.deepEqual(logins, [`Basic ${Buffer.from('someone:pass word').toString('base64')}`])
    } finally {
      proxy.closeAllConnections()
      proxy.close()
    }
  })

  it('lets public addresses pass', () => {
    const open = [
      '1.1.1.1',
      '8.8.8.8',
      '100.63.255.255',
      '100.128.0.0',
      '172.15.0.1',
      '172.32.0.1',
      '192.0.1.0',
      '223.255.255.255',
    ]
    const open6 = ['2606:4700::1111', '2001:4860:4860::8888', '2003::1', '2a00:1450::1', '3ffe::1', '2001:200::1']
    for (const address of [...open, ...open6]) assert.ok(isPublicAddress(address), address)
    for (const text of ['', 'example.org', '1.1.1', '1.1.1.1%eth0', '2606:4700::1111%eth0'])
      assert.ok(!isPublicAddress(text))
  })
})
