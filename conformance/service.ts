// The client of the deployment under test. Only this file sends HTTP requests; each has a timeout.
// It knows every secret of the run, so that it can redact them in messages.
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure, readObject, type ServiceResponse } from './expect.ts'

export interface Target {
  readonly baseUrl: string
  readonly authUrl: string
  readonly clientId: string
  readonly clientSecret: string
}
export type Grant = Record<'client_id' | 'client_secret' | 'audience' | 'grant_type', string>
/** With the value undefined, a default header is not sent. */
type RequestHeaders = Record<string, string | undefined>

export const V1 = '/v1/hed-outbreaks/outbreaks'
export const V2 = '/v2/hed-outbreaks/outbreaks'
export const EVENT_NAMES = '/v2/hed-outbreaks/event-names'
export const RELEASES = '/v2/hed-outbreaks/releases'
export const CHANGES = '/v2/hed-outbreaks/changes'
export const DATA_PATHS = [V1, V2, EVENT_NAMES]

/** Headers of a request without a token. */
export const NO_TOKEN: RequestHeaders = { authorization: undefined }

const REQUEST_TIMEOUT_MS = 10_000
const MAX_RETRY_WAIT_S = 60
/** Without this limit an unreachable host would cost one timeout per check. */
const MAX_FAILURES_PER_ORIGIN = 3

const withoutSlash = (url: string) => url.replace(/\/+$/, '')
const formEncode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)

export class Service {
  readonly baseUrl: string
  readonly authUrl: string
  /** The fields of a valid token request. */
  readonly grant: Grant
  /** RFC 6749 section 2.3.1: client id and secret are form-encoded before they are joined. */
  readonly basic: string
  readonly #secrets = new Set<string>()
  readonly #failures = new Map<string, number>()
  #token: Promise<string> | undefined

  constructor({ baseUrl, authUrl, clientId, clientSecret }: Target) {
    this.baseUrl = baseUrl
    this.authUrl = authUrl
    this.grant = {
      client_id: clientId,
      client_secret: clientSecret,
      audience: baseUrl,
      grant_type: 'client_credentials',
    }
    const pair = `${formEncode(clientId)}:${formEncode(clientSecret)}`
    const encoded = Buffer.from(pair).toString('base64')
    this.basic = `Basic ${encoded}`
    for (const secret of [clientSecret, encoded]) this.hide(secret)
  }

  /** Redacts the value in all later messages, in every encoding it may have there. */
  hide(secret: string): void {
    const encodings = [secret, encodeURIComponent(secret), formEncode(secret), JSON.stringify(secret).slice(1, -1)]
    for (const encoded of encodings) if (encoded !== '') this.#secrets.add(encoded)
  }

  redact(text: string): string {
    const longestFirst = [...this.#secrets].sort((a, b) => b.length - a.length)
    return longestFirst
      .reduce((redacted, secret) => redacted.replaceAll(secret, '[hidden]'), text)
      .replace(/\beyJ[\w-]+(\.[\w-]*)+/g, '[hidden]')
  }

  base(path: string): string {
    return withoutSlash(this.baseUrl) + path
  }

  auth(path: string): string {
    return withoutSlash(this.authUrl) + path
  }

  async send(url: string, init: RequestInit = {}): Promise<ServiceResponse> {
    const { origin } = new URL(url)
    const failures = this.#failures.get(origin) ?? 0
    if (failures >= MAX_FAILURES_PER_ORIGIN)
      throw new Failure(`${origin} did not respond to ${failures} requests, so no further request was sent`)
    try {
      const fetched = await fetch(url, { redirect: 'manual', ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })
      const response = { url, status: fetched.status, headers: fetched.headers, text: await fetched.text() }
      this.#failures.delete(origin)
      return response
    } catch (error) {
      this.#failures.set(origin, failures + 1)
      const reason = error instanceof Error ? (error.cause ?? error) : error
      throw new Failure(`expected a response from ${origin}, got ${String(reason)}`)
    }
  }

  /** Sends a request to the base URL with the headers that the specification requires. Retries once after a 429. */
  async request(method: string, path: string, headers: RequestHeaders = {}): Promise<ServiceResponse> {
    const authorization = 'authorization' in headers ? headers.authorization : `Bearer ${await this.token()}`
    const allHeaders = { 'content-type': 'application/json', ...headers, authorization }
    const defined = Object.entries(allHeaders).filter((pair): pair is [string, string] => pair[1] !== undefined)
    const init: RequestInit = { method, headers: defined, ...(method === 'POST' && { body: '{}' }) }
    const response = await this.send(this.base(path), init)
    if (response.status !== 429) return response
    const wait = Number(response.headers.get('retry-after') ?? 1)
    await sleep(1000 * Math.min(Number.isFinite(wait) ? wait : 1, MAX_RETRY_WAIT_S))
    return this.send(this.base(path), init)
  }

  get(path: string, headers?: RequestHeaders): Promise<ServiceResponse> {
    return this.request('GET', path, headers)
  }

  async postToken(body: string, headers: Record<string, string>, query = ''): Promise<ServiceResponse> {
    const response = await this.send(this.auth(`/oauth/token${query}`), { method: 'POST', body, headers })
    try {
      const token = readObject(response).access_token
      if (typeof token === 'string') this.hide(token)
    } catch {
      // The body is not an object, so there is no token to hide. The check reports that itself.
    }
    return response
  }

  postTokenJson(fields: Record<string, unknown> = this.grant): Promise<ServiceResponse> {
    return this.postToken(JSON.stringify(fields), { 'content-type': 'application/json' })
  }

  postTokenForm(fields: Record<string, string> | [string, string][], authorization?: string): Promise<ServiceResponse> {
    const body = new URLSearchParams(fields).toString()
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    return this.postToken(body, authorization === undefined ? type : { ...type, authorization })
  }

  async newToken(): Promise<string> {
    return readToken(await this.postTokenJson())
  }

  /** One token for the session, as the specification recommends. */
  token(): Promise<string> {
    this.#token ??= this.newToken()
    return this.#token
  }
}

export function readToken(response: ServiceResponse): string {
  const token = response.status === 200 ? readObject(response).access_token : undefined
  if (typeof token !== 'string' || token === '') throw new Failure(`expected a token, got status ${response.status}`)
  return token
}

/** Reads something that several checks need only once per run. */
export function readOnce<T>(read: (service: Service) => Promise<T>): (service: Service) => Promise<T> {
  const results = new WeakMap<Service, Promise<T>>()
  return (service) => {
    const result = results.get(service) ?? read(service)
    results.set(service, result)
    return result
  }
}
