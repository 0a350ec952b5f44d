// The explorer: its page and files, and the session of the page, which reads the API. Only signing in and signing out change
// something; such a request must come from a page of this origin.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Client } from '../auth/client-registry.ts'
import type { TokenIssuer } from '../auth/token-issuer.ts'
import type { RecordFailure } from '../platform/failed-attempts.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import { digestClientId } from '../platform/http/response-log.ts'
import type { Frame } from '../platform/pages/frame.ts'
import { Problem } from '../platform/problem.ts'
import { type Assets, markWatches } from './assets.ts'
import { chooseTarget, HOME, isFromOwnPage, PAGES, readQuery, SIGN_IN } from './pages.ts'
import { type ProviderSignIn, registerProviderSignIn, START } from './provider-routes.ts'
import type { Sessions } from './session.ts'
import { renderSignIn } from './sign-in-page.ts'

interface ExplorerOptions {
  readonly assets: Assets
  readonly frame: Frame
  readonly sessions: Sessions
  readonly tokens: TokenIssuer
  readonly recordFailure: RecordFailure
  /** The client of guests; null if everyone has to sign in. */
  readonly publicClientId: string | null
  /** Null if people sign in only with a credential. */
  readonly providerSignIn: ProviderSignIn | null
  /** Whether there is a notifier. Without one the page offers no watches. */
  readonly hasWatches: boolean
}

/** A working day. The token inside is valid for longer. */
const SESSION_SECONDS = 8 * 3600
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
const SIGN_IN_POLICY =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
const HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
}
const HTML = 'text/html; charset=utf-8'
const hidden = { schema: { hide: true } }

export function registerExplorer(app: HttpServer, options: ExplorerOptions): void {
  const { assets, frame, sessions, tokens, recordFailure, publicClientId, providerSignIn, hasWatches } = options

  const sendSignIn = (reply: FastifyReply, to: string, error: string | null = null) =>
    reply
      .type(HTML)
      .header('content-security-policy', SIGN_IN_POLICY)
      .send(
        renderSignIn({
          frame,
          to,
          error,
          hasPublicClient: publicClientId !== null,
          provider: providerSignIn === null ? null : { name: providerSignIn.name, start: START },
        }),
      )

  async function beginSession(
    request: FastifyRequest,
    reply: FastifyReply,
    { client, seconds, to, isGuest = false }: { client: Client; seconds: number; to: string; isGuest?: boolean },
  ): Promise<FastifyReply> {
    request.clientId = client.clientId
    const token = await tokens.issue(client)
    if (token === null)
      return sendSignIn(reply.code(503), to, 'The service has no signing key yet. Ask the operator. Try again in 1 s.')
    // What the browser cached in another session may be more than this client can read.
    reply.headers({ 'set-cookie': await sessions.begin({ token, isGuest }, seconds), 'clear-site-data': '"cache"' })
    return reply.redirect(to, 303)
  }

  void app.register(async (scope: HttpServer) => {
    scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
      done(null, new URLSearchParams(String(body))),
    )
    scope.addHook('onRequest', async (_request, reply) => {
      reply.headers(HEADERS)
    })

    const shown = hasWatches ? markWatches(assets.page) : assets.page
    for (const page of PAGES) scope.get(page, hidden, (_request, reply) => reply.type(HTML).send(shown))

    scope.get(SIGN_IN, hidden, (request, reply) => sendSignIn(reply, chooseTarget(readQuery(request.url).get('to'))))

    scope.post(`${HOME}/session`, hidden, async (request, reply) => {
      requireSameOrigin(request)
      const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
      const to = chooseTarget(form.get('to'))
      const isPublic = form.has('public') && publicClientId !== null
      const client = isPublic
        ? tokens.find(publicClientId)
        : tokens.authenticate(form.get('client_id')?.trim() ?? '', form.get('client_secret')?.trim() ?? '')
      if (client !== null)
        return beginSession(request, reply, { client, seconds: SESSION_SECONDS, to, isGuest: isPublic })
      if (isPublic) return sendSignIn(reply.code(403), to, 'Guest access is turned off. Sign in instead.')
      request.failedClient = digestClientId(form.get('client_id')?.trim() ?? '')
      const seconds = recordFailure(request.address)
      if (seconds === null) return sendSignIn(reply.code(401), to, 'The client id or the secret is not valid.')
      reply.code(429).header('retry-after', String(seconds))
      return sendSignIn(reply, to, `Too many attempts from this address failed. Try again in ${seconds} seconds.`)
    })
    scope.post(`${HOME}/sign-out`, hidden, async (request, reply) => {
      requireSameOrigin(request)
      return reply
        .headers({ 'set-cookie': sessions.end(), 'clear-site-data': '"cache", "storage"' })
        .redirect(SIGN_IN, 303)
    })
    if (providerSignIn !== null) registerProviderSignIn(scope, { ...providerSignIn, beginSession, sendSignIn })
  })
}

function requireSameOrigin(request: FastifyRequest): void {
  if (isFromOwnPage(request)) return
  throw new Problem(
    'cross_origin',
    'You can sign in and out only from the pages of this explorer, over https or on this machine.',
  )
}
