// Forged tokens that the service must reject, each with a title. Those signed with the key of the service check that a
// valid signature is not enough. None of them is valid by RFC 9068.
import { createHmac, generateKeyPairSync, sign as signBytes } from 'node:crypto'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose'
import {
  brokenSignatures,
  criticalHeaders,
  encode,
  type Json,
  keyIds,
  malformTokens,
  missingAlgorithms,
  type Parts,
  publicKeyAsSecret,
  wrongAlgorithms,
  wrongClaims,
  wrongTypes,
} from './forgery-values.ts'

interface Originals {
  /** A valid token, a second one of the same client, and one of another client. */
  readonly valid: string
  readonly second: string
  readonly foreign: string
  readonly privateKey: CryptoKey
  readonly publicJwk: JWK
}

/** Signs any header and payload; a library would reject some of them. */
type Sign = (header: unknown, payload?: unknown) => Promise<string>
interface Forge extends Originals {
  readonly header: Json
  readonly payload: Json
  readonly parts: Parts
  readonly signAsService: Sign
  readonly signAsAttacker: Sign
  readonly attackerJwk: JWK
}
type Rows = AsyncGenerator<readonly [title: string, token: string]>

export async function forgeTokens(originals: Originals): Promise<{ title: string; token: string }[]> {
  const forge = await openForge(originals)
  const groups = [
    forgeWithoutAlgorithm,
    forgeWithPublicKey,
    forgeKeyIds,
    forgeEmbeddedKeys,
    forgeHeaders,
    forgeClaims,
    tamperParts,
    mixTokens,
  ]
  const rows = []
  for (const group of groups) for await (const [title, token] of group(forge)) rows.push({ title, token })
  return rows
}

async function openForge(originals: Originals): Promise<Forge> {
  const parts = splitToken(originals.valid)
  const [header, payload] = [decode(parts.header), decode(parts.payload)]
  const attacker = await generateKeyPair('ES256', { extractable: true })
  const signWith =
    (key: CryptoKey): Sign =>
    async (tokenHeader, claims = payload) => {
      const input = `${encode(tokenHeader)}.${encode(claims)}`
      const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, Buffer.from(input))
      return `${input}.${Buffer.from(signature).toString('base64url')}`
    }
  return {
    ...originals,
    ...{ header, payload, parts },
    signAsService: signWith(originals.privateKey),
    signAsAttacker: signWith(attacker.privateKey),
    attackerJwk: await exportJWK(attacker.publicKey),
  }
}

async function* forgeWithoutAlgorithm({ header, parts }: Forge): Rows {
  for (const alg of missingAlgorithms) {
    const input = `${encode(change(header, 'alg', alg))}.${parts.payload}`
    for (const [kind, signature] of Object.entries({ no: '', 'a stolen': parts.signature, 'a short': 'AA' }))
      yield [`alg ${show(alg)} with ${kind} signature`, `${input}.${signature}`]
  }
}

async function* forgeWithPublicKey({ header, parts, publicJwk }: Forge): Rows {
  for (const [kind, secret] of Object.entries(publicKeyAsSecret(publicJwk)))
    for (const bits of [256, 384, 512]) {
      const input = `${encode({ ...header, alg: `HS${bits}` })}.${parts.payload}`
      const mac = createHmac(`sha${bits}`, secret).update(input).digest('base64url')
      yield [`HS${bits} with the public key as ${kind}`, `${input}.${mac}`]
    }
}

