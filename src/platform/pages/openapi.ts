// The OpenAPI document, generated from the routes, and a self-hosted page that shows it.
// Both are rendered once and sent from memory, so an unread response holds neither a copy nor an open file.
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import fastify from 'fastify'
import type { HttpServer } from '../http/http-server.ts'
import { type Frame, renderHeader, renderStyle } from './frame.ts'

/** The part of the document that does not follow from the routes. */
export type ApiDescription = NonNullable<FastifyDynamicSwaggerOptions['openapi']>

const PAGE_PATH = '/reference'
/** The page loads everything from this service and has no inline script or style. Swagger UI shows nothing with Trusted Types. */
const PAGE_CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

interface PageFile {
  readonly url: string
  readonly type: string
  readonly bytes: Buffer
}

export async function registerOpenApi(app: HttpServer, description: ApiDescription, frame: Frame): Promise<void> {
  await app.register(swagger, {
    openapi: description,
    refResolver: {
      buildLocalReference: ({ $id }, _base, _fragment, i) => (typeof $id === 'string' ? $id : `schema-${i}`),
    },
  })
  // Rendered with the first request, when all routes are registered.
  let document: Buffer | undefined
  const serialiseDocument = () => (document ??= Buffer.from(JSON.stringify(app.swagger())))
  const hidden = { schema: { hide: true } }
  app.get('/openapi.json', hidden, (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(serialiseDocument()),
  )
  const files = await loadPageFiles(description.info?.title ?? '', frame)
  await app.register(async (page) => {
    page.addHook('onRequest', async (_request, reply) => {
      reply.header('content-security-policy', PAGE_CSP)
    })
    for (const { url, type, bytes } of files) page.get(url, hidden, (_request, reply) => reply.type(type).send(bytes))
    // The page fetches the document from this URL.
    page.get(`${PAGE_PATH}/json`, hidden, (_request, reply) =>
      reply.type('application/json; charset=utf-8').send(serialiseDocument()),
    )
  })
}

/** The parts of Swagger UI that the plugin below uses. */
interface ReferencePage {
  authActions: { authorize: (schemes: object) => void; restoreAuthorization: (payload: object) => void }
  specSelectors: {
    securityDefinitions: () => { findKey: (matches: (scheme: { get: (name: string) => unknown }) => boolean) => string }
  }
}
type Action = (...args: unknown[]) => unknown

/**
 * Runs in the browser, as a plugin of Swagger UI: its text is part of the page, so it uses nothing of this module. The page uses a
 * token that it has obtained, and keeps it for this tab until "Logout". Not `persistAuthorization`: that keeps it on the disk, for
 * all tabs and permanently (decision 0007). It never keeps client credentials.
 */
const keepAuthorization = () => {
  const key = 'reference authorization'
  return {
    afterLoad({ authActions }: ReferencePage) {
      const kept = sessionStorage.getItem(key)
      if (kept !== null) authActions.restoreAuthorization({ authorized: JSON.parse(kept) as object })
    },
    statePlugins: {
      auth: {
        wrapActions: {
          authorize: (authorize: Action) => (schemes: unknown) => {
            sessionStorage.setItem(key, JSON.stringify(schemes))
            return authorize(schemes)
          },
          logout: (logout: Action) => (names: unknown) => {
            sessionStorage.removeItem(key)
            return logout(names)
          },
        },
      },
      spec: {
        wrapActions: {
          setResponse:
            (setResponse: Action, { authActions, specSelectors }: ReferencePage) =>
            (path: unknown, method: unknown, response: { ok?: boolean; body?: Record<string, unknown> }) => {
              const { access_token: value, token_type: type } = response.body ?? {}
              if (response.ok === true && type === 'Bearer') {
                const name = specSelectors.securityDefinitions().findKey((scheme) => scheme.get('scheme') === 'bearer')
                authActions.authorize({ [name]: { name, value, schema: { type: 'http', scheme: 'bearer' } } })
              }
              return setResponse(path, method, response)
            },
        },
      },
    },
  }
}

/** Swagger UI has dark colours for this class. */
const FOLLOW_THEME = `const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()
`

const addFrame = (page: PageFile, name: string, frame: Frame): PageFile => ({
  ...page,
  bytes: Buffer.from(
    page.bytes
      .toString()
      .replace('</head>', () => `${renderStyle(frame)}\n<meta name="viewport" content="width=device-width">\n</head>`)
      .replace('<body>', () => `<body>\n${renderHeader(frame, name, PAGE_PATH)}`),
  ),
})

/** The page and the files that it references, read from the plugin once. The plugin itself opens a file for each request. */
async function loadPageFiles(name: string, frame: Frame): Promise<PageFile[]> {
  const source = fastify()
  await source.register(swagger)
  await source.register(swaggerUi, {
    routePrefix: PAGE_PATH,
    theme: { title: `${name}: reference`, js: [{ filename: 'theme.js', content: FOLLOW_THEME }] },
    uiConfig: { layout: 'BaseLayout', docExpansion: 'list', defaultModelsExpandDepth: 0, plugins: [keepAuthorization] },
  })
  async function load(url: string): Promise<PageFile> {
    const { statusCode, headers, rawPayload } = await source.inject(url)
    if (statusCode !== 200) throw new Error(`the reference page lacks ${url}`)
    return { url, type: String(headers['content-type']), bytes: rawPayload }
  }
  try {
    const page = await load(PAGE_PATH)
    const references = [...page.bytes.toString().matchAll(/(?:href|src)="([^"]+)"/g)].map(([, url]) => url ?? '')
    const files = [page, ...(await Promise.all([`${PAGE_PATH}/`, ...references].map(load)))]
    return files.map((file) => (file.type.startsWith('text/html') ? addFrame(file, name, frame) : file))
  } finally {
    await source.close()
  }
}
