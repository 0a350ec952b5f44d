// Endpoints as a client uses them: confirm, rotate, test, read the log, deliver again. A real notifier, real HTTPS receivers.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { after, describe, it, before as prepare } from 'node:test'
import pg from 'pg'
import { Webhook } from 'standardwebhooks'
import { type Credentials, newSettings, outbreakctl, prepareDatabase } from '../../dev/service.ts'
import { createEmptyDatabase } from '../database.ts'
import { createCertificates } from '../fixtures/watches/certificates.ts'
import { accept, type Received, startReceiver } from '../fixtures/watches/receiver.ts'
import { type Body, type Notifier, openEndpoints, startNotifier, until } from '../fixtures/watches/run-notifier.ts'

const certificates = createCertificates()
const settings = newSettings(await createEmptyDatabase())
const credentials = await prepareDatabase(settings)
const other = await outbreakctl<Credentials>(settings, 'client', 'create', '--name', 'Other')
const database = new pg.Client(settings.databaseUrl)
await database.connect()

/** What the receiver does, by path. */
const behaviour = new Map<string, typeof accept>()
const receiver = await startReceiver(certificates, (received, response) =>
  (behaviour.get(received.path) ?? accept)(received, response),
)
const trusted = await startReceiver(certificates)
let notifier: Notifier | undefined
let mine: Awaited<ReturnType<typeof openEndpoints>>
let theirs: Awaited<ReturnType<typeof openEndpoints>>

const FAST = { retrySeconds: [0, 0.01, 0.01], attemptMs: 2000, pollMs: 20 }
const outputs: (() => string)[] = []
/** Starts the notifier, or starts it again at the same address. */
async function start(trustedOrigins: readonly string[], variables: Record<string, string> = {}): Promise<void> {
  const port = notifier && { port: Number(new URL(notifier.baseUrl).port) }
  await notifier?.stop()
  const { authorityFile } = certificates
  // The usual port is the one of this receiver, so that only its address can be what is rejected.
  const egress = { EGRESS: JSON.stringify({ port: Number(new URL(receiver.origin).port) }) }
  const options = { settings, authorityFile, trustedOrigins, timing: FAST, variables: { ...egress, ...variables } }
  notifier = await startNotifier({ ...options, ...port })
  outputs.push(notifier.output)
}

