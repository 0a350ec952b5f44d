// Records that thousands of releases corrected: a walk continues past them, and counts, facets and offsets are not rejected.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { HOME, openRoutes, type Row } from '../../../fixtures/routes.ts'

const RELEASES = 26_000
const RECORDS = 60
const CORRECTED = [7, 8]

const OUTBREAKS = `${HOME}/outbreaks`
const V1 = '/v1/hed-outbreaks/outbreaks'

describe(`${CORRECTED.length} of ${RECORDS} records have ${RELEASES} versions each`, async () => {
  const routes = await openRoutes()
  const rows: Row[] = Array.from({ length: RECORDS }, (_, i) => ({
    key: `k${i}`,
    event: `Event_${Math.floor(i / 4)}`,
    country_code: 'FR',
    country: 'France',
    cases: i,
  }))

  before(async () => {
    await routes.publish(rows)
    // Writes the result of so many releases at once.
    const columns = hedOutbreaks.fields.map(({ name }) => name).filter((name) => name !== 'id')
    const { superuser } = routes
    await superuser.query(`set session_replication_role = replica`)
    await superuser.query('update hed_outbreak_version set to_release = 2 where id = any($1) and from_release = 1', [
      CORRECTED,
    ])
    await superuser.query(
      `insert into hed_outbreak_version (id, from_release, to_release, content_sha256, body, ${columns.join()})
       select id, step, case when step = $1 then 2147483647 else step + 1 end, content_sha256, body, ${columns.join()}
       from hed_outbreak_version cross join generate_series(2, $1) as step where id = any($2)`,
      [RELEASES, CORRECTED],
    )
    await superuser.query(
      `insert into release
       select (jsonb_populate_record(release, jsonb_build_object('number', $1::int, 'added', 0))).* from release`,
      [RELEASES],
    )
    await superuser.query(`set session_replication_role = origin`)
    await superuser.query(`update release set note = note where number = 1`)
    await routes.refresh()
    assert.equal(routes.releases().at(-1)?.number, RELEASES)
  })

  const all = Array.from({ length: RECORDS }, (_, i) => i + 1)

  const walks: [filter: string, query: string, ids: number[]][] = [
    ['in the order of id', 'case_status=confirmed', all],
    ['by one value', 'event=Event_1', [5, 6, 7, 8]],
    ['by several rare values', 'event=Event_1&event=Event_3', [5, 6, 7, 8, 13, 14, 15, 16]],
    ['by a value of all records', 'country_code=FR', all],
    ['with some fields', 'fields=id', all],
  ]
  for (const [filter, query, ids] of walks)
    test(`a walk ${filter} ends and has each record once`, async () => {
      for (const num of [3, 1000]) {
        const found: unknown[] = []
        const cursors = new Set<string>()
        for (let page = ''; ; ) {
          const { data, next } = await routes.getPage(`${OUTBREAKS}?${query}&num=${num}${page}`)
          found.push(...data.map(({ id }) => id))
          if (next === null) break
          assert.ok(!cursors.has(next), `a cursor was returned twice, after ${found.length} records`)
          cursors.add(next)
          page = `&page=${next}`
        }
        assert.deepEqual(found, ids)
      }
    })

  test('v1, count, facets and series of the same records are 200', async () => {
    for (const [, query, ids] of walks) {
      const response = await routes.inject(`${V1}?${query}&num=1000&offset=1`)
      assert.equal(response.statusCode, 200, response.body)
      assert.deepEqual(
        response.json<{ id: number }[]>().map(({ id }) => id),
        ids.slice(1),
      )
    }
    const filters = 'event=Event_1&case_status=confirmed'
    const counted = await routes.inject(`${OUTBREAKS}?${filters}&count=exact`)
    assert.deepEqual([counted.statusCode, counted.headers['outbreaks-count']], [200, '4'], counted.body)
    const facets = JSON.parse((await routes.get(`${HOME}/facets?${filters}`)).text)
    assert.deepEqual(facets.country_code, { values: [{ value: 'FR', records: 4 }], distinct: 1, exact: true })
    const series = await routes.inject(`${HOME}/series?${filters}&interval=month&group_by=source_name`)
    assert.equal(series.statusCode, 200, series.body)
  })
})
