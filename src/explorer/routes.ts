// The explorer: its page and files, and the session with which the page reads the API. Only two requests change something,
// signing in and signing out; both must come from a page of this origin.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TokenIssuer } from '../auth/token-issuer.ts'
import { chooseEncoding } from '../platform/http/content-encoding.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import { Problem } from '../platform/problem.ts'
import type { Assets } from './assets.ts'
import type { Sessions } from './session.ts'
import { renderSignIn } from './sign-in-page.ts'

interface ExplorerOptions {
  readonly assets: Assets
  readonly sessions: Sessions
  readonly tokens: TokenIssuer
  /** The client as which anybody may read; null if nobody may without a credential. */
  readonly publicClientId: string | null
}

const HOME = '/explore'
const SIGN_IN = `${HOME}/sign-in`
/** A working day. The token inside is valid for longer. */
const SESSION_SECONDS = 8 * 3600
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
const HEADERS = { 'content-security-policy': POLICY, 'cross-origin-opener-policy': 'same-origin' }
const hidden = { schema: { hide: true } }

export function registerExplorer(app: HttpServer, { assets, sessions, tokens, publicClientId }: ExplorerOptions): void {
  void app.register(async (scope: HttpServer) => {
    scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
      done(null, new URLSearchParams(String(body))),
    )
    scope.addHook('onRequest', async (_request, reply) => {
      reply.headers(HEADERS)
    })

    const sendPage = (_request: FastifyRequest, reply: FastifyReply) =>
      reply.type('text/html; charset=utf-8').header('cache-control', 'no-store').send(assets.page)
    // The path says which page it is; the script reads it.
    for (const path of PAGES) scope.get(`${HOME}${path}`, hidden, sendPage)

    scope.get(`${HOME}/assets/:name`, hidden, (request, reply) => {
      const asset = assets.files.get((request.params as { name: string }).name)
      if (asset === undefined) throw new Problem('not_found', 'There is no resource at this URL.')
      const isGzip = chooseEncoding(request.headers['accept-encoding']) === 'gzip'
      reply
        .type(asset.type)
        .headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' })
      if (isGzip) reply.header('content-encoding', 'gzip')
      return reply.send(isGzip ? asset.gzip : asset.plain)
    })

    const sendSignIn = (reply: FastifyReply, to: string, error: string | null = null) =>
      reply
        .type('text/html; charset=utf-8')
        .header('cache-control', 'no-store')
        .send(renderSignIn({ styleSheet: assets.styleSheet, to, hasPublicClient: publicClientId !== null, error }))
    scope.get(SIGN_IN, hidden, (request, reply) =>
      sendSignIn(reply, chooseTarget(new URL(request.url, 'http://localhost').searchParams.get('to'))),
    )

    scope.post(`${HOME}/session`, hidden, async (request, reply) => {
      requireSameOrigin(request)
      const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
      const to = chooseTarget(form.get('to'))
      const client =
        form.has('public') && publicClientId !== null
          ? tokens.find(publicClientId)
          : tokens.authenticate(form.get('client_id')?.trim() ?? '', form.get('client_secret')?.trim() ?? '')
      if (client === null) return sendSignIn(reply.code(401), to, 'The client id or the secret is not valid.')
      request.clientId = client.clientId
      const token = await tokens.issue(client)
      if (token === null) return sendSignIn(reply.code(503), to, 'There is no signing key yet. Try again shortly.')
      return reply.header('set-cookie', await sessions.begin(token, SESSION_SECONDS)).redirect(to, 303)
    })
    scope.post(`${HOME}/sign-out`, hidden, async (request, reply) => {
      requireSameOrigin(request)
      return reply
        .headers({ 'set-cookie': sessions.end(), 'clear-site-data': '"cache", "storage"' })
        .redirect(SIGN_IN, 303)
    })
  })
}

const PAGES = ['', '/events', '/releases', '/releases/:number', '/records', '/records/:id', '/coverage', '/downloads']

/** A page of the explorer: never another site. */
const chooseTarget = (to: string | null): string => (to !== null && /^\/explore(?:[/?][^\\\s]*)?$/.test(to) ? to : HOME)

function requireSameOrigin(request: FastifyRequest): void {
  if (request.headers['sec-fetch-site'] === 'same-origin') return
  throw new Problem('cross_origin', 'Sign in and sign out on the pages of this service, with TLS or on this machine.')
}
