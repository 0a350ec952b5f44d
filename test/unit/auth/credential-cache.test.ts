// Credentials that are older than a minute are not used: a revocation may be missing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCredentialCache } from '../../../src/auth/credential-cache.ts'
import type { Watcher } from '../../../src/platform/postgres/watcher.ts'
import { Problem } from '../../../src/platform/problem.ts'

const createCacheOfAge = (age: number) => {
  const watcher: Watcher = {
    watch: (_topic, _load, value) => ({ value }),
    start: async () => {},
    stop: async () => {},
    refresh: async () => {},
    stalenessMs: () => age,
    msSinceResponse: () => 0,
    clockDifferenceMs: () => 0,
  }
  return createCredentialCache(watcher, [Buffer.alloc(32)], 60_000)
}

for (const age of [0, 59_999, 60_000])
  test(`credentials of ${age} ms are used`, () => createCacheOfAge(age).assertFresh())

for (const age of [60_001, Number.POSITIVE_INFINITY])
  test(`credentials of ${age} ms give 503`, () => {
    assert.throws(
      () => createCacheOfAge(age).assertFresh(),
      (error) => error instanceof Problem && error.status === 503 && error.headers['retry-after'] === '1',
    )
  })

test('before the first load there is no client and no key', () => {
  assert.equal(createCacheOfAge(0).clients().size, 0)
  assert.deepEqual(createCacheOfAge(0).keys(), [])
})
