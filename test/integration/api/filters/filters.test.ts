// Filters over HTTP: whatever is asked, v1 and v2 give exactly the records that the oracle names, on every page.
import assert from 'node:assert/strict'
import { parse } from 'node:querystring'
import { before, describe, test } from 'node:test'
import sql, { type Sql } from 'sql-template-tag'
import { parseFilters } from '../../../../src/api/filters/filters.ts'
import { readFilteredPage } from '../../../../src/api/filters/run-filter-queries.ts'
import { cursorQuery } from '../../../../src/api/resources/parameters.ts'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { compileQuery } from '../../../../src/platform/http/query-string.ts'
import type { Database } from '../../../../src/platform/postgres/database.ts'
import { HOME, openRoutes } from '../../../fixtures/routes.ts'
import { fc } from '../../../seed.ts'
import { type Asked, fits, type Item, questions, variedRows, writeQuery } from './filter-oracle.ts'

const V1 = '/v1/hed-outbreaks/outbreaks'
const V2 = `${HOME}/outbreaks`
const RECORDS = 20_000
/** Questions at once. */
const ABREAST = 3
const RUNS = Number(process.env['FILTER_RUNS'] ?? 1000)

const { api, releases, inject, publish, refresh, superuser, assertProblem } = await openRoutes()

/** A machine that has more to do than this test answers 503 now and then, and means it: try again. */
async function get(address: string): Promise<{ text: string }> {
  for (let left = 20; ; left--) {
    const response = await inject(address)
    if (response.statusCode !== 503 || left === 0) {
      assert.equal(response.statusCode, 200, response.body)
      return { text: response.body }
    }
  }
}

interface Known {
  body: string
  item: Item
}

async function readRecords(release: number): Promise<Known[]> {
  const { rows } = await superuser.query<{ body: string }>(
    'select body from hed_outbreak_version where from_release <= $1 and to_release > $1 order by id',
    [release],
  )
  return rows.map(({ body }) => ({ body, item: JSON.parse(body) as Item }))
}

/** The records of a page as text, their number, and where it goes on. */
function openPage(text: string) {
  const end = text.lastIndexOf('],"has_more":')
  const { next_page: next } = JSON.parse(`{${text.slice(end + 2)}`) as { next_page: string | null }
  const records = text.slice('{"data":['.length, end)
  return { records, count: records === '' ? 0 : records.split(',\n').length, next }
}

interface PlanNode {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: PlanNode[]
}

/** What was read from tables and indexes, kept or not. */
function countRows(node: PlanNode | undefined): number {
  if (node === undefined) return 0
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  const own = node['Relation Name'] === undefined ? 0 : (node['Actual Rows'] + removed) * node['Actual Loops']
  return (node.Plans ?? []).reduce((sum, below) => sum + countRows(below), own)
}

const textOf = (known: readonly Known[]) => known.map(({ body }) => body).join(',\n')

async function assertWalk(asked: Asked, wanted: readonly Known[], num: number) {
  const query = writeQuery({ ...asked, num: [String(num)] })
  let place = 0
  let page = await get(`${V2}?${query}`).then(({ text }) => openPage(text))
  for (;;) {
    assert.ok(page.count <= num)
    assert.equal(page.records, textOf(wanted.slice(place, place + page.count)), query)
    place += page.count
    if (page.next === null) break
    page = await get(`${V2}?${query}&page=${page.next}`).then(({ text }) => openPage(text))
  }
  assert.equal(place, wanted.length, query)
}

async function assertOffset(asked: Asked, wanted: readonly Known[], offset: number, num: number) {
  const { text } = await get(`${V1}?${writeQuery({ ...asked, offset: [String(offset)], num: [String(num)] })}`)
  assert.equal(text, `[${textOf(wanted.slice(offset, offset + num))}]`)
}

