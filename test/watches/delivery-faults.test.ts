// Every delivery arrives at least once, although receivers fail in twenty ways, notifiers are killed, and PostgreSQL restarts.
// DELIVERIES and KILLS make it longer: DELIVERIES=10000 KILLS=30.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer, type Socket } from 'node:net'
import path from 'node:path'
import { after, test } from 'node:test'
import pg from 'pg'
import { Webhook } from 'standardwebhooks'
import { createCluster, findFreePort } from '../../dev/postgres.ts'
import { type Credentials, newSettings, outbreakctl, prepareDatabase } from '../../dev/service.ts'
import { createCertificates } from '../fixtures/watches/certificates.ts'
import { type Received, startReceiver } from '../fixtures/watches/receiver.ts'
import { type Notifier, openEndpoints, startNotifier, until } from '../fixtures/watches/run-notifier.ts'
import { LIVENESS_MS } from '../liveness.ts'

const DELIVERIES = Number(process.env['DELIVERIES'] ?? 120)
const KILLS = Number(process.env['KILLS'] ?? 3)
/** Long enough that a receiver which accepts the third attempt gets it, also on a machine that others keep busy. */
const TIMING = {
  retrySeconds: [0, 0.05, 0.1, 0.2, 0.5, ...Array<number>(7).fill(1)],
  attemptMs: 2000,
  leaseSeconds: 5,
  pollMs: 50,
}

const cluster = await createCluster({ durable: true })
const certificates = createCertificates()
const settings = newSettings(cluster.url)
const first = await prepareDatabase(settings)

