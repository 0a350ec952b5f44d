// The proxies of deploy/ with TLS in front of a node: TLS 1.2 and 1.3 only, redirect from http, HSTS once, limits, the address of
// the client, and no answer to an authorised request for someone without a token, also from a proxy that caches.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { type IncomingHttpHeaders, request as requestHttp } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { connect, createServer, type SecureVersion } from 'node:tls'
import { findFreePort } from '../../../dev/postgres.ts'
import { newSettings, type Service, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'
import { prepareInProcess } from '../../fixtures/operate/prepared-database.ts'
import {
  createDirectory,
  launchProgram,
  type Program,
  waitUntil,
  withoutPrograms,
} from '../../fixtures/operate/program.ts'
import {
  configureNginx,
  createLocalCertificate,
  type ProxyPorts,
  TLS_PROXIES,
} from '../../fixtures/operate/tls-proxies.ts'

const sample = path.resolve(import.meta.dirname, '../../../sample/releases/1')
const BASE_URL = 'https://api.test'
/** A client that is not one of the trusted proxies. */
const CLIENT_ADDRESS = '127.0.0.2'

const directory = createDirectory()
let certificate = { crt: '', key: '' }
interface Answer {
  status: number
  headers: IncomingHttpHeaders
  /** Names and values in turn, as they were sent. */
  rawHeaders: string[]
  trailers: NodeJS.Dict<string>
  body: string
}

function send(options: RequestOptions, body?: string, start: typeof request = request): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = start({ host: '127.0.0.1', timeout: 10_000, ...options }, async (incoming) => {
      try {
        const chunks = await Array.fromAsync(incoming.setEncoding('utf8') as AsyncIterable<string>)
        const { statusCode: status = 0, headers, rawHeaders, trailers } = incoming
        resolve({ status, headers, rawHeaders, trailers, body: chunks.join('') })
      } catch (error) {
        reject(error)
      }
    })
    outgoing.on('error', reject).on('timeout', () => outgoing.destroy(new Error('no response')))
    outgoing.end(body)
  })
}

