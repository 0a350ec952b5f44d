// Files that were built before the start, in memory: no request reaches the file system, so no path can leave the folder.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { chooseEncoding } from '../http/content-encoding.ts'

export interface StaticFile {
  readonly type: string
  readonly plain: Buffer
  /** Null if compressing it does not help. */
  gzip(): Buffer | null
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
}
/** These are compressed already. */
const COMPRESSED = new Set(['.png', '.webp', '.woff2', '.pagefind', '.pf_meta', '.pf_fragment', '.pf_index'])

function readStaticFile(file: string): StaticFile {
  const extension = path.extname(file)
  const plain = readFileSync(file)
  let compressed: Buffer | null = null
  return {
    type: TYPES[extension] ?? 'application/octet-stream',
    plain,
    // At the first request: compressing a whole site would delay the start.
    gzip: () => (COMPRESSED.has(extension) ? null : (compressed ??= gzipSync(plain, { level: 9 }))),
  }
}

/** The files of a folder by their path with slashes; none if the folder does not exist. */
export function loadStaticFiles(directory: string): ReadonlyMap<string, StaticFile> {
  if (!existsSync(directory)) return new Map()
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(
    files.map((entry): [string, StaticFile] => {
      const file = path.join(entry.parentPath, entry.name)
      return [path.relative(directory, file).replaceAll(path.sep, '/'), readStaticFile(file)]
    }),
  )
}

export function sendStaticFile(request: FastifyRequest, reply: FastifyReply, file: StaticFile): FastifyReply {
  const gzip = chooseEncoding(request.headers['accept-encoding']) === 'gzip' ? file.gzip() : null
  reply.type(file.type).header('vary', 'accept-encoding')
  if (gzip !== null) reply.header('content-encoding', 'gzip')
  return reply.send(gzip ?? file.plain)
}
