// Another issuer whose key set is away or broken: that says nothing about a token, so it is never 401.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { createExternalVerifier } from '../../../src/auth/external-issuer.ts'
import { Problem } from '../../../src/platform/problem.ts'
import { type KeySetPath, startIssuer } from '../../fixtures/key-set-server.ts'

const audience = 'https://data.example'
const { issuer, issue, keySetUrl } = await startIssuer()
const good = await issue({ aud: audience, scope: 'read' })
const verifyBy = (path: KeySetPath) =>
  createExternalVerifier({ issuer, audience, jwksUrl: keySetUrl(path), tokenType: 'at+jwt' })

const broken: Record<string, KeySetPath> = {
  'that never answers': 'hangs',
  'that answers 500': 'fails',
  'that is a page': 'page',
  'that holds no keys': 'nonsense',
}
for (const [kind, path] of Object.entries(broken))
  test(`a key set ${kind} makes a token unverifiable, not invalid: 503 within 3 seconds`, async () => {
    const began = performance.now()
    await assert.rejects(verifyBy(path)(good), (error) => error instanceof Problem && error.status === 503)
    assert.ok(performance.now() - began < 3000)
  })

const clients: Record<string, [claims: object, clientId: string]> = {
  client_id: [{ client_id: 'one', azp: 'two' }, 'one'],
  azp: [{ azp: 'two' }, 'two'],
  sub: [{}, 'analyst@clients'],
}
for (const [claim, [claims, clientId]] of Object.entries(clients))
  test(`the client is named by ${claim}`, async () => {
    const foreign = { releases: { 'hed-outbreaks': 5 } }
    const token = await issue({ aud: audience, scope: 'a b', permissions: ['b', 'c'], ...foreign, ...claims })
    const { issuedAt, expiresAt, ...caller } = await verifyBy('jwks')(token)
    assert.deepEqual(caller, { clientId, scopes: new Set(['a', 'b', 'c']), releases: new Map() })
    const { iat, exp } = decodeJwt(token)
    assert.deepEqual([issuedAt, expiresAt], [new Date(Number(iat) * 1000), new Date(Number(exp) * 1000)])
  })

test('an issuer whose name ends with a slash is the same issuer', async () => {
  const token = await issue({ iss: `${issuer}/`, aud: audience, scope: 'read' })
  assert.ok((await verifyBy('jwks')(token)).scopes.has('read'))
})
