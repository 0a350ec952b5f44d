// The validation of a directory, without a database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { validateRelease } from '../../../../src/publish/validate/validate-release.ts'
import { type Row, writeCsv, writeNdjson, writeText } from '../../../fixtures/releases.ts'

/** The default country is invented, so it may not have the level of a country. */
const inRegion = (rows: readonly Row[]): Row[] => rows.map((row) => ({ location_granularity: 'region', ...row }))

const validate = async (directory: Promise<string>) => {
  const { records, errors, warnings, findings } = await validateRelease(hedOutbreaks, await directory)
  return { records, errors, warnings, findings: findings.map(({ line, column, rule }) => [line, column, rule]) }
}

test('a valid directory has no findings', async () => {
  assert.deepEqual(await validate(writeCsv(inRegion([{ key: 'a' }, { key: 'b' }]))), {
    records: 2,
    errors: 0,
    warnings: 0,
    findings: [],
  })
})

test('errors and warnings are counted separately, each with line, column and rule', async () => {
  const rows = [
    { key: 'a', date_low: '2020-02-01', date_high: '2020-01-01' },
    { key: 'b', date_high: '2020-02-01', date_report: '2020-01-15' },
    { key: 'c', host: 'plant' },
  ]
  assert.deepEqual(await validate(writeCsv(inRegion(rows))), {
    records: 1,
    errors: 2,
    warnings: 1,
    findings: [
      [2, 'date_high', 'dates_in_order'],
      [4, 'host', 'choice'],
      [3, 'date_report', 'report_after_period'],
    ],
  })
})

test('a repeated id or key is an error in the later row; an id and an equal key are different names', async () => {
  const rows = [{ key: '7' }, { id: 7 }, { key: 'b' }, { key: '7' }, { id: 7 }]
  assert.deepEqual((await validate(writeNdjson(inRegion(rows)))).findings, [
    [4, 'key', 'duplicate'],
    [5, 'id', 'duplicate'],
  ])
})

test('of ten thousand rows with one duplicate only the duplicate is an error', async () => {
  const rows = Array.from({ length: 10_000 }, (_, i) => ({ key: `k${i === 9_999 ? 5_000 : i}` }))
  assert.deepEqual((await validate(writeNdjson(inRegion(rows)))).findings, [[10_000, 'key', 'duplicate']])
})

test('a file that cannot be read gives one finding', async () => {
  assert.deepEqual((await validate(writeText('records.ndjson', '{"key":'))).findings, [[1, null, 'json']])
  assert.deepEqual((await validate(writeText('records.csv', Buffer.from([0xff, 0x0a])))).findings, [
    [0, null, 'encoding'],
  ])
})

test('every error of a wrong input is counted, but only the first are kept in memory', async () => {
  const rows = Array.from({ length: 5000 }, (_, i) => ({ key: `k${i % 4000}`, host: i < 3000 ? 'plant' : 'human' }))
  const directory = await writeNdjson(inRegion(rows))
  const { records, rejected, errors, findings } = await validateRelease(hedOutbreaks, directory)
  assert.deepEqual([records, rejected, errors, findings.length], [2000, 3000, 3000, 1000])
  const twice = await writeNdjson(inRegion([...rows.slice(3000), ...rows.slice(3000)]))
  const report = await validateRelease(hedOutbreaks, twice, { maxErrors: 5 })
  assert.deepEqual([report.records, report.rejected, report.errors, report.findings.length], [2000, 2000, 2000, 5])
})
