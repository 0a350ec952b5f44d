// Facets with filters on any subset of fields, compared with counts of the records.
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

/** The values of a record for some fields. For null, the value of the first record that has one. */
const valuesOf = (record: Item, fields: readonly string[]) =>
  new Map(fields.map((name) => [name, record[name] ?? records.find((other) => other[name] !== null)?.[name] ?? 'none']))

function countValues(filters: ReadonlyMap<string, unknown>, field: string) {
  const otherFilters = [...filters].filter(([name]) => name !== field)
  const matching = records.filter((record) => otherFilters.every(([name, value]) => record[name] === value))
  const byValue = Map.groupBy(matching, (record) => record[field])
  return new Map([...byValue].filter(([value]) => value !== null).map(([value, members]) => [value, members.length]))
}

async function checkFacets(filters: ReadonlyMap<string, unknown>) {
  const query = new URLSearchParams([...filters].map(([name, value]): [string, string] => [name, String(value)]))
  const response = await routes.inject(`${HOME}/facets?num=1000&${query.toString()}`)
  assert.equal(response.statusCode, 200, response.body)
  const body = response.json<Record<string, { values: { value: unknown; records: number }[] }>>()
  assert.deepEqual(Object.keys(body), facets)
  for (const [field, { values }] of Object.entries(body)) {
    const counts = new Map(values.map(({ value, records: count }) => [value, count]))
    assert.deepEqual(counts, countValues(filters, field), field)
  }
}

test('200 with filters on all fields, on no field, and on each single field', async () => {
  for (const fields of [facets, [], ...facets.map((name) => [name])])
    for (const index of [0, 71]) await checkFacets(valuesOf(records[index] ?? {}, fields))
})

test('200 with filters on any subset of fields', () =>
  fc.assert(
    fc.asyncProperty(fc.subarray([...facets]), fc.nat(RECORDS - 1), (fields, index) =>
      checkFacets(valuesOf(records[index] ?? {}, fields)),
    ),
    { numRuns: 60 },
  ))
