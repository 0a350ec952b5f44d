// The deployment under test: the only file that speaks HTTP. Every request has a bound.
// Knows every secret of the run, so that it can take them out of whatever is printed.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, Failure, readObject } from './expect.ts'

export interface Target {
  readonly baseUrl: string
  readonly authUrl: string
  readonly clientId: string
  readonly clientSecret: string
}
export type Grant = Record<'client_id' | 'client_secret' | 'audience' | 'grant_type', string>
/** An undefined value leaves out a header that is otherwise sent. */
type RequestHeaders = Record<string, string | undefined>

export const V1 = '/v1/hed-outbreaks/outbreaks'
export const V2 = '/v2/hed-outbreaks/outbreaks'
export const EVENT_NAMES = '/v2/hed-outbreaks/event-names'
export const RELEASES = '/v2/hed-outbreaks/releases'
export const CHANGES = '/v2/hed-outbreaks/changes'
export const DATA_PATHS = [V1, V2, EVENT_NAMES]

/** Headers of a request that carries no token. */
export const OPEN: RequestHeaders = { authorization: undefined }

const BOUND_MS = 10_000
const LONGEST_WAIT_S = 60
/** A dead host would otherwise cost the bound once per check. */
const SILENCES_BEFORE_GIVING_UP = 3

const withoutSlash = (address: string) => address.replace(/\/+$/, '')
const formEncode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)

export class Service {
  readonly baseUrl: string
  readonly authUrl: string
  /** The fields of a token request that is in order. */
  readonly grant: Grant
  /** RFC 6749 section 2.3.1: both halves are form-encoded before they are joined. */
  readonly basic: string
  readonly #secrets = new Set<string>()
  readonly #silences = new Map<string, number>()
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

  /** From now on the value appears in no message, in none of the forms it may take there. */
  hide(secret: string): void {
    for (const form of [secret, encodeURIComponent(secret), formEncode(secret), JSON.stringify(secret).slice(1, -1)])
      if (form !== '') this.#secrets.add(form)
  }

  redact(text: string): string {
    const longestFirst = [...this.#secrets].sort((a, b) => b.length - a.length)
    return longestFirst
      .reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text)
      .replace(/\beyJ[\w-]+(\.[\w-]*)+/g, '[hidden]')
  }

  base(path: string): string {
    return withoutSlash(this.baseUrl) + path
  }

  auth(path: string): string {
    return withoutSlash(this.authUrl) + path
  }

  async send(url: string, init: RequestInit = {}): Promise<Answer> {
    const { origin } = new URL(url)
    const silences = this.#silences.get(origin) ?? 0
    if (silences >= SILENCES_BEFORE_GIVING_UP) throw new Failure(`${origin} did not answer before, not asked again`)
    try {
      const response = await fetch(url, { redirect: 'manual', ...init, signal: AbortSignal.timeout(BOUND_MS) })
      const answer = { url, status: response.status, headers: response.headers, text: await response.text() }
      this.#silences.delete(origin)
      return answer
    } catch (error) {
      this.#silences.set(origin, silences + 1)
      const reason = error instanceof Error ? (error.cause ?? error) : error
      throw new Failure(`expected an answer from ${origin}, seen ${String(reason)}`)
    }
  }

  /** A request to the base address with the headers the specification asks for. Obeys a rate limit once. */
  async request(method: string, path: string, headers: RequestHeaders = {}): Promise<Answer> {
    const authorization = 'authorization' in headers ? headers.authorization : `Bearer ${await this.token()}`
    const wanted = { 'content-type': 'application/json', ...headers, authorization }
    const sent = Object.entries(wanted).filter((pair): pair is [string, string] => pair[1] !== undefined)
    const init: RequestInit = { method, headers: sent, ...(method === 'POST' && { body: '{}' }) }
    const answer = await this.send(this.base(path), init)
    if (answer.status !== 429) return answer
    const wait = Number(answer.headers.get('retry-after') ?? 1)
    await sleep(1000 * Math.min(Number.isFinite(wait) ? wait : 1, LONGEST_WAIT_S))
    return this.send(this.base(path), init)
  }

  get(path: string, headers?: RequestHeaders): Promise<Answer> {
    return this.request('GET', path, headers)
  }

  async postToken(body: string, headers: Record<string, string>, query = ''): Promise<Answer> {
    const answer = await this.send(this.auth(`/oauth/token${query}`), { method: 'POST', body, headers })
    try {
      const token = readObject(answer).access_token
      if (typeof token === 'string') this.hide(token)
    } catch {
      // Not an object: no token to hide, and the check that asked will say so.
    }
    return answer
  }

  postTokenJson(fields: Record<string, unknown> = this.grant): Promise<Answer> {
    return this.postToken(JSON.stringify(fields), { 'content-type': 'application/json' })
  }

  postTokenForm(fields: Record<string, string> | [string, string][], authorization?: string): Promise<Answer> {
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

export function readToken(answer: Answer): string {
  const token = answer.status === 200 ? readObject(answer).access_token : undefined
  if (typeof token !== 'string' || token === '') throw new Failure(`expected a token, seen status ${answer.status}`)
  return token
}

/** What several checks look at is read once for each run. */
export function readOnce<T>(read: (service: Service) => Promise<T>): (service: Service) => Promise<T> {
  const kept = new WeakMap<Service, Promise<T>>()
  return (service) => {
    const reading = kept.get(service) ?? read(service)
    kept.set(service, reading)
    return reading
  }
}
