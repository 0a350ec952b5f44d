// The content coding of a response (RFC 9110, 12.5.3): gzip, unless the client prefers identity or does not accept gzip.
import Negotiator from 'negotiator'

export type ContentEncoding = 'gzip' | 'identity'

const AVAILABLE: readonly ContentEncoding[] = ['gzip', 'identity']

/** The published types lack the options, which decide between codings of equal weight. */
type Encoding = (available: readonly string[], options: { preferred: readonly string[] }) => string | undefined

export function chooseEncoding(accepted: string | undefined): ContentEncoding {
  // 8.4.1.3: x-gzip is the same coding.
  const header = accepted?.replaceAll(/\bx-gzip\b/gi, 'gzip')
  const negotiator: { encoding: Encoding } = new Negotiator({ headers: { 'accept-encoding': header } })
  // Identity even if the client accepts neither: every client can read it.
  return negotiator.encoding(AVAILABLE, { preferred: AVAILABLE }) === 'gzip' ? 'gzip' : 'identity'
}
