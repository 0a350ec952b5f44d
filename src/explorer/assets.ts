// The built files of the explorer, in memory. Their names have a digest of their content, so browsers keep them for ever.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { loadStaticFiles, type StaticFile } from '../platform/pages/static-files.ts'

export interface Assets {
  /** The page that loads the others. */
  readonly page: Buffer
  readonly styleSheet: string
  readonly files: ReadonlyMap<string, StaticFile>
}

/** Null if the explorer was not built. */
export function loadAssets(directory: string): Assets | null {
  const pageFile = path.join(directory, 'index.html')
  if (!existsSync(pageFile)) return null
  const files = loadStaticFiles(path.join(directory, 'assets'))
  const styleSheet = [...files.keys()].find((name) => name.endsWith('.css')) ?? ''
  return { page: readFileSync(pageFile), styleSheet, files }
}
