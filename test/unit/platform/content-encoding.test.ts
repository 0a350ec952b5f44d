// Negotiation of Accept-Encoding (RFC 9110, 12.5.3) between gzip and identity.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ContentEncoding, chooseEncoding } from '../../../src/platform/http/content-encoding.ts'
import { fc } from '../../seed.ts'

const chosen: [accepted: string | undefined, encoding: ContentEncoding][] = [
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['x-gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'gzip'],
  ['br;q=1.0, gzip;q=0.8, *;q=0.1', 'gzip'],
  ['deflate, br', 'identity'],
  ['*', 'gzip'],
  ['*;q=0.5', 'gzip'],
  ['identity', 'identity'],
  ['identity, gzip', 'gzip'],
  ['gzip;q=0.5, identity', 'identity'],
  ['gzip;q=0.5, identity;q=0.4', 'gzip'],
  ['gzip;q=0', 'identity'],
  ['gzip;q=0.000', 'identity'],
  ['gzip; q=0', 'identity'],
  ['gzip ;Q=0, *', 'identity'],
  ['gzip;q=0.001', 'gzip'],
  ['gzip;q=0, *;q=1', 'identity'],
  ['identity;q=0, gzip;q=0.1', 'gzip'],
  ['gzip, *;q=0', 'gzip'],
  // If no coding is acceptable, the body is sent as identity.
  ['*;q=0', 'identity'],
  ['identity;q=0', 'identity'],
  ['identity;q=0, gzip;q=0', 'identity'],
  ['gzip;level=9', 'gzip'],
  // A weight that is not a number accepts nothing.
  ['gzip;q=nonsense', 'identity'],
  ['gzippy', 'identity'],
  [', ,gzip,,', 'gzip'],
]
for (const [accepted, encoding] of chosen) {
  test(`${accepted === undefined ? 'no header' : `"${accepted}"`} gets ${encoding}`, () =>
    assert.equal(chooseEncoding(accepted), encoding))
}

test('any header is accepted, and gzip is chosen only if the header names gzip, * or identity', () =>
  fc.assert(
    fc.property(fc.string(), (accepted) => {
      if (chooseEncoding(accepted) === 'gzip') assert.match(accepted, /gzip|\*|identity/i)
    }),
  ))
