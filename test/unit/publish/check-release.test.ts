// What can be said of a directory without a database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { checkRelease } from '../../../src/publish/validate/check-release.ts'
import { writeCsv, writeNdjson, writeText } from '../../fixtures/releases.ts'

const check = async (directory: Promise<string>) => {
  const { records, errors, warnings, findings } = await checkRelease(hedOutbreaks, await directory)
  return { records, errors, warnings, findings: findings.map(({ line, column, rule }) => [line, column, rule]) }
}

test('a sound directory has its records and no findings', async () => {
  assert.deepEqual(await check(writeCsv([{ key: 'a' }, { key: 'b' }])), {
    records: 2,
    errors: 0,
    warnings: 0,
    findings: [],
  })
})

test('errors and warnings are told apart, each with line, column and rule', async () => {
  const rows = [
    { key: 'a', date_low: '2020-02-01', date_high: '2020-01-01' },
    { key: 'b', date_high: '2020-02-01', date_report: '2020-01-15' },
    { key: 'c', host: 'plant' },
  ]
  assert.deepEqual(await check(writeCsv(rows)), {
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

test('a name that stands twice is found where it stands again, ids and keys apart', async () => {
  const rows = [{ key: '7' }, { id: 7 }, { key: 'b' }, { key: '7' }, { id: 7 }]
  assert.deepEqual((await check(writeNdjson(rows))).findings, [
    [4, 'key', 'duplicate'],
    [5, 'id', 'duplicate'],
  ])
})

test('ten thousand names and one twin: only the twin', async () => {
  const rows = Array.from({ length: 10_000 }, (_, i) => ({ key: `k${i === 9_999 ? 5_000 : i}` }))
  assert.deepEqual((await check(writeNdjson(rows))).findings, [[10_000, 'key', 'duplicate']])
})

test('a file that cannot be read on is one finding beside the others', async () => {
  assert.deepEqual((await check(writeText('records.ndjson', '{"key":'))).findings, [[1, null, 'json']])
  assert.deepEqual((await check(writeText('records.csv', Buffer.from([0xff, 0x0a])))).findings, [[0, null, 'encoding']])
})

test('of a wrong input every row is counted, and the memory is not filled with findings', async () => {
  const rows = Array.from({ length: 5000 }, (_, i) => ({ key: `k${i % 4000}`, host: i < 3000 ? 'plant' : 'human' }))
  const directory = await writeNdjson(rows)
  const { records, rejected, errors, findings } = await checkRelease(hedOutbreaks, directory)
  assert.deepEqual([records, rejected, errors, findings.length], [2000, 3000, 3000, 1000])
  const twice = await writeNdjson([...rows.slice(3000), ...rows.slice(3000)])
  const report = await checkRelease(hedOutbreaks, twice, { kept: 5 })
  assert.deepEqual([report.records, report.rejected, report.errors, report.findings.length], [2000, 2000, 2000, 5])
})
