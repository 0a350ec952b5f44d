// The files of a small release, ready to be downloaded over real HTTP from a directory that a test can damage.
import assert from 'node:assert/strict'
import { generateKeySync, hash } from 'node:crypto'
import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { after } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../src/platform/database.ts'
import { createHttpServer } from '../../src/platform/http-server.ts'
import { createWatcher } from '../../src/platform/watch.ts'
import { registerFileRoutes } from '../../src/query/file-routes.ts'
import { createPageCache } from '../../src/query/page-cache.ts'
import { registerReleaseRoutes } from '../../src/query/release-routes.ts'
import { type FileStore, openFileStore } from '../../src/records/file-store.ts'
import { loadPublished } from '../../src/records/published.ts'
import { exportRelease } from '../../src/releases/files/export-files.ts'
import { publishRelease } from '../../src/releases/publish.ts'
import { createTestDatabase } from '../database.ts'
import { writeNdjson } from '../releases/release-fixture.ts'
import { drawBytes } from '../seed.ts'

export const HOME = '/v2/hed-outbreaks/releases'
export const CSV = 'hed-outbreaks-1.csv'
/** Larger than what any buffer on the way takes at once. */
export const LARGE_BYTES = 30_000_000
export const LARGE = 'hed-outbreaks-1.large'

interface Options {
  checkMs?: number
  unreadMs?: number
  /** A store that is slower than the directory it stands for. */
  slow?: (store: FileStore) => FileStore
  configured?: boolean
}

export async function openDownloads({ checkMs, unreadMs, slow = (store) => store, configured = true }: Options = {}) {
  const url = await createTestDatabase()
  const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-downloads-'))
  const api = openDatabase({ url, role: 'outbreaks_api' })
  const operator = openDatabase({ url, role: 'outbreaks_operator' })
  const superuser = new pg.Client(url)
  await superuser.connect()
  const watcher = createWatcher(api, assert.ifError)
  const published = watcher.watch('release', loadPublished, new Map())
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
  const connections = unreadMs === undefined ? {} : { unreadMs }
  const app = createHttpServer({ baseUrl: 'https://api.test', log, connections })
  const store = openFileStore(directory)
  const routes = {
    dataset: hedOutbreaks,
    database: api,
    baseUrl: 'https://api.test',
    cursorKey: generateKeySync('hmac', { length: 256 }),
    cache: createPageCache(1),
    published: () => published.value,
    refresh: watcher.refresh,
    ...(configured ? { files: slow(store) } : {}),
  }
  registerReleaseRoutes(app, routes)
  registerFileRoutes(app, routes, checkMs)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  after(async () => {
    app.server.closeAllConnections()
    await Promise.all([app.close(), api.close(), operator.close(), superuser.end()])
    await rm(directory, { recursive: true, force: true })
  })
  await publishRelease(operator, hedOutbreaks, await writeNdjson([{ key: 'a', note: 'A, "b"' }, { key: 'b' }]))

  const address = (name: string, release: number | string = 1) =>
    `http://127.0.0.1:${port}${HOME}/${release}/files/${name}`
  return {
    directory,
    superuser,
    refresh: watcher.refresh,
    address,
    export: () => exportRelease(operator, store, hedOutbreaks, 1),
    /** A file that is large enough to be caught in the middle of its download. */
    async addLarge(): Promise<Buffer> {
      const bytes = drawBytes(LARGE_BYTES)
      await writeFile(path.join(directory, LARGE), bytes)
      await superuser.query(
        `insert into release_file (dataset, release, name, media_type, records, bytes, sha256)
         values ('hed-outbreaks', 1, $1, 'application/octet-stream', 0, $2, $3)`,
        [LARGE, bytes.length, Buffer.from(hash('sha256', bytes), 'hex')],
      )
      return bytes
    },
    pathOf: (name: string) => path.join(directory, name),
    manifest: () =>
      fetch(`http://127.0.0.1:${port}${HOME}/1`).then(
        (response) => response.json() as Promise<{ files: Record<string, unknown>[] }>,
      ),
    get: (name: string, headers: Record<string, string> = {}, method = 'GET') =>
      fetch(address(name), { method, headers, signal: AbortSignal.timeout(10_000) }),
    logged: () => lines.join(''),
    /** How often files of the directory are open in this process. */
    async countOpen(): Promise<number> {
      const numbers = await readdir('/proc/self/fd')
      const links = await Promise.all(numbers.map((number) => readlink(`/proc/self/fd/${number}`).catch(() => '')))
      return links.filter((link) => link.startsWith(directory)).length
    },
  }
}

type Downloads = Awaited<ReturnType<typeof openDownloads>>

export async function assertRefused(response: Response, status: number, code: string): Promise<string> {
  const body = (await response.json()) as { code: string; detail: string }
  assert.deepEqual([response.status, body.code], [status, code])
  assert.equal(response.headers.get('content-type'), 'application/problem+json')
  for (const name of ['etag', 'repr-digest', 'content-disposition']) assert.equal(response.headers.get(name), null)
  return body.detail
}

export async function assertAllClosed({ countOpen }: Downloads): Promise<void> {
  for (let i = 0; i < 100 && (await countOpen()) > 0; i++) await wait(20)
  assert.equal(await countOpen(), 0)
}

/** Begins a download and reads nothing of it. */
export const beginDownload = (address: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request(address, { agent: false }, resolve).on('error', reject).end()
  })
