// The changes between two releases, compared with the difference of the records of both releases.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { selectScannedChanges } from '../../../../src/api/queries/changes.ts'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { HOME, type Item, openRoutes, type Row } from '../../../fixtures/routes.ts'
import { fc } from '../../../seed.ts'

const CHANGES = `${HOME}/changes`
const OUTBREAKS = `${HOME}/outbreaks`

describe('many releases', async () => {
  const routes = await openRoutes()
  const RELEASES = 9
  const records: Map<unknown, Item>[] = []

  /** Records are added, withdrawn and corrected pseudo-randomly. Release 4 adds a group of records that release 5 withdraws. */
  function createRelease(release: number): Row[] {
    const random = (n: number, of: number) => ((n * 7919 + release * 104_729 + n * release * 31) % 1009) % of
    const common = Array.from({ length: 60 }, (_, n) => n).filter((n) => random(n, 4) > 0)
    const group = release === 4 ? Array.from({ length: 250 }, (_, n) => n + 1000) : []
    return [...common, ...group].map((n) => ({
      key: `k${n}`,
      cases: random(n + 500, 3),
      ...(n >= 1000 && { event: 'Group' }),
    }))
  }

  /** Each release has reasons, and the group has different ones. */
  const reasonsOf = (release: number) => ({
    added: 'new_report',
    corrected: release % 2 === 0 ? 'reclassified' : 'source_revised',
    events: { Group: { added: 'late_report', withdrawn: 'retracted_by_source' } },
  })
  function findLastChange(id: unknown, from: number, to: number) {
    const recordIn = (release: number) => records[release]?.get(id) ?? null
    for (let release = to; release > from; release--) {
      const [previous, current] = [recordIn(release - 1), recordIn(release)]
      if (isDeepStrictEqual(previous, current)) continue
      const kind = previous === null ? 'added' : current === null ? 'withdrawn' : 'corrected'
      const { events, ...common }: { events: Record<string, Record<string, string>> } & Record<string, unknown> =
        reasonsOf(release)
      const reason = events[String((current ?? previous)?.['event'])]?.[kind] ?? common[kind] ?? 'unspecified'
      return { release, reason }
    }
    return {}
  }

  before(async () => {
    for (let release = 1; release <= RELEASES; release++) {
      await routes.publish(createRelease(release), { reasons: reasonsOf(release) })
      const walked = await routes.walk(OUTBREAKS, { release, num: 1000 })
      records[release] = new Map(walked.map((record) => [record['id'], record]))
    }
  })

  function compare(from: number, to: number): Item[] {
    const [earlier = new Map<unknown, Item>(), later = new Map<unknown, Item>()] = [records[from], records[to]]
    return [...new Set([...earlier.keys(), ...later.keys()])]
      .sort((a, b) => Number(a) - Number(b))
      .map((id) => ({ id, previous: earlier.get(id) ?? null, after: later.get(id) ?? null }))
      .filter(({ previous, after }) => !isDeepStrictEqual(previous, after))
      .map(({ id, previous, after }) => {
        const change = previous === null ? 'added' : after === null ? 'withdrawn' : 'corrected'
        return { id, change, ...findLastChange(id, from, to), before: previous, after }
      })
  }

  test('the changes are the difference of the two releases, for any pair and num', async () => {
    const releases = fc.integer({ min: 1, max: RELEASES })
    const nums = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constantFrom(1, 100, 1000))
    const kinds = new Set<unknown>()
    await fc.assert(
      fc.asyncProperty(releases, releases, nums, async (a, b, num) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)]
        const expected = compare(from, to)
        for (const { change } of expected) kinds.add(change)
        assert.deepEqual(await routes.walk(CHANGES, { from, to, num }), expected)
      }),
      { numRuns: 60 },
    )
    assert.deepEqual(kinds, new Set(['added', 'corrected', 'withdrawn']))
  })

  test('a release differs from the previous one by the counts in its metadata', async () => {
    for (const { number, added, corrected, withdrawn } of await routes.walk(`${HOME}/releases`)) {
      if (number === 1) continue
      const changes = await routes.walk(CHANGES, { from: Number(number) - 1, to: Number(number) })
      const count = (kind: string) => changes.filter(({ change }) => change === kind).length
      assert.deepEqual([added, corrected, withdrawn], ['added', 'corrected', 'withdrawn'].map(count))
    }
  })

  test('many records that were added and withdrawn in between may shorten a page, and no page is longer than num', async () => {
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

  test('to defaults to the newest release, and Outbreaks-Release is the release of to', async () => {
    assert.deepEqual(await routes.walk(CHANGES, { from: 2 }), compare(2, RELEASES))
    assert.equal((await routes.get(CHANGES, { from: 2 })).release, RELEASES)
    assert.equal((await routes.get(CHANGES, { from: 2, to: 5 })).release, 5)
  })

  test('a cursor can be used again with another num', async () => {
    const { next } = await routes.getPage(CHANGES, { from: 1, to: 3, num: 4 })
    const second = { from: 1, to: 3, num: 5, page: next ?? '' }
    assert.equal((await routes.get(CHANGES, second)).text, (await routes.get(CHANGES, second)).text)
    assert.deepEqual((await routes.getPage(CHANGES, second)).data, compare(1, 3).slice(4, 9))
  })

  /** The fields that the service assigns change with every correction. */
  const ASSIGNED = ['id', 'revision', 'first_release', 'last_release']
  const listChanged = (earlier: Item, later: Item) =>
    Object.keys(later).filter((name) => !ASSIGNED.includes(name) && !isDeepStrictEqual(earlier[name], later[name]))

  test('changed_fields=true adds the changed fields, and bodies=false leaves out the records', async () => {
    const expected = compare(1, 4).map(({ before: earlier, after: later, ...change }) => ({
      ...change,
      fields: earlier === null || later === null ? [] : listChanged(earlier as Item, later as Item),
      before: earlier,
      after: later,
    }))
    assert.ok(expected.some(({ fields }) => fields.includes('cases')))
    assert.deepEqual(await routes.walk(CHANGES, { from: 1, to: 4, changed_fields: 'true', num: 50 }), expected)
    const short = expected.map(({ before: _before, after: _after, ...change }) => change)
    assert.deepEqual(await routes.walk(CHANGES, { from: 1, to: 4, bodies: 'false', num: 50 }), short)
    assert.deepEqual(await routes.walk(CHANGES, { from: 1, to: 4, bodies: 'true' }), compare(1, 4))
  })

  test('with filters, the changes are those whose record matches before or after', async () => {
    const matchesCases = (record: unknown, count: number) => (record as Item | null)?.['cases'] === count
    for (const [from, to, num] of [
      [1, 9, 1000],
      [2, 5, 7],
      [3, 4, 1],
    ] as const) {
      const filtered = await routes.walk(CHANGES, { from, to, num, cases_min: 2, cases_max: 2 })
      const expected = compare(from, to).filter((c) => matchesCases(c['before'], 2) || matchesCases(c['after'], 2))
      assert.ok(expected.length > 0 && expected.length < compare(from, to).length)
      assert.deepEqual(filtered, expected)
    }
    const group = await routes.walk(CHANGES, { from: 3, to: 4, event: 'Group', num: 100 })
    assert.equal(group.length, 250)
  })

  test('a value that neither release has gives a warning, and 400 with strict=true', async () => {
    const warningOf = async (query: Record<string, string | number>) =>
      (await routes.inject(CHANGES, query)).headers['outbreaks-warning']
    assert.match(
      String(await warningOf({ from: 1, to: 2, event: 'Group' })),
      /^event=Group matches no records\. Nearest/,
    )
    assert.equal(await warningOf({ from: 3, to: 4, event: 'Group' }), undefined)
    assert.equal(await warningOf({ from: 4, to: 5, event: 'Group' }), undefined)
    await routes.assertProblem(
      CHANGES,
      { from: 1, to: 2, event: 'Group', strict: 'true' },
      400,
      'invalid_parameter',
      'event',
    )
  })

  test('a cursor is valid only for its filters', async () => {
    const { next } = await routes.getPage(CHANGES, { from: 1, to: 9, cases_min: 1, num: 1 })
    assert.ok(next !== null)
    for (const other of [{}, { cases_min: 2 }])
      await routes.assertProblem(CHANGES, { from: 1, to: 9, ...other, page: next }, 400, 'invalid_parameter', 'page')
  })

  test('a cursor is valid for its own walk, and 400 for any other', async () => {
    const page = (await routes.getPage(CHANGES, { from: 1, to: 3, num: 1 })).next ?? ''
    const other = (await routes.getPage(OUTBREAKS, { release: 3, num: 1 })).next ?? ''
    await routes.get(CHANGES, { from: 1, page })
    await routes.assertProblem(CHANGES, { from: 2, to: 3, page }, 400, 'invalid_parameter', 'from')
    await routes.assertProblem(CHANGES, { from: 1, to: 4, page }, 400, 'invalid_parameter', 'to')
    await routes.assertProblem(CHANGES, { from: 1, to: 3, page: other }, 400, 'invalid_parameter', 'page')
    await routes.assertProblem(OUTBREAKS, { page }, 400, 'invalid_parameter', 'page')
    await routes.assertProblem(`${HOME}/releases`, { page }, 400, 'invalid_parameter', 'page')
  })

  const invalid: [query: Record<string, string | number>, code: string, parameter: string][] = [
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
    [{ from: 1, bodies: 'no' }, 'invalid_parameter', 'bodies'],
    [{ from: 1, changed_fields: 'cases' }, 'invalid_parameter', 'changed_fields'],
    [{ from: 1, host: 'humans' }, 'invalid_parameter', 'host'],
    [{ from: 1, to: 2, updated_since_release: 3 }, 'invalid_parameter', 'updated_since_release'],
    [{ from: 1, cases_min: 2, cases_max: 1 }, 'invalid_parameter', 'cases_min'],
  ]
  for (const [query, code, parameter] of invalid) {
    test(`400 ${code} ${parameter}: ${JSON.stringify(query)}`, async () => {
      await routes.assertProblem(CHANGES, query, 400, code, parameter)
    })
  }

  // This test is the last because it publishes a release.
  test('a walk to the newest release stays on it when another is published', async () => {
    const first = await routes.getPage(CHANGES, { from: 1, num: 3 })
    await routes.publish([{ key: 'k1', cases: 9 }])
    await routes.refresh()
    const rest = await routes.walk(CHANGES, { from: 1, num: 3, page: first.next ?? '' })
    assert.deepEqual([...first.data, ...rest], compare(1, RELEASES))
    assert.equal((await routes.get(CHANGES, { from: 1 })).release, RELEASES + 1)
  })
})

