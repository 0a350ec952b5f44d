// The built files of the explorer, in memory. Their names have a digest of their content, so browsers keep them permanently.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import { loadStaticFiles, type StaticFile, sendStaticFile } from '../platform/pages/static-files.ts'
import { Problem } from '../platform/problem.ts'
import { HOME } from './pages.ts'

const ASSETS = `${HOME}/assets`

export interface Assets {
  /** The page that loads the others. */
  readonly page: Buffer
  /** The address of the style sheet of the pages around the explorer. */
  readonly siteStyle: string
  readonly files: ReadonlyMap<string, StaticFile>
}

/** Null if the explorer was not built. */
export function loadAssets(directory: string): Assets | null {
  const pageFile = path.join(directory, 'index.html')
  if (!existsSync(pageFile)) return null
  const files = loadStaticFiles(path.join(directory, 'assets'))
  const siteStyle = [...files.keys()].find((name) => /^site-.*\.css$/.test(name)) ?? ''
  return { page: readFileSync(pageFile), siteStyle: `${ASSETS}/${siteStyle}`, files }
}

/** The page of a service that has watches: the script reads the attribute. */
export const markWatches = (page: Buffer): Buffer =>
  Buffer.from(page.toString().replace('<div id="app">', '<div id="app" data-watches="">'))

/** Public: the first page and the reference use the style and the fonts, too. */
export function registerAssets(app: FastifyInstance, { files }: Assets): void {
  app.get(`${ASSETS}/:name`, { schema: { hide: true } }, (request, reply) => {
    const file = files.get((request.params as { name: string }).name)
    if (file === undefined) throw new Problem('not_found', 'There is nothing at this URL.')
    reply.header('cache-control', 'public, max-age=31536000, immutable')
    return sendStaticFile(request, reply, file)
  })
}
