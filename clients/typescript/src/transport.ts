// Requests with a token, a timeout and retries. A response counts only when it is complete.
import { OutbreaksError, toError } from './errors.ts'
import type { Received, Send, Sent } from './send.ts'

export interface Credentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** Called before each request. `renew` is true after a 401: the last token is no longer valid. */
export type TokenFunction = (options: { renew: boolean }) => string | Promise<string>

/** How a client is created. */
export interface Options {
  /** Where the service is, such as https://data.example.org. */
  baseUrl: string
  clientId?: string | undefined
  clientSecret?: string | undefined
  /** Instead of an id and a secret: gives a token that the program already has, such as that of a session in a browser. */
  token?: TokenFunction | undefined
  /** The dataset; `hed-outbreaks` by default. */
  dataset?: string | undefined
  /** Instead of node:http in Node, and of fetch elsewhere. */
  fetch?: typeof fetch | undefined
  /** The longest time without a byte, in milliseconds; 60000 by default. */
  timeoutMs?: number | undefined
  /** How often a request is sent that meets a busy service or a broken connection; 6 by default, 1 for never again. */
  attempts?: number | undefined
  /** Ends all requests of the client. */
  signal?: AbortSignal | undefined
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

export interface TransportOptions {
  readonly baseUrl: string
  readonly credentials?: Credentials | undefined
  readonly token?: TokenFunction | undefined
  readonly send: Send
  /** The longest time without a byte. */
  readonly timeoutMs: number
  readonly attempts?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Request {
  /** Begins with a slash, after the base address. */
  readonly path: string
  /** GET if it is absent. */
  readonly method?: 'POST' | 'PATCH' | 'DELETE' | undefined
  readonly body?: string | undefined
  /** The service must not act on the request twice. */
  readonly once?: boolean | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
}

/** Renewed this long before its end, so that no token ends on the way. */
const RENEW_EARLY_MS = 60_000
export const JSON_TYPE = { 'content-type': 'application/json' }

interface Token {
  readonly value: string
  readonly endsAt: number
}

/** How often one request was sent, and whether its token was renewed. */
export class Attempts {
  #attempt = 0
  #renewed = false
  readonly #limits: Pick<Outcome, 'max' | 'once'>

  constructor(limits: Pick<Outcome, 'max' | 'once'> = {}) {
    this.#limits = limits
  }

  /** Waits before the next request, or throws the error. Returns true if the token is to be renewed. */
  async next(error: OutbreaksError, retryAfter: string | null, signal: AbortSignal | undefined): Promise<boolean> {
    const outcome = {
      ...this.#limits,
      status: error.status,
      attempt: this.#attempt,
      renewed: this.#renewed,
      retryAfter,
    }
    const decision = decide(outcome, Math.random(), Date.now())
    if (decision === 'stop') throw error
    this.#attempt += 1
    if (decision !== 'renew') await sleep(decision * 1000, signal)
    else this.#renewed = true
    return decision === 'renew'
  }

  /** After bytes have arrived, another failure counts as the first. */
  reset(): void {
    this.#attempt = 0
    this.#renewed = false
  }
}

export class Transport {
  readonly #options: TransportOptions
  #token: Promise<Token> | undefined

  constructor(options: TransportOptions) {
    this.#options = options
  }

  /** The parsed body, undefined if the service sends none, and the headers. An incomplete or invalid body is requested again. */
  getJson(request: Request): Promise<{ body: unknown; headers: Headers }> {
    return this.#getComplete(request, (text, status) => (status === 204 ? undefined : (JSON.parse(text) as unknown)))
  }

