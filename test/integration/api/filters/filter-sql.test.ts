// The SQL of filtered queries: the choice of the index, filters without matches, and the scan limits.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import pg from 'pg'
import { type FacetCounts, planScan, totalFromFacets } from '../../../../src/api/filters/filter-sql.ts'
import { filterParameters, parseFilters, serialiseFilters } from '../../../../src/api/filters/filters.ts'
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
const toFacetCounts = (counts: Record<string, Record<string, number>>): FacetCounts =>
  new Map(Object.entries(counts).map(([field, values]) => [field, new Map(Object.entries(values))]))
const plan = (
  query: Record<string, unknown>,
  counts: Record<string, Record<string, number>>,
  releases = [release(1)],
) => {
  const planned = planScan(hedOutbreaks, parseFilters(hedOutbreaks, query), toFacetCounts(counts), releases)
  return planned && { drivingIndex: planned.drivingIndex }
}

describe('the plan', () => {
  test('uses the index of the field with the fewest records', () => {
    const counts = { event: { a: 500 }, country_code: { CD: 30 }, pathogen: { p: 200 } }
    const query = { event: ['a'], country_code: ['CD'], pathogen: ['p'] }
    assert.deepEqual(plan(query, counts), { drivingIndex: { column: 'country_code', values: ['CD'] } })
  })

  test('adds up the records of the values of a field, and leaves out values without records', () => {
    const counts = { event: { a: 20, b: 20 }, pathogen: { p: 30 } }
    assert.deepEqual(plan({ event: ['a', 'b', 'c'], pathogen: ['p'] }, counts), {
      drivingIndex: { column: 'pathogen', values: ['p'] },
    })
    assert.deepEqual(plan({ event: ['a', 'c'], pathogen: ['p'] }, counts), {
      drivingIndex: { column: 'event', values: ['a'] },
    })
  })

  test('scans in the order of id if several values are frequent', () => {
    assert.deepEqual(plan({ event: ['a', 'b'] }, { event: { a: 150, b: 51 } }), { drivingIndex: null })
    assert.notDeepEqual(plan({ event: ['a', 'b'] }, { event: { a: 150, b: 50 } }), { drivingIndex: null })
    assert.notDeepEqual(plan({ event: ['a'] }, { event: { a: 900 } }), { drivingIndex: null })
  })

  test('is null if a filter has only values without records', () => {
    assert.equal(plan({ event: ['a'], host: ['animal'] }, { event: { a: 5 } }), null)
    assert.equal(plan({ composite: [true] }, { composite: { false: 7 } }), null)
    assert.equal(plan({ event: ['c'] }, {}), null)
  })

  test('prefers the index of series_id, and uses no index for a field of low cardinality', () => {
    assert.deepEqual(plan({ series_id: ['x'], event: ['a'] }, { event: { a: 1 } }), {
      drivingIndex: { column: 'series_id', values: ['x'] },
    })
    assert.deepEqual(plan({ host: ['human'] }, { host: { human: 9 } }), { drivingIndex: null })
    assert.deepEqual(plan({ date_from: '2020-01-01' }, {}), { drivingIndex: null })
  })

  test('uses no index and no counts for a scanned field', () => {
    assert.deepEqual(plan({ admin_l1: ['Nowhere'] }, {}), { drivingIndex: null })
    assert.deepEqual(plan({ admin_l1: ['Nowhere'], event: ['a'] }, { event: { a: 5 } }), {
      drivingIndex: { column: 'event', values: ['a'] },
    })
  })

  test('uses the versions that later releases started, if these are fewer', () => {
    const releases = [release(1, 1000), release(2, 10, 5), release(3, 0, 20)]
    assert.deepEqual(plan({ updated_since_release: 1 }, {}, releases), {
      drivingIndex: { column: 'from_release', values: [2, 3] },
    })
    assert.deepEqual(plan({ updated_since_release: 1, event: ['a'] }, { event: { a: 3 } }, releases), {
      drivingIndex: { column: 'event', values: ['a'] },
    })
    assert.equal(plan({ updated_since_release: 3 }, {}, releases), null)
  })

  test('gives the total without filters and with a filter on one facet, and null otherwise', () => {
    const total = (query: Record<string, unknown>) =>
      totalFromFacets(hedOutbreaks, parseFilters(hedOutbreaks, query), toFacetCounts({ event: { a: 5, b: 6 } }), 1000)
    assert.equal(total({}), 1000)
    assert.equal(total({ event: ['a', 'b'] }), 11)
    for (const query of [
      { event: ['a'], host: ['human'] },
      { date_to: '2020-01-01' },
      { series_id: ['x'] },
      { updated_since_release: 1 },
      { event: ['a'], cases_min: 1 },
      { bbox: '0,0,1,1' },
      { event: ['a'], missing: ['note'] },
      { admin_l1: ['x'] },
    ]) {
      assert.equal(total(query), null)
    }
  })
})

