// Client authentication at the token endpoint: a secret in the body or with HTTP Basic (RFC 6749 section 2.3), or an assertion
// (RFC 7521 section 4.2); never two of them.
import type { FastifyRequest } from 'fastify'
import { headerValues } from '../platform/http/raw-headers.ts'
import { findRepeatedKey } from '../platform/json/repeated-key.ts'
import { ASSERTION_TYPE } from './client-assertion.ts'
import { TokenError } from './token-error.ts'

export type Parameters = ReadonlyMap<string, string>

/** A client that signs an assertion instead of sending a secret. */
export interface AssertionCredentials {
  /** Optional, because the assertion names the client (RFC 7521 section 4.2). */
  clientId: string | undefined
  assertion: string
}

export interface Credentials {
  clientId: string
  clientSecret: string
  /** Headers of a 401: RFC 6749 section 5.2 requires a challenge if the client used the Authorization header. */
  challenge: Record<string, string>
}

/** The JSON body that docs/interface.md describes, or the form of RFC 6749. */
export function readParameters(request: FastifyRequest): Parameters {
  // RFC 6749 section 2.3.1: no credentials in the URL, because URLs are logged.
  if (request.url.includes('?'))
    throw new TokenError('invalid_request', 'Send the parameters in the body, not in the URL.')
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  const body = typeof request.body === 'string' ? request.body : ''
  if (type === 'application/json') return readJson(body)
  if (type === 'application/x-www-form-urlencoded') return readForm(body)
  throw new TokenError('invalid_request', 'The body must be application/json or application/x-www-form-urlencoded.')
}

function readJson(body: string): Parameters {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    throw new TokenError('invalid_request', 'The body is not valid JSON.')
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new TokenError('invalid_request', 'The body must be a JSON object.')
  }
  const parameters = new Map<string, string>()
  for (const [name, value] of Object.entries(parsed)) {
    if (typeof value !== 'string') throw new TokenError('invalid_request', 'Every value in the body must be a string.')
    parameters.set(name, value)
  }
  if (findRepeatedKey(body) !== null) throw repeatedParameter()
  return parameters
}

const repeatedParameter = () => new TokenError('invalid_request', 'A parameter was sent more than once.')

function readForm(body: string): Parameters {
  const parameters = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(body)) {
    if (parameters.has(name)) throw repeatedParameter()
    parameters.set(name, value)
  }
  return parameters
}

/** Null if the request has no assertion. */
export function readAssertion(request: FastifyRequest, parameters: Parameters): AssertionCredentials | null {
  if (!parameters.has('client_assertion') && !parameters.has('client_assertion_type')) return null
  if (parameters.has('client_secret') || headerValues(request.raw, 'authorization').length > 0)
    throw new TokenError('invalid_request', 'Send a client assertion or a client secret, not both.')
  if (requireParameter(parameters, 'client_assertion_type') !== ASSERTION_TYPE)
    throw new TokenError('invalid_request', `client_assertion_type must be ${ASSERTION_TYPE}`)
  return { clientId: parameters.get('client_id'), assertion: requireParameter(parameters, 'client_assertion') }
}

export function readCredentials(request: FastifyRequest, parameters: Parameters): Credentials {
  const [authorization, ...others] = headerValues(request.raw, 'authorization')
  if (others.length > 0)
    throw new TokenError('invalid_request', 'The request has several Authorization headers. Send one.')
  if (authorization === undefined) {
    return {
      clientId: requireParameter(parameters, 'client_id'),
      clientSecret: requireParameter(parameters, 'client_secret'),
      challenge: {},
    }
  }
  const challenge = { 'www-authenticate': 'Basic realm="token", charset="UTF-8"' }
  const basic = readBasic(authorization)
  if (basic === null)
    throw new TokenError(
      'invalid_client',
      'The Authorization header must be HTTP Basic: base64 of client_id:client_secret.',
      challenge,
    )
  const bodyClientId = parameters.get('client_id')
  if (parameters.has('client_secret') || (bodyClientId !== undefined && bodyClientId !== basic.clientId)) {
    throw new TokenError(
      'invalid_request',
      'Send the client credentials once: in the Authorization header or in the body.',
    )
  }
  return { ...basic, challenge }
}

/** Strict base64, split at the first colon, each part form-encoded (RFC 6749 section 2.3.1). */
function readBasic(authorization: string): { clientId: string; clientSecret: string } | null {
  const encoded = /^basic +([a-z0-9+/]+={0,2})$/i.exec(authorization)?.[1]
  if (encoded === undefined) return null
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('base64') !== encoded) return null
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(bytes.toString('utf8')) ?? []
  if (id === undefined || secret === undefined) return null
  try {
    return { clientId: decodeForm(id), clientSecret: decodeForm(secret) }
  } catch {
    return null
  }
}

const decodeForm = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))

export function requireParameter(parameters: Parameters, name: string): string {
  const value = parameters.get(name)
  if (value === undefined || value === '') throw new TokenError('invalid_request', `Add the parameter ${name}.`)
  return value
}
