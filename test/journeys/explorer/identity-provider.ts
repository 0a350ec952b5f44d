// An OpenID Connect provider for tests: oidc-provider on loopback, which signs in the chosen person without a page.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { after } from 'node:test'
import { Provider } from 'oidc-provider'
import { findFreePort } from '../../../dev/postgres.ts'

export const PROVIDER_CLIENT = { client_id: 'explorer', client_secret: 'canary-secret-of-the-explorer' }
/** Must not get into a page. */
export const DENIAL = '<script>alert("denied")</script>'

/** The groups of each account. */
const GROUPS: Readonly<Record<string, string[]>> = { ada: ['staff', 'epidemiology'], bob: ['staff'] }

export interface TestProvider {
  readonly issuer: string
  /** The account that signs in next; null if the person cancels. */
  account: string | null
  /** The codes and tokens that the provider has sent, which no one may log. */
  readonly secrets: Set<string>
  start(): Promise<void>
  stop(): Promise<void>
}

/** `localhost` is another site than 127.0.0.1, at which the service listens. */
export async function startProvider(redirectUris: string[]): Promise<TestProvider> {
  const port = await findFreePort()
  const issuer = `http://localhost:${port}`
  const provider = new Provider(issuer, {
    clients: [{ ...PROVIDER_CLIENT, redirect_uris: redirectUris }],
    claims: { openid: ['sub'], groups: ['groups'] },
    scopes: ['openid', 'groups'],
    conformIdTokenClaims: false,
    cookies: { keys: ['test'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, accountId) => ({
      accountId,
      claims: async () => ({ sub: accountId, groups: GROUPS[accountId] ?? [] }),
    }),
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({
        clientId: oidc.client?.clientId ?? '',
        accountId: oidc.session?.accountId ?? '',
      })
      grant.addOIDCScope('openid groups')
      await grant.save()
      return grant
    },
  })
  const secrets = new Set([PROVIDER_CLIENT.client_secret])
  provider.on('authorization_code.saved', ({ jti }) => secrets.add(jti))
  provider.on('access_token.saved', ({ jti }) => secrets.add(jti))
  const handle = provider.callback()

  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { account } = state
    const result =
      account === null
        ? { error: 'access_denied', error_description: DENIAL }
        : { login: { accountId: account, remember: false } }
    await provider.interactionFinished(request, response, result)
  }

  const sockets = new Set<Socket>()
  let server = createServer()
  const state: TestProvider = {
    issuer,
    account: 'ada',
    secrets,
    async start() {
      server = createServer((request, response) => {
        if (request.url?.startsWith('/interaction/')) void interact(request, response)
        else void handle(request, response)
      })
      // A browser also opens connections on which it sends nothing.
      server.on('connection', (socket) => sockets.add(socket.on('close', () => sockets.delete(socket))))
      await new Promise<void>((resolve) => server.listen(port, 'localhost', resolve))
    },
    async stop() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
  await state.start()
  after(state.stop)
  return state
}
