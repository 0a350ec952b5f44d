// The addresses that a request on behalf of a client must not reach: everything that is not a public unicast address.
import { BlockList, isIPv4, isIPv6 } from 'node:net'

/**
 * The IANA IPv4 Special-Purpose Address Registry (RFC 6890) as of 2026-11-18, including the blocks it calls globally reachable: no
 * receiver exists. Then multicast (RFC 5771) and addresses at which clouds serve credentials to their machines.
 */
const IPV4_RANGES = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // shared, behind a carrier's NAT
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local; metadata of most clouds
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // automatic multicast tunnelling
  ['192.88.99.0', 24], // relays of 6to4, deprecated
  ['192.168.0.0', 16], // private
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and the broadcast address
  ['168.63.129.16', 32], // Azure's host, a public address that answers only inside
] as const

/**
 * Only 2000::/3 is global unicast. What is outside includes ::, ::1, v4-mapped (::ffff:0:0/96), NAT64 (64:ff9b::/96,
 * 64:ff9b:1::/48), discard-only (100::/64), SRv6 (5f00::/16), unique local (fc00::/7), link-local (fe80::/10), site-local (fec0::/10)
 * and multicast (ff00::/8). Then the blocks of the IANA IPv6 Special-Purpose Address Registry within 2000::/3, as of 2026-11-18.
 */
const IPV6_RANGES = [
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23], // protocol assignments: Teredo, benchmarks, ORCHID, drone identifiers
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: it carries any IPv4 address
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
] as const

/** Two lists: one that has ::/3 would block every IPv4 address, which it compares in the v4-mapped form too. */
const blocked4 = new BlockList()
const blocked6 = new BlockList()
for (const [network, prefix] of IPV4_RANGES) blocked4.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of IPV6_RANGES) blocked6.addSubnet(network, prefix, 'ipv6')

/** Whether an address, in the form that a resolver gives, is public. Text that is no address is not. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !blocked4.check(address, 'ipv4')
  // A zone id names an interface of this machine.
  return isIPv6(address) && !address.includes('%') && !blocked6.check(address, 'ipv6')
}
