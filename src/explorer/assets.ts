// The built files of the explorer, in memory. Their names have a digest of their content, so browsers keep them for ever.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'

interface Asset {
  readonly type: string
  readonly plain: Buffer
  readonly gzip: Buffer
}

export interface Assets {
  /** The page that loads the others. */
  readonly page: Buffer
  readonly styleSheet: string
  readonly files: ReadonlyMap<string, Asset>
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
}

/** Null if the explorer was not built. */
export function loadAssets(directory: string): Assets | null {
  const pageFile = path.join(directory, 'index.html')
  if (!existsSync(pageFile)) return null
  const folder = path.join(directory, 'assets')
  const files = new Map(
    readdirSync(folder).map((name): [string, Asset] => {
      const plain = readFileSync(path.join(folder, name))
      const type = TYPES[path.extname(name)] ?? 'application/octet-stream'
      return [name, { type, plain, gzip: gzipSync(plain, { level: 9 }) }]
    }),
  )
  const styleSheet = [...files.keys()].find((name) => name.endsWith('.css')) ?? ''
  return { page: readFileSync(pageFile), styleSheet, files }
}
