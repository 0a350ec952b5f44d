// A secret that expires: accepted until then on a running node, and then rejected exactly as a wrong one.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import sql from 'sql-template-tag'
import { type Credentials, newSettings, outbreakctl, prepareDatabase, startService } from '../../../dev/service.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { createTestDatabase } from '../../database.ts'
import { assertTokenAccepted, obtainToken, requestToken } from '../../fixtures/api-client.ts'

const DAY_MS = 86_400_000
const settings = newSettings(await createTestDatabase())
await prepareDatabase(settings, 'sample/releases/1')
const guest = await outbreakctl<Credentials & { secret_expires_at: string }>(
  ...([settings, 'client', 'create', '--name', 'Guest', '--expires', '30'] as const),
)
const service = await startService(settings)
after(service.stop)
const { baseUrl } = service
const tokenUrl = `${baseUrl}/oauth/token`
const database = openDatabase({ url: settings.databaseUrl, role: 'outbreaks_operator', connections: 1 })
after(database.close)

/** The response without what differs between any two. */
async function request(credentials: Credentials) {
  const response = await requestToken(credentials, tokenUrl, baseUrl)
  const headers = Object.fromEntries(response.headers)
  for (const name of ['date', 'x-request-id', 'request-id']) delete headers[name]
  return { status: response.status, headers, body: await response.text() }
}
const setExpiry = (ms: number) =>
  database.transaction((client) =>
    client.query(sql`
      update client_secret set expires_at = now() + make_interval(secs => ${ms / 1000}) where client_id = ${guest.client_id}`),
  )
const findSummary = async () =>
  (await outbreakctl<{ client_id: string; secret_expires_at: string | null }[]>(settings, 'client', 'list')).find(
    ({ client_id }) => client_id === guest.client_id,
  )

test('create and list show the expiry', async () => {
  assert.ok(Math.abs(Date.parse(guest.secret_expires_at) - Date.now() - 30 * DAY_MS) < 600_000)
  assert.equal((await findSummary())?.secret_expires_at, guest.secret_expires_at)
})

test('control: the secret is accepted before it expires', async () => {
  await assertTokenAccepted(baseUrl, await obtainToken(guest, tokenUrl, baseUrl))
})

test('it is refused from the moment it expires, also without a change that the node would load', async () => {
  const token = await obtainToken(guest, tokenUrl, baseUrl)
  await setExpiry(3000)
  await wait(1500)
  assert.equal((await request(guest)).status, 200)
  await wait(2000)
  assert.equal((await request(guest)).status, 401)
  // A token that was issued before stays valid, as after a rotation with overlap.
  await assertTokenAccepted(baseUrl, token)
})

test('the response is that of a wrong secret and of an unknown client', async () => {
  const expired = await request(guest)
  assert.equal(expired.status, 401)
  assert.deepEqual(expired, await request({ ...guest, client_secret: 'wrong' }))
  assert.deepEqual(expired, await request({ ...guest, client_id: '0'.repeat(24) }))
})

test('a rotation with an expiry gives a secret that is accepted', async () => {
  const rotated = await outbreakctl<Credentials>(
    ...([settings, 'client', 'rotate', guest.client_id, '--expires', '1'] as const),
  )
  const deadline = Date.now() + 5000
  while ((await request(rotated)).status !== 200) assert.ok(Date.now() < deadline, 'the new secret is not accepted')
  assert.equal((await request(guest)).status, 401)
})

for (const when of ['0', '-1', 'never', '2020-01-01', '2027-02-30'])
  test(`--expires ${when} is refused`, () =>
    assert.rejects(
      outbreakctl(settings, 'client', 'create', '--name', 'x', `--expires=${when}`),
      /a number of days from 1 to 3650/,
    ))

test('--expires and --jwks together are refused', () =>
  assert.rejects(
    outbreakctl(settings, 'client', 'create', '--name', 'x', '--expires', '1', '--jwks', 'keys.json'),
    /cannot be used with/,
  ))
