// Unread log output does not block responses, and buffered lines are written later.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { newSettings, prepareDatabase, startService } from '../../../dev/service.ts'
import { createTestDatabase } from '../../database.ts'

/** More lines than fit into a pipe. */
const REQUESTS = 2000
const CONCURRENCY = 20

test('an unread log delays no response, and no buffered line is lost', async () => {
  const settings = newSettings(await createTestDatabase())
  await prepareDatabase(settings)
  const service = await startService(settings)
  after(() => service.process.kill('SIGKILL'))
  const countLines = () => service.output().split('"status":404').length - 1
  service.process.stdout?.pause()
  for (let sent = 0; sent < REQUESTS; sent += CONCURRENCY) {
    const responses = Array.from({ length: CONCURRENCY }, () =>
      fetch(`${service.baseUrl}/nowhere`, { signal: AbortSignal.timeout(5000) }),
    )
    for (const { status } of await Promise.all(responses)) assert.equal(status, 404)
  }
  assert.ok(countLines() < REQUESTS, 'the log is not read')
  service.process.stdout?.resume()
  const deadline = Date.now() + 5000
  while (countLines() < REQUESTS && Date.now() < deadline) await wait(20)
  assert.equal(countLines(), REQUESTS)
  assert.equal(await service.stop(), 0)
})
