// Asks the service for a link: an address that opens one question without a token.
import { toError } from '../../../clients/typescript/src/errors.ts'
import { type Parameters, toKey } from '../requests.ts'

export interface Link {
  readonly url: string
  /** The last day on which it works. */
  readonly until: string
}

/** The most that the service allows: what is pasted into a sheet or a page should last. */
const DAYS = '180'

export async function makeLink(resource: string, parameters: Parameters): Promise<Link> {
  const asked = toKey([
    ['url', `/v2/hed-outbreaks/${resource}?${toKey(parameters)}`],
    ['days', DAYS],
  ])
  const response = await fetch(`/v2/hed-outbreaks/link?${asked}`, { signal: AbortSignal.timeout(30_000) })
  const body = await response.text()
  if (!response.ok) throw toError({ status: response.status, body })
  const link = JSON.parse(body) as { url: string; expires_at: string }
  return { url: link.url, until: link.expires_at.slice(0, 10) }
}
