// The log line of a request: the address of the client, the bytes, the path parameters, and a failed login by a digest only.
// Also the headers and the page that say how to reach the service safely.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Credentials, newSettings, type Service, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'
import { prepareInProcess } from '../../fixtures/operate/prepared-database.ts'
import { writeNdjson } from '../../fixtures/releases.ts'

interface Line {
  request_id?: string
  route?: string
  params?: Record<string, string> | null
  status?: number
  address?: string
  bytes?: number
  client_id?: string | null
  failed_client_sha256?: string
  problem?: string | null
}
const CANARY = 'ods_canary0secret0pasted0into0the0wrong0field'
const FORWARDED = { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' }
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const services: Service[] = []
after(() => {
  agent.destroy()
  for (const service of services) service.process.kill('SIGKILL')
})

let trusting: Service
let direct: Service
let credentials: Credentials
let token = ''

before(async () => {
  const settings = newSettings(await createTestDatabase())
  credentials = await prepareInProcess(settings, await writeNdjson([{ key: 'a' }, { key: 'b' }]))
  ;[trusting, direct] = await Promise.all([
    startService(settings, {
      OUTBREAKS_TRUSTED_PROXIES: '127.0.0.1',
      OUTBREAKS_BASE_URL: 'https://api.test',
      OUTBREAKS_SECURITY_CONTACT: 'mailto:security@api.test',
    }),
    startService(settings),
  ])
  services.push(trusting, direct)
  const { body } = await login(direct, direct.baseUrl, credentials)
  token = (JSON.parse(body) as { access_token: string }).access_token
})

let sent = 0
/** Sends a request with an id of its own, and gives the answer, the bytes of the connection, and the line of the log. */
async function send(service: Service, path: string, headers: Record<string, string> = {}, form?: string) {
  const id = `access-log-${++sent}`
  const method = form === undefined ? 'GET' : 'POST'
  const { port } = new URL(service.baseUrl)
  const [response, body, bytes] = await new Promise<[IncomingMessage, string, number]>((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, method, agent, timeout: 5000 })
    for (const [name, value] of Object.entries({ ...headers, 'x-request-id': id })) outgoing.setHeader(name, value)
    let earlier = 0
    outgoing.on('socket', (socket) => {
      earlier = socket.bytesRead
    })
    outgoing.on('error', reject).on('response', async (incoming) => {
      const { socket } = incoming
      const chunks = await Array.fromAsync(incoming.setEncoding('utf8') as AsyncIterable<string>)
      resolve([incoming, chunks.join(''), socket.bytesRead - earlier])
    })
    outgoing.end(form)
  })
  return { response, body, bytes, line: await findLine(service, id) }
}

async function findLine(service: Service, id: string): Promise<Line> {
  const deadline = Date.now() + 5000
  for (;;) {
    const text = service
      .output()
      .split('\n')
      .find((candidate) => candidate.includes(`"request_id":"${id}"`))
    if (text !== undefined) return JSON.parse(text) as Line
    assert.ok(Date.now() < deadline, `no line for ${id}`)
    await wait(20)
  }
}

const login = (service: Service, audience: string, { client_id, client_secret }: Credentials) =>
  send(
    service,
    '/oauth/token',
    { 'content-type': 'application/x-www-form-urlencoded', ...FORWARDED },
    new URLSearchParams({ client_id, client_secret, audience, grant_type: 'client_credentials' }).toString(),
  )

test('a node without trusted proxies logs the address of the connection', async () => {
  assert.equal((await send(direct, '/', FORWARDED)).line.address, '127.0.0.1')
})

test('a node with a trusted proxy logs the address that the proxy appended', async () => {
  assert.equal((await send(trusting, '/', FORWARDED)).line.address, '198.51.100.7')
  assert.equal((await send(trusting, '/')).line.address, '127.0.0.1')
})

test('address, bytes and parameters of a cached response', async () => {
  const page = '/v2/hed-outbreaks/outbreaks?num=2&release=1'
  const headers = { authorization: `Bearer ${token}`, ...FORWARDED }
  const answers = []
  for (let i = 0; i < 4; i++) answers.push(await send(direct, page, headers))
  for (const { line, bytes } of answers) {
    assert.equal(line.status, 200)
    assert.equal(line.address, '127.0.0.1')
    assert.equal(line.bytes, bytes)
    assert.equal(line.client_id, credentials.client_id)
  }
  const { body } = await login(trusting, 'https://api.test', credentials)
  const other = (JSON.parse(body) as { access_token: string }).access_token
  for (let i = 0; i < 4; i++) {
    const { line } = await send(trusting, page, { authorization: `Bearer ${other}`, ...FORWARDED })
    assert.deepEqual([line.status, line.address], [200, '198.51.100.7'])
  }
})

