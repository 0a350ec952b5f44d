// An external issuer whose key set cannot be fetched or is broken gives 503, never 401: the token may be valid.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { createExternalVerifier } from '../../../src/auth/external-issuer.ts'
import { Problem } from '../../../src/platform/problem.ts'
import { type KeySetPath, startIssuer } from '../../fixtures/key-set-server.ts'

const audience = 'https://data.example'
const { issuer, issue, keySetUrl } = await startIssuer()
const validToken = await issue({ aud: audience, scope: 'read' })
const createVerifierFor = (path: KeySetPath) =>
  createExternalVerifier({ issuer, audience, jwksUrl: keySetUrl(path), tokenType: 'at+jwt' })

const brokenKeySets: Record<string, KeySetPath> = {
  'that never responds': 'hangs',
  'that gives 500': 'fails',
  'that is an HTML page': 'page',
  'that has no keys': 'nonsense',
}
for (const [kind, path] of Object.entries(brokenKeySets))
  test(`a key set ${kind} gives 503 within 3 seconds`, async () => {
    const startedAt = performance.now()
    await assert.rejects(
      createVerifierFor(path)(validToken),
      (error) => error instanceof Problem && error.status === 503,
    )
    assert.ok(performance.now() - startedAt < 3000)
  })

const clientClaims: Record<string, [claims: object, clientId: string]> = {
  client_id: [{ client_id: 'one', azp: 'two' }, 'one'],
  azp: [{ azp: 'two' }, 'two'],
  sub: [{}, 'analyst@clients'],
}
for (const [claim, [claims, clientId]] of Object.entries(clientClaims))
  test(`the client id comes from ${claim}`, async () => {
    const releaseClaim = { releases: { 'hed-outbreaks': 5 } }
    const token = await issue({ aud: audience, scope: 'a b', permissions: ['b', 'c'], ...releaseClaim, ...claims })
    const { issuedAt, expiresAt, ...caller } = await createVerifierFor('jwks')(token)
    assert.deepEqual(caller, { clientId, scopes: new Set(['a', 'b', 'c']), releases: new Map() })
    const { iat, exp } = decodeJwt(token)
    assert.deepEqual([issuedAt, expiresAt], [new Date(Number(iat) * 1000), new Date(Number(exp) * 1000)])
  })

test('an issuer claim with a slash at the end is accepted', async () => {
  const token = await issue({ iss: `${issuer}/`, aud: audience, scope: 'read' })
  assert.ok((await createVerifierFor('jwks')(token)).scopes.has('read'))
})

for (const claims of [{ client_id: 7 }, { client_id: ['one'] }, { azp: { name: 'two' } }])
  test(`a client id that is not a string is rejected: ${JSON.stringify(claims)}`, async () => {
    const token = await issue({ aud: audience, scope: 'read', ...claims })
    await assert.rejects(createVerifierFor('jwks')(token), { code: 'invalid_token' })
  })
