// The address of the client: of the connection or, behind a proxy that is trusted, the one that the proxy reports. Whoever
// sends a request can write X-Forwarded-For, so it is believed only as far as trusted proxies wrote it.
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, type Socket } from 'node:net'
import { headerValues } from './raw-headers.ts'

/** Must be called once before the connection ends; then it also answers afterwards, for the log. */
export type ClientAddress = (request: IncomingMessage) => string

/** For a connection that was lost before it was asked for its address. */
const UNKNOWN = 'unknown'

/** `trustedProxies` has addresses and networks, such as 10.0.0.0/8; X-Forwarded-For is believed from no other address. */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = createNetworks(trustedProxies)
  const isTrusted = (address: string) => trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  // A closed socket that was never asked has no address any more.
  const peers = new WeakMap<Socket, { address: string; isTrusted: boolean }>()

  function findPeer(socket: Socket) {
    const known = peers.get(socket)
    if (known !== undefined) return known
    const address = normalise(socket.remoteAddress ?? '') ?? UNKNOWN
    const peer = { address, isTrusted: trustedProxies.length > 0 && address !== UNKNOWN && isTrusted(address) }
    peers.set(socket, peer)
    return peer
  }

  /** From the right: each proxy appends the address it saw. The first one that is not a proxy of ours is the client. */
  return (request) => {
    const peer = findPeer(request.socket)
    if (!peer.isTrusted) return peer.address
    const reported = headerValues(request, 'x-forwarded-for').join().split(',')
    let client = peer.address
    for (const text of reported.reverse()) {
      const address = normalise(text)
      // Nobody knows who wrote what stands left of it.
      if (address === null) return client
      client = address
      if (!isTrusted(address)) return client
    }
    return client
  }
}

/** The addresses and networks of a list with commas or spaces. Throws if one of them is not valid. */
export function parseTrustedProxies(text: string): readonly string[] {
  const networks = text.split(/[\s,]+/).filter((network) => network !== '')
  createNetworks(networks)
  return networks
}

function createNetworks(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [, address = '', length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(network) ?? []
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    const bits = family === 'ipv6' ? 128 : 32
    if (isIP(address) === 0 || Number(length ?? bits) > bits)
      throw new Error('must be a list of addresses and networks, such as 10.0.0.5,10.1.0.0/16,fd00::/8')
    list.addSubnet(address, Number(length ?? bits), family)
  }
  return list
}

const WITH_PORT = /^(?:\[(?<six>[^\]]*)\](?::\d+)?|(?<four>[\d.]+):\d+)$/

/** Null if it is not an address. Removes a port and a zone, and writes an IPv4 address in IPv6 as IPv4. */
function normalise(text: string): string | null {
  const { six, four } = WITH_PORT.exec(text.trim())?.groups ?? {}
  const address = (six ?? four ?? text.trim()).replace(/%.*$/, '').replace(/^::ffff:(?=[\d.]+$)/i, '')
  return isIP(address) === 0 ? null : address.toLowerCase()
}