describe('endpoints', () => {
  prepare(async () => {
    await start([trusted.origin])
    mine = await openEndpoints(notifier?.baseUrl ?? '', credentials)
    theirs = await openEndpoints(notifier?.baseUrl ?? '', other)
  })
  after(async () => {
    await notifier?.stop()
    receiver.close()
    trusted.close()
    certificates.remove()
    await database.end()
  })

  const make = async (path: string) => {
    const created = await mine.expect(201, 'POST', '', { url: `${trusted.origin}${path}` })
    return { id: String(created['id']), secret: String(created['secret']) }
  }
  const wipe = () => database.query('truncate endpoint cascade')
  /** Points an endpoint at the receiver whose behaviour a test decides, as if it had confirmed. */
  const point = (id: string, path: string) =>
    database.query(`update endpoint set address = $2, state = 'unconfirmed' where id = $1`, [
      id,
      receiver.origin + path,
    ])
  const logOf = async (id: string) => (await mine.expect(200, 'GET', `/${id}/deliveries`))['deliveries'] as Body[]
  const statusesOf = (delivery: Body | undefined) =>
    ((delivery?.['attempts'] ?? []) as Body[]).map(({ status }) => status)
  const ended = (id: string, count = 1) =>
    until(async () => {
      const log = await logOf(id)
      return log.length >= count && log.every(({ state }) => state !== 'pending') ? log : undefined
    }, 'the end of the deliveries')

  it('refuses addresses that cannot be receivers, and says why', async () => {
    for (const url of [
      'https://127.0.0.1/',
      'http://example.org/',
      'https://[::1]/',
      'https://10.1/x',
      'nonsense',
      'https://a:b@example.org/',
    ]) {
      const { status, body } = await mine.ask('POST', '', { url })
      assert.deepEqual([status, body['code'], body['parameter']], [400, 'invalid_parameter', 'url'], url)
    }
    for (const body of [
      {},
      { url: 'https://example.org', mail: 'a@example.org' },
      { mail: 'a@example.org', digets: 'daily' },
      { url: 7 },
    ])
      assert.equal((await mine.ask('POST', '', body)).status, 400)
    const { status, body } = await mine.ask('POST', '', { mail: 'someone@example.org' })
    assert.deepEqual([status, body['code']], [409, 'conflict'], 'mail is off')
  })

  it('has at most five, also of requests at the same moment, and another client sees none of them', async () => {
    await wipe()
    const responses = await Promise.all(
      Array.from({ length: 12 }, () => mine.ask('POST', '', { url: `${trusted.origin}/` })),
    )
    const created = responses.filter(({ status }) => status === 201)
    assert.ok(created.length <= 5 && created.length > 0)
    for (const { status, body } of responses) assert.ok(status === 201 || body['code'] === 'limit_reached')
    while ((await mine.ask('POST', '', { url: `${trusted.origin}/` })).status === 201);
    const { endpoints } = (await mine.expect(200, 'GET')) as { endpoints: Body[] }
    assert.equal(endpoints.length, 5)
    assert.ok(!JSON.stringify(endpoints).includes('whsec_'))
    const [first] = endpoints
    const paths: [string, string][] = [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/confirm'],
      ['POST', '/rotate'],
      ['POST', '/test'],
      ['GET', '/deliveries'],
      ['POST', '/deliveries/00000000-0000-4000-8000-000000000000/redeliver'],
    ]
    for (const [method, path] of paths)
      for (const id of [first?.['id'], 'nonsense', '00000000-0000-4000-8000-000000000000'])
        assert.equal((await theirs.ask(method, `/${id}${path}`)).status, 404, `${method} ${path}`)
    assert.deepEqual(await theirs.expect(200, 'GET'), { endpoints: [] })
    await mine.expect(204, 'DELETE', `/${first?.['id']}`)
    await mine.expect(404, 'GET', `/${first?.['id']}`)
    const { rows } = await database.query('select address, sealed_secret from endpoint where id = $1', [first?.['id']])
    assert.deepEqual(rows, [{ address: '', sealed_secret: null }])
    await mine.expect(201, 'POST', '', { url: `${trusted.origin}/` })
    assert.equal((await mine.ask('POST', '', { url: `${trusted.origin}/` })).body['code'], 'limit_reached')
  })

  it('becomes active when the receiver echoes the challenge, and not otherwise', async () => {
    await wipe()
    const { id, secret } = await make('/')
    // The origin of this receiver is not trusted, and it is on loopback.
    await point(id, '/echo')
    const { status, body } = await mine.ask('POST', `/${id}/confirm`)
    assert.deepEqual([status, body['code']], [409, 'conflict'])
    assert.match(String(body['detail']), /public address/)
    assert.equal(receiver.received.length, 0)
    assert.equal((await mine.ask('POST', `/${id}/confirm`)).status, 429)
    assert.equal((await mine.ask('POST', `/${id}/test`)).status, 409)

    await start([receiver.origin])
    const confirm = async (path: string, respond?: typeof accept) => {
      if (respond !== undefined) behaviour.set(path, respond)
      await point(id, path)
      await database.query(`update endpoint set asked_at = null where id = $1`, [id])
      return mine.ask('POST', `/${id}/confirm`)
    }
    const refusals: [string, typeof accept, RegExp][] = [
      ['/wrong', (_received, response) => void response.end('{"challenge":"x"}'), /no echo/],
      ['/empty', (_received, response) => void response.end(), /no echo/],
      ['/missing', (_received, response) => void response.writeHead(404).end(), /status 404/],
      ['/elsewhere', (_received, response) => void response.writeHead(302, { location: '/echo' }).end(), /status 302/],
      ['/reset', (_received, response) => void response.destroy(), /closed before a response/],
    ]
    for (const [path, respond, expected] of refusals) {
      const refused = await confirm(path, respond)
      assert.equal(refused.status, 409, path)
      assert.match(String(refused.body['detail']), expected)
      assert.equal((await mine.expect(200, 'GET', `/${id}`))['state'], 'unconfirmed')
    }
    const text = await confirm(
      '/text',
      ({ body: sent }, response) => void response.end(JSON.parse(sent).data.challenge),
    )
    assert.deepEqual([text.status, text.body['state']], [200, 'active'])
    const echo = await confirm('/echo')
    assert.deepEqual([echo.status, echo.body['state']], [200, 'active'])
    const asked = receiver.received.at(-1) as Received
    new Webhook(secret).verify(asked.body, asked.headers as Record<string, string>)
  })

  it('signs with both secrets after a rotation, and with one after a day', async () => {
    await wipe()
    const { id, secret } = await makeActive('/rotated')
    const { secret: next, previous_until: until24 } = await mine.expect(200, 'POST', `/${id}/rotate`)
    assert.ok(Math.abs(Date.parse(String(until24)) - Date.now() - 24 * 3600 * 1000) < 60_000)
    await mine.expect(202, 'POST', `/${id}/test`)
    await ended(id)
    const both = receiver.received.at(-1) as Received
    assert.equal(String(both.headers['webhook-signature']).split(' ').length, 2)
    for (const one of [secret, String(next)]) new Webhook(one).verify(both.body, both.headers as Record<string, string>)
    await database.query(`update endpoint set previous_until = now() where id = $1`, [id])
    await mine.expect(202, 'POST', `/${id}/test`)
    await ended(id, 2)
    const single = receiver.received.at(-1) as Received
    new Webhook(String(next)).verify(single.body, single.headers as Record<string, string>)
    assert.throws(() => new Webhook(secret).verify(single.body, single.headers as Record<string, string>))
  })

  it('keeps a log, tries again by its schedule, and delivers again with the same id', async () => {
    await wipe()
    const { id } = await makeActive('/failing')
    let failures = 5
    behaviour.set('/failing', (received, response) =>
      failures-- > 0 ? void response.writeHead(500).end('secret of the receiver') : accept(received, response),
    )
    const delivery = String((await mine.expect(202, 'POST', `/${id}/test`))['id'])
    const [failed] = await ended(id)
    assert.equal(failed?.['state'], 'failed')
    assert.deepEqual(statusesOf(failed), [500, 500, 500])
    assert.ok((await mine.expect(200, 'GET', `/${id}`))['failing_since'])
    await mine.expect(202, 'POST', `/${id}/deliveries/${delivery}/redeliver`)
    const [again] = await ended(id)
    assert.deepEqual(statusesOf(again), [500, 500, 500, 500, 500, 200])
    assert.equal((await mine.expect(200, 'GET', `/${id}`))['failing_since'], null)
    const copies = receiver.received.filter((received) => received.id === delivery)
    assert.equal(copies.length, 6)
    assert.equal(new Set(copies.map(({ body }) => body)).size, 1)
    for (let n = 0; n < 51; n++) await mine.expect(202, 'POST', `/${id}/test`)
    const page = await mine.expect(200, 'GET', `/${id}/deliveries`)
    const rest = await mine.expect(200, 'GET', `/${id}/deliveries?before=${page['before']}`)
    const ids = [page, rest].flatMap((one) => (one['deliveries'] as Body[]).map((row) => row['id']))
    assert.deepEqual([new Set(ids).size, rest['before']], [52, null])
  })

  it('is disabled by 410, and after five days of failures', async () => {
    await wipe()
    const gone = await makeActive('/gone')
    behaviour.set('/gone', (_received, response) => void response.writeHead(410).end())
    await mine.expect(202, 'POST', `/${gone.id}/test`)
    const [log] = await ended(gone.id)
    assert.deepEqual([log?.['state'], statusesOf(log)], ['failed', [410]])
    const disabled = await mine.expect(200, 'GET', `/${gone.id}`)
    assert.deepEqual([disabled['state'], disabled['reason']], ['disabled', 'the receiver responded 410'])

    const failing = await makeActive('/down')
    behaviour.set('/down', (_received, response) => void response.writeHead(503).end())
    const since = (days: number) =>
      database.query(`update endpoint set failing_since = now() - make_interval(days => $2) where id = $1`, [
        failing.id,
        days,
      ])
    await since(4)
    await mine.expect(202, 'POST', `/${failing.id}/test`)
    await ended(failing.id)
    assert.equal((await mine.expect(200, 'GET', `/${failing.id}`))['state'], 'active')
    await since(6)
    await mine.expect(202, 'POST', `/${failing.id}/test`)
    await ended(failing.id, 2)
    assert.equal((await mine.expect(200, 'GET', `/${failing.id}`))['state'], 'disabled')
    behaviour.delete('/down')
    assert.equal((await mine.expect(200, 'POST', `/${failing.id}/confirm`))['state'], 'active')
  })

  it('is listed, repaired and ended by the operator', async () => {
    await wipe()
    const { id } = await makeActive('/operated')
    let isDown = true
    behaviour.set('/operated', (received, response) =>
      isDown ? void response.writeHead(500).end() : accept(received, response),
    )
    await mine.expect(202, 'POST', `/${id}/test`)
    await ended(id)
    const [listed] = await outbreakctl<Body[]>(settings, 'endpoint', 'list')
    assert.deepEqual([listed?.['id'], listed?.['to'], listed?.['failed']], [id, receiver.origin, 1])
    isDown = false
    assert.deepEqual(await outbreakctl(settings, 'endpoint', 'redeliver', id), { endpoint: id, deliveries: 1 })
    await until(async () => ((await logOf(id))[0]?.['state'] === 'delivered' ? true : undefined), 'the delivery')
    await outbreakctl(settings, 'endpoint', 'disable', id)
    await assert.rejects(outbreakctl(settings, 'endpoint', 'redeliver', id), /is disabled/)
    assert.equal((await mine.ask('POST', `/${id}/confirm`)).status, 409)
    const audit = await outbreakctl<Body[]>(settings, 'audit', 'list')
    assert.ok(audit.some(({ command }) => command === 'endpoint disable'))
  })

  it('delivers nothing for a client that is disabled, or lost the scope', async () => {
    await wipe()
    const { id } = await makeActive('/revoked')
    await database.query(`update client set scopes = '{}' where client_id = $1`, [credentials.client_id])
    await insertDelivery(id)
    const before = receiver.received.length
    await database.query(
      `update client set scopes = '{hed-outbreaks:read}', disabled_at = now() where client_id = $1`,
      [credentials.client_id],
    )
    await insertDelivery(id)
    // Something else that is due later is delivered, so the queue was read since.
    const bystander = String((await theirs.expect(201, 'POST', '', { url: `${receiver.origin}/bystander` }))['id'])
    await theirs.expect(202, 'POST', `/${bystander}/test`)
    await until(() => receiver.received.find(({ path }) => path === '/bystander'), 'the other delivery')
    assert.equal(receiver.received.slice(before).filter(({ path }) => path === '/revoked').length, 0)
    await database.query(
      `update client set scopes = (select scopes from client where client_id = $2), disabled_at = null where client_id = $1`,
      [credentials.client_id, other.client_id],
    )
    await until(
      () => (receiver.received.filter(({ path }) => path === '/revoked').length === 2 ? true : undefined),
      'the deliveries',
    )
  })

  it('opens secrets that the previous OUTBREAKS_SECRET sealed, and seals them with the new one', async () => {
    await wipe()
    await until(async () => ((await mine.ask('GET')).status === 200 ? true : undefined), 'the client to be enabled')
    const { id, secret } = await makeActive('/resealed')
    const { secret: next } = newSettings('')
    const restart = (variables: Record<string, string>) => start([receiver.origin], variables)
    const sealed = async () =>
      (await database.query('select sealed_secret from endpoint where id = $1', [id])).rows[0].sealed_secret as Buffer
    const before = await sealed()
    await restart({ OUTBREAKS_SECRET: next, OUTBREAKS_SECRET_PREVIOUS: settings.secret })
    assert.notDeepEqual(await sealed(), before)
    await restart({ OUTBREAKS_SECRET: next })
    await insertDelivery(id)
    const received = await until(() => receiver.received.find(({ path }) => path === '/resealed'), 'the delivery')
    new Webhook(secret).verify(received.body, received.headers as Record<string, string>)
    // With a lost secret it delivers nothing, and says so.
    await restart({})
    assert.match(outputs.at(-1)?.() ?? '', /sealed with another OUTBREAKS_SECRET/)
  })

  it('deletes deliveries after thirty days', async () => {
    await wipe()
    const { id } = await makeActive('/old')
    await insertDelivery(id)
    await until(() => receiver.received.find(({ path }) => path === '/old'), 'the delivery')
    await database.query(`update delivery set created_at = now() - interval '31 days' where endpoint = $1`, [id])
    await start([receiver.origin])
    await until(async () => ((await logOf(id)).length === 0 ? true : undefined), 'the deletion')
  })

  it('measures deliveries and the queue', async () => {
    await wipe()
    const { id } = await makeActive('/measured')
    await mine.expect(202, 'POST', `/${id}/test`)
    await ended(id)
    const text = await (await fetch(`${notifier?.baseUrl}/metrics`)).text()
    const alerts = readFileSync(resolve(import.meta.dirname, '../../deploy/prometheus/alerts.yml'), 'utf8')
    for (const name of alerts.match(/outbreaks_deliver\w+/g) ?? []) assert.match(text, new RegExp(`^${name} \\d`, 'm'))
    assert.match(text, /^outbreaks_deliveries_pending \d+$/m)
    assert.match(text, /outbreaks_deliveries_total\{kind="webhook",outcome="delivered"\} [1-9]/)
  })

  it('writes no secret to its log', () => {
    const text = outputs.map((output) => output()).join('')
    assert.ok(text.includes('"delivered"'))
    assert.doesNotMatch(text, /whsec_|v1,|secret of the receiver/)
  })

  async function makeActive(path: string) {
    const created = await mine.expect(201, 'POST', '', { url: `${receiver.origin}${path}` })
    assert.equal(created['state'], 'active')
    return { id: String(created['id']), secret: String(created['secret']) }
  }

  /** As judging a watch does. */
  const insertDelivery = (endpoint: string) =>
    database.query(
      `insert into delivery (id, endpoint, client_id, dataset, release, type, body, state, next_attempt_at)
       select gen_random_uuid(), id, client_id, dataset, 7, 'question.changed', '{"data": {"release": 7}}', 'pending', now()
       from endpoint where id = $1`,
      [endpoint],
    )
})