type Fault = (response: ServerResponse) => void
const stall = () => {}
const raw = (text: string) => (response: ServerResponse) => void response.socket?.end(text)
/** What happens at the first attempts of a delivery; then the receiver accepts it. */
const FAULTS: Record<string, Fault> = {
  none: (response) => void response.end(),
  'no content': (response) => void response.writeHead(204).end(),
  slow: (response) => void setTimeout(() => response.end(), 300),
  'no response': stall,
  reset: (response) => receiver.reset(response),
  closed: (response) => void response.destroy(),
  500: (response) => void response.writeHead(500).end('no'),
  '429 with seconds': (response) => void response.writeHead(429, { 'retry-after': '1' }).end(),
  '503 with a date': (response) => void response.writeHead(503, { 'retry-after': new Date().toUTCString() }).end(),
  'wrong Retry-After': (response) => void response.writeHead(429, { 'retry-after': 'tomorrow' }).end(),
  redirect: (response) => void response.writeHead(302, { location: 'https://169.254.169.254/' }).end(),
  404: (response) => void response.writeHead(404).end(),
  'half a status line': (response) => void response.socket?.write('HTTP/1.1 20'),
  'half of the headers': (response) => void response.socket?.write('HTTP/1.1 200 OK\r\ncontent-'),
  'headers too long': raw(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`),
  'no HTTP': raw('SSH-2.0-OpenSSH_9.9\r\n'),
  'two lengths': raw('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'),
  'only informational': (response) => {
    const timer = setInterval(() => response.socket?.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 50)
    response.on('close', () => clearInterval(timer))
  },
}
/** What counts as a success although something is odd. */
const ODD_SUCCESSES: Record<string, Fault> = {
  'endless body': (response) => {
    const flood = () => !response.destroyed && response.write(Buffer.alloc(2 ** 16), () => setImmediate(flood))
    flood()
  },
  'body that stops': (response) => void response.writeHead(200, { 'content-length': '10' }).write('12345'),
}

const attempts = new Map<string, number>()
const accepted = new Map<string, number>()
/** By the path of the endpoint. */
const secrets = new Map<string, string>()
const rejected: unknown[] = []
const receiver = await startReceiver(certificates, ({ path: url, id, headers, body }, response) => {
  // At once: the library rejects what is older than five minutes.
  try {
    new Webhook(secrets.get(url) ?? '').verify(body, headers as Record<string, string>)
  } catch (error) {
    rejected.push(error)
  }
  const name = decodeURIComponent(url.slice(1))
  const attempt = (attempts.get(id) ?? 0) + 1
  attempts.set(id, attempt)
  const fault = FAULTS[name]
  if (fault !== undefined && fault !== FAULTS['none'] && attempt <= 2 && !['slow', 'no content'].includes(name))
    return fault(response)
  accepted.set(id, (accepted.get(id) ?? 0) + 1)
  ;(fault === undefined
    ? (ODD_SUCCESSES[name] as Fault)
    : ['none', 'slow', 'no content'].includes(name)
      ? fault
      : (FAULTS['none'] as Fault))(response)
})
/** Never succeed: a certificate of another name, of a stranger, no TLS, silence, nothing. */
const misnamed = await startReceiver(certificates, undefined, 'DNS:other.test')
const strangers = createCertificates()
const untrusted = await startReceiver(strangers)
const sockets = new Set<Socket>()
const silent = createServer((socket) => {
  sockets.add(socket)
  socket.on('error', () => {})
}).listen(0, '127.0.0.1')
const plain = createServer((socket: Socket) => {
  socket.on('error', () => {})
  socket.end('HTTP/1.1 200 OK\r\n\r\n')
}).listen(0, '127.0.0.1')
await Promise.all([silent, plain].map((server) => once(server, 'listening')))
const originOf = (server: typeof silent) => `https://127.0.0.1:${(server.address() as { port: number }).port}`
const gone = await startReceiver(certificates, (_received, response) => void response.writeHead(410).end())
const HOPELESS = [
  misnamed.origin,
  untrusted.origin,
  originOf(silent),
  originOf(plain),
  `https://127.0.0.1:${await findFreePort()}`,
]

let running: Notifier[] = []
after(async () => {
  await Promise.all(running.map((notifier) => notifier.kill()))
  for (const one of [receiver, misnamed, untrusted, gone]) one.close()
  for (const server of [silent, plain]) server.close()
  for (const socket of sockets) socket.destroy()
  for (const one of [certificates, strangers]) one.remove()
  await cluster.stop()
})

test(`${DELIVERIES} deliveries, ${KILLS} kills of two notifiers and a restart of PostgreSQL`, async () => {
  const trustedOrigins = [receiver.origin, ...HOPELESS, gone.origin]
  const ports = [await findFreePort(), await findFreePort()]
  const outputs: (() => string)[] = []
  const open = async (index: number) => {
    const notifier = await startNotifier({
      settings,
      authorityFile: certificates.authorityFile,
      trustedOrigins,
      timing: TIMING,
      port: ports[index] as number,
    })
    outputs.push(notifier.output)
    return notifier
  }
  running = await Promise.all([open(0), open(1)])
  const addresses = [
    ...[...Object.keys(FAULTS), ...Object.keys(ODD_SUCCESSES)].map(
      (name) => `${receiver.origin}/${encodeURIComponent(name)}`,
    ),
    ...HOPELESS,
    gone.origin,
  ]
  // Five endpoints are the most that a client can have.
  const endpoints: string[] = []
  for (let from = 0; from < addresses.length; from += 5) {
    const name = ['--name', `Client ${from}`]
    const client = from === 0 ? first : await outbreakctl<Credentials>(settings, 'client', 'create', ...name)
    const api = await until(
      () => openEndpoints(running[0]?.baseUrl ?? '', client).catch(() => undefined),
      'the client to be known',
    )
    for (const url of addresses.slice(from, from + 5)) {
      const { id, secret } = await api.expect(201, 'POST', '', { url })
      endpoints.push(String(id))
      secrets.set(new URL(url).pathname, String(secret))
    }
  }
  await query(
    `insert into delivery (id, endpoint, client_id, dataset, release, type, body, state, next_attempt_at)
     select gen_random_uuid(), e.id, e.client_id, e.dataset, n, 'question.changed',
       jsonb_build_object('specversion', '1.0', 'data', jsonb_build_object('release', n, 'text', 'Zürich 😀 ' || repeat('x', n % 500))), 'pending', now()
     from generate_series(1, $1::integer) n join endpoint e on e.id = ($2::uuid[])[1 + n % cardinality($2::uuid[])]`,
    // Most to receivers that accept: a silent one takes seconds for each attempt.
    [
      DELIVERIES,
      [
        ...endpoints,
        ...Array<string[]>(50)
          .fill(endpoints.slice(0, -HOPELESS.length - 1))
          .flat(),
      ],
    ],
  )
  for (let kill = 0; kill < KILLS; kill++) {
    const before = attempts.size
    // The kill comes while it delivers, unless everything has been tried by now.
    await until(async () => (attempts.size > before || (await count('pending')) === 0 ? true : undefined), 'a delivery')
    const index = kill % 2
    await running[index]?.kill()
    const again = await open(index)
    running = running.map((notifier, at) => (at === index ? again : notifier))
    if (kill === Math.floor(KILLS / 2)) {
      await cluster.kill()
      await cluster.start()
    }
  }
  await until(
    async () => ((await count('pending')) === 0 ? true : undefined),
    'the end of the queue',
    LIVENESS_MS * (2 + DELIVERIES / 200),
  )
  const codes = await Promise.all(running.map((notifier) => notifier.stop()))
  assert.deepEqual(codes, [0, 0])

  const deliveries = await query<{ id: string; address: string; state: string; attempts: number }>(
    `select d.id, e.address, d.state, (select count(*)::integer from delivery_attempt a where a.delivery = d.id) as attempts
     from delivery d join endpoint e on e.id = d.endpoint`,
  )
  assert.equal(deliveries.length, DELIVERIES)
  for (const { id, address, state, attempts: recorded } of deliveries) {
    const isHopeless = HOPELESS.some((origin) => address.startsWith(origin))
    if (isHopeless) assert.deepEqual([state, recorded], ['failed', TIMING.retrySeconds.length], address)
    else if (address.startsWith(gone.origin)) assert.equal(state, 'failed')
    else
      assert.ok(
        state === 'delivered' && (accepted.get(id) ?? 0) >= 1,
        `${address} did not get ${id}: ${state} after ${recorded} attempts`,
      )
  }
  const disabled = await query<{ address: string }>(`select address from endpoint where state = 'disabled'`)
  assert.deepEqual(disabled, [{ address: `${gone.origin}/` }])
  for (const server of [misnamed, untrusted]) assert.equal(server.received.length, 0)

  // A copy has the same id and the same body. Only what was under way when a notifier was killed comes twice.
  const bodies = new Map<string, string>()
  const known = new Set(deliveries.map(({ id }) => id))
  for (const { id, body } of receiver.received) {
    assert.ok(known.has(id))
    assert.equal(body, bodies.get(id) ?? body)
    bodies.set(id, body)
  }
  assert.equal(new Set(receiver.received.map(({ body }) => JSON.parse(body).data.release)).size, bodies.size)
  const copies = [...accepted.values()].filter((times) => times > 1).length
  console.log(
    `${receiver.received.length} attempts, ${copies} accepted more than once, ${deliveries.length} deliveries`,
  )
  assert.deepEqual(rejected, [])
  verifySignatures(receiver.received)
  const log = outputs.map((output) => output()).join('')
  assert.doesNotMatch(log, /whsec_|v1,/)
  for (const secret of [...secrets.values(), settings.secret]) assert.ok(!log.includes(secret.replace('whsec_', '')))
})

/** Again, by Python. */
function verifySignatures(received: readonly Received[]): void {
  const lines: string[] = []
  for (const { path: url, headers, body, id } of received) {
    const secret = secrets.get(url) ?? ''
    const [timestamp, signature] = [headers['webhook-timestamp'], headers['webhook-signature']]
    lines.push(JSON.stringify({ id, timestamp, signature, body, secret }))
  }
  // A wrong one, which both must find.
  const [line] = lines
  const changed = JSON.stringify({ ...JSON.parse(line ?? '{}'), body: '{}' })
  const script = path.join(import.meta.dirname, '../fixtures/watches/verify_webhook.py')
  const counted = execFileSync('python3', [script], {
    input: [...lines, changed].join('\n'),
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
  assert.deepEqual(JSON.parse(counted), { valid: lines.length, wrong: 1 })
}

async function query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client(cluster.url)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}

async function count(state: string): Promise<number> {
  const [row] = await query<{ count: number }>('select count(*)::integer as count from delivery where state = $1', [
    state,
  ])
  return row?.count ?? 0
}
