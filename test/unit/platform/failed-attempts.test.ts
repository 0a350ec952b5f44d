// Failed attempts by address: the limit and its window, IPv6 networks, and the bound on memory.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createFailedAttempts, networkOf } from '../../../src/platform/failed-attempts.ts'

test('an address may fail as often as the limit says in a window; another address has its own', async () => {
  const record = createFailedAttempts({ limit: 3, windowMs: 200 })
  const fail = (address: string) => record(address) === null
  assert.deepEqual(
    [1, 2, 3, 4].map(() => fail('192.0.2.1')),
    [true, true, true, false],
  )
  assert.equal(record('192.0.2.1'), 1)
  assert.ok(fail('192.0.2.2'))
  await wait(210)
  assert.ok(fail('192.0.2.1'), 'failures do not extend the window')
})

test('the addresses of an IPv6 network of 64 bits count together', () => {
  assert.equal(networkOf('2001:db8::1'), networkOf('2001:0db8:0:0:ffff:1:2:3'))
  assert.notEqual(networkOf('2001:db8::1'), networkOf('2001:db8:0:1::1'))
  assert.equal(networkOf('::1'), '0:0:0:0')
  assert.equal(networkOf('fe80::1:2:3:4'), 'fe80:0:0:0')
  assert.equal(networkOf('192.0.2.1'), '192.0.2.1')
  const record = createFailedAttempts({ limit: 2 })
  const failed = [1, 2, 3].map((host) => record(`2001:db8::${host}`))
  assert.deepEqual([failed[0], failed[1]], [null, null])
  assert.ok((failed[2] ?? 0) > 0)
})

test('only so many addresses are kept: the one that failed least recently is forgotten', () => {
  const record = createFailedAttempts({ limit: 1, maxAddresses: 100 })
  record('192.0.2.1')
  for (let i = 0; i < 100; i++) record(`198.51.100.${i}`)
  assert.equal(record('192.0.2.1'), null)
  assert.notEqual(record('198.51.100.99'), null)
})
