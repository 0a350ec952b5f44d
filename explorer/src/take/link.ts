// Asks the service for a link: an address that opens one question without a token, for a spreadsheet.
import { toError } from '../../../clients/typescript/src/errors.ts'
import { type Parameters, toKey } from '../requests.ts'

export interface SpreadsheetLink {
  readonly url: string
  /** The last day on which it works. */
  readonly until: string
}

/** `release` is null for a link that follows the newest release. */
export async function makeLink(verb: string, parameters: Parameters, release: number | null): Promise<SpreadsheetLink> {
  const asked = parameters.filter(([name]) => name !== 'release' || release !== null)
  const url = `/v2/hed-outbreaks/${verb}?${toKey([...asked, ['format', 'csv']])}`
  const response = await fetch(`/v2/hed-outbreaks/link?${toKey([['url', url]])}`, {
    signal: AbortSignal.timeout(30_000),
  })
  const body = await response.text()
  if (!response.ok) throw toError({ status: response.status, body })
  const link = JSON.parse(body) as { url: string; expires_at: string }
  return { url: link.url, until: link.expires_at.slice(0, 10) }
}
