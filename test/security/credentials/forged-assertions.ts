// Forged client assertions (RFC 7523) that the token endpoint must reject, each with a title. Those signed with the key of the
// client check that a valid signature is not enough.
import { createHmac, KeyObject, randomUUID, sign as signBytes } from 'node:crypto'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose'
import { encode, missingAlgorithms, publicKeyAsSecret } from './forgery-values.ts'

interface Originals {
  readonly clientId: string
  readonly privateKey: CryptoKey
  readonly publicJwk: JWK
  /** The key of another client, which is valid for that one. */
  readonly other: { readonly clientId: string; readonly privateKey: CryptoKey }
  readonly issuer: string
  readonly tokenUrl: string
}

type Json = Record<string, unknown>
interface ForgedRequest {
  readonly title: string
  readonly assertion: string
}

export const now = () => Math.floor(Date.now() / 1000)

/** Signs any header and payload with ECDSA; a library would reject some of them. */
export async function signRaw(key: CryptoKey, header: unknown, payload: unknown): Promise<string> {
  const input = `${encode(header)}.${encode(payload)}`
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, Buffer.from(input))
  return `${input}.${Buffer.from(signature).toString('base64url')}`
}

export const claimsOf = ({ clientId, issuer }: Pick<Originals, 'clientId' | 'issuer'>): Json => ({
  ...{ iss: clientId, sub: clientId, aud: issuer, jti: randomUUID(), iat: now(), exp: now() + 60 },
})

