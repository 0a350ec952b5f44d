// outbreakctl link: the link that the route makes, for any client, without a node.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type Credentials, newSettings, outbreakctl, type Service, startService } from '../../dev/service.ts'
import { canonicaliseAddress } from '../../src/auth/links/link-key.ts'
import { createTestDatabase } from '../database.ts'
import { prepareInProcess } from '../fixtures/operate/prepared-database.ts'
import { writeNdjson } from '../fixtures/releases.ts'
import { runSql } from './run-sql.ts'

const SUMS = '/v2/hed-outbreaks/sums?format=csv&group_by=country_code'
const settings = newSettings(await createTestDatabase())
let credentials: Credentials
let service: Service
before(async () => {
  credentials = await prepareInProcess(settings, await writeNdjson([{ key: 'a' }]))
  service = await startService(settings)
})
after(() => service.stop())

test('outbreakctl makes a link that opens the question and nothing else', async () => {
  const command = (...args: string[]) =>
    outbreakctl<Record<'url' | 'opens' | 'key' | 'expires_at', string>>(settings, 'link', ...args)
  const whole = `${service.baseUrl}${SUMS}`
  const { url, opens, key, expires_at: expiresAt } = await command(credentials.client_id, whole, '--days', '2')
  assert.deepEqual([url, opens], [`${whole}&key=${key}`, canonicaliseAddress(SUMS)])
  assert.ok(Math.abs(Date.parse(expiresAt) - Date.now() - 2 * 86_400_000) < 60_000)
  assert.equal((await fetch(url)).status, 200)
  assert.equal((await fetch(`${whole}&counts=cases&key=${key}`)).status, 401)
  const audit = await runSql(settings.databaseUrl, `select arguments from audit_event where command = 'link'`)
  assert.ok(audit.length > 0 && !JSON.stringify(audit).includes('obk1.'))
})

const ID = '<client>'
for (const [what, args, message] of [
  ['an unknown client', ['nobody', `https://data.example${SUMS}`], /No client has the id nobody/],
  ['a path without a host', [ID, SUMS], /is not the URL of a dataset/],
  ['another path', [ID, 'https://data.example/v2/other/sums'], /is not the URL of a dataset/],
  ['an address with a fragment', [ID, `https://data.example${SUMS}#a`], /url must be a URL/],
  ['an address with a key', [ID, `https://data.example${SUMS}&key=obk1.a`], /already contains a key/],
  ['too many days', [ID, `https://data.example${SUMS}`, '--days', '181'], /from 1 to 180/],
] as const)
  test(`outbreakctl link refuses ${what}`, async () => {
    const given = args.map((arg) => (arg === ID ? credentials.client_id : arg))
    await assert.rejects(outbreakctl(settings, 'link', ...given), message)
  })

test('outbreakctl link refuses a secret that is not that of the nodes, a disabled client and one without the scope', async () => {
  const other = { ...settings, secret: randomBytes(32).toString('base64url') }
  const whole = `https://data.example${SUMS}`
  await assert.rejects(outbreakctl(other, 'link', credentials.client_id, whole), /Use the same secret as the nodes/)
  const { client_id } = await outbreakctl<Credentials>(settings, 'client', 'create', '--name', 'Workbook')
  await runSql(settings.databaseUrl, `update client set scopes = '{other}' where client_id = $1`, [client_id])
  await assert.rejects(outbreakctl(settings, 'link', client_id, whole), /cannot read hed-outbreaks/)
  await outbreakctl(settings, 'client', 'disable', client_id)
  await assert.rejects(outbreakctl(settings, 'link', client_id, whole), /is disabled/)
})
