// Filters over HTTP: for any parameters, each page of v1 and v2 has exactly the records of the oracle.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { HOME, openRoutes } from '../../../fixtures/routes.ts'
import { readStoredRecords } from '../../../fixtures/stored-records.ts'
import { fc } from '../../../seed.ts'
import { anyParameters, type FilterParameters, type Item, matches, toQueryString, variedRows } from './filter-oracle.ts'

const V1 = '/v1/hed-outbreaks/outbreaks'
const V2 = `${HOME}/outbreaks`
const RECORDS = 20_000
/** The number of concurrent queries. */
const CONCURRENCY = 3
const RUNS = Number(process.env['FILTER_RUNS'] ?? 1000)

const { api, inject, publish, refresh, assertProblem } = await openRoutes()

/** On a busy machine the service may respond 503: try again. */
async function get(address: string): Promise<{ text: string }> {
  for (let attempts = 20; ; attempts--) {
    const response = await inject(address)
    if (response.statusCode !== 503 || attempts === 0) {
      assert.equal(response.statusCode, 200, response.body)
      return { text: response.body }
    }
  }
}

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

const textOf = (records: readonly StoredRecord[]) => records.map(({ body }) => body).join(',\n')

async function assertWalk(parameters: FilterParameters, expected: readonly StoredRecord[], num: number) {
  const query = toQueryString({ ...parameters, num: [String(num)] })
  let index = 0
  let page = await get(`${V2}?${query}`).then(({ text }) => parsePage(text))
  for (;;) {
    assert.ok(page.count <= num)
    assert.equal(page.records, textOf(expected.slice(index, index + page.count)), query)
    index += page.count
    if (page.next === null) break
    page = await get(`${V2}?${query}&page=${page.next}`).then(({ text }) => parsePage(text))
  }
  assert.equal(index, expected.length, query)
}

async function assertOffset(
  parameters: FilterParameters,
  expected: readonly StoredRecord[],
  offset: number,
  num: number,
) {
  const { text } = await get(`${V1}?${toQueryString({ ...parameters, offset: [String(offset)], num: [String(num)] })}`)
  assert.equal(text, `[${textOf(expected.slice(offset, offset + num))}]`)
}

describe('two releases', () => {
  const recordsByRelease = new Map<number, StoredRecord[]>()
  before(async () => {
    for (const release of [1, 2]) {
      await publish(variedRows(RECORDS, release))
      recordsByRelease.set(release, await readRecords(release))
    }
    await refresh()
  })

  for (const [release, runs] of [
    [2, RUNS],
    [1, Math.ceil(RUNS / 20)],
  ] as const) {
    test(`${runs} queries on release ${release} return the records of the oracle`, {
      timeout: 1_200_000,
    }, async () => {
      const records = recordsByRelease.get(release) ?? []
      assert.ok(records.length >= RECORDS * 0.9)
      const items = records.map(({ item }) => item)
      const samples = fc.sample(anyParameters(items, release), runs)
      const chances = fc.sample(fc.double({ min: 0, max: 0.999, noNaN: true }), 2 * runs)
      let matching = 0
      let next = 0
      const work = async () => {
        for (let i = next++; i < runs; i = next++) {
          const parameters: FilterParameters = { ...samples[i], release: [String(release)] }
          const expected = records.filter(({ item }) => matches(item, samples[i] as FilterParameters))
          const minimum = Math.max(1, Math.ceil(expected.length / 4))
          const num = Math.min(1000, minimum + Math.floor((chances[2 * i] as number) * 400))
          await assertWalk(parameters, expected, num)
          await assertOffset(
            parameters,
            expected,
            Math.floor((chances[2 * i + 1] as number) * (expected.length + 2)),
            num,
          )
          if (expected.length > 0) matching++
        }
      }
      await Promise.all(Array.from({ length: CONCURRENCY }, work))
      // With few queries all may match by chance.
      if (runs >= 50) assert.ok(matching > runs / 5 && matching < runs, `${matching} of ${runs} queries have matches`)
    })
  }

  test('count=exact returns the number of matching records', async () => {
    const records = recordsByRelease.get(2) ?? []
    for (const parameters of fc.sample(
      anyParameters(
        records.map(({ item }) => item),
        2,
      ),
      100,
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
    const records = recordsByRelease.get(2) ?? []
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
