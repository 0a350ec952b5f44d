// Invalid values for the keys, ids, claims and signatures of forged tokens.
import { createPublicKey } from 'node:crypto'
import type { JWK } from 'jose'

export type Json = Record<string, unknown>
export type Parts = Record<'header' | 'payload' | 'signature', string>

export const encode = (part: unknown) =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url')

export const missingAlgorithms = [
  ...['none', 'None', 'NONE', 'nOnE', ' none', 'none ', 'none\0', 'n\u043ene'],
  ...['', null, undefined, 0],
]

export const wrongAlgorithms = 'ES384 ES512 ES256K es256 RS256 PS256 EdDSA Ed25519 dir ECDH-ES toString'.split(' ')

/** RFC 9068 section 4: at+jwt or application/at+jwt, nothing else. */
export const wrongTypes = [
  ...['JWT', 'jwt', 'JOSE', '', 'at', 'at+jwt ', 'at+jwt;v=1', 'at+jwt2', 'at-jwt', 'text/at+jwt', 'application/jwt'],
  ...['id+jwt', 'logout+jwt', 'dpop+jwt', undefined, null, 1, true, ['at+jwt']],
]

export const criticalHeaders = [
  { crit: ['exp'], exp: 1 },
  { crit: ['unknown'], unknown: 1 },
  { crit: ['b64'], b64: false },
  { crit: ['b64', 'unknown'], b64: true, unknown: 1 },
  { crit: ['kid'] },
  { crit: [] },
  { crit: 'exp' },
  { crit: null },
]

export function publicKeyAsSecret(jwk: JWK): Record<string, string | Buffer> {
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  const pem = key.export({ format: 'pem', type: 'spki' }).toString()
  const [x, y] = [Buffer.from(jwk.x ?? '', 'base64url'), Buffer.from(jwk.y ?? '', 'base64url')]
  return {
    'JWK text': JSON.stringify(jwk),
    'minimal JWK text': JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x, y: jwk.y }),
    PEM: pem,
    'PEM without its last line break': pem.trimEnd(),
    'PEM with CRLF': pem.replaceAll('\n', '\r\n'),
    DER: key.export({ format: 'der', type: 'spki' }),
    'x bytes': x,
    'y bytes': y,
    'an uncompressed point': Buffer.concat([Buffer.of(4), x, y]),
    'its id': jwk.kid ?? '',
    nothing: '',
  }
}

export const keyIds = (kid: string): unknown[] => [
  ...[undefined, null, '', 0, 1, true, [kid], { kid }, [], {}],
  ...['unknown', '*', '%', kid.slice(0, -1), `${kid} `, ` ${kid}`],
  ...[`${kid}\0`, kid.toUpperCase(), '../../../../dev/null', '/dev/null', 'file:///dev/null', 'http://127.0.0.1:9/key'],
  ...["' or '1'='1", "'; drop table client; --", "' union select 'AA'", '$1', '__proto__', 'constructor', 'toString'],
  ...['hasOwnProperty', '0', 'k'.repeat(2000), '\u0000', '\ud83d\udd11'],
]

export function wrongClaims(payload: Json): Record<string, unknown[]> {
  const issuer = String(payload['iss'])
  const audience = String(payload['aud'])
  const client = String(payload['sub'])
  const now = Math.floor(Date.now() / 1000)
  const notText = [undefined, null, '', 0, true, {}]
  const notTime = [undefined, null, '', String(now + 600), true, [now + 600], {}]
  return {
    iss: [
      ...notText,
      [issuer],
      `${issuer}/`,
      issuer.toUpperCase(),
      `${issuer}\0`,
      ` ${issuer}`,
      'https://other.example',
    ],
    aud: [
      ...[...notText, [], [[audience]], { 0: audience }, 'https://other.example', ['https://other.example']],
      ...[`${audience}/`, `${audience}/v2`, audience.toUpperCase()],
    ],
    sub: [...notText, [client], `${client} `, client.toUpperCase(), 'another'],
    client_id: [...notText, [client], `${client} `, client.toUpperCase(), 'another'],
    exp: [...notTime, 0, -1, now - 86_400, now - 1, now, Number(payload['iat']) + 86_401, now + 25 * 3600, 1e300],
    iat: [...notTime, now + 300, now + 86_400, now - 25 * 3600, 0, -1e300],
    nbf: [null, '', String(now - 5), now + 300, now + 86_400, [now], {}],
    jti: [undefined],
    gen: [undefined, null, 0, 2, -1, 1.5, '1', true, [1], {}],
  }
}

