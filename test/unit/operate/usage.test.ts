// outbreakctl usage: requests of each client and day, from the lines of the log.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { addUpUsage } from '../../../src/operate/usage.ts'

const line = (time: string, client_id: string | null, status: number, ms = 1) =>
  JSON.stringify({
    level: 30,
    time,
    request_id: 'x',
    method: 'GET',
    route: '/v2',
    status,
    ms,
    client_id,
    problem: null,
  })
const addUp = (...lines: string[]) => addUpUsage(Readable.from([lines.join('\n')]))

test('requests are added up by day and client, sorted', async () => {
  assert.deepEqual(
    await addUp(
      line('2026-11-16T23:59:59.999Z', 'b', 200, 1.5),
      line('2026-11-17T00:00:00.000Z', 'a', 200, 2),
      line('2026-11-16T10:00:00.000Z', 'a', 404, 3),
      line('2026-11-16T10:00:00.000Z', 'a', 503, 0.1),
      line('2026-11-16T09:00:00.000Z', 'a', 200, 0.2),
    ),
    [
      {
        day: '2026-11-16',
        client_id: 'a',
        requests: 3,
        rejected: 1,
        failed: 1,
        ms: 3.3,
        last: '2026-11-16T10:00:00.000Z',
      },
      {
        day: '2026-11-16',
        client_id: 'b',
        requests: 1,
        rejected: 0,
        failed: 0,
        ms: 1.5,
        last: '2026-11-16T23:59:59.999Z',
      },
      {
        day: '2026-11-17',
        client_id: 'a',
        requests: 1,
        rejected: 0,
        failed: 0,
        ms: 2,
        last: '2026-11-17T00:00:00.000Z',
      },
    ],
  )
})

test('other lines are skipped, and words of a collector before a line', async () => {
  const [usage, ...others] = await addUp(
    'Nov 16 10:00:00 host outbreaks[1]: ' + line('2026-11-16T10:00:00.000Z', 'a', 200),
    line('2026-11-16T10:00:00.000Z', null, 401),
    '{"level":30,"time":"2026-11-16T10:00:00.000Z","msg":"starting"}',
    '{ not JSON',
    '',
  )
  assert.equal(usage?.requests, 1)
  assert.deepEqual(others, [])
})

test('an empty log gives nothing', async () => {
  assert.deepEqual(await addUpUsage(Readable.from([])), [])
})
