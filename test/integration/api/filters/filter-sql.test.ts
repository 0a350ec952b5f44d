// How a filtered page is looked for: which index, when nothing is looked for at all, and that every scan has an end.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import pg from 'pg'
import { type FacetCounts, planScan, totalFromFacets } from '../../../../src/api/filters/filter-sql.ts'
import { filterParameters, mixedFields, parseFilters, serialiseFilters } from '../../../../src/api/filters/filters.ts'
import {
  type FilterQuery,
  readColumns,
  readFacets,
  readFilteredOffset,
  readFilteredPage,
  readTotal,
} from '../../../../src/api/filters/run-filter-queries.ts'
import { catalogue } from '../../../../src/datasets/catalogue.ts'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { Problem } from '../../../../src/platform/problem.ts'
import type { PublishedRelease } from '../../../../src/storage/published-releases.ts'
import { createTestDatabase } from '../../../database.ts'
import { openRoutes } from '../../../fixtures/routes.ts'

const routes = await openRoutes()
const release = (number: number, added = 100, corrected = 0) =>
  ({ number, records: 1000, added, corrected, withdrawn: 0 }) as PublishedRelease
const counted = (counts: Record<string, Record<string, number>>): FacetCounts =>
  new Map(Object.entries(counts).map(([field, values]) => [field, new Map(Object.entries(values))]))
const plan = (
  query: Record<string, unknown>,
  counts: Record<string, Record<string, number>>,
  releases = [release(1)],
) => {
  const planned = planScan(hedOutbreaks, parseFilters(hedOutbreaks, query), counted(counts), releases)
  return planned && { driver: planned.drivingIndex }
}

describe('the plan', () => {
  test('walks the index of the rarest field', () => {
    const counts = { event: { a: 500 }, country_code: { CD: 30 }, pathogen: { p: 200 } }
    const query = { event: ['a'], country_code: ['CD'], pathogen: ['p'] }
    assert.deepEqual(plan(query, counts), { driver: { column: 'country_code', values: ['CD'] } })
  })

  test('adds up what the values of one field have, and leaves out those that none has', () => {
    const counts = { event: { a: 20, b: 20 }, pathogen: { p: 30 } }
    assert.deepEqual(plan({ event: ['a', 'b', 'c'], pathogen: ['p'] }, counts), {
      driver: { column: 'pathogen', values: ['p'] },
    })
    assert.deepEqual(plan({ event: ['a', 'c'], pathogen: ['p'] }, counts), {
      driver: { column: 'event', values: ['a'] },
    })
  })

  test('reads in the order of id where several values are common', () => {
    assert.deepEqual(plan({ event: ['a', 'b'] }, { event: { a: 150, b: 51 } }), { driver: null })
    assert.notDeepEqual(plan({ event: ['a', 'b'] }, { event: { a: 150, b: 50 } }), { driver: null })
    assert.notDeepEqual(plan({ event: ['a'] }, { event: { a: 900 } }), { driver: null })
  })

  test('looks for nothing where a value has no records', () => {
    assert.equal(plan({ event: ['a'], host: ['animal'] }, { event: { a: 5 } }), null)
    assert.equal(plan({ composite: [true] }, { composite: { false: 7 } }), null)
    assert.equal(plan({ event: ['c'] }, {}), null)
  })

  test('takes a series before all, and no index for a field of few values', () => {
    assert.deepEqual(plan({ series_id: ['x'], event: ['a'] }, { event: { a: 1 } }), {
      driver: { column: 'series_id', values: ['x'] },
    })
    assert.deepEqual(plan({ host: ['human'] }, { host: { human: 9 } }), { driver: null })
    assert.deepEqual(plan({ date_from: '2020-01-01' }, {}), { driver: null })
  })

  test('walks what the later releases began, where that is less', () => {
    const releases = [release(1, 1000), release(2, 10, 5), release(3, 0, 20)]
    assert.deepEqual(plan({ updated_since_release: 1 }, {}, releases), {
      driver: { column: 'from_release', values: [2, 3] },
    })
    assert.deepEqual(plan({ updated_since_release: 1, event: ['a'] }, { event: { a: 3 } }, releases), {
      driver: { column: 'event', values: ['a'] },
    })
    assert.equal(plan({ updated_since_release: 3 }, {}, releases), null)
  })

  test('knows the total of everything and of one counted field, and of nothing else', () => {
    const total = (query: Record<string, unknown>) =>
      totalFromFacets(hedOutbreaks, parseFilters(hedOutbreaks, query), counted({ event: { a: 5, b: 6 } }), 1000)
    assert.equal(total({}), 1000)
    assert.equal(total({ event: ['a', 'b'] }), 11)
    for (const query of [
      { event: ['a'], host: ['human'] },
      { date_to: '2020-01-01' },
      { series_id: ['x'] },
      { updated_since_release: 1 },
    ]) {
      assert.equal(total(query), null)
    }
  })
})

