// The body of what is delivered: CloudEvents 1.0 as JSON. Its id is the delivery's, so it is equal at every attempt.
import { createHash } from 'node:crypto'

/** Receivers of webhooks often accept no more. */
export const MAX_BODY_BYTES = 20_000

export const cloudEvent = (id: string, source: string, type: string, data: object, time = new Date()) => ({
  specversion: '1.0',
  id,
  source,
  type,
  time: time.toISOString(),
  datacontenttype: 'application/json',
  data,
})

/** The same id for the same parts (UUID version 8, RFC 9562): what is added twice is there once. */
export function idFrom(...parts: readonly string[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
