// Coverage: records by the value of a field and by period, compared with counts of the records.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import type { RecordCoverage } from '../../../../clients/typescript/src/generated/answers.ts'
import { NO_FILTERS } from '../../../../src/api/filters/filters.ts'
import { readCoverage } from '../../../../src/api/queries/coverage.ts'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { INTERVALS, type Interval, parseDay, periodOf } from '../../../../src/methods/calendar.ts'
import { HOME, openRoutes } from '../../../fixtures/routes.ts'
import { fc } from '../../../seed.ts'
import { type Item, variedRows } from '../filters/filter-oracle.ts'

const RECORDS = 150
const routes = await openRoutes()
let records: Item[]

before(async () => {
  await routes.publish(variedRows(RECORDS, 1))
  await routes.publish(variedRows(RECORDS, 2))
  await routes.refresh()
  records = (await routes.walk(`${HOME}/outbreaks`, { num: 1000 })) as Item[]
})

async function read(query: Record<string, string>): Promise<RecordCoverage> {
  const response = await routes.inject(`${HOME}/coverage`, query)
  assert.equal(response.statusCode, 200, response.body)
  return response.json<RecordCoverage>()
}

const dayOf = (record: Item) => record['date_high'] ?? null
const textOf = (value: unknown) => (value === null || value === undefined ? null : String(value))

/** `value period records changed`, for each cell. */
function count(matching: readonly Item[], field: string, interval: Interval): string[] {
  const cells = Map.groupBy(matching, (record) => {
    const day = dayOf(record)
    return JSON.stringify([textOf(record[field]), day === null ? null : periodOf(interval, parseDay(String(day))).name])
  })
  return [...cells].map(([cell, of]) => {
    const changed = of.filter((record) => record['last_release'] === 2).length
    return `${cell} ${of.length} ${changed}`
  })
}

function list({ data }: RecordCoverage): string[] {
  return data.flatMap(({ value, undated, periods }) =>
    periods
      .map((one) => `${JSON.stringify([value, one.period])} ${one.records} ${one.changed}`)
      .concat(undated === 0 ? [] : [`${JSON.stringify([value, null])} ${undated}`]),
  )
}

const withoutChanges = (cell: string) => (cell.includes(',null]') ? cell.replace(/ \d+$/, '') : cell)

test('every cell is the number of records that a walk returns', () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...hedOutbreaks.facets),
      fc.constantFrom(...INTERVALS),
      fc.constantFrom('', 'country_code', 'case_status'),
      fc.nat(RECORDS - 1),
      async (by, interval, filter, index) => {
        const value = filter === '' ? null : textOf(records[index]?.[filter])
        const matching = value === null ? records : records.filter((record) => textOf(record[filter]) === value)
        const coverage = await read({ by, interval, ...(value === null ? {} : { [filter]: value }) })
        assert.deepEqual(list(coverage).toSorted(), count(matching, by, interval).map(withoutChanges).toSorted())
        assert.equal(coverage.records, matching.length)
        assert.equal(coverage.undated, matching.filter((record) => dayOf(record) === null).length)
      },
    ),
    { numRuns: 60 },
  ))

test('the values are in the order of their records, their periods in the order of days', async () => {
  const { data } = await read({ by: 'country_code', interval: 'month' })
  assert.ok(data.length > 2)
  const counts = data.map((group) => group.records)
  assert.deepEqual(
    counts,
    counts.toSorted((a, b) => b - a),
  )
  for (const { periods } of data)
    assert.deepEqual(
      periods.map(({ first_day: day }) => day),
      periods.map(({ first_day: day }) => day).toSorted(),
    )
})

test('an earlier release has its own coverage', async () => {
  const { records: total, data } = await read({ by: 'event', interval: 'year', release: '1' })
  assert.equal(total, RECORDS)
  const cells = data.flatMap(({ periods }) => periods)
  assert.equal(
    cells.reduce((sum, { changed }) => sum + changed, 0),
    cells.reduce((sum, cell) => sum + cell.records, 0),
    'release 1 added all of its records',
  )
})

test('an answer with too many periods is none', async () => {
  const release = routes.releases().at(-1)
  assert.ok(release)
  const query = { dataset: hedOutbreaks, filters: NO_FILTERS, release }
  const cells = count(records, 'event', 'day').length
  const readUpTo = (maxCells: number) =>
    readCoverage(routes, query, { field: 'event', day: 'date_high', interval: 'day', maxCells })
  assert.ok((await readUpTo(cells))?.length)
  assert.equal(await readUpTo(cells - 1), null)
})

test('a filter that no record matches gives no row', async () => {
  const { data, records: total } = await read({ by: 'country_code', interval: 'month', event: 'None_2020' })
  assert.deepEqual({ data, total }, { data: [], total: 0 })
})

test('as CSV a line for each value and period', async () => {
  const query = { by: 'country_code', interval: 'month', release: '2' }
  const { data } = await read(query)
  const { body, headers } = await routes.inject(`${HOME}/coverage`, query, { accept: 'text/csv' })
  const rows: Record<string, string>[] = parse(body, { columns: true })
  assert.deepEqual(
    rows,
    data.flatMap(({ value, periods }) =>
      periods.map((one) => ({
        value: value ?? '',
        ...one,
        records: String(one.records),
        changed: String(one.changed),
      })),
    ),
  )
  assert.equal(headers['content-disposition'], 'attachment; filename="hed-outbreaks-2-coverage.csv"')
})

for (const [name, query] of Object.entries({
  by: { interval: 'month', by: 'note' },
  interval: { by: 'country_code', interval: 'decade' },
}))
  test(`400 for another ${name}`, async () => {
    const response = await routes.inject(`${HOME}/coverage`, query)
    assert.equal(response.statusCode, 400)
    assert.equal(response.json<{ parameter: string }>().parameter, name)
  })