describe('the filters', () => {
  test('have one spelling, whatever the order', () => {
    const one = parseFilters(hedOutbreaks, { host: ['human', 'animal'], date_to: '2020-01-02', event: ['b & c', 'a'] })
    const other = parseFilters(hedOutbreaks, {
      event: ['a', 'b & c'],
      date_to: '2020-01-02',
      host: ['animal', 'human'],
    })
    assert.equal(serialiseFilters(one), 'date_to=2020-01-02&event=a&event=b+%26+c&host=animal&host=human')
    assert.equal(serialiseFilters(other), serialiseFilters(one))
    assert.equal(serialiseFilters(parseFilters(hedOutbreaks, {})), '')
  })

  test('are of the declaration: one for each filterable field, two for each period, one for releases', () => {
    const fields = hedOutbreaks.fields.filter((field) => field.filterCardinality !== undefined)
    assert.equal(
      Object.keys(filterParameters(hedOutbreaks)).length,
      fields.length + 2 * hedOutbreaks.periods.length + 1,
    )
    assert.deepEqual(mixedFields(hedOutbreaks, parseFilters(hedOutbreaks, {})), [
      'location_granularity',
      'case_status',
      'count_kind',
      'composite',
    ])
  })
})

for (const dataset of catalogue) {
  test(`${dataset.name}: what the declaration calls many or countless has an index by value and id, and nothing else has`, async () => {
    const client = new pg.Client(await createTestDatabase())
    await client.connect()
    const { rows } = await client.query<{ definition: string }>(
      `select pg_get_indexdef(indexrelid) as definition from pg_index where indrelid = '${dataset.table}_version'::regclass`,
    )
    await client.end()
    const indexed = rows.flatMap(({ definition }) => /\((\w+), id\)/.exec(definition)?.[1] ?? [])
    const declared = dataset.fields
      .filter(({ filterCardinality }) => filterCardinality === 'high' || filterCardinality === 'unbounded')
      .map(({ name }) => name)
    assert.deepEqual(indexed.filter((name) => !/_release$/.test(name)).toSorted(), declared.toSorted())
  })
}

