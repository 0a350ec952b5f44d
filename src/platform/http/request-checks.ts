// Checks each request before its route: Host, the request target, the path, the method and the query string.
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import { Problem } from '../problem.ts'
import { askIfMeant, compileQuery } from './query-string.ts'
import { headerValues } from './raw-headers.ts'

const REFERENCE = ' Check the path: the API reference is at /reference.'

/** Here and not in Node (requireHostHeader is off), because Node responds without a body and accepts two Host headers. */
export function assertValidTarget({ raw, url, method }: FastifyRequest): void {
  const hostHeaders = headerValues(raw, 'host').length
  if (hostHeaders > 1 || (hostHeaders === 0 && raw.httpVersion !== '1.0'))
    throw new Problem('invalid_request', 'The request must have exactly one Host header.')
  if (!url.startsWith('/') && !(url === '*' && method === 'OPTIONS'))
    throw new Problem('invalid_request', 'The request target must be a path, or an http or https URL.')
}

/** Returns what throws 404, or 405 with the methods that the URL supports. Must be called before routes are added. */
export function createNotFound(app: FastifyInstance): (request: FastifyRequest) => never {
  const routes: { pattern: URLPattern; method: string }[] = []
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat())
      routes.push({ pattern: new URLPattern({ pathname: route.url }), method })
  })
  // All routes exist when the first request arrives.
  let paths: string[] | undefined
  const listPaths = () =>
    [...new Set(routes.map(({ pattern }) => pattern.pathname))].filter((path) => !/[:*]/.test(path))
  return (request) => {
    const pathname = request.url.split('?')[0] ?? '/'
    // Asterisk-form (RFC 9112 3.2.4) refers to the whole server.
    const allowed = routes
      .filter((route) => pathname === '*' || route.pattern.test({ pathname }))
      .map((route) => route.method)
    if (allowed.length === 0) {
      paths ??= listPaths()
      throw new Problem('not_found', `There is nothing at this URL.${askIfMeant(pathname, paths) || REFERENCE}`)
    }
    throw new Problem(
      'method_not_allowed',
      `This URL does not support ${request.method}. It supports ${[...new Set(allowed)].join(', ')}.`,
      {
        headers: { allow: [...new Set(allowed)].join(', ') },
      },
    )
  }
}

const takenKeys = new WeakMap<IncomingMessage, string>()

/** The `key` that the address of a request had; null if it had none. */
export const takenKey = (request: IncomingMessage): string | null => takenKeys.get(request) ?? null

/** The key of an address that is itself a parameter, as oEmbed has it. What follows the key belongs to the address before it. */
const NESTED_KEY = /(%3F|%26)key(?:=|%3D)([\w.-]+)(%26)?/gi

/** Takes a link key out of the address before anything can log, trace or cache it. */
export function takeKey(request: IncomingMessage): string {
  const sent = toOriginForm(request)
  const nested: string[] = []
  const url = /^[^?]*\/oembed\?/.test(sent)
    ? sent.replaceAll(NESTED_KEY, (_found, sign: string, key: string, next: string | undefined) => {
        nested.push(key)
        return next === undefined ? '' : sign
      })
    : sent
  if (nested.length === 0 && !/[?&]key=/.test(url)) return url
  const [path = '', ...rest] = url.split('?')
  const pairs = rest.join('?').split('&')
  const keys = pairs.filter((pair) => pair.startsWith('key='))
  // Several keys are none that verifies.
  takenKeys.set(request, [...nested, ...keys.map((pair) => pair.slice('key='.length))].join(' '))
  const others = pairs.filter((pair) => !pair.startsWith('key='))
  return others.length === 0 ? path : `${path}?${others.join('&')}`
}

/** RFC 9112 3.2.2: converts absolute form to a path. The authority is not compared, because the base URL is configured. */
function toOriginForm({ url = '/' }: IncomingMessage): string {
  const authority = /^https?:\/\/[^/?#]+/i.exec(url)?.[0]
  if (authority === undefined) return url
  const target = url.slice(authority.length)
  return target.startsWith('/') ? target : `/${target}`
}

/** Only query strings are validated by a schema here. The schemas of path parameters and bodies are for the OpenAPI document. */
export function compileValidator({ schema, httpPart }: { schema: unknown; httpPart?: string }) {
  if (httpPart === 'params' || httpPart === 'body') return () => true
  if (httpPart !== 'querystring') throw new Error(`${httpPart} is not validated by a schema here`)
  const parseQuery = compileQuery(schema as TObject)
  return (raw: Record<string, string | string[]>) => {
    try {
      return { value: parseQuery(raw) }
    } catch (error) {
      return { error: error as Error }
    }
  }
}