/** The version that the handshake agrees on; the code of the error if there is none. */
const negotiate = (port: number, version: SecureVersion) =>
  new Promise<string>((resolve) => {
    const socket = connect({
      ...{ host: '127.0.0.1', port, servername: 'localhost', rejectUnauthorized: false },
      ...{ minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0', timeout: 5000 },
    })
    socket.on('secureConnect', () => {
      resolve(socket.getProtocol() ?? '')
      socket.destroy()
    })
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })

let service: Service
let nodePort = 0
let token = ''

before(async () => {
  if (withoutPrograms('openssl') !== false) return
  certificate = createLocalCertificate(directory)
  const settings = newSettings(await createTestDatabase())
  const credentials = await prepareInProcess(settings, sample)
  service = await startService(settings, { OUTBREAKS_BASE_URL: BASE_URL, OUTBREAKS_TRUSTED_PROXIES: '127.0.0.1' })
  nodePort = Number(new URL(service.baseUrl).port)
  tokenRequest = JSON.stringify({ ...credentials, audience: BASE_URL, grant_type: 'client_credentials' })
  const { body } = await send({ port: nodePort, path: '/oauth/token', ...POST }, tokenRequest, requestHttp)
  token = (JSON.parse(body) as { access_token: string }).access_token
})
after(() => service?.process.kill('SIGKILL'))

let tokenRequest = ''
const POST = { method: 'POST', headers: { 'content-type': 'application/json' } }
const authorised = () => ({ authorization: `Bearer ${token}` })

async function findAddress(requestId: string): Promise<string> {
  const text = await waitUntil('the line of the request', async () =>
    service
      .output()
      .split('\n')
      .find((line) => line.includes(`"request_id":"${requestId}"`)),
  )
  return (JSON.parse(text) as { address: string }).address
}

test('the control: this client can use TLS 1.1 with a server that allows it', async () => {
  if (withoutPrograms('openssl') !== false) return
  const options = {
    key: readFileSync(certificate.key),
    cert: readFileSync(certificate.crt),
    minVersion: 'TLSv1' as const,
  }
  const server = createServer({ ...options, ciphers: 'DEFAULT@SECLEVEL=0' }).on('tlsClientError', () => {})
  const port = await findFreePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  assert.equal(await negotiate(port, 'TLSv1.1'), 'TLSv1.1')
  server.close()
})

for (const { name, program, passesTrailers, configure } of TLS_PROXIES)
  describe(name, { skip: withoutPrograms(program, 'openssl') }, () => {
    let ports: ProxyPorts
    let agent: Agent
    let proxy: Program | undefined
    const ask = (address: string, options: RequestOptions = {}, body?: string) =>
      send({ agent, port: ports.https, path: address, servername: 'localhost', ...withHost(options) }, body)
    const withHost = (options: RequestOptions) => ({
      ...options,
      headers: { host: `localhost:${ports.https}`, ...(options.headers as Record<string, string>) },
    })

    before(async () => {
      ports = { https: await findFreePort(), http: await findFreePort(), nodes: [nodePort, nodePort] }
      agent = new Agent({ ca: readFileSync(certificate.crt, 'utf8') })
      const home = path.join(directory, program)
      mkdirSync(home)
      const { args, env = {} } = configure(home, ports, certificate)
      proxy = await launchProgram(program, args, { port: ports.https, env })
      await waitUntil('the proxy answers', async () => (await ask('/ready').catch(() => null))?.status === 200)
    })
    after(async () => {
      agent?.destroy()
      await proxy?.stop()
    })

    test('a token and a page', async () => {
      const answer = await ask('/oauth/token', POST, tokenRequest)
      assert.equal(answer.status, 200, answer.body)
      assert.equal(answer.headers['cache-control'], 'no-store')
      const page = await ask('/v2/hed-outbreaks/outbreaks?num=5', { headers: authorised() })
      assert.equal(page.status, 200)
      assert.match(String(page.headers['cache-control']), /private/)
    })

    test('its log has no key of a link', async () => {
      const linkKey = `obk1.${'x'.repeat(20)}`
      await ask(`/v2/hed-outbreaks/facets?key=${linkKey}`)
      const readLog = () => {
        const file = path.join(directory, program, 'access.log')
        return `${proxy?.output()}${existsSync(file) ? readFileSync(file, 'utf8') : ''}`
      }
      // Caddy logs no requests.
      if (program !== 'caddy') await waitUntil('the line of the request', async () => readLog().includes('/facets'))
      assert.equal(readLog().includes('obk1'), false)
    })

    test('a query as one file arrives whole', async (t) => {
      const headers = { ...authorised(), accept: 'application/x-ndjson', te: 'trailers' }
      const { status, trailers, body } = await ask('/v2/hed-outbreaks/outbreaks', { headers })
      assert.equal(status, 200)
      const records = body.trim().split('\n').length
      assert.ok(records > 10)
      if (passesTrailers) assert.equal(trailers['outbreaks-records'], String(records))
      else t.diagnostic(`trailers: ${JSON.stringify(trailers)}`)
    })

    for (const version of ['TLSv1', 'TLSv1.1'] as const)
      test(`${version} is refused`, async () => {
        assert.doesNotMatch(await negotiate(ports.https, version), /^TLS/)
      })
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
      test(`${version} is accepted`, async () => {
        assert.equal(await negotiate(ports.https, version), version)
      })

    test('http is redirected to https, and says nothing else', async () => {
      const options = { port: ports.http, path: '/v2/hed-outbreaks/outbreaks?num=1', headers: { host: 'localhost' } }
      const { status, headers, body } = await send(options, undefined, requestHttp)
      assert.equal(status, 308)
      assert.match(headers.location ?? '', /^https:\/\/localhost(:\d+)?\/v2\/hed-outbreaks\/outbreaks\?num=1$/)
      assert.ok(!body.includes('event'))
    })

    test('every answer has Strict-Transport-Security once', async () => {
      for (const address of ['/ready', '/nowhere', '/v2/hed-outbreaks/outbreaks']) {
        const { rawHeaders } = await ask(address)
        const found = rawHeaders.filter((text) => text.toLowerCase() === 'strict-transport-security')
        assert.equal(found.length, 1, address)
      }
    })

    test('X-Forwarded-For and Forwarded from outside are not believed', async () => {
      const spoofed = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9', 'x-real-ip': '203.0.113.9' }
      const requestId = `spoofed-${program}`
      await ask('/', { headers: { ...spoofed, 'x-request-id': requestId }, localAddress: CLIENT_ADDRESS })
      assert.equal(await findAddress(requestId), CLIENT_ADDRESS)
      // Also from an address that the node trusts.
      await ask('/', { headers: { ...spoofed, 'x-request-id': `${requestId}-local` } })
      assert.equal(await findAddress(`${requestId}-local`), '127.0.0.1')
    })

    test('a request id is passed on, or made', async () => {
      const given = await ask('/', { headers: { 'x-request-id': 'given-by-the-client' } })
      assert.equal(given.headers['x-request-id'], 'given-by-the-client')
      assert.match(String((await ask('/')).headers['x-request-id']), /^[\w.-]{8,64}$/)
    })

    test('a body above 8 KB is refused', async () => {
      const { status } = await ask('/oauth/token', POST, ' '.repeat(9000)).catch(() => ({ status: 413 }))
      // Caddy 2.6 stops sending the body: it answers 502, or passes on the 400 of the node for half a body.
      assert.ok([413, ...(program === 'caddy' ? [502, 400] : [])].includes(status), String(status))
    })

    test('an answer to an authorised request is not given to somebody without a token', async () => {
      const address = '/v2/hed-outbreaks/citation?format=text'
      assert.equal((await ask(address, { headers: authorised() })).status, 200)
      assert.equal((await ask(address)).status, 401)
    })
  })

describe('an nginx that caches', { skip: withoutPrograms('nginx', 'openssl') }, () => {
  const ADDRESSES = [
    '/v2/hed-outbreaks/citation?format=text',
    '/v2/hed-outbreaks/citation?format=bibtex',
    '/v2/hed-outbreaks/outbreaks?num=1',
    '/v2/hed-outbreaks/outbreaks?num=1&release=1',
    '/v2/hed-outbreaks/event-names',
    '/v2/hed-outbreaks/releases',
  ]
  const programs: Program[] = []
  after(() => Promise.all(programs.map((program) => program.stop())))
  const start = async (name: string, settings: string) => {
    const port = await findFreePort()
    const home = path.join(directory, name)
    mkdirSync(home)
    // The workers of a root process run as another user, who may not write here.
    const text = `
      ${process.getuid?.() === 0 ? 'user root;' : ''}
      events {}
      http {
        access_log off;
        proxy_cache_path ${home}/cache keys_zone=all:1m;
        server {
          listen 127.0.0.1:${port};
          location / {
            proxy_pass http://127.0.0.1:${nodePort};
            proxy_cache all;
            proxy_cache_key $request_uri;
            proxy_cache_valid any 1m;
            ${settings}
          }
        }
      }`
    programs.push(await launchProgram('nginx', configureNginx(home, text).args, { port }))
    return async (address: string, headers = {}) => {
      const answer = await send(
        { port, path: address, headers: { host: 'localhost', ...headers } },
        undefined,
        requestHttp,
      )
      // The cache is written after the answer.
      await wait(50)
      return answer.status
    }
  }

  test('the control: if it ignores Cache-Control, it gives the answer to everybody', async () => {
    const ask = await start('ignoring', 'proxy_ignore_headers Cache-Control Vary Expires Set-Cookie;')
    assert.equal(await ask(ADDRESSES[0] ?? '', authorised()), 200)
    assert.equal(await ask(ADDRESSES[0] ?? ''), 200)
  })

  test('it never gives an answer to an authorised request to somebody without a token', async (t) => {
    const ask = await start('caching', '')
    for (const address of ADDRESSES)
      await t.test(address, async () => {
        assert.equal(await ask(address, authorised()), 200)
        assert.equal(await ask(address, authorised()), 200)
        assert.equal(await ask(address), 401)
      })
  })
})
