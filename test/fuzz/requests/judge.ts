// Judges a response to a bad request: the documented success, a well-formed problem (RFC 9457), or an error of the token
// endpoint (RFC 6749 5.2). Everything else is a fault. Does not import the source: the description of the service is the rule.
import { gunzipSync } from 'node:zlib'
import type { Outcome, RawRequest, RawResponse } from './connection.ts'

export interface Description {
  paths: Record<string, Record<string, { responses: Record<string, { content?: Record<string, unknown> }> }>>
  components: { schemas: Record<string, { properties?: { code?: { enum?: string[] } } }> }
}

const SUCCESSES = new Set([200, 206, 304, 307])
const SAFE_SUCCESSES = new Set([200, 206, 301, 302, 303, 304, 307, 308])

export function createJudge({ paths, components }: Description) {
  const routes = Object.entries(paths).map(([template, operations]) => ({
    pattern: new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
    operations,
  }))
  const codes = new Set(Object.values(components.schemas).flatMap(({ properties }) => properties?.code?.enum ?? []))

  function judgeSuccess(
    { method }: RawRequest,
    response: RawResponse,
    responses: Record<string, { content?: Record<string, unknown> }> | undefined,
  ): string | null {
    const { status } = response
    // Pages and documents beside the API are not in the description.
    if (responses === undefined) return SAFE_SUCCESSES.has(status) ? null : `status ${status} without a description`
    if (!SUCCESSES.has(status) || responses[String(status)] === undefined) return `status ${status} is not documented`
    if (method === 'HEAD' || status !== 200) return null
    const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? ''
    const documented = Object.keys(responses['200']?.content ?? {})
    if (!documented.some((name) => name === type || name.includes('*'))) return `type ${type} is not documented`
    return type === 'application/json' && readJson(response) === undefined ? 'the JSON cannot be read' : null
  }

  function judgeProblem(response: RawResponse, { method }: RawRequest): string | null {
    const { status, headers } = response
    if (headers.get('content-type') !== 'application/problem+json') return `${status} is not problem+json`
    if (method === 'HEAD') return null
    const body = readJson(response)
    if (body === undefined) return `the problem of ${status} cannot be read`
    const { status: inBody, code, title, detail, type } = body
    const wellFormed =
      inBody === status && codes.has(String(code)) && [title, detail, type].every((text) => typeof text === 'string')
    return wellFormed ? null : `the problem of ${status} is not well-formed`
  }

  /** The fault, or null. */
  return (request: RawRequest, outcome: Outcome): string | null => {
    if (outcome === 'timeout') return 'hang'
    if (outcome === null) return 'no response'
    const { status } = outcome
    if (status >= 500 || status < 200) return `status ${status}`
    const path = toPath(request.target)
    const operation = routes.find(({ pattern }) => pattern.test(path))?.operations[request.method.toLowerCase()]
    if (status < 400) return judgeSuccess(request, outcome, operation?.responses)
    if (path === '/oauth/token' && [400, 401].includes(status) && isTokenError(outcome, request)) return null
    return judgeProblem(outcome, request)
  }
}

/** The path of an origin-form or absolute-form target. */
const toPath = (target: string): string =>
  target
    .replace(/^https?:\/\/[^/?]*/i, '')
    .split('?')[0]
    ?.split('#')[0] ?? ''

const isTokenError = (response: RawResponse, { method }: RawRequest): boolean =>
  method === 'HEAD' || typeof readJson(response)?.['error'] === 'string'

function readJson({ headers, body }: RawResponse): Record<string, unknown> | undefined {
  try {
    const bytes = headers.get('content-encoding') === 'gzip' ? gunzipSync(body) : body
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Record<string, unknown>
  } catch {
    return undefined
  }
}