export async function forgeAssertions(originals: Originals): Promise<ForgedRequest[]> {
  const { clientId, privateKey, publicJwk, other, issuer, tokenUrl } = originals
  const header: Json = { alg: 'ES256', ...(publicJwk.kid === undefined ? {} : { kid: publicJwk.kid }) }
  const claims = () => claimsOf(originals)
  const sign = (changedHeader: unknown, payload: unknown = claims()) => signRaw(privateKey, changedHeader, payload)
  const attacker = await generateKeyPair('ES256', { extractable: true })
  const attackerJwk = await exportJWK(attacker.publicKey)
  const rows: ForgedRequest[] = []
  const add = (title: string, assertion: string) => rows.push({ title, assertion })

  for (const alg of missingAlgorithms) {
    const input = `${encode({ ...header, alg })}.${encode(claims())}`
    add(`alg ${show(alg)} without a signature`, `${input}.`)
    add(`alg ${show(alg)} with a signature`, `${input}.${'A'.repeat(86)}`)
  }
  for (const [kind, secret] of Object.entries(publicKeyAsSecret(publicJwk)))
    for (const bits of [256, 384, 512]) {
      const input = `${encode({ ...header, alg: `HS${bits}` })}.${encode(claims())}`
      add(
        `HS${bits} with the public key as ${kind}`,
        `${input}.${createHmac(`sha${bits}`, secret).update(input).digest('base64url')}`,
      )
    }
  for (const alg of [
    'ES384',
    'ES512',
    'ES256K',
    'es256',
    'RS256',
    'PS256',
    'RS384',
    'EdDSA',
    'Ed25519',
    'dir',
    'toString',
  ])
    add(`alg ${alg} with an ES256 signature`, await sign({ ...header, alg }))

  add('signed by an attacker', await signRaw(attacker.privateKey, header, claims()))
  add("signed by another client's key", await signRaw(other.privateKey, header, claims()))
  add("another client's id, signed by the client", await sign(header, claimsOf({ clientId: other.clientId, issuer })))
  const url = 'http://127.0.0.1:9/attacker'
  for (const [name, value] of Object.entries({ jwk: attackerJwk, jku: url, x5u: url, x5c: [encode(attackerJwk)] })) {
    add(`${name}, signed by the attacker`, await signRaw(attacker.privateKey, { ...header, [name]: value }, claims()))
    add(`${name}, signed by the client`, await sign({ ...header, [name]: value }))
  }
  for (const critical of [
    { crit: ['exp'], exp: 1 },
    { crit: ['b64'], b64: false },
    { crit: ['b64'], b64: true },
    { crit: ['unknown'], unknown: 1 },
    { crit: [] },
    { crit: null },
  ])
    add(`header ${show(critical)}`, await sign({ ...header, ...critical }))
  for (const typ of [
    'at+jwt',
    'application/at+jwt',
    'id+jwt',
    'dpop+jwt',
    'logout+jwt',
    '',
    'JWT ',
    1,
    null,
    ['JWT'],
    true,
  ])
    add(`typ ${show(typ)}`, await sign({ ...header, typ }))
  for (const kid of ['unknown', '', 0, null, ['a'], {}, '../../dev/null', "' or true --", '__proto__'])
    add(`kid ${show(kid)}`, await sign({ ...header, kid }))
  for (const text of ['', 'null', '[]', '{', '"ES256"', '7']) add(`header ${show(text)}`, await sign(text))

  const wrongClaims: Record<string, unknown[]> = {
    iss: [undefined, null, '', 'nobody', '__proto__', [clientId], 7, `${clientId} `, issuer, clientId.toUpperCase()],
    sub: [undefined, null, '', 'nobody', other.clientId, [clientId], 7, issuer],
    aud: [
      ...[undefined, null, '', 'https://other.example', `${issuer}/`, tokenUrl.toUpperCase(), `${tokenUrl}/`, 7],
      ...[[], [issuer, 'https://other.example'], ['https://other.example', tokenUrl], [[issuer]], { 0: issuer }],
      ...[`${issuer}/oauth`, `${issuer}/v2`, clientId],
    ],
    exp: [undefined, null, 0, -1, now() - 1, now() - 60, now() + 400, now() + 3600, 9e15, '9999999999', true, 'soon'],
    nbf: [now() + 120, 'now', null],
    iat: [now() + 120, 'now', null, true],
    jti: [undefined, null, '', 7, ['a'], 'x'.repeat(300), 'with a space', '\u0000'],
  }
  for (const [claim, values] of Object.entries(wrongClaims))
    for (const value of values) add(`${claim} ${show(value)}`, await sign(header, { ...claims(), [claim]: value }))
  for (const text of ['', 'null', '[]', '"x"', '7', 'true', '{']) add(`payload ${show(text)}`, await sign(header, text))

  const valid = await sign(header)
  const [head = '', payload = '', signature = ''] = valid.split('.')
  const bytes = Buffer.from(signature, 'base64url')
  for (const i of [0, 1, 15, 31, 32, 47, 62, 63]) {
    const flipped = Buffer.from(bytes.with(i, (bytes[i] ?? 0) ^ 1)).toString('base64url')
    add(`a flipped bit in byte ${i} of the signature`, `${head}.${payload}.${flipped}`)
  }
  const der = signBytes('sha256', Buffer.from(`${head}.${payload}`), KeyObject.from(attacker.privateKey))
  for (const [title, text] of Object.entries({
    'without its signature': `${head}.${payload}`,
    'with an empty signature': `${head}.${payload}.`,
    'with a signature of zeros': `${head}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
    'with a signature in DER': `${head}.${payload}.${der.toString('base64url')}`,
    'with a fourth part': `${valid}.${signature}`,
    'with padding': `${valid}==`,
    'with a space before': ` ${valid}`,
    'with a line end': `${valid}\n`,
    'with another payload': `${head}.${encode({ ...claims(), sub: clientId })}.${signature}`,
    'with swapped parts': `${payload}.${head}.${signature}`,
    'as Bearer': `Bearer ${valid}`,
    'too long': await sign(header, { ...claims(), filler: 'x'.repeat(5000) }),
    'a JWE of five parts': 'e30.AAAA.AAAA.AAAA.AAAA',
    'only dots': '..',
    'only text': 'assertion',
    'with standard base64': valid.replaceAll('-', '+').replaceAll('_', '/').replace(/$/, '/='),
  }))
    add(title, text)
  return rows
}

const show = (value: unknown) => (JSON.stringify(value) ?? 'missing').slice(0, 60)
