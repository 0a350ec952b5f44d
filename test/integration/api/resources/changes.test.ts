// What differs between two releases, against a comparison of the two releases as they are read.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { selectChanges } from '../../../../src/api/resources/change-queries.ts'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { HOME, type Item, openRoutes, type Row } from '../../../fixtures/routes.ts'
import { fc } from '../../../seed.ts'

const CHANGES = `${HOME}/changes`
const OUTBREAKS = `${HOME}/outbreaks`

describe('many releases', async () => {
  const routes = await openRoutes()
  const RELEASES = 9
  const records: Map<unknown, Item>[] = []

  /** Records come, go, return and change by chance, the same in every run; release 4 has a crowd that is gone in 5. */
  function makeRelease(release: number): Row[] {
    const chance = (n: number, of: number) => ((n * 7919 + release * 104_729 + n * release * 31) % 1009) % of
    const common = Array.from({ length: 60 }, (_, n) => n).filter((n) => chance(n, 4) > 0)
    const crowd = release === 4 ? Array.from({ length: 250 }, (_, n) => n + 1000) : []
    return [...common, ...crowd].map((n) => ({
      key: `k${n}`,
      cases: chance(n + 500, 3),
      ...(n >= 1000 && { event: 'Crowd' }),
    }))
  }

  /** Every release has its reasons, and the crowd has one of its own. */
  const reasonsOf = (release: number) => ({
    added: 'new_report',
    corrected: release % 2 === 0 ? 'reclassified' : 'source_revised',
    events: { Crowd: { added: 'late_report', withdrawn: 'retracted_by_source' } },
  })
  function explain(id: unknown, from: number, to: number) {
    const stands = (release: number) => records[release]?.get(id) ?? null
    for (let release = to; release > from; release--) {
      const [was, is] = [stands(release - 1), stands(release)]
      if (isDeepStrictEqual(was, is)) continue
      const kind = was === null ? 'added' : is === null ? 'withdrawn' : 'corrected'
      const { events, ...common }: { events: Record<string, Record<string, string>> } & Record<string, unknown> =
        reasonsOf(release)
      const reason = events[String((is ?? was)?.['event'])]?.[kind] ?? common[kind] ?? 'unspecified'
      return { release, reason }
    }
    return {}
  }

  before(async () => {
    for (let release = 1; release <= RELEASES; release++) {
      await routes.publish(makeRelease(release), { reasons: reasonsOf(release) })
      const walked = await routes.walk(OUTBREAKS, { release, num: 1000 })
      records[release] = new Map(walked.map((record) => [record['id'], record]))
    }
  })

  function compare(from: number, to: number): Item[] {
    const [old = new Map<unknown, Item>(), fresh = new Map<unknown, Item>()] = [records[from], records[to]]
    return [...new Set([...old.keys(), ...fresh.keys()])]
      .sort((a, b) => Number(a) - Number(b))
      .map((id) => ({ id, before: old.get(id) ?? null, after: fresh.get(id) ?? null }))
      .filter(({ before: was, after: is }) => !isDeepStrictEqual(was, is))
      .map(({ id, before: was, after: is }) => {
        const change = was === null ? 'added' : is === null ? 'withdrawn' : 'corrected'
        return { id, change, ...explain(id, from, to), before: was, after: is }
      })
  }

  test('the changes are what a comparison of the two releases gives, for any pair and num', async () => {
    const releases = fc.integer({ min: 1, max: RELEASES })
    const nums = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constantFrom(1, 100, 1000))
    const seen = new Set<unknown>()
    await fc.assert(
      fc.asyncProperty(releases, releases, nums, async (one, other, num) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)]
        const expected = compare(from, to)
        for (const { change } of expected) seen.add(change)
        assert.deepEqual(await routes.walk(CHANGES, { from, to, num }), expected)
      }),
      { numRuns: 150 },
    )
    assert.deepEqual(seen, new Set(['added', 'corrected', 'withdrawn']))
  })

  test('a release and the one before it differ by what the release says of itself', async () => {
    for (const { number, added, corrected, withdrawn } of await routes.walk(`${HOME}/releases`)) {
      if (number === 1) continue
      const changes = await routes.walk(CHANGES, { from: Number(number) - 1, to: Number(number) })
      const count = (kind: string) => changes.filter(({ change }) => change === kind).length
      assert.deepEqual([added, corrected, withdrawn], ['added', 'corrected', 'withdrawn'].map(count))
    }
  })

  test('a page behind a crowd that came and went may be short, and is never longer than num', async () => {
    let [pages, next]: [number, string | null | undefined] = [0, undefined]
    for (; next !== null; pages++) {
      const page = await routes.getPage(CHANGES, { from: 3, to: 5, num: 7, ...(next && { page: next }) })
      assert.ok(page.data.length <= 7)
      next = page.next
    }
    assert.ok(pages <= Math.ceil(compare(3, 5).length / 7) + 3)
  })

  test('a release does not differ from itself', async () => {
    assert.equal((await routes.get(CHANGES, { from: 3, to: 3 })).text, '{"data":[],"has_more":false,"next_page":null}')
  })

  test('the newest is compared where nothing else is said, and the header names it', async () => {
    assert.deepEqual(await routes.walk(CHANGES, { from: 2 }), compare(2, RELEASES))
    assert.equal((await routes.get(CHANGES, { from: 2 })).release, RELEASES)
    assert.equal((await routes.get(CHANGES, { from: 2, to: 5 })).release, 5)
  })

  test('a page may be asked for again, with another num', async () => {
    const { next } = await routes.getPage(CHANGES, { from: 1, to: 3, num: 4 })
    const again = { from: 1, to: 3, num: 5, page: next ?? '' }
    assert.equal((await routes.get(CHANGES, again)).text, (await routes.get(CHANGES, again)).text)
    assert.deepEqual((await routes.getPage(CHANGES, again)).data, compare(1, 3).slice(4, 9))
  })

  test('a cursor opens its own walk and no other', async () => {
    const page = (await routes.getPage(CHANGES, { from: 1, to: 3, num: 1 })).next ?? ''
    const other = (await routes.getPage(OUTBREAKS, { release: 3, num: 1 })).next ?? ''
    await routes.get(CHANGES, { from: 1, page })
    await routes.assertProblem(CHANGES, { from: 2, to: 3, page }, 400, 'invalid_parameter', 'from')
    await routes.assertProblem(CHANGES, { from: 1, to: 4, page }, 400, 'invalid_parameter', 'to')
    await routes.assertProblem(CHANGES, { from: 1, to: 3, page: other }, 400, 'invalid_parameter', 'page')
    await routes.assertProblem(OUTBREAKS, { page }, 400, 'invalid_parameter', 'page')
    await routes.assertProblem(`${HOME}/releases`, { page }, 400, 'invalid_parameter', 'page')
  })

  const refused: [query: Record<string, string | number>, code: string, parameter: string][] = [
    [{}, 'invalid_parameter', 'from'],
    [{ to: 2 }, 'invalid_parameter', 'from'],
    [{ from: 3, to: 2 }, 'invalid_parameter', 'from'],
    [{ from: 0 }, 'invalid_parameter', 'from'],
    [{ from: '' }, 'invalid_parameter', 'from'],
    [{ from: 10 }, 'invalid_parameter', 'from'],
    [{ from: '1999-12-31' }, 'invalid_parameter', 'from'],
    [{ from: '2023-02-30' }, 'invalid_parameter', 'from'],
    [{ from: 1, to: 10 }, 'invalid_parameter', 'to'],
    [{ from: 1, to: 'newest' }, 'invalid_parameter', 'to'],
    [{ from: 1, to: '1999-12-31' }, 'invalid_parameter', 'to'],
    [{ from: 1, num: 0 }, 'invalid_parameter', 'num'],
    [{ from: 1, page: 'x' }, 'invalid_parameter', 'page'],
    [{ from: 1, release: 2 }, 'unknown_parameter', 'release'],
    [{ from: 1, offset: 2 }, 'unknown_parameter', 'offset'],
  ]
  for (const [query, code, parameter] of refused) {
    test(`400 ${code} ${parameter}: ${JSON.stringify(query)}`, async () => {
      await routes.assertProblem(CHANGES, query, 400, code, parameter)
    })
  }

  // Last: it publishes.
  test('a walk to the newest release stays on it when another is published', async () => {
    const first = await routes.getPage(CHANGES, { from: 1, num: 3 })
    await routes.publish([{ key: 'k1', cases: 9 }])
    await routes.refresh()
    const rest = await routes.walk(CHANGES, { from: 1, num: 3, page: first.next ?? '' })
    assert.deepEqual([...first.data, ...rest], compare(1, RELEASES))
    assert.equal((await routes.get(CHANGES, { from: 1 })).release, RELEASES + 1)
  })
})