async function* forgeKeyIds({ header, parts, signAsService, signAsAttacker }: Forge): Rows {
  for (const kid of keyIds(String(header['kid']))) {
    yield [`kid ${show(kid)}, signed by the attacker`, await signAsAttacker(change(header, 'kid', kid))]
    yield [`kid ${show(kid)}, signed by the service`, await signAsService(change(header, 'kid', kid))]
  }
  yield ["the kid of the service, signed by another issuer's key", await signAsAttacker(header)]
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
  const input = `${parts.header}.${parts.payload}`
  const signature = signBytes('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  yield ['the kid of the service, signed on another curve', `${input}.${signature.toString('base64url')}`]
}

async function* forgeEmbeddedKeys({ header, signAsService, signAsAttacker, attackerJwk }: Forge): Rows {
  const url = 'http://127.0.0.1:9/attacker'
  const keys = { jwk: attackerJwk, jku: url, x5u: url, x5c: [encode(attackerJwk)] }
  for (const [name, value] of Object.entries(keys)) {
    const withKey = { ...header, [name]: value }
    yield [`${name} with the kid of the service, signed by the attacker`, await signAsAttacker(withKey)]
    yield [`${name} with the attacker's kid`, await signAsAttacker({ ...withKey, kid: 'attacker' })]
    yield [`${name} without a kid`, await signAsAttacker(change(withKey, 'kid', undefined))]
    yield [`${name} of the attacker, signed by the service`, await signAsService(withKey)]
  }
}

async function* forgeHeaders({ header, signAsService }: Forge): Rows {
  for (const alg of wrongAlgorithms)
    yield [`alg ${alg} with an ES256 signature`, await signAsService({ ...header, alg })]
  for (const typ of wrongTypes) yield [`typ ${show(typ)}`, await signAsService(change(header, 'typ', typ))]
  for (const critical of criticalHeaders)
    yield [`header ${show(critical)}`, await signAsService({ ...header, ...critical })]
  for (const text of ['', 'null', '[]', '{', '"ES256"', `[${JSON.stringify(header)}]`])
    yield [`header ${show(text)}, signed by the service`, await signAsService(text)]
}

async function* forgeClaims({ header, payload, signAsService }: Forge): Rows {
  for (const [claim, values] of Object.entries(wrongClaims(payload)))
    for (const value of values)
      yield [
        `${claim} ${show(value)}, signed by the service`,
        await signAsService(header, change(payload, claim, value)),
      ]
  for (const client of ['nobody', '', '__proto__', 'constructor', null, ['a'], 7])
    yield [
      `client ${show(client)}, signed by the service`,
      await signAsService(header, { ...payload, sub: client, client_id: client }),
    ]
  for (const text of ['', 'null', '[]', '"token"', '7', 'true', '{', `[${JSON.stringify(payload)}]`])
    yield [`payload ${show(text)}, signed by the service`, await signAsService(header, text)]
}

async function* tamperParts({ parts }: Forge): Rows {
  const positions = { header: 12, payload: 40, signature: 40 } as const
  for (const name of ['header', 'payload', 'signature'] as const) {
    const bytes = Buffer.from(parts[name], 'base64url')
    for (const index of spreadIndexes(bytes.length, positions[name])) {
      const flipped = bytes.with(index, (bytes[index] ?? 0) ^ (1 << (index % 8)))
      const tampered = { ...parts, [name]: Buffer.from(flipped).toString('base64url') }
      yield [`a flipped bit in byte ${index} of the ${name}`, joinParts(tampered)]
    }
  }
  for (const [title, signature] of Object.entries(brokenSignatures(Buffer.from(parts.signature, 'base64url'))))
    yield [`signature: ${title}`, joinParts({ ...parts, signature: signature.toString('base64url') })]
}

async function* mixTokens({ valid, second, foreign, parts }: Forge): Rows {
  yield ["another client's payload", joinParts({ ...parts, payload: splitToken(foreign).payload })]
  yield ['the signature of another token', joinParts({ ...parts, signature: splitToken(second).signature })]
  for (const length of spreadIndexes(valid.length, 12).slice(1))
    yield [`truncated to ${length} characters`, valid.slice(0, length)]
  yield* Object.entries(malformTokens(valid, parts))
}

function splitToken(token: string): Parts {
  const [header = '', payload = '', signature = ''] = token.split('.')
  return { header, payload, signature }
}
const joinParts = ({ header, payload, signature }: Parts) => `${header}.${payload}.${signature}`
const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Json
/** `undefined` removes the member. */
const change = (json: Json, name: string, value: unknown): Json => ({ ...json, [name]: value })
const show = (value: unknown) => (JSON.stringify(value) ?? 'missing').slice(0, 60)
const spreadIndexes = (length: number, count: number) =>
  Array.from({ length: count }, (_, i) => Math.floor((i * (length - 1)) / (count - 1)))
