// POST of a signed body to the receiver of a webhook, and what its response means.
import type { EgressPolicy } from '../../platform/egress/checked-connection.ts'
import { type PostResponse, post } from '../../platform/egress/post.ts'
import { version } from '../../platform/version.ts'
import type { Outcome } from './queue.ts'
import { signatureHeaders } from './signature.ts'

/** For everything: name, connection, TLS, request and response. */
export const ATTEMPT_MS = 15_000

interface SignedPost {
  readonly id: string
  readonly body: string
  readonly address: string
  readonly secrets: readonly string[]
  readonly egress: EgressPolicy
  readonly timeoutMs?: number
}

/** Rejects if the receiver did not respond. */
export function postSigned({ id, body, address, secrets, egress, timeoutMs }: SignedPost): Promise<PostResponse> {
  const seconds = Math.floor(Date.now() / 1000)
  const headers = {
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'user-agent': `outbreaks-notifier/${version}`,
    ...signatureHeaders({ id, seconds, body }, secrets),
  }
  return post(new URL(address), { headers, body, timeoutMs: timeoutMs ?? ATTEMPT_MS }, egress)
}

/** One attempt. It does not throw: what went wrong is part of the outcome. */
export async function attemptWebhook(signed: SignedPost): Promise<Outcome & { retryAfter: string | null }> {
  const started = performance.now()
  const end = (status: number | null, error: string | null, retryAfter: string | null = null) => ({
    status,
    error,
    milliseconds: Math.round(performance.now() - started),
    delivered: status !== null && status >= 200 && status < 300,
    gone: status === 410,
    retryAfter,
  })
  try {
    const { status, retryAfter } = await postSigned(signed)
    return end(status, null, retryAfter)
  } catch (error) {
    return end(null, describeNoResponse(error))
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before a response',
  EPIPE: 'the connection was closed before a response',
  ENOTFOUND: 'the name of the host was not found',
  EAI_AGAIN: 'the name of the host could not be resolved',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'no response in time',
  PROXY_REFUSED: 'the proxy refused the connection',
  HPE_HEADER_OVERFLOW: 'the headers of the response are too long',
}

/** For clients: without the message, which can have an address of our network. */
export function describeNoResponse(error: unknown): string {
  const { name, code = '', message } = error as NodeJS.ErrnoException
  if (name === 'TimeoutError') return 'no response in time'
  // Happy eyeballs: every address failed.
  if (error instanceof AggregateError) return describeNoResponse(error.errors[0])
  if (code === 'ADDRESS_REFUSED') return message.replace(/\.$/, '')
  if (/CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME/.test(code)) return `the certificate is not valid (${code})`
  if (/SSL|TLS/.test(code)) return 'the TLS handshake failed'
  if (/^HPE_/.test(code)) return REASONS[code] ?? 'the response is not valid HTTP'
  return REASONS[code] ?? 'the connection failed'
}
