// The documentation at /docs, if it was built: static, public, and with a policy that allows exactly its own scripts.
import type { FastifyInstance } from 'fastify'
import { Problem } from '../problem.ts'
import { loadStaticFiles, type StaticFile, sendStaticFile } from './static-files.ts'

const DOCUMENTATION_PATH = '/docs'

export interface Documentation {
  readonly files: ReadonlyMap<string, StaticFile>
  readonly policy: string
}

/** The build writes it: the hashes of the inline scripts. */
const HASHES = 'script-hashes.json'
const HASH = /^'sha256-[A-Za-z0-9+/]{43}='$/
/** Their names have a digest of their content. */
const IMMUTABLE = /^(?:_astro\/|pagefind\/(?:fragment|index)\/)/
const hidden = { schema: { hide: true } }

/** Anything but hashes in that file would change the policy, so it is rejected. */
function parseHashes(text: string): string[] {
  const hashes: unknown = JSON.parse(text)
  if (!Array.isArray(hashes) || !hashes.every((item) => typeof item === 'string' && HASH.test(item)))
    throw new Error(`${HASHES} of the documentation must have only hashes: build it again (npm run build:site)`)
  return hashes as string[]
}

/** Null if the site was not built. */
export function loadDocumentation(directory: string): Documentation | null {
  const files = new Map(loadStaticFiles(directory))
  const hashes = files.get(HASHES)
  if (hashes === undefined) return null
  files.delete(HASHES)
  // The search is WebAssembly. The theme sets sizes and colours in style attributes, which load and run nothing.
  const policy =
    `default-src 'none'; script-src 'self' 'wasm-unsafe-eval' ${parseHashes(hashes.plain.toString()).join(' ')}; ` +
    "style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; worker-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  return { files, policy }
}

export function registerDocumentation(app: FastifyInstance, { files, policy }: Documentation): void {
  app.get(DOCUMENTATION_PATH, hidden, (_request, reply) => reply.redirect(`${DOCUMENTATION_PATH}/`, 308))
  app.get(`${DOCUMENTATION_PATH}/*`, hidden, (request, reply) => {
    const name = (request.params as { '*': string })['*']
    // Relative links need the slash at the end.
    if (files.has(`${name}/index.html`)) return reply.redirect(`${DOCUMENTATION_PATH}/${name}/`, 308)
    const found = name === '' || name.endsWith('/') ? `${name}index.html` : name
    const file = files.get(found)
    if (file === undefined)
      throw new Problem('not_found', 'There is no page at this URL. The documentation starts at /docs/.')
    reply.headers({
      'content-security-policy': policy,
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': IMMUTABLE.test(found) ? 'public, max-age=31536000, immutable' : 'public, max-age=300',
    })
    return sendStaticFile(request, reply, file)
  })
}
