// Facets under any choice of bound fields, all of them included: what is counted is what the records themselves say.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { HOME, openRoutes } from '../../../fixtures/routes.ts'
import { fc } from '../../../seed.ts'
import { type Item, variedRows } from './filter-oracle.ts'

const RECORDS = 150
const { facets } = hedOutbreaks
const routes = await openRoutes()
let records: Item[]

before(async () => {
  await routes.publish(variedRows(RECORDS, 1))
  await routes.refresh()
  records = (await routes.walk(`${HOME}/outbreaks`, { num: 1000 })) as Item[]
  assert.equal(records.length, RECORDS)
})

/** The values of a record for the fields that are bound; where it has none, of the first that has one. */
const bind = (record: Item, bound: readonly string[]) =>
  new Map(bound.map((name) => [name, record[name] ?? records.find((other) => other[name] !== null)?.[name] ?? 'none']))

function countValues(bound: ReadonlyMap<string, unknown>, field: string) {
  const others = [...bound].filter(([name]) => name !== field)
  const fitting = records.filter((record) => others.every(([name, value]) => record[name] === value))
  const counts = Map.groupBy(fitting, (record) => record[field])
  return new Map([...counts].filter(([value]) => value !== null).map(([value, own]) => [value, own.length]))
}

async function checkFacets(bound: ReadonlyMap<string, unknown>) {
  const query = new URLSearchParams([...bound].map(([name, value]): [string, string] => [name, String(value)]))
  const response = await routes.inject(`${HOME}/facets?num=1000&${query.toString()}`)
  assert.equal(response.statusCode, 200, response.body)
  const answer = response.json<Record<string, { values: { value: unknown; records: number }[]; exact: boolean }>>()
  assert.deepEqual(Object.keys(answer), facets)
  for (const [field, { values, exact }] of Object.entries(answer)) {
    const seen = new Map(values.map(({ value, records: count }) => [value, count]))
    assert.deepEqual([exact, seen], [true, countValues(bound, field)], field)
  }
}

test('200 with every field bound, with none, and with each one alone', async () => {
  for (const bound of [facets, [], ...facets.map((name) => [name])])
    for (const at of [0, 71]) await checkFacets(bind(records[at] ?? {}, bound))
})

test(`200 for any choice of fields, and the counts of the records themselves`, () =>
  fc.assert(
    fc.asyncProperty(fc.subarray([...facets]), fc.nat(RECORDS - 1), (bound, at) =>
      checkFacets(bind(records[at] ?? {}, bound)),
    ),
    { numRuns: 60 },
  ))