  async getText(request: Request): Promise<string> {
    return (await this.#getComplete(request, (text) => text)).body
  }

  async #getComplete<Value>(
    request: Request,
    parse: (text: string, status: number) => Value,
  ): Promise<{ body: Value; headers: Headers }> {
    const attempts = new Attempts({ max: this.#options.attempts, once: request.once })
    for (;;) {
      const response = await this.open(request, attempts)
      try {
        return { body: parse(await readText(response.body), response.status), headers: response.headers }
      } catch (cause) {
        await this.retryBody(request, attempts, cause)
      }
    }
  }

  /** After a body that broke off: waits, or throws. */
  async retryBody(request: Request, attempts: Attempts, cause: unknown): Promise<void> {
    throwIfAborted(this.#signalOf(request))
    if (cause instanceof OutbreaksError) throw cause
    await attempts.next(toError({ status: 0, body: null, cause }), null, this.#signalOf(request))
  }

  /** Sends the request until it succeeds or must not be repeated. */
  async open(request: Request, attempts: Attempts): Promise<Received> {
    let rejected: string | undefined
    for (;;) {
      const token = await this.#getToken(request, rejected)
      const { method = 'GET', body = null } = request
      const headers = { ...request.headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
      const result = await this.#send(request, { method, headers, body }, false)
      if (!(result instanceof Rejection)) return result
      const isRenewable = result.error.status !== 401 || token !== undefined
      if (!isRenewable) throw result.error
      if (await attempts.next(result.error, result.retryAfter, this.#signalOf(request))) rejected = token
    }
  }

  readonly #signalOf = ({ signal }: Request): AbortSignal | undefined => {
    const signals = [signal, this.#options.signal].filter((one) => one !== undefined)
    return signals.length > 1 ? AbortSignal.any(signals) : signals[0]
  }

  /** An error of the network or of the service is a Rejection. Only an abort by the caller is thrown. */
  async #send(request: Request, sent: Omit<Sent, 'signal'>, isTokenRequest: boolean): Promise<Received | Rejection> {
    const signal = this.#signalOf(request)
    throwIfAborted(signal)
    const watch = watchIdle(this.#options.timeoutMs, signal)
    try {
      const url = this.#options.baseUrl + request.path
      const response = await this.#options.send(url, { ...sent, signal: watch.signal })
      const body = watch.read(response.body)
      if (response.status >= 200 && response.status < 300) return { ...response, body }
      const retryAfter = response.headers.get('retry-after')
      const text = await readText(body).catch(() => '')
      const seconds = parseRetryAfter(retryAfter, Date.now())
      const source = { status: response.status, body: text, retryAfter: seconds, isTokenRequest }
      return new Rejection(toError(source), retryAfter)
    } catch (cause) {
      watch.end()
      throwIfAborted(signal)
      return new Rejection(toError({ status: 0, body: null, isTokenRequest, cause }), null)
    }
  }

  /** The value of the token. One request for a token serves all requests that wait for it. */
  async #getToken(request: Request, rejected: string | undefined): Promise<string | undefined> {
    const { token, credentials } = this.#options
    if (token !== undefined) return token({ renew: rejected !== undefined })
    if (credentials === undefined) return undefined
    for (;;) {
      const pending = this.#token
      const current = await pending?.catch(() => undefined)
      const isUsable =
        current !== undefined && current.value !== rejected && current.endsAt - RENEW_EARLY_MS > Date.now()
      if (isUsable) return current.value
      // Otherwise another request has already begun to renew it.
      if (this.#token === pending) break
    }
    this.#token = this.#requestToken(request, credentials)
    return (await this.#token).value
  }

  async #requestToken({ signal }: Request, { clientId, clientSecret }: Credentials): Promise<Token> {
    const request = { path: '/oauth/token', signal }
    const body = JSON.stringify({
      client_id: clientId,
      client_secret: clientSecret,
      audience: this.#options.baseUrl,
      grant_type: 'client_credentials',
    })
    const attempts = new Attempts({ max: this.#options.attempts })
    for (;;) {
      const requestedAt = Date.now()
      const init = { method: 'POST', headers: JSON_TYPE, body }
      const result = await this.#send(request, init, true)
      if (result instanceof Rejection) {
        if (result.error.status === 401) throw result.error
        await attempts.next(result.error, result.retryAfter, this.#signalOf(request))
        continue
      }
      try {
        const token = JSON.parse(await readText(result.body)) as { access_token: string; expires_in: number }
        return { value: token.access_token, endsAt: requestedAt + token.expires_in * 1000 }
      } catch (cause) {
        await this.retryBody(request, attempts, cause)
      }
    }
  }
}

class Rejection {
  readonly error: OutbreaksError
  readonly retryAfter: string | null

  constructor(error: OutbreaksError, retryAfter: string | null) {
    this.error = error
    this.retryAfter = retryAfter
  }
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw signal.reason
}

/** Ends the request if the caller aborts it, or if no byte arrives for the given time. */
function watchIdle(timeoutMs: number, signal: AbortSignal | undefined) {
  const controller = new AbortController()
  const abort = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', abort)
  const expire = () => controller.abort(new Error(`no byte arrived for ${timeoutMs} ms`))
  let timer = setTimeout(expire, timeoutMs)
  const end = () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
  return {
    signal: controller.signal,
    end,
    async *read(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
      try {
        for await (const bytes of body) {
          // The time that the caller takes does not count.
          clearTimeout(timer)
          yield bytes
          timer = setTimeout(expire, timeoutMs)
        }
      } finally {
        end()
      }
    },
  }
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  for await (const bytes of body) text += decoder.decode(bytes, { stream: true })
  return text + decoder.decode()
}

export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    const abort = () => {
      end()
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      end()
      resolve()
    }, ms)
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort)
  })
}

// What to do after a response that is not the expected one; clients/vectors/retry.json has the cases.
/** A number of seconds to wait before the next request, a new token, or the end. */
type Decision = number | 'renew' | 'stop'

interface Outcome {
  /** 0 if no complete response arrived. */
  readonly status: number
  /** Requests that were sent before this one. */
  readonly attempt: number
  /** Whether a new token was requested after a 401 of the same request. */
  readonly renewed: boolean
  readonly retryAfter: string | null
  /** Requests that can be sent in all. */
  readonly max?: number | undefined
  /** The service must not act on the request twice, such as one that creates something. */
  readonly once?: boolean | undefined
}

const TRANSIENT = new Set([0, 408, 429, 500, 502, 503, 504])
/** A longer wait is left to the caller. */
const LONGEST_WAIT_S = 120
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** `random` is a number from 0 to 1, `now` the time in milliseconds. */
export function decide(
  { status, attempt, renewed, retryAfter, max = 6, once = false }: Outcome,
  random: number,
  now: number,
): Decision {
  if (status === 401) return renewed ? 'stop' : 'renew'
  // After 429, the service has certainly not acted on the request.
  const isRepeatable = once ? status === 429 : TRANSIENT.has(status)
  if (!isRepeatable || attempt + 1 >= max) return 'stop'
  const seconds = parseRetryAfter(retryAfter, now)
  if (seconds === null) return random * 0.5 * 2 ** attempt
  return seconds > LONGEST_WAIT_S ? 'stop' : seconds
}

/** RFC 9110, section 10.2.3: seconds or a date. Null if it is absent or invalid. */
function parseRetryAfter(text: string | null, now: number): number | null {
  if (text === null) return null
  if (/^\d+$/.test(text)) return Number(text)
  return HTTP_DATE.test(text) ? Math.max(0, (Date.parse(text) - now) / 1000) : null
}
