// When a delivery is tried again: the schedule of Standard Webhooks, its jitter, and what a receiver may ask for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextAttemptSeconds, RETRY_SECONDS } from '../../../src/notify/delivery/retry-schedule.ts'

const plain = { random: () => 0 }

test('ten attempts in three days', () => {
  const delays = RETRY_SECONDS.map((_, attempts) => nextAttemptSeconds(attempts, plain))
  assert.deepEqual(delays, [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])
  assert.equal(nextAttemptSeconds(10, plain), null)
})

test('jitter only delays, by a fifth at most', () => {
  assert.equal(nextAttemptSeconds(2, { random: () => 1 }), 360)
  for (let n = 0; n < 100; n++) {
    const seconds = nextAttemptSeconds(2) ?? 0
    assert.ok(seconds >= 300 && seconds <= 360)
  }
})

test('Retry-After delays, up to a day, and never hastens or adds an attempt', () => {
  const now = Date.parse('2026-11-18T12:00:00Z')
  const after = (retryAfter: string, attempts = 1) => nextAttemptSeconds(attempts, { ...plain, retryAfter, now })
  assert.equal(after('120'), 120)
  assert.equal(after('1'), 5)
  assert.equal(after('999999999'), 86_400)
  assert.equal(after('Wed, 18 Nov 2026 12:10:00 GMT'), 600)
  assert.equal(after('Wed, 18 Nov 2020 12:10:00 GMT'), 5)
  for (const text of ['', '-5', '1e9', 'tomorrow', 'Infinity', '99999999999999999999', '2026-11-19'])
    assert.equal(after(text), 5, text)
  assert.equal(after('120', 10), null)
})
