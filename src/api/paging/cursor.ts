// The opaque cursor of v2: the release that paging started on and the position at which it continues.
// The signature rejects cursors that are damaged, forged or from another query.
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { type KeyOrKeys, listKeys } from '../../platform/derive-key.ts'
import { Problem } from '../../platform/problem.ts'

export interface Cursor {
  readonly release: number
  /** The earlier release, if the query compares two releases. */
  readonly from?: number
  /** The id or number at which the next page starts. */
  readonly fromId: number
}

const POSITION_BYTES = 12
/** A position followed by the number of the earlier release. */
const COMPARISON_BYTES = 16
const SIGNATURE_BYTES = 16

/** `list` identifies the query. A cursor is valid only for its own query. */
export function writeCursor(key: KeyOrKeys, list: string, { release, from, fromId }: Cursor): string {
  const position = Buffer.alloc(from === undefined ? POSITION_BYTES : COMPARISON_BYTES)
  position.writeUInt32BE(release, 0)
  position.writeBigUInt64BE(BigInt(fromId), 4)
  if (from !== undefined) position.writeUInt32BE(from, POSITION_BYTES)
  return Buffer.concat([position, sign(listKeys(key)[0], list, position)]).toString('base64url')
}

export function readCursor(key: KeyOrKeys, list: string, text: string): Cursor {
  const bytes = Buffer.from(text, 'base64url')
  const length = bytes.length - SIGNATURE_BYTES
  const position = bytes.subarray(0, Math.max(0, length))
  const isWellFormed = [POSITION_BYTES, COMPARISON_BYTES].includes(length) && bytes.toString('base64url') === text
  const isSigned = (candidate: KeyObject) => timingSafeEqual(bytes.subarray(length), sign(candidate, list, position))
  if (!isWellFormed || !listKeys(key).some(isSigned)) {
    throw new Problem(
      'invalid_parameter',
      'page is not a cursor for this query. Send next_page from the previous response unchanged, with the same filters and order, or start again without page.',
      { parameter: 'page' },
    )
  }
  const cursor = { release: position.readUInt32BE(0), fromId: Number(position.readBigUInt64BE(4)) }
  return length === POSITION_BYTES ? cursor : { ...cursor, from: position.readUInt32BE(POSITION_BYTES) }
}

/** The cursor of a request for a page, undefined for the first page, and the cursor of the page after it. */
export function startPaging(key: KeyOrKeys, list: string, page: string | undefined) {
  return {
    cursor: page === undefined ? undefined : readCursor(key, list, page),
    /** Null after the last page. */
    nextPage: ({ fromId, ...releases }: Omit<Cursor, 'fromId'> & { fromId: number | null }): string | null =>
      fromId === null ? null : writeCursor(key, list, { ...releases, fromId }),
  }
}

const sign = (key: KeyObject, list: string, position: Buffer) =>
  createHmac('sha256', key).update(list).update('\0').update(position).digest().subarray(0, SIGNATURE_BYTES)
