// Opens a TLS connection to an address that a client chose. The name is resolved once, every address is checked, and the
// connection goes to the checked addresses: no name that changes, no literal and no proxy leads to this network.
import { lookup as lookupName } from 'node:dns/promises'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { isPublicAddress } from './special-purpose-ranges.ts'

export interface EgressPolicy {
  /** Origins that the operator trusts, such as https://alerts.internal:8443: any address and any port. */
  readonly trustedOrigins: readonly string[]
  /** The proxy through which connections go (CONNECT); null if there is none. */
  readonly proxyUrl: string | null
  /** The port of all other receivers, 443 but in tests. */
  readonly port?: number
  /** Resolves names. By default as the system does. */
  readonly lookup?: (name: string) => Promise<readonly ResolvedAddress[]>
}

interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** Clients cannot send to this address. */
export class AddressRefused extends Error {
  readonly code = 'ADDRESS_REFUSED'
}

export const isTrusted = (url: URL, { trustedOrigins }: EgressPolicy): boolean => trustedOrigins.includes(url.origin)

/** Throws AddressRefused if the form of the URL already excludes it. */
export function assertAllowedUrl(url: URL, policy: EgressPolicy): void {
  if (url.protocol !== 'https:') throw new AddressRefused('The URL must begin with https://.')
  if (url.username !== '' || url.password !== '') throw new AddressRefused('The URL must have no user and no password.')
  if (url.hash !== '') throw new AddressRefused('The URL must have no fragment.')
  if (isTrusted(url, policy)) return
  if (portOf(url) !== (policy.port ?? 443))
    throw new AddressRefused('The URL must use port 443, unless the operator trusts its origin.')
  const host = hostOf(url)
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw new AddressRefused('The host must have a public address.')
}

/** Rejects when the signal aborts, regardless of what the connection waits for. */
export async function openCheckedConnection(url: URL, policy: EgressPolicy, signal: AbortSignal): Promise<TLSSocket> {
  assertAllowedUrl(url, policy)
  const host = hostOf(url)
  const addresses = await resolve(host, policy, signal)
  if (!isTrusted(url, policy) && !addresses.every(({ address }) => isPublicAddress(address)))
    throw new AddressRefused('The host must have only public addresses.')
  const port = portOf(url)
  const socket =
    policy.proxyUrl === null
      ? connectDirectly(host, port, addresses)
      : await openTunnel(new URL(policy.proxyUrl), addresses[0]?.address ?? '', port, signal)
  const tls = connectTls({
    socket,
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ['http/1.1'],
  })
  // An error of the connection below is not always one of the TLS socket.
  socket.on('error', (error) => tls.destroy(error))
  return settle(tls, 'secureConnect', signal)
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1')

const portOf = ({ port }: URL): number => Number(port || 443)

async function resolve(host: string, policy: EgressPolicy, signal: AbortSignal): Promise<readonly ResolvedAddress[]> {
  const family = isIP(host)
  if (family !== 0) return [{ address: host, family }]
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    signal.throwIfAborted()
    const found = policy.lookup?.(host) ?? lookupName(host, { all: true })
    const addresses = await Promise.race([found, promise])
    if (addresses.length === 0) throw Object.assign(new Error('The name has no address.'), { code: 'ENOTFOUND' })
    return addresses
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Several addresses are tried in turn, each of them checked. */
const connectDirectly = (host: string, port: number, addresses: readonly ResolvedAddress[]): Socket =>
  connectTcp({
    host,
    port,
    autoSelectFamily: true,
    lookup: (_name, { all }, done) => {
      const [first] = addresses
      if (all) done(null, [...addresses])
      else done(null, first?.address ?? '', first?.family)
    },
  })

/** The proxy gets the checked address, not the name: it could resolve the name to another one. */
async function openTunnel(proxy: URL, address: string, port: number, signal: AbortSignal): Promise<Socket> {
  const request = proxy.protocol === 'https:' ? requestHttps : requestHttp
  const authority = `${isIP(address) === 6 ? `[${address}]` : address}:${port}`
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  const { promise, resolve: settled, reject } = Promise.withResolvers<Socket>()
  request({
    host: hostOf(proxy),
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    method: 'CONNECT',
    path: authority,
    agent: false,
    headers: {
      host: authority,
      ...(login === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
    },
    signal,
  })
    .on('connect', ({ statusCode }, socket: Socket, head) => {
      if (statusCode === 200 && head.length === 0) return settled(socket)
      socket.destroy()
      reject(Object.assign(new Error('The proxy refused the connection.'), { code: 'PROXY_REFUSED' }))
    })
    .on('response', (response) => {
      response.destroy()
      reject(Object.assign(new Error('The proxy refused the connection.'), { code: 'PROXY_REFUSED' }))
    })
    .on('error', reject)
    .end()
  return promise
}

function settle<Connection extends Socket>(socket: Connection, event: string, signal: AbortSignal) {
  const { promise, resolve: settled, reject } = Promise.withResolvers<Connection>()
  const abort = () => socket.destroy(signal.reason)
  // Stays until the connection closes, so that nothing that follows takes longer either.
  signal.addEventListener('abort', abort)
  socket.once(event, () => settled(socket))
  socket.on('error', reject)
  socket.once('close', () => {
    signal.removeEventListener('abort', abort)
    reject(Object.assign(new Error('The connection was closed.'), { code: 'ECONNRESET' }))
  })
  if (signal.aborted) abort()
  return promise
}
