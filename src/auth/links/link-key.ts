// A link key opens one address without a token, for spreadsheets and feed readers. It is an HMAC over the client, its generation,
// the expiry and the address: nothing is stored, and the key ends with its client.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type KeyOrKeys, listKeys } from '../../platform/derive-key.ts'
import { headerValues } from '../../platform/http/raw-headers.ts'
import { takenKey } from '../../platform/http/request-checks.ts'
import { Problem } from '../../platform/problem.ts'
import { type Caller, TokenExpired } from '../access-tokens.ts'
import type { Client } from '../client-registry.ts'
import type { CredentialCache } from '../credential-cache.ts'

export const MAX_LINK_DAYS = 180

/** The name, the client in base64url, the expiry in seconds, the HMAC. */
const LINK_KEY = /^obk1\.([\w-]{1,400})\.([1-9]\d{9,10})\.([\w-]{43})$/

interface SignedLink {
  readonly client: Client
  /** Path and query, as `canonicaliseAddress` writes them. */
  readonly address: string
  /** In seconds since 1970. */
  readonly expiry: number
}

export function createLinkKey(keys: KeyOrKeys, link: SignedLink): string {
  const [key] = listKeys(keys)
  return ['obk1', Buffer.from(link.client.clientId).toString('base64url'), link.expiry, signLink(key, link)].join('.')
}

const signLink = (key: ReturnType<typeof listKeys>[0], { client, address, expiry }: SignedLink): string =>
  createHmac('sha256', key)
    .update(JSON.stringify([client.clientId, client.generation, expiry, address]))
    .digest('base64url')

export interface LinkSigning {
  readonly keys: KeyOrKeys
  readonly credentialCache: CredentialCache
}

/** The caller of a link; null if the request has no link key. */
export function createLinkVerifier(signing: LinkSigning) {
  const verifyKey = createKeyVerifier(signing)
  return (request: IncomingMessage): Caller | null => {
    const linkKey = findLinkKey(request)
    return linkKey === null ? null : verifyKey(linkKey, request.url ?? '')
  }
}

/** Throws a Problem unless the key was made for exactly this address, by a client that can still read. */
export function createKeyVerifier({ keys, credentialCache }: LinkSigning) {
  return (linkKey: string, url: string): Caller => {
    credentialCache.assertFresh()
    const [, encodedId = '', expiryText, signature] = LINK_KEY.exec(linkKey) ?? []
    const clientId = Buffer.from(encodedId, 'base64url').toString()
    const client = credentialCache.clients().get(clientId)
    const address = canonicaliseAddress(url)
    if (client === undefined || client.disabled || signature === undefined || address === null) throw invalidLink()
    const link = { client, address, expiry: Number(expiryText) }
    const isSigned = listKeys(keys).some((key) =>
      timingSafeEqual(Buffer.from(signLink(key, link)), Buffer.from(signature)),
    )
    if (!isSigned) throw invalidLink()
    const expiresAt = new Date(link.expiry * 1000)
    if (expiresAt.getTime() <= Date.now())
      throw new TokenExpired(`The link expired on ${expiresAt.toISOString().slice(0, 10)}. Make a new one.`)
    return { clientId, scopes: new Set(client.scopes), issuedAt: new Date(), expiresAt, releases: new Map() }
  }
}

const invalidLink = () =>
  new Problem(
    'invalid_token',
    'The link key does not open this URL: it is for another one, or it has been revoked. Make a new link.',
  )

/** The same for every order of the parameters. Null if a byte is not text: two such addresses would look the same. */
export function canonicaliseAddress(url: string): string | null {
  const [path = '', ...query] = url.split('?')
  const parameters = new URLSearchParams(query.join('?'))
  // Stable: several values of one parameter keep their order, which may matter.
  parameters.sort()
  const canonical = parameters.size === 0 ? path : `${path}?${parameters.toString()}`
  return canonical.includes('%EF%BF%BD') ? null : canonical
}

/** The link key of a request, from its address or as the password of HTTP Basic. Null if it has none, or another credential. */
export function findLinkKey(request: IncomingMessage): string | null {
  const [authorization, ...further] = headerValues(request, 'authorization')
  if (authorization === undefined) return takenKey(request)
  const encoded = further.length > 0 ? undefined : /^basic +([a-z0-9+/]+={0,2})$/i.exec(authorization)?.[1]
  const [, password = ''] = /:(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? []
  return password.startsWith('obk1.') ? password : null
}