/** Special values of ECDSA: a faulty verifier accepts zero or the group order for every message. */
export function brokenSignatures(signature: Buffer): Record<string, Buffer> {
  const order = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex')
  const zero = Buffer.alloc(32)
  const oneBytes = Buffer.concat([Buffer.alloc(31), Buffer.of(1)])
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32)]
  const integer = (bytes: Buffer) => Buffer.concat([Buffer.of(2, 33, 0), bytes])
  const pairs = {
    '0, 0': [zero, zero],
    '1, 0': [oneBytes, zero],
    '0, 1': [zero, oneBytes],
    '1, 1': [oneBytes, oneBytes],
    'n, n': [order, order],
  }
  return {
    ...Object.fromEntries(Object.entries(pairs).map(([title, pair]) => [`r, s = ${title}`, Buffer.concat(pair)])),
    'halves exchanged': Buffer.concat([s, r]),
    'in DER': Buffer.concat([Buffer.of(0x30, 70), integer(r), integer(s)]),
    'only r': r,
    'twice over': Buffer.concat([signature, signature]),
    'with a byte more': Buffer.concat([signature, zero.subarray(0, 1)]),
    'with a byte before': Buffer.concat([zero.subarray(0, 1), signature]),
  }
}

export function malformTokens(valid: string, { header, payload, signature }: Parts) {
  const jwe = encode({ alg: 'dir', enc: 'A256GCM', typ: 'at+jwt' })
  return {
    'one padding sign': `${valid}=`,
    'two padding signs': `${valid}==`,
    'padding inside': `${header}=.${payload}.${signature}`,
    'a dot at the end': `${valid}.`,
    'a dot in front': `.${valid}`,
    'two dots': `${header}..${payload}.${signature}`,
    'no payload': `${header}..${signature}`,
    'no header': `.${payload}.${signature}`,
    'only dots': '..',
    'two parts': `${header}.${payload}`,
    'four parts': `${valid}.${signature}`,
    'five parts': `${valid}.${signature}.${signature}`,
    'a JWE with a direct key': `${jwe}..${encode('iv')}.${payload}.${encode('tag')}`,
    'a JWE with a wrapped key': `${encode({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.AA.AA.${payload}.AA`,
    'a JWE header on three parts': `${jwe}.${payload}.${signature}`,
    'a JSON serialisation': JSON.stringify({ protected: header, payload, signature }),
    'a space inside': `${header}. ${payload}.${signature}`,
    'a tab inside': `${header}.\t${payload}.${signature}`,
    'two tokens': `${valid} ${valid}`,
    'two tokens with a comma': `${valid},${valid}`,
    'the scheme twice': `Bearer ${valid}`,
    quoted: `"${valid}"`,
    'percent-encoded': valid.replaceAll('.', '%2E'),
    'the other base64 alphabet': `${header}.${payload}.+/${signature.slice(2)}`,
    'a letter that looks the same': valid.replace('e', '\u0435'),
    'a full-width dot': valid.replace('.', '\uff0e'),
    emoji: '\ud83d\udd11.\ud83d\udd11.\ud83d\udd11',
    'an opaque word': 'token',
    null: 'null',
    undefined: 'undefined',
    braces: '{}',
    'a slash': '/',
    '5 kB of payload': `${header}.${'A'.repeat(5000)}.${signature}`,
    '5 kB of signature': `${header}.${payload}.${'A'.repeat(5000)}`,
    '10 kB': `${header}.${'A'.repeat(10_000)}.${signature}`,
  }
}
