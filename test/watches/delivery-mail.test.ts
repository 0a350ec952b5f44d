// Mails to a real SMTP server: confirm, notices, digests, one click to unsubscribe. And digests of webhooks.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { SMTPServer } from 'smtp-server'
import { newSettings, prepareDatabase } from '../../dev/service.ts'
import { createEmptyDatabase } from '../database.ts'
import { createCertificates } from '../fixtures/watches/certificates.ts'
import { startReceiver } from '../fixtures/watches/receiver.ts'
import { type Body, type Notifier, openEndpoints, startNotifier, until } from '../fixtures/watches/run-notifier.ts'

const certificates = createCertificates()
const settings = newSettings(await createEmptyDatabase())
const credentials = await prepareDatabase(settings)
const database = new pg.Client(settings.databaseUrl)
await database.connect()

interface ReceivedMail {
  readonly to: string[]
  readonly text: string
}
const mails: ReceivedMail[] = []
let rejections = 0
const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onRcptTo: (_address, _session, done) => {
    if (rejections === 0) return done()
    rejections--
    done(Object.assign(new Error('someone@example.org is busy'), { responseCode: 450 }))
  },
  onData: (stream, session, done) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8').replaceAll('=\r\n', '').replaceAll('=3D', '=')
      mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text })
      done()
    })
  },
})
const receiver = await startReceiver(certificates)
let notifier: Notifier
let api: Awaited<ReturnType<typeof openEndpoints>>

const linkIn = (text: string, purpose: string) =>
  new RegExp(`http://[\\w.:/-]+/mail/${purpose}\\?key=[\\w.-]+`).exec(text.replaceAll('\r\n', '\n'))?.[0] ?? ''
const mailTo = (to: string, text: RegExp) =>
  until(() => mails.find((mail) => mail.to.includes(to) && text.test(mail.text)), `a mail to ${to}`)
const add = (endpoint: string, release: number, state: 'pending' | 'digest', size = 0) =>
  database.query(
    `insert into delivery (id, endpoint, client_id, dataset, release, type, body, state, next_attempt_at)
     select gen_random_uuid(), id, client_id, dataset, $2::integer, 'question.crossed',
       jsonb_build_object('type', 'question.crossed', 'data', jsonb_build_object('title', 'Release ' || $2 || ': ' || repeat('x', $4),
         'text', 'cases 900 to 1,204', 'links', jsonb_build_object('page', 'https://service.test/explore'))),
       $3, case when $3 = 'pending' then now() end from endpoint where id = $1`,
    [endpoint, release, state, size],
  )

