// An ETag identifies the content of a release by its number, publication time and digest. After a restore or a failover
// another timeline may have a release with the same number; its responses must not match those of the first timeline.
import assert from 'node:assert/strict'
import { createSecretKey, generateKeySync } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { createResponder } from '../../../src/api/response/responder.ts'
import { createResponseCache } from '../../../src/api/response/response-cache.ts'
import type { PublishedRelease } from '../../../src/storage/published-releases.ts'
import { createObservedServer } from '../../fixtures/observed-server.ts'
import { HOME, openRoutes, type Query, type Row } from '../../fixtures/routes.ts'

describe('a response', () => {
  const { app } = createObservedServer()
  after(() => app.close())
  const respond = createResponder({
    cache: createResponseCache(1),
    cursorKey: createSecretKey(Buffer.alloc(32)),
    baseUrl: 'https://api.test',
  })
  const base = { number: 7, publishedAt: new Date(1_000_000), digest: 'aa' } as PublishedRelease
  let release = base
  app.get('/thing', async (request, reply) =>
    respond(request, reply, { release, isImmutable: false, variant: '', render: () => [JSON.stringify(release)] }),
  )
  const get = (ifNoneMatch?: string) =>
    app.inject({ url: '/thing', headers: ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch } })

  const others: Record<string, Partial<PublishedRelease>> = {
    number: { number: 8 },
    publishedAt: { publishedAt: new Date(1_000_001) },
    digest: { digest: 'ab' },
  }
  for (const [name, change] of Object.entries(others))
    test(`for a release with another ${name} has another ETag and another body`, async () => {
      release = base
      const first = await get()
      release = { ...base, ...change }
      const second = await get(String(first.headers['etag']))
      assert.equal(second.statusCode, 200)
      assert.notEqual(second.headers['etag'], first.headers['etag'])
      assert.notEqual(second.body, first.body)
    })
})

describe('timelines of one service', async () => {
  const cursorKey = generateKeySync('hmac', { length: 256 })
  const open = () => openRoutes({ cursorKey })
  const [base, copy, otherContent, otherTime, otherFirst] = await Promise.all([open(), open(), open(), open(), open()])
  type Routes = typeof base
  const all: [routes: Routes, first: number, second: number, published: string][] = [
    [base, 1, 3, '2026-03-02T12:00:00Z'],
    [copy, 1, 3, '2026-03-02T12:00:00Z'],
    // The second release has different content.
    [otherContent, 1, 4, '2026-03-02T12:00:00Z'],
    // The same content was published at another time.
    [otherTime, 1, 3, '2026-03-02T12:00:00.001Z'],
    // Only the first release has different content.
    [otherFirst, 2, 3, '2026-03-02T12:00:00Z'],
  ]
  before(async () => {
    for (const [routes, first, second, published] of all) {
      for (const cases of [first, second]) {
        const row: Row = { key: 'k', event: 'Event', cases }
        await routes.publish([row], { as_of: '2026-03-01' })
      }
      await routes.superuser.query(`update release set published_at = '2026-03-01T12:00:00Z' where number = 1`)
      await routes.superuser.query('update release set published_at = $1 where number = 2', [published])
      await routes.refresh()
    }
  })
  const tagOf = async ({ inject }: Routes, address: string, query: Query) => {
    const response = await inject(address, query, { 'accept-encoding': 'identity' })
    assert.equal(response.statusCode, 200, response.body)
    return response.headers['etag']
  }

  const addresses: [address: string, query: Query][] = [
    ['/v1/hed-outbreaks/outbreaks', {}],
    [`${HOME}/outbreaks`, {}],
    [`${HOME}/outbreaks`, { event: 'Event' }],
    [`${HOME}/outbreaks/1`, {}],
    [`${HOME}/outbreaks/1/history`, {}],
    [`${HOME}/event-names`, {}],
    [`${HOME}/events`, {}],
    [`${HOME}/facets`, { event: 'Event' }],
    [`${HOME}/schema`, {}],
    [`${HOME}/citation`, {}],
    [`${HOME}/feed`, {}],
    [`${HOME}/feed`, { case_status: 'confirmed' }],
    [`${HOME}/releases/2`, {}],
    [`${HOME}/changes`, { from: 1 }],
  ]
  for (const [address, query] of addresses)
    test(`share an ETag only if the release is the same: ${address} ${JSON.stringify(query)}`, async () => {
      const tag = await tagOf(base, address, query)
      assert.equal(await tagOf(copy, address, query), tag)
      for (const other of [otherContent, otherTime]) assert.notEqual(await tagOf(other, address, query), tag)
    })

  test('the ETag of changes and of a feed depends on both releases', async () => {
    const digests = [base, otherFirst].map(({ releases }) => releases().map(({ digest }) => digest))
    assert.equal(digests[0]?.[1], digests[1]?.[1])
    assert.notEqual(digests[0]?.[0], digests[1]?.[0])
    const query = { from: 1, to: 2 }
    assert.notEqual(await tagOf(otherFirst, `${HOME}/changes`, query), await tagOf(base, `${HOME}/changes`, query))
    assert.notEqual(await tagOf(otherFirst, `${HOME}/feed`, {}), await tagOf(base, `${HOME}/feed`, {}))
    // Responses that depend only on the second release have the same ETag.
    assert.equal(await tagOf(otherFirst, `${HOME}/outbreaks`, {}), await tagOf(base, `${HOME}/outbreaks`, {}))
  })
})