test('the bytes are those that the connection received, for each kind of answer', async (t) => {
  const authorization = `Bearer ${token}`
  for (const [name, path, headers] of [
    ['JSON', '/openapi.json', {}],
    ['an error', '/nowhere', {}],
    ['a stream with trailers', '/v2/hed-outbreaks/outbreaks', { accept: 'text/csv', authorization }],
    ['304', '/v2/hed-outbreaks/outbreaks?num=1', { authorization, 'if-none-match': '*' }],
  ] as [string, string, Record<string, string>][])
    await t.test(name, async () => {
      const { line, bytes } = await send(direct, path, headers)
      assert.equal(line.bytes, bytes)
    })
})

test('path parameters are logged if the request was accepted, and never otherwise', async () => {
  const headers = { authorization: `Bearer ${token}` }
  const accepted = await send(direct, '/v2/hed-outbreaks/outbreaks/1', headers)
  assert.deepEqual([accepted.line.status, Object.values(accepted.line.params ?? {})], [200, ['1']])
  const rejected = await send(direct, `/v2/hed-outbreaks/outbreaks/${CANARY}`, headers)
  assert.equal(rejected.line.params, null)
  assert.ok(!direct.output().includes(CANARY))
})

test('a failed login names the client by a digest only', async (t) => {
  for (const clientId of [credentials.client_id, CANARY, 'nobody'])
    await t.test(clientId.slice(0, 6), async () => {
      const { line } = await login(direct, direct.baseUrl, { client_id: clientId, client_secret: 'wrong' })
      const digest = createHash('sha256').update(clientId).digest('hex').slice(0, 16)
      assert.deepEqual([line.status, line.client_id, line.failed_client_sha256], [401, null, digest])
      assert.ok(!JSON.stringify(line).includes(clientId))
    })
  const { line } = await login(direct, direct.baseUrl, credentials)
  assert.equal(line.problem, null)
  assert.deepEqual([line.status, line.client_id, line.failed_client_sha256], [200, credentials.client_id, undefined])
})

test('a request with a body leaves one line', async () => {
  const { response } = await login(direct, direct.baseUrl, credentials)
  const id = String(response.headers['x-request-id'])
  await wait(300)
  assert.equal(direct.output().split(`"request_id":"${id}"`).length - 1, 1)
})

test('broken framing is logged with the address', async () => {
  const { port } = new URL(direct.baseUrl)
  const socket = connect(Number(port), '127.0.0.1')
  socket.end('NOT HTTP\r\n\r\n')
  await Array.fromAsync(socket)
  const deadline = Date.now() + 5000
  const find = () =>
    direct
      .output()
      .split('\n')
      .find((line) => line.includes('"problem":"invalid_request","reason"'))
  while (find() === undefined && Date.now() < deadline) await wait(20)
  assert.equal((JSON.parse(find() ?? '{}') as Line).address, '127.0.0.1')
})

test('a request that the client abandons is logged with its address', async () => {
  const { port } = new URL(trusting.baseUrl)
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(
    'POST /oauth/token HTTP/1.1\r\nHost: a\r\nX-Request-Id: abandoned-1\r\nX-Forwarded-For: 198.51.100.7\r\n',
  )
  socket.write('Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{')
  await wait(200)
  socket.destroy()
  assert.equal((await findLine(trusting, 'abandoned-1')).address, '198.51.100.7')
})

test('Strict-Transport-Security is sent if the base URL is https, and not otherwise', async () => {
  for (const path of ['/', '/nowhere']) {
    const { response } = await send(trusting, path)
    assert.equal(response.headers['strict-transport-security'], 'max-age=31536000')
    assert.equal((await send(direct, path)).response.headers['strict-transport-security'], undefined)
  }
})

test('security.txt has the contact and an expiry in less than a year (RFC 9116); without a contact it is absent', async () => {
  const { response, body } = await send(trusting, '/.well-known/security.txt')
  assert.equal(response.statusCode, 200)
  assert.equal(response.headers['content-type'], 'text/plain; charset=utf-8')
  const fields = new Map(
    body
      .trim()
      .split('\n')
      .map((line) => line.split(/: (.*)/) as [string, string]),
  )
  assert.equal(fields.get('Contact'), 'mailto:security@api.test')
  assert.equal(fields.get('Canonical'), 'https://api.test/.well-known/security.txt')
  assert.match(fields.get('Expires') ?? '', /^\d{4}-\d\d-\d\dT00:00:00Z$/)
  const days = (Date.parse(fields.get('Expires') ?? '') - Date.now()) / 86_400_000
  assert.ok(days > 150 && days < 365)
  assert.equal((await send(direct, '/.well-known/security.txt')).response.statusCode, 404)
})
