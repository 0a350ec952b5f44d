// Makes a link: an address of one dataset, with the key that opens it.
import { DAY_MS } from '../../platform/calendar-date.ts'
import type { KeyOrKeys } from '../../platform/derive-key.ts'
import { Problem } from '../../platform/problem.ts'
import type { Client } from '../client-registry.ts'
import { canonicaliseAddress, createLinkKey } from './link-key.ts'

export const DEFAULT_LINK_DAYS = 90

interface LinkRequest {
  readonly keys: KeyOrKeys
  readonly client: Client
  readonly baseUrl: string
  readonly datasetName: string
  /** What the link opens, with or without the base address. */
  readonly url: string
  readonly days: number | undefined
}

export function makeLink({ keys, client, baseUrl, datasetName, url, days = DEFAULT_LINK_DAYS }: LinkRequest) {
  const address = readAddress(url, baseUrl, `/v2/${datasetName}/`)
  const expiry = Math.floor((Date.now() + days * DAY_MS) / 1000)
  const key = createLinkKey(keys, { client, address, expiry })
  return {
    url: `${baseUrl}${address}${address.includes('?') ? '&' : '?'}key=${key}`,
    opens: address,
    key,
    expires_at: new Date(expiry * 1000).toISOString(),
  }
}

function readAddress(url: string, baseUrl: string, home: string): string {
  const address = canonicaliseAddress(url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : url)
  const isQuestion = address !== null && address.startsWith(home) && !url.includes('#') && !/\s|[?&]key=/.test(address)
  if (isQuestion) return address
  throw new Problem(
    'invalid_parameter',
    `url must be a URL of this dataset, such as ${home}sums?q=ebola&format=csv, encoded as one value and without a key.`,
    { parameter: 'url' },
  )
}
