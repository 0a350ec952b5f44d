// A node that has not heard from its database for a minute lets nobody in: a revocation may be missing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCredentialCache } from '../../../src/auth/credential-cache.ts'
import type { Watcher } from '../../../src/platform/postgres/watcher.ts'
import { Problem } from '../../../src/platform/problem.ts'

const knowledgeOfAge = (age: number) => {
  const watcher: Watcher = {
    watch: (_topic, _load, value) => ({ value }),
    start: async () => {},
    stop: async () => {},
    refresh: async () => {},
    age: () => age,
    silence: () => 0,
  }
  return createCredentialCache(watcher, Buffer.alloc(32), 60_000)
}

for (const age of [0, 59_999, 60_000])
  test(`knowledge of ${age} ms is believed`, () => knowledgeOfAge(age).assertFresh())

for (const age of [60_001, Number.POSITIVE_INFINITY])
  test(`knowledge of ${age} ms lets nobody in: 503`, () => {
    assert.throws(
      () => knowledgeOfAge(age).assertFresh(),
      (error) => error instanceof Problem && error.status === 503 && error.headers['retry-after'] === '1',
    )
  })

test('before the first load there is no client and no key', () => {
  assert.equal(knowledgeOfAge(0).clients().size, 0)
  assert.deepEqual(knowledgeOfAge(0).keys(), [])
})
