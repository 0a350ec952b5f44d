// v1 without `release` reads the release of the access token; `latest` reads the newest, and a header names it.
import assert from 'node:assert/strict'
import { before, beforeEach, describe, test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { HOME, openRoutes, type Query, type Row } from '../../../fixtures/routes.ts'

const V1 = '/v1/hed-outbreaks/outbreaks'
const V2 = `${HOME}/outbreaks`
const DATASET = 'hed-outbreaks'
const MINUTE_MS = 60_000

type Caller = FastifyRequest['caller']
const rows = (count: number): Row[] => Array.from({ length: count }, (_, i) => ({ key: `k${i}`, cases: i }))
const callerOf = (issuedAt: Date, releases: [string, number][] = []): Caller => ({
  ...{ clientId: 'analyst', scopes: new Set<string>(), releases: new Map(releases) },
  ...{ issuedAt, expiresAt: new Date(issuedAt.getTime() + 86_400_000) },
})

describe('four releases, an hour apart', async () => {
  let caller: Caller = null
  const routes = await openRoutes({ caller: () => caller })
  const published = (number: number) => new Date(Date.UTC(2026, 2, 1, number))
  before(async () => {
    for (const number of [1, 2, 3, 4]) {
      await routes.publish(rows(10 - number))
      await routes.superuser.query(
        'update release set published_at = $1::timestamptz, as_of = ($1::timestamptz)::date where number = $2',
        [published(number), number],
      )
    }
    await routes.refresh()
  })
  beforeEach(() => {
    caller = null
  })

  async function read(address: string, query: Query = {}) {
    const response = await routes.inject(address, query)
    assert.equal(response.statusCode, 200, response.body)
    const { 'outbreaks-release': release, 'outbreaks-newest-release': newest } = response.headers
    return [Number(release), newest === undefined ? undefined : Number(newest)]
  }

  test('without a caller v1 reads the newest release', async () => {
    assert.deepEqual(await read(V1), [4, undefined])
  })

  test('v1 reads the release in the token, v2 the newest', async () => {
    for (const number of [1, 2, 3]) {
      caller = callerOf(published(9), [
        ['unknown-dataset', 77],
        [DATASET, number],
      ])
      assert.deepEqual(await read(V1), [number, 4])
      assert.deepEqual(await read(V1, { offset: 2, num: 3, count: 'exact' }), [number, 4])
      assert.deepEqual(await read(V1, { case_status: 'confirmed' }), [number, 4])
      assert.deepEqual(await read(V2), [4, undefined])
    }
    caller = callerOf(published(9), [[DATASET, 4]])
    assert.deepEqual(await read(V1), [4, undefined])
  })

  test('release= takes precedence over the token', async () => {
    caller = callerOf(published(9), [[DATASET, 2]])
    assert.deepEqual(await read(V1, { release: 'latest' }), [4, undefined])
    assert.deepEqual(await read(V1, { release: 1 }), [1, 4])
    assert.deepEqual(await read(V1, { release: '2026-03-01' }), [4, undefined])
    await routes.assertProblem(V1, { release: 9 }, 400, 'invalid_parameter', 'release')
  })

  test('503 with Retry-After while the release of the token has not reached this node', async () => {
    caller = callerOf(published(9), [[DATASET, 5]])
    const { headers } = await routes.assertProblem(V1, {}, 503, 'unavailable')
    assert.equal(headers['retry-after'], '1')
    assert.deepEqual(await read(V1, { release: 'latest' }), [4, undefined])
  })

  test('a token without a release of this dataset reads the newest published a minute before the token was issued', async () => {
    const after = (number: number, ms: number) => new Date(published(number).getTime() + ms)
    for (const [issuedAt, number] of [
      [after(4, MINUTE_MS), 4],
      [after(4, MINUTE_MS - 1), 3],
      [after(4, 0), 3],
      [after(3, MINUTE_MS), 3],
      [after(2, MINUTE_MS), 2],
      [after(1, MINUTE_MS), 1],
      // No release had been published by then, so the oldest is read.
      [after(1, MINUTE_MS - 1), 1],
      [new Date(0), 1],
    ] as const) {
      caller = callerOf(issuedAt, [['unknown-dataset', 77]])
      assert.equal((await read(V1))[0], number, issuedAt.toISOString())
    }
  })

  test('every release parameter accepts latest, and every response of an earlier release names the newest', async () => {
    for (const [address, query] of [
      [V1, {}],
      [V2, {}],
      [`${V2}/1`, {}],
      [`${HOME}/event-names`, {}],
      [`${HOME}/events`, {}],
      [`${HOME}/facets`, {}],
      [`${HOME}/schema`, {}],
      [`${HOME}/citation`, {}],
      [`${HOME}/citation`, { format: 'text' }],
      [`${HOME}/series`, { interval: 'month', event: 'none' }],
      [`${HOME}/sums`, { event: 'none' }],
    ] as const) {
      assert.deepEqual(await read(address, { ...query, release: 'latest' }), [4, undefined], address)
      assert.deepEqual(await read(address, { ...query, release: 2 }), [2, 4], address)
    }
    assert.deepEqual(await read(`${HOME}/changes`, { from: 1, to: 'latest' }), [4, undefined])
    assert.deepEqual(await read(`${HOME}/changes`, { from: 1, to: 3 }), [3, 4])
    assert.deepEqual(await read(`${HOME}/releases/2`), [2, 4])
    const { headers } = await routes.inject(V2, { release: 2 })
    const same = await routes.inject(V2, { release: 2 }, { 'if-none-match': String(headers['etag']) })
    assert.deepEqual([same.statusCode, same.headers['outbreaks-newest-release']], [304, '4'])
  })

  // This test is the last because it prunes releases.
  test('if the release of the token was pruned, v1 reads the oldest that was not', async () => {
    await routes.superuser.query('update release set pruned_at = now() where number <= 2')
    await routes.refresh()
    for (const number of [1, 2, 3]) {
      caller = callerOf(published(9), [[DATASET, number]])
      assert.deepEqual(await read(V1), [3, 4])
    }
    caller = callerOf(published(2))
    assert.deepEqual(await read(V1), [3, 4])
  })
})

test('a token from before the first release gets 503 nothing_published, and then stays on the first release', async () => {
  const routes = await openRoutes({ caller: () => callerOf(new Date()) })
  await routes.assertProblem(V1, {}, 503, 'nothing_published')
  for (const number of [1, 2]) {
    await routes.publish(rows(number))
    await routes.refresh()
    assert.equal((await routes.get(V1)).release, 1)
  }
})
