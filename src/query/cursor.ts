// The opaque cursor of v2: where a walk goes on, in the release it started on. Signed, so that a damaged,
// invented or borrowed one is refused and never read as another place.
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { Problem } from '../platform/problem.ts'

export interface Cursor {
  readonly release: number
  /** The first id, or number, that was not sent yet in the order of the walk. */
  readonly fromId: number
}

const PLACE_BYTES = 12
const SIGNATURE_BYTES = 16

/** `walk` names what is being walked: a cursor of one walk opens no other. */
export function writeCursor(key: KeyObject, walk: string, { release, fromId }: Cursor): string {
  const place = Buffer.alloc(PLACE_BYTES)
  place.writeUInt32BE(release, 0)
  place.writeBigUInt64BE(BigInt(fromId), 4)
  return Buffer.concat([place, sign(key, walk, place)]).toString('base64url')
}

export function readCursor(key: KeyObject, walk: string, text: string): Cursor {
  const bytes = Buffer.from(text, 'base64url')
  const place = bytes.subarray(0, PLACE_BYTES)
  const whole = bytes.length === PLACE_BYTES + SIGNATURE_BYTES && bytes.toString('base64url') === text
  if (!whole || !timingSafeEqual(bytes.subarray(PLACE_BYTES), sign(key, walk, place))) {
    throw new Problem(
      'invalid_parameter',
      'page is not a cursor of this walk; use next_page exactly as it was answered.',
      {
        parameter: 'page',
      },
    )
  }
  return { release: place.readUInt32BE(0), fromId: Number(place.readBigUInt64BE(4)) }
}

const sign = (key: KeyObject, walk: string, place: Buffer) =>
  createHmac('sha256', key).update(walk).update('\0').update(place).digest().subarray(0, SIGNATURE_BYTES)
