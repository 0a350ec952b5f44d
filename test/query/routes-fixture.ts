// The data endpoints over a database of their own with small releases, without authentication.
import assert from 'node:assert/strict'
import { generateKeySync, type KeyObject } from 'node:crypto'
import { after } from 'node:test'
import type { FastifyRequest } from 'fastify'
import pg from 'pg'
import { pino } from 'pino'
import type { Content, Dataset } from '../../src/datasets/define.ts'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../src/platform/database.ts'
import { createHttpServer } from '../../src/platform/http-server.ts'
import { createWatcher } from '../../src/platform/watch.ts'
import { createPageCache } from '../../src/query/page-cache.ts'
import { registerQueryRoutes } from '../../src/query/routes.ts'
import { loadPublished } from '../../src/records/published.ts'
import { publishRelease } from '../../src/releases/publish.ts'
import { createTestDatabase } from '../database.ts'
import { writeNdjson } from '../releases/release-fixture.ts'

export const HOME = '/v2/hed-outbreaks'
export type Row = Partial<Content> & { key: string }
export type Query = Record<string, string | number>
export type Item = Record<string, unknown>

interface RoutesOptions {
  dataset?: Dataset
  /** A database that is migrated; left out for a new one. */
  url?: string
  /** Signs cursors and ETags; given where two databases are compared. */
  cursorKey?: KeyObject
  /** What the access token says; left out, requests have no caller. */
  caller?: () => FastifyRequest['caller']
}

export async function openRoutes({
  dataset = hedOutbreaks,
  url: given,
  cursorKey = generateKeySync('hmac', { length: 256 }),
  caller,
}: RoutesOptions = {}) {
  const url = given ?? (await createTestDatabase())
  const api = openDatabase({ url, role: 'outbreaks_api' })
  const operator = openDatabase({ url, role: 'outbreaks_operator' })
  const superuser = new pg.Client({ connectionString: url })
  await superuser.connect()
  // Never started: the routes know what a test told them, and what they asked for themselves.
  const watcher = createWatcher(api, assert.ifError)
  const published = watcher.watch('release', loadPublished, new Map())
  const app = createHttpServer({ baseUrl: 'https://api.test', log: pino({ level: 'silent' }) })
  if (caller !== undefined) {
    app.decorateRequest('caller', null)
    app.addHook('onRequest', async (request) => {
      request.caller = caller()
    })
  }
  registerQueryRoutes(app, {
    dataset,
    database: api,
    baseUrl: 'https://api.test',
    cursorKey,
    cache: createPageCache(1),
    published: () => published.value,
    refresh: watcher.refresh,
  })
  after(() => Promise.all([app.close(), api.close(), operator.close(), superuser.end()]))

  let held: string[] = []
  const inject = (address: string, query: Query = {}, headers: Record<string, string> = {}) =>
    app.inject({
      url: address,
      query: Object.fromEntries(Object.entries(query).map(([k, v]) => [k, String(v)])),
      headers,
    })

  async function ask(address: string, query: Query = {}) {
    const response = await inject(address, query)
    assert.equal(response.statusCode, 200, response.body)
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
    return { text: response.body, release: Number(response.headers['outbreaks-release']) }
  }

  async function askPage(address: string, query: Query = {}) {
    const { text, release } = await ask(address, query)
    const page = JSON.parse(text) as { data: Item[]; has_more: boolean; next_page: string | null }
    assert.deepEqual(Object.keys(page), ['data', 'has_more', 'next_page'])
    assert.equal(page.has_more, page.next_page !== null)
    return { data: page.data, next: page.next_page, release }
  }

  return {
    url,
    api,
    superuser,
    releases: () => published.value.get(dataset.name) ?? [],
    operator,
    inject,
    /** The address of the routes over real HTTP. */
    listen: () => app.listen({ host: '127.0.0.1', port: 0 }),
    ask,
    askPage,
    refresh: watcher.refresh,
    /** Publishes without telling the routes. */
    async publish(rows: readonly Row[], manifest: Record<string, unknown> = {}) {
      const keys = rows.map((row) => row.key)
      const withdrawn = held.filter((key) => !keys.includes(key)).length
      held = keys
      return publishRelease(operator, hedOutbreaks, await writeNdjson(rows, manifest), { confirmed: withdrawn })
    },
    async walk(address: string, query: Query = {}) {
      const pages = [await askPage(address, query)]
      for (let next = pages[0]?.next; next; next = pages.at(-1)?.next)
        pages.push(await askPage(address, { ...query, page: next }))
      assert.equal(new Set(pages.map((page) => page.release)).size, 1)
      return pages.flatMap((page) => page.data)
    },
    async assertRefused(address: string, query: Query, status: number, code: string, parameter?: string) {
      const response = await inject(address, query)
      const body = response.json<{ code: string; parameter?: string; detail: string }>()
      assert.deepEqual([response.statusCode, body.code, body.parameter], [status, code, parameter], response.body)
      return { detail: body.detail, headers: response.headers }
    },
  }
}
