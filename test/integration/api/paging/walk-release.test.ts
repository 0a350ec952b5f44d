// A walk reads the release of its cursor: a date is resolved on the first page only, and Link repeats the query of the caller.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { HOME, openRoutes, type Query, type Row } from '../../../fixtures/routes.ts'

const OUTBREAKS = `${HOME}/outbreaks`
const CHANGES = `${HOME}/changes`
const EVENTS = `${HOME}/events`
const RELEASES = `${HOME}/releases`

const rowsOf = (release: number, count = 7): Row[] =>
  Array.from({ length: count }, (_, n) => ({ key: `k${n}`, event: `Event_${n}`, cases: n + release * 100 }))

type Routes = Awaited<ReturnType<typeof openRoutes>>

async function readLink({ inject }: Routes, address: string, query: Query = {}) {
  const response = await inject(address, query)
  assert.equal(response.statusCode, 200, response.body)
  const link = /^<([^>]+)>; rel="next"$/.exec(String(response.headers['link'] ?? ''))?.[1]
  const next = response.json<{ next_page: string | null }>().next_page
  assert.equal(link === undefined, next === null)
  return {
    release: Number(response.headers['outbreaks-release']),
    address: link?.replace('https://api.test', ''),
    query: Object.fromEntries(new URL(link ?? 'https://api.test').searchParams),
    next: next ?? '',
    ids: response.json<{ data: { id?: number; event?: string }[] }>().data.map(({ id, event }) => id ?? event),
  }
}

/** Follows Link to the last page and returns the ids. */
async function follow(routes: Routes, address: string | undefined, release: number) {
  const ids: unknown[] = []
  for (let pages = 0; address !== undefined; pages++) {
    assert.ok(pages < 20)
    const page = await readLink(routes, address)
    assert.equal(page.release, release)
    ids.push(...page.ids)
    address = page.address
  }
  return ids
}

describe('a release is published during walks with a date', async () => {
  const routes = await openRoutes()
  let today: string
  const dayOfFirst = '2026-03-01'
  before(async () => {
    // The first release is as of an earlier day, so that a date can select it.
    await routes.publish(rowsOf(1), { as_of: dayOfFirst })
    await routes.publish(rowsOf(2))
    await routes.refresh()
    today = routes.releases().at(-1)?.asOf ?? ''
  })

  test('the next page is from the same release, and Link has its number', async () => {
    const pinned: Query = { release: today, num: 3 }
    const records = await readLink(routes, OUTBREAKS, pinned)
    const events = await readLink(routes, EVENTS, pinned)
    const changes = await readLink(routes, CHANGES, { from: dayOfFirst, to: today, num: 3 })
    const changesToNewest = await readLink(routes, CHANGES, { from: dayOfFirst, num: 3 })
    const listed = await readLink(routes, RELEASES, { num: 1 })
    const newest = await readLink(routes, OUTBREAKS, { release: 'latest', num: 3 })
    await routes.publish(rowsOf(3, 6))
    await routes.refresh()

    assert.deepEqual(records.query, { release: '2', num: '3', page: records.next })
    assert.deepEqual(changes.query, { from: '1', to: '2', num: '3', page: changes.next })
    assert.deepEqual(changesToNewest.query, { from: '1', num: '3', page: changesToNewest.next })
    assert.deepEqual(newest.query, { release: '2', num: '3', page: newest.next })
    for (const [address, query, first] of [
      [OUTBREAKS, pinned, records],
      [EVENTS, pinned, events],
      [CHANGES, { from: dayOfFirst, to: today, num: 3 }, changes],
      [CHANGES, { from: dayOfFirst, num: 3 }, changesToNewest],
      [CHANGES, { from: dayOfFirst, to: 'latest', num: 3 }, changesToNewest],
      [OUTBREAKS, { release: 'latest', num: 3 }, newest],
    ] as const) {
      const second = await readLink(routes, address, { ...query, page: first.next })
      assert.equal(second.release, 2, JSON.stringify(query))
      const rest = await follow(routes, first.address, 2)
      assert.equal(new Set([...first.ids, ...rest]).size, 7, JSON.stringify(query))
    }
    assert.deepEqual([...listed.ids, ...(await follow(routes, listed.address, 2))].length, 2)
  })

  test('a date in from is resolved on the first page only', async () => {
    const query = { from: dayOfFirst, to: 3, num: 3 }
    const first = await readLink(routes, CHANGES, query)
    await routes.publish(rowsOf(4))
    // As after a rollback to release 1.
    await routes.superuser.query(`update release set as_of = '${dayOfFirst}' where number = 4`)
    await routes.refresh()
    const second = await readLink(routes, CHANGES, { ...query, page: first.next })
    assert.deepEqual([second.release, second.query['from']], [3, '1'])
    assert.equal([...first.ids, ...(await follow(routes, first.address, 3))].length, 7)
  })

  test('400 for a release, from or to that contradicts the cursor', async () => {
    const { next: page } = await readLink(routes, OUTBREAKS, { release: 2, num: 3 })
    await routes.get(OUTBREAKS, { release: 2, page })
    await routes.get(OUTBREAKS, { release: today, page })
    await routes.get(OUTBREAKS, { release: '2999-01-01', page })
    for (const release of [1, 3, 99, '2000-01-01'])
      await routes.assertProblem(OUTBREAKS, { release, page }, 400, 'invalid_parameter', 'release')
    const { next: compared } = await readLink(routes, CHANGES, { from: 1, to: 2, num: 3 })
    await routes.get(CHANGES, { from: 1, page: compared })
    for (const from of [2, 99, '2000-01-01'])
      await routes.assertProblem(CHANGES, { from, page: compared }, 400, 'invalid_parameter', 'from')
    for (const to of [1, 3, '2000-01-01'])
      await routes.assertProblem(CHANGES, { from: 1, to, page: compared }, 400, 'invalid_parameter', 'to')
  })
})

test('a walk over the releases continues after the release it started on is pruned', async () => {
  const routes = await openRoutes()
  for (const release of [1, 2, 3]) await routes.publish(rowsOf(release))
  await routes.refresh()
  const { next } = await readLink(routes, RELEASES, { num: 1 })
  await routes.publish(rowsOf(4))
  await routes.superuser.query('update release set pruned_at = now() where number < 4')
  await routes.refresh()
  const rest = await routes.walk(RELEASES, { num: 1, page: next })
  assert.deepEqual(
    rest.map(({ number }) => number),
    [2, 1],
  )
})

test('requests that share a cached page get a Link with their own query', async () => {
  const routes = await openRoutes()
  await routes.publish(rowsOf(1))
  await routes.refresh()
  const queries: Query[] = [
    { num: 3 },
    { num: 3, release: 1 },
    { num: 3, count: 'exact' },
    { num: 3, strict: 'false' },
    { release: 1, count: 'exact', strict: 'false', num: 3 },
  ]
  const links = await Promise.all(queries.map((query) => readLink(routes, OUTBREAKS, query)))
  assert.equal(new Set(links.map(({ next }) => next)).size, 1)
  for (const [i, query] of queries.entries()) {
    const expected = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]))
    const { query: linked, next } = links[i] ?? assert.fail()
    assert.deepEqual(linked, { ...expected, page: next })
    assert.deepEqual((await readLink(routes, OUTBREAKS, query)).query, linked)
  }
})