test('the difference is that of the two releases: steps between them do not show', async () => {
  const { publish, walk, superuser } = await openRoutes()
  await publish([{ key: 'stays' }, { key: 'twice', cases: 1 }, { key: 'returns' }])
  await publish([{ key: 'stays' }, { key: 'twice', cases: 2 }, { key: 'passes' }])
  await publish([{ key: 'stays' }, { key: 'twice', cases: 3 }, { key: 'returns' }])
  const changes = await walk(CHANGES, { from: 1, to: 3 })
  assert.deepEqual(
    changes.map(({ id, change }) => [id, change]),
    [
      [2, 'corrected'],
      [3, 'corrected'],
    ],
  )
  // A record that returns is sent with another revision; only if it were not would there be no difference.
  await superuser.query(`update hed_outbreak_version as back set body = first.body from hed_outbreak_version as first
    where back.id = 3 and back.from_release = 3 and first.id = 3 and first.from_release = 1`)
  assert.deepEqual(
    (await walk(CHANGES, { from: 1, to: 3, num: 1 })).map(({ id }) => id),
    [2],
  )
})

test('the statement can use the indexes on what began and what ended', async () => {
  const { superuser } = await openRoutes()
  await superuser.query('set enable_seqscan = off')
  const query = selectChanges(hedOutbreaks, { from: 1, to: 3, fromId: 0, limit: 10 }, 20)
  const { rows } = await superuser.query<{ 'QUERY PLAN': string }>(`explain ${query.text}`, query.values)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  for (const index of ['began', 'ended', 'pkey']) assert.match(plan, new RegExp(`using hed_outbreak_version_${index}`))
})

test('503 before anything is published, 400 for a release that is named', async () => {
  const { assertProblem } = await openRoutes()
  await assertProblem(CHANGES, { from: 1 }, 400, 'invalid_parameter', 'from')
  await assertProblem(CHANGES, { from: '2020-01-01' }, 503, 'nothing_published')
})
