// Whoever reads the log may stop reading it: answers go on all the same, and what was kept meanwhile is told afterwards.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { newSettings, prepareDatabase, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'

/** More lines than any pipe holds. */
const REQUESTS = 2000
const AT_ONCE = 20

test('a log that nobody reads holds up no answer, and loses no line that fits', async () => {
  const settings = newSettings(await createTestDatabase())
  await prepareDatabase(settings)
  const service = await startService(settings)
  after(() => service.process.kill('SIGKILL'))
  const countLines = () => service.output().split('"status":404').length - 1
  service.process.stdout?.pause()
  for (let asked = 0; asked < REQUESTS; asked += AT_ONCE) {
    const answers = Array.from({ length: AT_ONCE }, () =>
      fetch(`${service.baseUrl}/nowhere`, { signal: AbortSignal.timeout(5000) }),
    )
    for (const { status } of await Promise.all(answers)) assert.equal(status, 404)
  }
  assert.ok(countLines() < REQUESTS, 'nobody reads')
  service.process.stdout?.resume()
  const deadline = Date.now() + 5000
  while (countLines() < REQUESTS && Date.now() < deadline) await wait(20)
  assert.equal(countLines(), REQUESTS)
  assert.equal(await service.stop(), 0)
})
