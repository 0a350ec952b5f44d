// Counts the failed attempts to authenticate of each address, in the memory of this node. It never rejects an attempt that
// succeeds, so a client that shares its address with an attacker is served: anyone who calls verifies first and asks afterwards.
import { isIPv6 } from 'node:net'
import { LRUCache } from 'lru-cache'

/** Counts a failed attempt. Returns the seconds until the address can fail again; null if it still can. */
export type RecordFailure = (address: string | null) => number | null

interface Limits {
  /** Failed attempts of an address in one window. */
  readonly limit: number
  readonly windowMs?: number
  readonly maxAddresses?: number
}

export function createFailedAttempts({ limit, windowMs = 60_000, maxAddresses = 10_000 }: Limits): RecordFailure {
  const windows = new LRUCache<string, { failed: number; endsAt: number }>({ max: maxAddresses })
  return (address) => {
    const now = performance.now()
    const key = address === null ? '' : networkOf(address)
    const known = windows.get(key)
    const window = known !== undefined && known.endsAt > now ? known : { failed: 0, endsAt: now + windowMs }
    window.failed += 1
    windows.set(key, window)
    return window.failed > limit ? Math.ceil((window.endsAt - now) / 1000) : null
  }
}

/** A host with IPv6 usually has a whole /64, so its addresses count together. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [left = '', right] = address.split('::')
  const groups = left === '' ? [] : left.split(':')
  const rest = right === undefined || right === '' ? [] : right.split(':')
  const zeros = right === undefined ? 0 : 8 - groups.length - rest.length
  const all = [...groups, ...Array.from({ length: zeros }, () => '0'), ...rest]
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