describe('the filters', () => {
  test('have one canonical form, regardless of the order', () => {
    const a = parseFilters(hedOutbreaks, { host: ['human', 'animal'], date_to: '2020-01-02', event: ['b & c', 'a'] })
    const b = parseFilters(hedOutbreaks, {
      event: ['a', 'b & c'],
      date_to: '2020-01-02',
      host: ['animal', 'human'],
    })
    assert.equal(serialiseFilters(a), 'date_to=2020-01-02&event=a&event=b+%26+c&host=animal&host=human')
    assert.equal(serialiseFilters(b), serialiseFilters(a))
    assert.equal(serialiseFilters(parseFilters(hedOutbreaks, {})), '')
  })

  test('of ranges and missing fields have one canonical form', () => {
    const query = { missing: ['note', 'deaths'], bbox: '-0,1.50,10,2', cases_max: 9, cases_min: -1 }
    assert.equal(
      serialiseFilters(parseFilters(hedOutbreaks, query)),
      'bbox=0%2C1.5%2C10%2C2&cases_max=9&cases_min=-1&missing=deaths&missing=note',
    )
  })

  test('follow from the declaration: one for each filterable field, two for each period and count, and three others', () => {
    const fields = hedOutbreaks.fields.filter((field) => field.filterCardinality !== undefined)
    assert.equal(
      Object.keys(filterParameters(hedOutbreaks)).length,
      fields.length + 2 * (hedOutbreaks.periods.length + (hedOutbreaks.series?.counts.length ?? 0)) + 3,
    )
    const names = Object.keys(filterParameters({ ...hedOutbreaks, content: [], periods: [], fields: [], facets: [] }))
    assert.deepEqual(names, ['bbox', 'updated_since_release'])
  })
})