test('the changes do not show the steps between the two releases', async () => {
  const { publish, walk } = await openRoutes()
  await publish([{ key: 'stays' }, { key: 'twice', cases: 1 }, { key: 'returns' }])
  await publish([{ key: 'stays' }, { key: 'twice', cases: 2 }, { key: 'passes' }])
  await publish([{ key: 'stays' }, { key: 'twice', cases: 3 }, { key: 'returns' }])
  const changes = await walk(CHANGES, { from: 1, to: 3 })
  // A record that was withdrawn and added again has another revision, so it differs.
  assert.deepEqual(
    changes.map(({ id, change }) => [id, change]),
    [
      [2, 'corrected'],
      [3, 'corrected'],
    ],
  )
})

test('the statement can use the indexes on from_release and to_release', async () => {
  const { superuser } = await openRoutes()
  // As in the connections of requests.
  await superuser.query('set enable_seqscan = off; set enable_bitmapscan = off')
  const query = selectScannedChanges(hedOutbreaks, { from: 1, to: 3, fromId: 0, window: 20 }, 10)
  const { rows } = await superuser.query<{ 'QUERY PLAN': string }>(`explain ${query.text}`, query.values)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  for (const index of ['began', 'ended', 'pkey']) assert.match(plan, new RegExp(`using hed_outbreak_version_${index}`))
})

test('without a release, a date is 503 and a number is 400', async () => {
  const { assertProblem } = await openRoutes()
  await assertProblem(CHANGES, { from: 1 }, 400, 'invalid_parameter', 'from')
  await assertProblem(CHANGES, { from: '2020-01-01' }, 503, 'nothing_published')
})
