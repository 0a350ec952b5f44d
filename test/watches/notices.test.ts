// Notices of publications, rollbacks and prunes: numbered without gaps, whoever reads while others write, and gone with a
// publication that fails.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { pruneReleases } from '../../src/publish/prune.ts'
import { publishStep, STEPS } from '../fixtures/links/feed-releases.ts'
import { HOME, openRoutes } from '../fixtures/routes.ts'

const { inject, operator, superuser, refresh, assertProblem } = await openRoutes()

interface Notice {
  id: string
  type: string
  data: { seq: number; release: number; restores?: number | null; withdrawn_releases?: number[]; oldest_kept?: number }
}
async function read(after = 0) {
  const response = await inject(`${HOME}/notices`, { after })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<{ data: Notice[]; has_more: boolean; next_after: number }>()
}

before(async () => {
  for (const step of STEPS.slice(0, 6)) await publishStep(operator, step)
  await refresh()
})

test('each release has one, and a rollback says which releases it withdraws', async () => {
  const { data, has_more: hasMore, next_after: next } = await read()
  assert.deepEqual(
    data.map(({ type, data: { seq, release, restores } }) => [seq, type, release, restores]),
    [1, 2, 3, 4, 5, 6].map((n) => [n, 'release.published', n, n === 6 ? 4 : null]),
  )
  assert.deepEqual(data.at(-1)?.data.withdrawn_releases, [5])
  assert.deepEqual([hasMore, next], [false, 6])
  assert.equal(new Set(data.map(({ id }) => id)).size, 6)
  assert.deepEqual((await read(6)).data, [])
  assert.deepEqual((await read(4)).data, data.slice(4))
})

test('pruning has one, with the oldest release that is left; pruning nothing has none', async () => {
  await pruneReleases(operator, hedOutbreaks, 3, 2)
  await pruneReleases(operator, hedOutbreaks, 3)
  const { data } = await read(6)
  assert.deepEqual(
    data.map(({ type, data: { seq, release, oldest_kept: oldest } }) => [seq, type, release, oldest]),
    [[7, 'release.pruned', 2, 3]],
  )
})

test('a publication that fails leaves none', async () => {
  const { next_after: last } = await read()
  await superuser.query('begin')
  await superuser.query(
    `insert into release select (jsonb_populate_record(release, jsonb_build_object('number', number + 1, 'restores', null))).*
     from release where number = (select max(number) from release)`,
  )
  const { rows } = await superuser.query<{ seq: string }>('select max(seq) as seq from notice')
  assert.equal(Number(rows[0]?.seq), last + 1)
  await superuser.query('rollback')
  assert.equal((await read()).next_after, last)
  await publishStep(operator, STEPS[6] ?? null)
  assert.deepEqual(
    (await read(last)).data.map(({ data: { seq } }) => seq),
    [last + 1],
  )
})

describe('a reader that asks all the time', () => {
  test('sees every number in its order while releases are published and pruned', async () => {
    const { next_after: start } = await read()
    let isDone = false
    const seen: number[] = []
    const reading = (async () => {
      let last = start
      for (let isLast = false; !isLast; ) {
        isLast = isDone
        const { data, next_after: next } = await read(last)
        seen.push(...data.map(({ data: { seq } }) => seq))
        last = next
        await nextTurn()
      }
    })()
    await Promise.all([
      (async () => {
        for (const step of STEPS.slice(7, 12)) await retry(() => publishStep(operator, step))
      })(),
      (async () => {
        for (const oldest of [4, 5]) await retry(() => pruneReleases(operator, hedOutbreaks, oldest, 1))
      })(),
    ])
    isDone = true
    await reading
    assert.deepEqual(
      seen,
      Array.from({ length: 7 }, (_, i) => start + 1 + i),
    )
  })
})

/** One publisher at a time: the other is rejected. */
async function retry(work: () => Promise<unknown>): Promise<void> {
  for (;;)
    try {
      await work()
      return
    } catch (error) {
      if (!/another|in progress|being published/i.test(String(error))) throw error
      await nextTurn()
    }
}

test('a number that is none is named', async () => {
  await assertProblem(`${HOME}/notices`, { after: -1 }, 400, 'invalid_parameter', 'after')
  await assertProblem(`${HOME}/notices`, { since: 1 }, 400, 'unknown_parameter', 'since')
})