describe('mails and digests', () => {
  before(async () => {
    smtp.listen(0, '127.0.0.1')
    await once(smtp.server, 'listening')
    notifier = await startNotifier({
      settings,
      authorityFile: certificates.authorityFile,
      trustedOrigins: [receiver.origin],
      timing: { retrySeconds: [0, 0.05, 0.05], pollMs: 20 },
      variables: { OUTBREAKS_SMTP_URL: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}` },
    })
    api = await openEndpoints(notifier.baseUrl, credentials)
  })
  after(async () => {
    await notifier.stop()
    smtp.close()
    receiver.close()
    certificates.remove()
    await database.end()
  })

  const TO = 'someone@example.org'
  let endpoint = ''

  it('accepts one plain address only', async () => {
    for (const mail of [
      'nobody',
      'a@b',
      'a@b.test, c@d.test',
      'A <a@b.test>',
      'a@b.test\r\nBcc: c@d.test',
      '"a b"@c.test',
      'a@[127.0.0.1]',
    ])
      assert.equal((await api.ask('POST', '', { mail })).status, 400, mail)
    assert.equal(mails.length, 0)
  })

  it('sends nothing before the address is confirmed, and a visit of the link confirms nothing', async () => {
    const created = await api.expect(201, 'POST', '', { mail: TO, digest: null })
    endpoint = String(created['id'])
    assert.deepEqual([created['state'], created['secret']], ['unconfirmed', null])
    const { text } = await mailTo(TO, /Subject: Confirm your address/)
    const link = linkIn(text, 'confirm')
    assert.equal((await api.ask('POST', `/${endpoint}/confirm`)).status, 429, 'a second mail within the hour')
    const page = await fetch(link)
    assert.match(await page.text(), /<form method="post"><button>Confirm/)
    assert.equal((await api.expect(200, 'GET', `/${endpoint}`))['state'], 'unconfirmed')
    const wrong = link.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
    const expired = link.replace(/key=\d+/, 'key=1000000000')
    const longer = link.replace(/key=\d+/, 'key=99999999999')
    const elsewhere = link.replace(endpoint, '00000000-0000-4000-8000-000000000000')
    const asUnsubscribe = link.replace('/confirm', '/unsubscribe')
    for (const url of [wrong, expired, longer, elsewhere, asUnsubscribe, link.replace(/\?.*/, '')])
      assert.equal((await fetch(url, { method: 'POST' })).status, 404, url)
    assert.equal((await fetch(link, { method: 'POST' })).status, 200)
    assert.equal((await api.expect(200, 'GET', `/${endpoint}`))['state'], 'active')
  })

  it('sends a notice with its title, and tries again if the server is busy', async () => {
    rejections = 1
    await add(endpoint, 7, 'pending')
    const { text } = await mailTo(TO, /Subject: Release 7/)
    assert.match(text, /cases 900 to 1,204/)
    assert.match(text, /https:\/\/service\.test\/explore/)
    assert.match(text, /Auto-Submitted: auto-generated/)
    const attempts = await until(async () => {
      const { deliveries } = (await api.expect(200, 'GET', `/${endpoint}/deliveries`)) as { deliveries: Body[] }
      return deliveries[0]?.['state'] === 'delivered' ? (deliveries[0]['attempts'] as Body[]) : undefined
    }, 'the record')
    assert.deepEqual(
      attempts.map(({ status }) => status),
      [450, 250],
    )
    assert.match(text, new RegExp(`Message-ID: <[0-9a-f-]{36}@service\\.test>`, 'i'))
  })

  it('gathers a day or a week into one mail', async () => {
    await api.expect(200, 'PATCH', `/${endpoint}`, { digest: 'weekly' })
    const next = async () =>
      (await database.query('select next_digest_at from endpoint where id = $1', [endpoint])).rows[0]
        .next_digest_at as Date
    const monday = await next()
    assert.deepEqual([monday.getUTCDay(), monday.getUTCHours(), monday > new Date()], [1, 6, true])
    await api.expect(200, 'PATCH', `/${endpoint}`, { digest: 'daily' })
    const morning = await next()
    assert.ok(morning.getUTCHours() === 6 && morning > new Date() && morning.getTime() - Date.now() <= 24 * 3600 * 1000)
    for (const release of [8, 9, 10]) await add(endpoint, release, 'digest')
    await database.query('update endpoint set next_digest_at = now() where id = $1', [endpoint])
    const { text } = await mailTo(TO, /Subject: 3 notices/)
    assert.ok(
      text.indexOf('Release 8') < text.indexOf('Release 9') && text.indexOf('Release 9') < text.indexOf('Release 10'),
    )
    assert.deepEqual(await next(), morning)
    // What waits when a digest ends is not lost.
    await add(endpoint, 11, 'digest')
    await api.expect(200, 'PATCH', `/${endpoint}`, { digest: null })
    await mailTo(TO, /Subject: 1 notice /)
    assert.equal(await next(), null)
  })

  it('keeps a digest of a webhook under 20 kB, and makes it once', async () => {
    const { id } = await api.expect(201, 'POST', '', { url: `${receiver.origin}/digest`, digest: 'daily' })
    for (let release = 1; release <= 60; release++) await add(String(id), release, 'digest', 500)
    await database.query('update endpoint set next_digest_at = now() where id = $1', [id])
    const received = await until(() => receiver.received.find(({ path }) => path === '/digest'), 'the digest')
    assert.ok(Buffer.byteLength(received.body) < 20_000)
    const { type, data } = JSON.parse(received.body) as { type: string; data: { notices: Body[]; left_out: number } }
    assert.deepEqual([type, data.notices.length + data.left_out], ['digest', 60])
    const { rows } = await database.query(
      `select count(*)::integer as count from delivery where endpoint = $1 and type = 'digest'`,
      [id],
    )
    assert.equal(rows[0].count, 1)
  })

  it('ends with one click, for good', async () => {
    const { text } = await mailTo(TO, /Subject: Release 7/)
    const unfolded = text.replaceAll(/\r\n[ \t]+/g, ' ')
    assert.match(unfolded, /List-Unsubscribe-Post: List-Unsubscribe=One-Click/)
    const header = /List-Unsubscribe: <([^>]+)>/.exec(unfolded)?.[1] ?? ''
    assert.equal(header, linkIn(text.slice(text.indexOf('--')), 'unsubscribe'))
    // As RFC 8058 has it: a form, no cookie, no token.
    const response = await fetch(header, {
      method: 'POST',
      body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
    })
    assert.equal(response.status, 200)
    const ended = await api.expect(200, 'GET', `/${endpoint}`)
    assert.deepEqual([ended['state'], ended['reason']], ['disabled', 'unsubscribed'])
    assert.equal((await api.ask('POST', `/${endpoint}/confirm`)).status, 409)
    const confirm = linkIn((await mailTo(TO, /Subject: Confirm/)).text, 'confirm')
    assert.equal((await fetch(confirm, { method: 'POST' })).status, 404)
    assert.equal((await api.ask('POST', `/${endpoint}/test`)).status, 409)
  })

  it('writes neither addresses nor keys to the log', () => {
    assert.doesNotMatch(notifier.output(), /example\.org|key=/)
  })
})
