// Which secret authenticates which client, and until when.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authenticate, type Client, digestSecret } from '../../../src/auth/client-registry.ts'

const NOW = 1_000_000
const client = (clientId: string, secrets: Record<string, number>, disabled = false): [string, Client] => [
  clientId,
  {
    clientId,
    disabled,
    scopes: [],
    generation: 1,
    secrets: Object.entries(secrets).map(([secret, expiresAt]) => ({ digest: digestSecret(secret), expiresAt })),
  },
]
const forever = Number.POSITIVE_INFINITY
const registry = new Map([
  client('steady', { s1: forever }),
  client('rotating', { r1: NOW + 1, r2: forever }),
  client('rotated', { o1: NOW, o2: forever }),
  client('expired', { e1: NOW - 1 }),
  client('disabled', { d1: forever }, true),
  client('bare', {}),
])

const cases: [title: string, clientId: string, secret: string, valid: boolean][] = [
  ['the secret of a client', 'steady', 's1', true],
  ['the old secret while it overlaps', 'rotating', 'r1', true],
  ['the new secret while it overlaps', 'rotating', 'r2', true],
  ['the new secret after the overlap', 'rotated', 'o2', true],
  ['an old secret at the moment it expires', 'rotated', 'o1', false],
  ['an expired secret', 'expired', 'e1', false],
  ['the secret of a disabled client', 'disabled', 'd1', false],
  ['a wrong secret', 'steady', 's2', false],
  ['a wrong secret of a disabled client', 'disabled', 's1', false],
  ['the secret of another client', 'steady', 'r2', false],
  ['a secret in capitals', 'steady', 'S1', false],
  ['a secret with a space', 'steady', 's1 ', false],
  ['an empty secret', 'steady', '', false],
  ['the digest of the secret', 'steady', digestSecret('s1').toString('hex'), false],
  ['any secret of a client without one', 'bare', 's1', false],
  ['an empty secret of a client without one', 'bare', '', false],
  ['a secret of an unknown client', 'nobody', 's1', false],
  ['32 zero bytes for an unknown client', 'nobody', '\0'.repeat(32), false],
  ['a secret without an id', '', 's1', false],
  ['an empty secret without an id', '', '', false],
  ['a secret of __proto__', '__proto__', 's1', false],
  ['a secret of constructor', 'constructor', 's1', false],
  ['the id in capitals', 'STEADY', 's1', false],
]
for (const [title, clientId, secret, valid] of cases)
  test(`${title} ${valid ? 'is accepted' : 'is rejected'}`, () => {
    assert.equal(authenticate(registry, clientId, secret, NOW)?.clientId, valid ? clientId : undefined)
  })

test('a secret of a client whose secrets have all expired is compared as for an unknown client', () => {
  const expired = new Map([client('bare', {}), client('expired', { e1: NOW - 1 })])
  for (const [id, secret] of [
    ['bare', ''],
    ['bare', '\0'.repeat(32)],
    ['expired', 'e1'],
  ] as const)
    assert.equal(authenticate(expired, id, secret, NOW), null)
})
