// Signs webhooks (Standard Webhooks 1.0): HMAC-SHA256 over the id, the time and the body, with every secret in force.
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'

export const newSecret = (): string => PREFIX + randomBytes(32).toString('base64')

/** The headers of an attempt. `seconds` is the time of this attempt, so that receivers can reject old copies. */
export function signatureHeaders(
  { id, seconds, body }: { id: string; seconds: number; body: string },
  secrets: readonly string[],
): Record<string, string> {
  const sign = (secret: string) =>
    createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'))
      .update(`${id}.${seconds}.${body}`)
      .digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': secrets.map((secret) => `v1,${sign(secret)}`).join(' '),
  }
}