describe('two releases', () => {
  const held = new Map<number, Known[]>()
  before(async () => {
    for (const release of [1, 2]) {
      await publish(variedRows(RECORDS, release))
      held.set(release, await readRecords(release))
    }
    await refresh()
  })

  for (const [release, runs] of [
    [2, RUNS],
    [1, Math.ceil(RUNS / 20)],
  ] as const) {
    test(`${runs} questions to release ${release} are answered as by the oracle`, { timeout: 1_200_000 }, async () => {
      const records = held.get(release) ?? []
      assert.ok(records.length >= RECORDS * 0.9)
      const items = records.map(({ item }) => item)
      const asked = fc.sample(questions(items, release), runs)
      const chances = fc.sample(fc.double({ min: 0, max: 0.999, noNaN: true }), 2 * runs)
      let matching = 0
      let next = 0
      const work = async () => {
        for (let i = next++; i < runs; i = next++) {
          const question: Asked = { ...asked[i], release: [String(release)] }
          const wanted = records.filter(({ item }) => fits(item, asked[i] as Asked))
          const least = Math.max(1, Math.ceil(wanted.length / 4))
          const num = Math.min(1000, least + Math.floor((chances[2 * i] as number) * 400))
          await assertWalk(question, wanted, num)
          await assertOffset(question, wanted, Math.floor((chances[2 * i + 1] as number) * (wanted.length + 2)), num)
          if (wanted.length > 0) matching++
        }
      }
      await Promise.all(Array.from({ length: ABREAST }, work))
      // Of a few questions all may match by chance.
      if (runs >= 50) assert.ok(matching > runs / 5 && matching < runs, `${matching} of ${runs} match something`)
    })
  }

  test('whatever is asked, a page reads a bounded number of rows and index entries', async () => {
    const budget = 200
    const list = releases()
    const items = (held.get(2) ?? []).map(({ item }) => item)
    const asked: Asked[] = fc.sample(questions(items, 2), 200)
    for (const question of [
      ...asked,
      { date_to: ['1700-01-01'] },
      { host: ['human'], reported_from: ['2999-01-01'] },
    ]) {
      const read = compileQuery(cursorQuery(hedOutbreaks))(
        parse(writeQuery(question)) as Record<string, string | string[]>,
      )
      const filters = parseFilters(hedOutbreaks, read)
      const release = list[1]
      assert.ok(release !== undefined)
      let seen = 0
      const counting: Database = {
        ...api,
        async query<Row extends object>(statement: Sql) {
          const [explained] = await api.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
            sql`explain (analyze, format json) ${statement}`,
          )
          seen += countRows(explained?.['QUERY PLAN'][0].Plan)
          return api.query<Row>(statement)
        },
      }
      const at = { fromId: 1, limit: 50, budget }
      await readFilteredPage(counting, { dataset: hedOutbreaks, filters, release, releases: list }, at)
      assert.ok(seen <= 6 * (budget + 1), `${seen} rows for ${writeQuery(question)}`)
    }
  })

  test('the number of all that fit is told to whoever asks for it', async () => {
    const records = held.get(2) ?? []
    for (const asked of fc.sample(
      questions(
        records.map(({ item }) => item),
        2,
      ),
      100,
    )) {
      const wanted = records.filter(({ item }) => fits(item, asked)).length
      for (const address of [V1, V2]) {
        const response = await inject(`${address}?${writeQuery({ ...asked, count: ['exact'], num: ['1'] })}`)
        if (response.statusCode === 400) assert.equal(response.json<{ parameter: string }>().parameter, 'count')
        else assert.equal(response.headers['outbreaks-count'], String(wanted), writeQuery(asked))
      }
    }
    assert.equal((await inject(`${V2}?count=exact`)).headers['outbreaks-count'], String(records.length))
    assert.equal((await inject(V2)).headers['outbreaks-count'], undefined)
  })

  test('fields are picked and keep the order of the declaration, in v1 and v2, with and without filters', async () => {
    const records = held.get(2) ?? []
    for (const [asked, picked] of [
      [{}, ['id', 'event', 'cases']],
      [{ host: ['animal'] }, ['extra']],
      [{ country_code: ['CD', 'UG'] }, ['last_release', 'note', 'id', 'longitude']],
    ] as const) {
      const wanted = records.filter(({ item }) => fits(item, asked)).slice(0, 50)
      const names = Object.keys(wanted[0]?.item ?? {}).filter((name) => (picked as readonly string[]).includes(name))
      const expected = wanted.map(({ item }) => Object.fromEntries(names.map((name) => [name, item[name]])))
      const query = writeQuery({ ...asked, fields: [picked.join(',')], num: ['50'] })
      const v1 = await get(`${V1}?${query}`)
      assert.equal(v1.text, `[${expected.map((record) => JSON.stringify(record)).join(',\n')}]`)
      assert.equal(openPage((await get(`${V2}?${query}`)).text).records, v1.text.slice(1, -1))
    }
  })

  test('a cursor belongs to its filters, in whatever order they are written, and to no others', async () => {
    const { next } = openPage((await get(`${V2}?host=animal&host=human&country_code=CD&num=5`)).text)
    const same = await get(`${V2}?country_code=CD&host=human&host=animal&num=5&fields=id&page=${next}`)
    assert.equal(openPage(same.text).count, 5)
    for (const other of ['', 'host=animal', 'host=animal&host=human', 'host=animal&host=human&country_code=UG']) {
      await assertProblem(`${V2}?${other}&page=${next}`.replace('?&', '?'), {}, 400, 'invalid_parameter', 'page')
    }
    const plain = openPage((await get(`${V2}?num=5`)).text).next
    await assertProblem(`${V2}?host=human&page=${plain}`, {}, 400, 'invalid_parameter', 'page')
  })

  test('what is mixed is said in a header, and refused to whoever is strict', async () => {
    const all = 'location_granularity, case_status, count_kind, composite'
    const one = 'location_granularity=admin1&case_status=confirmed&count_kind=new&composite=false'
    for (const [query, mixed] of [
      ['', all],
      ['count_kind=new', 'location_granularity, case_status, composite'],
      ['count_kind=new&count_kind=point&case_status=total', 'location_granularity, count_kind, composite'],
      [one, undefined],
      ['series_id=0123', undefined],
      ['series_id=0123&series_id=4567', all],
    ] as const) {
      for (const address of [V1, V2]) {
        assert.equal((await inject(`${address}?${query}`)).headers['outbreaks-mixed'], mixed, query)
        assert.equal((await inject(`${address}?${query}&strict=false`.replace('?&', '?'))).statusCode, 200)
        const strict = await inject(`${address}?${query}&strict=true`.replace('?&', '?'))
        assert.equal(strict.statusCode, mixed === undefined ? 200 : 400)
        if (mixed !== undefined) assert.equal(strict.json<{ parameter: string }>().parameter, 'strict')
      }
    }
  })
})
