// The opaque cursor of v2: where a walk goes on, in the release it started on. Signed, so that a damaged,
// invented or borrowed one is refused and never read as another place.
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { Problem } from '../../platform/problem.ts'

export interface Cursor {
  readonly release: number
  /** The earlier release, where a walk compares two. */
  readonly from?: number
  /** The first id, or number, that was not sent yet in the order of the walk. */
  readonly fromId: number
}

const PLACE_BYTES = 12
/** With the number of a second release behind it. */
const LONG_PLACE_BYTES = 16
const SIGNATURE_BYTES = 16

/** `walk` names what is being walked: a cursor of one walk opens no other. */
export function writeCursor(key: KeyObject, walk: string, { release, from, fromId }: Cursor): string {
  const place = Buffer.alloc(from === undefined ? PLACE_BYTES : LONG_PLACE_BYTES)
  place.writeUInt32BE(release, 0)
  place.writeBigUInt64BE(BigInt(fromId), 4)
  if (from !== undefined) place.writeUInt32BE(from, PLACE_BYTES)
  return Buffer.concat([place, sign(key, walk, place)]).toString('base64url')
}

export function readCursor(key: KeyObject, walk: string, text: string): Cursor {
  const bytes = Buffer.from(text, 'base64url')
  const length = bytes.length - SIGNATURE_BYTES
  const place = bytes.subarray(0, Math.max(0, length))
  const whole = [PLACE_BYTES, LONG_PLACE_BYTES].includes(length) && bytes.toString('base64url') === text
  if (!whole || !timingSafeEqual(bytes.subarray(length), sign(key, walk, place))) {
    throw new Problem(
      'invalid_parameter',
      'page is not a cursor of this walk; use next_page exactly as it was answered.',
      {
        parameter: 'page',
      },
    )
  }
  const cursor = { release: place.readUInt32BE(0), fromId: Number(place.readBigUInt64BE(4)) }
  return length === PLACE_BYTES ? cursor : { ...cursor, from: place.readUInt32BE(PLACE_BYTES) }
}

const sign = (key: KeyObject, walk: string, place: Buffer) =>
  createHmac('sha256', key).update(walk).update('\0').update(place).digest().subarray(0, SIGNATURE_BYTES)
