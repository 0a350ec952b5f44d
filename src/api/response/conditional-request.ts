// Conditional requests (RFC 9110, section 13): whether the client already has the current representation.
import fresh from 'fresh'

/** By the weak comparison (13.1.2). Only this header counts: `fresh` would let Cache-Control of the request overrule it. */
export const matchesIfNoneMatch = (ifNoneMatch: string | undefined, entityTag: string): boolean =>
  fresh({ 'if-none-match': ifNoneMatch }, { etag: entityTag })
