// Another issuer, as far as a resource server sees it: an address with a key set, and tokens signed by its key.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

/** What the key set's address may do; `hangs` never answers. */
export type KeySetPath = 'jwks' | 'hangs' | 'fails' | 'page' | 'nonsense'

export type Claims = Record<string, unknown>

export async function startIssuer() {
  const kid = 'theirs'
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid, use: 'sig' }] })
  const answers: Record<Exclude<KeySetPath, 'hangs'>, [status: number, body: string]> = {
    jwks: [200, jwks],
    fails: [500, '{}'],
    page: [200, '<!doctype html>'],
    nonsense: [200, '{}'],
  }
  const server = createServer((request, reply) => {
    const [status, body] = answers[request.url?.slice(1) as 'jwks'] ?? []
    if (status !== undefined) reply.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  function stop(): void {
    server.close()
    server.closeAllConnections()
  }
  after(stop)
  return {
    issuer,
    keySetUrl: (path: KeySetPath) => `${issuer}/${path}`,
    stop,
    issue: (claims: Claims, header = {}) =>
      new SignJWT({ iss: issuer, sub: 'analyst@clients', ...claims })
        .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid, ...header })
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(privateKey),
  }
}
