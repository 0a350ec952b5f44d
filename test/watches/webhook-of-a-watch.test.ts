// The whole way with real processes: a client talks to a node only, a release crosses its value, and its receiver gets one signed
// webhook. Also the links of mails, which a node forwards with their key.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { findFreePort } from '../../dev/postgres.ts'
import { newSettings, outbreakctl, prepareDatabase, startNotifier, startService } from '../../dev/service.ts'
import { createEmptyDatabase } from '../database.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { writeNdjson } from '../fixtures/releases.ts'
import { createCertificates } from '../fixtures/watches/certificates.ts'
import { startReceiver } from '../fixtures/watches/receiver.ts'
import { until } from '../fixtures/watches/run-notifier.ts'

const certificates = createCertificates()
after(certificates.remove)
const receiver = await startReceiver(certificates)
after(receiver.close)
const settings = newSettings(await createEmptyDatabase())
const EVENT = 'Cholera_Haiti_2010'
const write = (cases: number) =>
  writeNdjson([{ key: 'one', event: EVENT, date_low: '2020-01-01', date_high: '2020-03-01', cases }])
const credentials = await prepareDatabase(settings, await write(90))
const ports = { node: await findFreePort(), notifier: await findFreePort() }
const node = await startService(settings, {
  OUTBREAKS_PORT: String(ports.node),
  OUTBREAKS_NOTIFIER_URL: `http://127.0.0.1:${ports.notifier}`,
})
after(() => node.stop())
const notifier = await startNotifier(settings, {
  OUTBREAKS_PORT: String(ports.notifier),
  OUTBREAKS_BASE_URL: node.baseUrl,
  OUTBREAKS_WEBHOOK_ORIGINS: receiver.origin,
  NODE_EXTRA_CA_CERTS: certificates.authorityFile,
})
after(() => notifier.stop())
const token = await obtainToken(credentials, `${node.baseUrl}/oauth/token`, node.baseUrl)

async function send(method: string, target: string, body?: object) {
  const response = await fetch(`${node.baseUrl}/v2/hed-outbreaks/${target}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
}

test('a release that crosses the value of a watch gives one signed webhook', async () => {
  const endpoint = await send('POST', 'endpoints', { url: `${receiver.origin}/hook` })
  assert.equal(endpoint.status, 201, JSON.stringify(endpoint.body))
  const { id, secret } = endpoint.body
  const confirmed = await send('POST', `endpoints/${id}/confirm`)
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body))
  const question = `event=${EVENT}`
  const watch = await send('POST', 'watches', { question, when: 'crosses:cases:100', endpoint: id })
  assert.equal(watch.status, 201, JSON.stringify(watch.body))

  await outbreakctl(settings, 'release', 'publish', await write(120))
  const notices = () => receiver.received.filter(({ body }) => body.includes('question.crossed'))
  const [notice] = await until(() => (notices().length > 0 ? notices() : undefined), 'the webhook')
  assert.ok(notice !== undefined)
  const event = new Webhook(secret).verify(notice.body, notice.headers as Record<string, string>) as {
    id: string
    data: { release: number; before: { cases: number }; after: { cases: number } }
  }
  assert.equal(event.id, notice.id)
  assert.deepEqual([event.data.release, event.data.before.cases, event.data.after.cases], [2, 90, 120])
  const log = await until(async () => {
    const { body } = await send('GET', `endpoints/${id}/deliveries`)
    return JSON.stringify(body).includes('"delivered"') ? body : undefined
  }, 'the record of the delivery')
  assert.ok(JSON.stringify(log).includes(notice.id))
  assert.equal(notices().length, 1)
  assert.ok(!(notifier.output() + node.output()).includes(secret))
})

test('a node forwards the link of a mail, and logs no key', async () => {
  const url = `${node.baseUrl}/v2/hed-outbreaks/endpoints/00000000-0000-4000-8000-000000000001/mail/unsubscribe`
  const key = `0.${'A'.repeat(43)}`
  const response = await fetch(`${url}?key=${key}`)
  assert.equal(response.status, 404)
  assert.match(JSON.stringify(await response.json()), /link is not valid/)
  assert.ok(!(notifier.output() + node.output()).includes(key))
})
