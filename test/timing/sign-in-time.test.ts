// Neither the token endpoint nor the sign-in form of the explorer shows by its time which clients exist.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { newSettings, prepareDatabase, startService } from '../../dev/service.ts'
import { buildExplorer } from '../../explorer/build.ts'
import { authenticate, type ClientRegistry, digestSecret } from '../../src/auth/client-registry.ts'
import { createTestDatabase } from '../database.ts'
import { openConnection } from '../fixtures/api-client.ts'
import { signIn, statusOf } from '../journeys/explorer/browser-session.ts'
import { compareTimes } from './compare-times.ts'

await buildExplorer()
const settings = newSettings(await createTestDatabase())
const { client_id, client_secret } = await prepareDatabase(settings)
const service = await startService(settings, { OUTBREAKS_LOG_LEVEL: 'silent' })
after(service.stop)
const connection = openConnection(service.baseUrl)
after(connection.close)

// The unknown id and all secrets are as long as the real ones, so that only the check itself can differ in time.
const unknownId = randomBytes(client_id.length / 2).toString('hex')
const createWrongSecret = () => `ods_${randomBytes(32).toString('base64url')}`

const requestToken = (id: string) =>
  connection.postToken(
    { 'content-type': 'application/json' },
    JSON.stringify({
      grant_type: 'client_credentials',
      audience: service.baseUrl,
      client_id: id,
      client_secret: createWrongSecret(),
    }),
  )
const submitForm = (id: string) => statusOf(signIn(service, { client_id: id, client_secret: createWrongSecret() }))

for (const [place, send] of Object.entries({ 'token endpoint': requestToken, 'sign-in form': submitForm }))
  test(`${place}: an unknown client and a wrong secret cannot be distinguished by time`, async (t) => {
    const createSender = (id: string) => () => send(id)
    await compareTimes(createSender(unknownId), createSender(client_id), 1, 300)
    const { gap, noise, distinguishable } = await compareTimes(
      createSender(unknownId),
      createSender(client_id),
      11,
      200,
    )
    t.diagnostic(`2200 each: gap ${gap.toFixed(1)} us, noise ${noise.toFixed(1)} us`)
    assert.ok(!distinguishable)
  })

test('the same statistic detects an implementation that returns early', async (t) => {
  const client = { clientId: client_id, scopes: [], generation: 1, disabled: false }
  const secrets = [{ digest: digestSecret(client_secret), expiresAt: Number.POSITIVE_INFINITY }]
  const registry: ClientRegistry = new Map([[client_id, { ...client, secrets }]])
  const secret = createWrongSecret()
  const runReal = (id: string) => () => authenticate(registry, id, secret, Date.now())
  const runEarlyReturn = (id: string) => () =>
    registry.has(id) ? authenticate(registry, id, secret, Date.now()) : null
  const measure = async (kind: typeof runReal) => {
    await compareTimes(kind(unknownId), kind(client_id), 1, 2000)
    return compareTimes(kind(unknownId), kind(client_id), 11, 500)
  }
  const [real, earlyReturn] = [await measure(runReal), await measure(runEarlyReturn)]
  t.diagnostic(
    `service: gap ${real.gap.toFixed(2)} us; early return: gap ${earlyReturn.gap.toFixed(2)} us, noise ${earlyReturn.noise.toFixed(2)} us`,
  )
  assert.ok(earlyReturn.distinguishable)
  assert.ok(Math.abs(real.gap) < earlyReturn.gap / 4)
})
