// Filters over HTTP: counts, selected fields and cursors. test/oracle/engine-questions.test.ts compares the records of the pages.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { HOME, openRoutes } from '../../../fixtures/routes.ts'
import { readStoredRecords } from '../../../fixtures/stored-records.ts'
import { fc } from '../../../seed.ts'
import { anyParameters, type Item, matches, toQueryString, variedRows } from './filter-oracle.ts'

const V1 = '/v1/hed-outbreaks/outbreaks'
const V2 = `${HOME}/outbreaks`
const RECORDS = 2000
const QUERIES = Number(process.env['FILTER_RUNS'] ?? 100)

const { api, inject, get, publish, refresh, assertProblem } = await openRoutes()

interface StoredRecord {
  body: string
  item: Item
}

async function readRecords(release: number): Promise<StoredRecord[]> {
  const bodies = await readStoredRecords(api, release)
  return bodies.map((body) => ({ body, item: JSON.parse(body) as Item }))
}

/** The records of a page as text, their number, and the cursor of the next page. */
function parsePage(text: string) {
  const end = text.lastIndexOf('],"has_more":')
  const { next_page: next } = JSON.parse(`{${text.slice(end + 2)}`) as { next_page: string | null }
  const records = text.slice('{"data":['.length, end)
  return { records, count: records === '' ? 0 : records.split(',\n').length, next }
}

describe('a release of varied records', () => {
  let records: readonly StoredRecord[] = []
  before(async () => {
    await publish(variedRows(RECORDS, 1))
    records = await readRecords(1)
    await refresh()
  })

  test('count=exact returns the number of matching records', async () => {
    for (const parameters of fc.sample(
      anyParameters(
        records.map(({ item }) => item),
        1,
      ),
      QUERIES,
    )) {
      const expected = records.filter(({ item }) => matches(item, parameters)).length
      for (const address of [V1, V2]) {
        const response = await inject(`${address}?${toQueryString({ ...parameters, count: ['exact'], num: ['1'] })}`)
        assert.equal(response.headers['outbreaks-count'], String(expected), toQueryString(parameters))
      }
    }
    assert.equal((await inject(`${V2}?count=exact`)).headers['outbreaks-count'], String(records.length))
    assert.equal((await inject(V2)).headers['outbreaks-count'], undefined)
  })

  test('fields selects fields in the order of the declaration, in v1 and v2, with and without filters', async () => {
    for (const [parameters, selected] of [
      [{}, ['id', 'event', 'cases']],
      [{ host: ['animal'] }, ['extra']],
      [{ country_code: ['CD', 'UG'] }, ['last_release', 'note', 'id', 'longitude']],
    ] as const) {
      const matching = records.filter(({ item }) => matches(item, parameters)).slice(0, 50)
      const names = Object.keys(matching[0]?.item ?? {}).filter((name) =>
        (selected as readonly string[]).includes(name),
      )
      const expected = matching.map(({ item }) => Object.fromEntries(names.map((name) => [name, item[name]])))
      const query = toQueryString({ ...parameters, fields: [selected.join(',')], num: ['50'] })
      const v1 = await get(`${V1}?${query}`)
      assert.equal(v1.text, `[${expected.map((record) => JSON.stringify(record)).join(',\n')}]`)
      assert.equal(parsePage((await get(`${V2}?${query}`)).text).records, v1.text.slice(1, -1))
    }
  })

  test('a cursor is valid for its filters in any order, and 400 for other filters', async () => {
    const { next } = parsePage((await get(`${V2}?host=animal&host=human&country_code=CD&num=5`)).text)
    const same = await get(`${V2}?country_code=CD&host=human&host=animal&num=5&fields=id&page=${next}`)
    assert.equal(parsePage(same.text).count, 5)
    for (const other of ['', 'host=animal', 'host=animal&host=human', 'host=animal&host=human&country_code=UG']) {
      await assertProblem(`${V2}?${other}&page=${next}`.replace('?&', '?'), {}, 400, 'invalid_parameter', 'page')
    }
    const unfiltered = parsePage((await get(`${V2}?num=5`)).text).next
    await assertProblem(`${V2}?host=human&page=${unfiltered}`, {}, 400, 'invalid_parameter', 'page')
  })
})
