// Which content coding an answer gets (RFC 9110, 12.5.3): gzip, unless the client prefers the bare text or refuses gzip.
import Negotiator from 'negotiator'

export type ContentEncoding = 'gzip' | 'identity'

const AVAILABLE: readonly ContentEncoding[] = ['gzip', 'identity']

/** The published types do not have the options, which decide between codings of the same weight. */
type Encoding = (available: readonly string[], options: { preferred: readonly string[] }) => string | undefined

export function chooseEncoding(accepted: string | undefined): ContentEncoding {
  // 8.4.1.3: x-gzip is the same coding.
  const header = accepted?.replaceAll(/\bx-gzip\b/gi, 'gzip')
  const negotiator: { encoding: Encoding } = new Negotiator({ headers: { 'accept-encoding': header } })
  // Identity also where the client accepts neither: it needs nothing to be read.
  return negotiator.encoding(AVAILABLE, { preferred: AVAILABLE }) === 'gzip' ? 'gzip' : 'identity'
}
