// A browser for tests, as far as sign-in needs one: it keeps cookies for each origin, follows redirects and says where a request
// comes from. Does not import the source.
import assert from 'node:assert/strict'
import type { Credentials, Service } from '../../../dev/service.ts'

export const RECORDS = '/v2/hed-outbreaks/outbreaks?num=1'
export const SESSION = '/explore/session'
const TIMEOUT_MS = 20_000
const MAX_REDIRECTS = 12

type Headers = Record<string, string>

/** Follows no redirect. */
export const send = (url: string, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS), ...init })

/** A form as a page of the service sends it. */
export const postForm = (url: string, form: Record<string, string>, headers: Headers = {}): Promise<Response> =>
  send(url, {
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin', ...headers },
    body: new URLSearchParams(form),
  })

export const signIn = ({ baseUrl }: Service, credentials: Partial<Credentials>, form: Record<string, string> = {}) =>
  postForm(baseUrl + SESSION, { ...credentials, ...form })

/** The first part of each Set-Cookie header: name and value. */
const cookiesOf = (response: Response): string[] =>
  response.headers.getSetCookie().map((header) => header.split(';')[0] ?? '')

/** Name and value of the session's cookie. */
export async function openSession(service: Service, credentials: Credentials): Promise<string> {
  const response = await signIn(service, credentials)
  assert.equal(response.status, 303, await response.text())
  return cookiesOf(response)[0] ?? ''
}

/** Reads a record as a script of the explorer does. */
export const readWithCookie = ({ baseUrl }: Service, cookie: string, headers: Headers = {}, path = RECORDS) =>
  send(baseUrl + path, { headers: { cookie, 'sec-fetch-site': 'same-origin', ...headers } })

export async function statusOf(response: Promise<Response>): Promise<number> {
  const { status, body } = await response
  await body?.cancel()
  return status
}

export async function codeOf(response: Response): Promise<string | undefined> {
  return ((await response.json()) as { code?: string }).code
}

export function createBrowser() {
  const jar = new Map<string, Map<string, string>>()

  const cookiesFor = (url: string) => {
    const { origin } = new URL(url)
    const cookies = jar.get(origin) ?? new Map<string, string>()
    jar.set(origin, cookies)
    return cookies
  }
  const cookieHeader = (url: string) => [...cookiesFor(url)].map((pair) => pair.join('=')).join('; ')

  async function visit(url: string): Promise<Response> {
    const response = await send(url, { headers: { cookie: cookieHeader(url), 'sec-fetch-site': 'same-origin' } })
    const cookies = cookiesFor(url)
    for (const header of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? []
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(header)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return response
  }

  return {
    jar,
    cookieHeader,
    visit,
    /** Follows redirects until `isEnd` is true for the next address, or there is none. */
    async follow(start: string, isEnd: (url: string) => boolean = () => false) {
      const visited: string[] = []
      for (let url = start; visited.length < MAX_REDIRECTS; ) {
        const response = await visit(url)
        visited.push(url)
        const location = response.headers.get('location')
        const next = location === null ? null : new URL(location, url).href
        if (next === null || isEnd(next)) return { response, url, next: next ?? '', visited }
        await response.body?.cancel()
        url = next
      }
      throw new Error(`too many redirects: ${visited.join(' ')}`)
    },
  }
}