for (const dataset of catalogue) {
  test(`${dataset.name}: exactly the fields of high and unbounded cardinality have an index on value and id`, async () => {
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
    // Every record is corrected three times, so that every index has versions of several releases.
    for (const correction of [1, 2, 3])
      await routes.publish(rows.map((row) => ({ ...row, deaths: correction - 1, cases: row.cases + 10 })))
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
        `nextId of a page from ${fromId} is ${nextId}`,
      )
      ids.push(...idsOf(parts))
      fromId = nextId
    }
    return { ids, pages }
  }

  for (const budget of [3, 50, 5000]) {
    test(`with a budget of ${budget} a walk finds each record once, in any release`, async () => {
      for (const number of [1, 3, 4]) {
        for (const [query, expected] of [
          [{ host: ['animal'] }, RECORDS / 25],
          [{ event: ['Event_1'], host: ['animal'] }, 4],
          [{ event: ['Event_0', 'Event_2'], host: ['animal'] }, 8],
          [{ event: ['Event_0', 'Event_1', 'Event_2'] }, RECORDS],
          [{ updated_since_release: 1 }, number === 1 ? 0 : RECORDS],
          [{ date_from: '2020-01-01' }, 0],
        ] as const) {
          const { ids, pages } = await walk(query, number, 100, budget)
          assert.equal(ids.length, expected, JSON.stringify(query))
          assert.deepEqual(
            ids,
            [...new Set(ids)].toSorted((a, b) => a - b),
          )
          assert.ok(budget > 1000 || expected === 0 || pages > 1)
        }
      }
    })
  }

  test('a value without records in the release is read from the facets only', async () => {
    const statements: string[] = []
    const recording = {
      ...routes.api,
      query: async (statement: { text: string }) => (statements.push(statement.text), []),
    }
    const page = await readFilteredPage(recording as never, queryOf({ event: ['Event_9'] }, 4), {
      fromId: 1,
      limit: 10,
    })
    assert.deepEqual([page, statements.length], [{ parts: [], nextId: null }, 1])
    assert.match(statements[0] ?? '', /hed_outbreak_facet/)
  })

  const budgetOf = (records: number) => ({ records, versions: records * 100 })
  const hasParameter = (parameter: string) => (error: unknown) =>
    error instanceof Problem && error.parameter === parameter

  test('an offset page is complete or rejected', async () => {
    const filterQuery = queryOf({ host: ['animal'] }, 4)
    const complete = await readFilteredOffset(routes.api, filterQuery, { fromId: 1, skip: 2, limit: 5 })
    assert.equal(complete.length, 5)
    await assert.rejects(
      readFilteredOffset(routes.api, filterQuery, { fromId: 1, skip: 2, limit: 5, budget: budgetOf(299) }),
      hasParameter('offset'),
    )
    assert.deepEqual(
      await readFilteredOffset(routes.api, filterQuery, { fromId: 1, skip: 12, limit: 5, budget: budgetOf(299) }),
      [],
    )
  })

  test('without filters an offset page starts at its checkpoint', async () => {
    const bodies = await readFilteredOffset(routes.api, queryOf({}, 4), {
      fromId: 201,
      skip: 3,
      limit: 2,
      budget: budgetOf(50),
    })
    assert.deepEqual(idsOf(bodies), [204, 205])
  })

  test('a total is exact or rejected', async () => {
    assert.equal(await readTotal(routes.api, queryOf({ event: ['Event_0'], host: ['animal'] }, 4)), 4)
    await assert.rejects(
      readTotal(routes.api, queryOf({ event: ['Event_0'], host: ['animal'] }, 4), budgetOf(99)),
      hasParameter('count'),
    )
    assert.equal(await readTotal(routes.api, queryOf({ host: ['animal'] }, 4), budgetOf(1)), 12)
  })

  test('versions of other releases do not count as records and have a separate limit', async () => {
    // The event has a hundred records with four versions each.
    const filterQuery = queryOf({ event: ['Event_0'], host: ['animal'] }, 4)
    const position = { fromId: 1, skip: 1, limit: 100 }
    const sufficient = { records: 100, versions: 400 }
    assert.equal(await readTotal(routes.api, filterQuery, sufficient), 4)
    assert.equal((await readFilteredOffset(routes.api, filterQuery, { ...position, budget: sufficient })).length, 3)
    assert.equal((await readFacets(routes.api, filterQuery, ['event'], sufficient)).get('event')?.exact, true)
    const insufficient = { records: 100, versions: 399 }
    await assert.rejects(readTotal(routes.api, filterQuery, insufficient), hasParameter('count'))
    await assert.rejects(
      readFilteredOffset(routes.api, filterQuery, { ...position, budget: insufficient }),
      hasParameter('offset'),
    )
    assert.equal((await readFacets(routes.api, filterQuery, ['event'], insufficient)).get('event')?.exact, false)
  })

  test('facet counts are exact, or exact is false', async () => {
    const facets = await readFacets(routes.api, queryOf({ host: ['animal'] }, 4), ['event'])
    assert.deepEqual(
      facets.get('event')?.values.toSorted((a, b) => (a.value < b.value ? -1 : 1)),
      [
        { value: 'Event_0', records: 4 },
        { value: 'Event_1', records: 4 },
        { value: 'Event_2', records: 4 },
      ],
    )
    assert.equal(facets.get('event')?.exact, true)
    assert.equal(
      (await readFacets(routes.api, queryOf({ host: ['animal'] }, 4), ['event'], budgetOf(100))).get('event')?.exact,
      false,
    )
  })

  test('columns are read from all matching records, or the result is null', async () => {
    const filterQuery = queryOf({ host: ['animal'] }, 4)
    assert.equal((await readColumns(routes.api, filterQuery, ['id', 'date_low'], 12))?.length, 12)
    assert.equal(await readColumns(routes.api, filterQuery, ['id', 'date_low'], 11), null)
  })
})

test('a walk continues past records whose only version is in a later release', async () => {
  const { publish, refresh, releases, superuser, api } = await openRoutes()
  const rows = Array.from({ length: 60 }, (_, i) => ({ key: `r${i}`, event: `Event_${i % 20}` }))
  const isLate = (i: number) => i < 45
  await publish(rows)
  await publish(rows.filter((_, i) => !isLate(i)))
  await publish(rows)
  // Pruning release 1 has this effect: release 2 withdrew these records and release 3 added them again.
  await superuser.query('delete from hed_outbreak_version where to_release <= 2')
  await refresh()
  const filterQuery: FilterQuery = {
    dataset: hedOutbreaks,
    filters: parseFilters(hedOutbreaks, { event: ['Event_5', 'Event_7'] }),
    release: releases()[1] as PublishedRelease,
    releases: releases().slice(0, 2),
  }
  const ids: unknown[] = []
  for (let fromId: number | null = 1; fromId !== null; ) {
    const page = await readFilteredPage(api, filterQuery, { fromId, limit: 10, budget: 1 })
    ids.push(...page.parts.map((part) => (JSON.parse(String(part)) as { id: number }).id))
    fromId = page.nextId
  }
  assert.deepEqual(ids, [46, 48])
})
