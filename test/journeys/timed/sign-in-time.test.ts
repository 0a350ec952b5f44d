// The sign-in form of the explorer does not show by its time which clients exist.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { newSettings, prepareDatabase, startService } from '../../../dev/service.ts'
import { buildExplorer } from '../../../explorer/build.ts'
import { createTestDatabase } from '../../database.ts'
import { signIn, statusOf } from '../explorer/browser-session.ts'
import { compareTimes } from './timing.ts'

await buildExplorer()
const settings = newSettings(await createTestDatabase())
const { client_id, client_secret } = await prepareDatabase(settings)
const service = await startService(settings, { OUTBREAKS_LOG_LEVEL: 'silent' })
after(service.stop)

test('an unknown client and a wrong secret cannot be distinguished by time', async (t) => {
  const unknownId = randomBytes(client_id.length).toString('hex').slice(0, client_id.length)
  const wrongSecret = `${client_secret.slice(0, -4)}AAAA`
  const createSender = (id: string) => () => statusOf(signIn(service, { client_id: id, client_secret: wrongSecret }))
  assert.deepEqual([await createSender(unknownId)(), await createSender(client_id)()], [401, 401])
  await compareTimes(createSender(unknownId), createSender(client_id), 1, 200)
  const { gap, noise, distinguishable } = await compareTimes(createSender(unknownId), createSender(client_id), 11, 100)
  t.diagnostic(`1100 each: gap ${gap.toFixed(1)} us, noise ${noise.toFixed(1)} us`)
  assert.ok(!distinguishable)
})