describe('a scan', () => {
  const RECORDS = 300
  const rows = Array.from({ length: RECORDS }, (_, i) => ({
    key: `r${i}`,
    event: `Event_${i % 3}`,
    host: i % 25 === 0 ? 'animal' : 'human',
    cases: i,
  }))
  const releases: PublishedRelease[] = []
  before(async () => {
    await routes.publish(rows)
    // Every record is corrected three times: old and new versions stand side by side in every index.
    for (const turn of [1, 2, 3])
      await routes.publish(rows.map((row) => ({ ...row, deaths: turn - 1, cases: row.cases + 10 })))
    await routes.refresh()
    releases.push(...routes.releases())
  })

  const queryOf = (query: Record<string, unknown>, number: number): FilterQuery => ({
    dataset: hedOutbreaks,
    filters: parseFilters(hedOutbreaks, query),
    release: releases[number - 1] as PublishedRelease,
    releases: releases.slice(0, number),
  })
  const idsOf = (bodies: readonly unknown[]) => bodies.map((body) => (JSON.parse(String(body)) as { id: number }).id)

  async function walk(query: Record<string, unknown>, number: number, limit: number, budget: number) {
    const ids: number[] = []
    let pages = 0
    for (let fromId: number | null = 1; fromId !== null; pages++) {
      const { parts, nextId } = await readFilteredPage(routes.api, queryOf(query, number), { fromId, limit, budget })
      assert.ok(
        parts.length <= limit && (nextId === null || nextId > fromId),
        `a walk from ${fromId} goes to ${nextId}`,
      )
      ids.push(...idsOf(parts))
      fromId = nextId
    }
    return { ids, pages }
  }

  for (const budget of [3, 50, 5000]) {
    test(`with a budget of ${budget} a walk finds each record once, in any release`, async () => {
      for (const number of [1, 3, 4]) {
        for (const [query, wanted] of [
          [{ host: ['animal'] }, RECORDS / 25],
          [{ event: ['Event_1'], host: ['animal'] }, 4],
          [{ event: ['Event_0', 'Event_2'], host: ['animal'] }, 8],
          [{ event: ['Event_0', 'Event_1', 'Event_2'] }, RECORDS],
          [{ updated_since_release: 1 }, number === 1 ? 0 : RECORDS],
          [{ date_from: '2020-01-01' }, 0],
        ] as const) {
          const { ids, pages } = await walk(query, number, 100, budget)
          assert.equal(ids.length, wanted, JSON.stringify(query))
          assert.deepEqual(
            ids,
            [...new Set(ids)].toSorted((one, other) => one - other),
          )
          assert.ok(budget > 1000 || wanted === 0 || pages > 1)
        }
      }
    })
  }

  test('a value that the release does not have is answered without a look, also one that another release has', async () => {
    const asked: string[] = []
    const watched = { ...routes.api, query: async (statement: { text: string }) => (asked.push(statement.text), []) }
    const page = await readFilteredPage(watched as never, queryOf({ event: ['Event_9'] }, 4), { fromId: 1, limit: 10 })
    assert.deepEqual([page, asked.length], [{ parts: [], nextId: null }, 1])
    assert.match(asked[0] ?? '', /hed_outbreak_facet/)
  })

  const few = (records: number) => ({ records, versions: records * 100 })
  const refusedAs = (parameter: string) => (error: unknown) => error instanceof Problem && error.parameter === parameter

  test('by offset a page is whole or refused', async () => {
    const question = queryOf({ host: ['animal'] }, 4)
    const whole = await readFilteredOffset(routes.api, question, { fromId: 1, skip: 2, limit: 5 })
    assert.equal(whole.length, 5)
    await assert.rejects(
      readFilteredOffset(routes.api, question, { fromId: 1, skip: 2, limit: 5, budget: few(299) }),
      refusedAs('offset'),
    )
    assert.deepEqual(
      await readFilteredOffset(routes.api, question, { fromId: 1, skip: 12, limit: 5, budget: few(299) }),
      [],
    )
  })

  test('where nothing is filtered an offset begins at its checkpoint, however deep', async () => {
    const bodies = await readFilteredOffset(routes.api, queryOf({}, 4), {
      fromId: 201,
      skip: 3,
      limit: 2,
      budget: few(50),
    })
    assert.deepEqual(idsOf(bodies), [204, 205])
  })

  test('a total is exact or refused', async () => {
    assert.equal(await readTotal(routes.api, queryOf({ event: ['Event_0'], host: ['animal'] }, 4)), 4)
    await assert.rejects(
      readTotal(routes.api, queryOf({ event: ['Event_0'], host: ['animal'] }, 4), few(99)),
      refusedAs('count'),
    )
    assert.equal(await readTotal(routes.api, queryOf({ host: ['animal'] }, 4), few(1)), 12)
  })

  test('versions of other releases do not count as records, and have a bound of their own', async () => {
    // A hundred records of the event, each with four versions.
    const question = queryOf({ event: ['Event_0'], host: ['animal'] }, 4)
    const place = { fromId: 1, skip: 1, limit: 100 }
    const enough = { records: 100, versions: 400 }
    assert.equal(await readTotal(routes.api, question, enough), 4)
    assert.equal((await readFilteredOffset(routes.api, question, { ...place, budget: enough })).length, 3)
    assert.equal((await readFacets(routes.api, question, ['event'], enough)).get('event')?.exact, true)
    const less = { records: 100, versions: 399 }
    await assert.rejects(readTotal(routes.api, question, less), refusedAs('count'))
    await assert.rejects(readFilteredOffset(routes.api, question, { ...place, budget: less }), refusedAs('offset'))
    assert.equal((await readFacets(routes.api, question, ['event'], less)).get('event')?.exact, false)
  })

  test('counted values are exact, or say that they are not', async () => {
    const facets = await readFacets(routes.api, queryOf({ host: ['animal'] }, 4), ['event'])
    assert.deepEqual(
      facets.get('event')?.values.toSorted((one, other) => (one.value < other.value ? -1 : 1)),
      [
        { value: 'Event_0', records: 4 },
        { value: 'Event_1', records: 4 },
        { value: 'Event_2', records: 4 },
      ],
    )
    assert.equal(facets.get('event')?.exact, true)
    assert.equal(
      (await readFacets(routes.api, queryOf({ host: ['animal'] }, 4), ['event'], few(100))).get('event')?.exact,
      false,
    )
  })

  test('columns are of all that fit, or of none', async () => {
    const question = queryOf({ host: ['animal'] }, 4)
    assert.equal((await readColumns(routes.api, question, ['id', 'date_low'], 12))?.length, 12)
    assert.equal(await readColumns(routes.api, question, ['id', 'date_low'], 11), null)
  })
})

test('a walk gets past records whose only version is of a later release', async () => {
  const { publish, refresh, releases, superuser, api } = await openRoutes()
  const rows = Array.from({ length: 60 }, (_, i) => ({ key: `r${i}`, event: `Event_${i % 20}` }))
  const isLate = (i: number) => i < 45
  await publish(rows)
  await publish(rows.filter((_, i) => !isLate(i)))
  await publish(rows)
  // What pruning release 1 does: these records were withdrawn, and came back in release 3.
  await superuser.query('delete from hed_outbreak_version where to_release <= 2')
  await refresh()
  const question: FilterQuery = {
    dataset: hedOutbreaks,
    filters: parseFilters(hedOutbreaks, { event: ['Event_5', 'Event_7'] }),
    release: releases()[1] as PublishedRelease,
    releases: releases().slice(0, 2),
  }
  const ids: unknown[] = []
  for (let fromId: number | null = 1; fromId !== null; ) {
    const page = await readFilteredPage(api, question, { fromId, limit: 10, budget: 1 })
    ids.push(...page.parts.map((part) => (JSON.parse(String(part)) as { id: number }).id))
    fromId = page.nextId
  }
  assert.deepEqual(ids, [46, 48])
})
