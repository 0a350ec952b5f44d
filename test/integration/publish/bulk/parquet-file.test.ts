// Parquet as input, with and without a mapping: the same records as from NDJSON, and an error for every damaged file.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib'
import { type ColumnSource, parquetWriteBuffer, schemaFromColumnData } from 'hyparquet-writer'
import { inputFields } from '../../../../src/datasets/define.ts'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { collectFindings, InputError } from '../../../../src/publish/findings/findings.ts'
import { readParquet } from '../../../../src/publish/input/parquet-file.ts'
import { openRelease } from '../../../../src/publish/input/read-release.ts'
import { validateRelease, validateRows } from '../../../../src/publish/validate/validate-release.ts'
import { requiredFields } from '../../../../src/publish/validate/validate-row.ts'
import { readMapped, writeMapped } from '../../../fixtures/mappings.ts'
import { fullRow, type Row, writeNdjson, writeText } from '../../../fixtures/releases.ts'

type Codec = NonNullable<Parameters<typeof parquetWriteBuffer>[0]['codec']>
const FAST_BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
const compressors = {
  GZIP: (bytes: Uint8Array) => new Uint8Array(gzipSync(bytes)),
  BROTLI: (bytes: Uint8Array) => new Uint8Array(brotliCompressSync(bytes, FAST_BROTLI)),
  ZSTD: (bytes: Uint8Array) => new Uint8Array(zstdCompressSync(bytes)),
}
/** A column without a type is a column of dates. */
function write(columnData: ColumnSource[], codec: Codec = 'SNAPPY'): Buffer {
  const days = columnData.filter(({ type }) => type === undefined).map(({ name }) => name)
  const schemaOverrides = Object.fromEntries(
    days.map((name) => [name, { name, type: 'INT32', converted_type: 'DATE', repetition_type: 'OPTIONAL' } as const]),
  )
  const schema = schemaFromColumnData({ columnData, schemaOverrides })
  const untyped = columnData.map(({ name, data }) => ({ name, data }))
  return Buffer.from(parquetWriteBuffer({ columnData: untyped, schema, codec, compressors, rowGroupSize: 100 }))
}

const DAY = 86_400_000
const types: Record<string, NonNullable<ColumnSource['type']>> = {
  integer: 'INT64',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
}

/** Writes integers with 64 bits, extra as text, and other values unchanged. */
function writeCanonical(rows: readonly Row[], codec?: Codec): Buffer {
  const column = (name: string, kind: string): ColumnSource => ({
    name,
    type: types[kind] ?? 'STRING',
    data: rows.map((row) => {
      const value = fullRow(row)[name] ?? null
      if (kind === 'integer' && value !== null) return BigInt(value as number)
      return kind === 'object' ? JSON.stringify(value) : value
    }),
  })
  const fields = inputFields(hedOutbreaks).map(({ name, kind }) => column(name, kind))
  return write([column('key', 'text'), ...fields], codec)
}

async function readRecords(directory: string) {
  const { files } = await openRelease(directory)
  const findings = collectFindings()
  const rows = []
  for await (const batch of validateRows(hedOutbreaks, files, findings))
    rows.push(
      ...batch.map(({ line, identity, cells }) => ({ line, identity, values: cells.map(({ value }) => value) })),
    )
  findings.throwIfErrors()
  return rows
}

const ROWS: Row[] = Array.from({ length: 2345 }, (_, i) => ({
  key: `k${i}`,
  location_granularity: 'admin1',
  admin_l1: i % 3 === 0 ? null : `Cañar ${i % 5}`,
  date_high: `2020-01-${String((i % 31) + 1).padStart(2, '0')}`,
  date_inferred: i % 2 === 0,
  latitude: i % 7 === 0 ? null : i / 100,
  longitude: i % 7 === 0 ? null : -i / 100,
  cases: i === 0 ? null : i * 1000,
  extra: i % 4 === 0 ? {} : { n: i, deep: { list: [1, 'a'] } },
}))

for (const codec of ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'ZSTD', 'BROTLI'] as const) {
  test(`Parquet written with ${codec} gives the records that NDJSON gives`, async () => {
    const parquet = await readRecords(await writeText('records.parquet', writeCanonical(ROWS, codec)))
    assert.deepEqual(parquet, await readRecords(await writeNdjson(ROWS)))
    assert.equal(parquet.length, ROWS.length)
  })
}

const someKey: ColumnSource = { name: 'key', data: ['a'], type: 'STRING' }
/** A canonical file of one record with the given column. */
function writeOne(column: ColumnSource): Buffer {
  const fields = inputFields(hedOutbreaks).filter(({ name }) => name !== column.name)
  const data = (name: string): ColumnSource => {
    const value = fullRow({ key: 'a' })[name] ?? null
    if (typeof value === 'boolean') return { name, data: [value], type: 'BOOLEAN' }
    return { name, data: [name === 'extra' ? '{}' : value], type: 'STRING' }
  }
  return write([someKey, ...fields.map(({ name }) => data(name)), column])
}
const readOne = async (column: ColumnSource) => {
  const [row] = await readRecords(await writeText('a.parquet', writeOne(column)))
  return row?.values[hedOutbreaks.content.findIndex(({ name }) => name === column.name)]
}

const values: [title: string, column: ColumnSource, value: unknown][] = [
  ['a date of the type DATE', { name: 'date_high', data: [new Date(18_322 * DAY)] }, '2020-03-01'],
  ['a whole number of 32 bits', { name: 'cases', data: [7], type: 'INT32' }, 7],
  ['a whole number written as a fraction', { name: 'cases', data: [7], type: 'DOUBLE' }, 7],
  ['an object as text', { name: 'extra', data: ['{"a":1}'], type: 'STRING' }, { a: 1 }],
  ['an object of the type JSON', { name: 'extra', data: [{ a: [1] }], type: 'JSON' }, { a: [1] }],
  ['a null object', { name: 'extra', data: [null], type: 'STRING' }, {}],
]
for (const [title, column, value] of values) {
  test(`${title} is read as ${JSON.stringify(value)}`, async () => assert.deepEqual(await readOne(column), value))
}

const invalidColumns: [title: string, column: ColumnSource, message: RegExp][] = [
  ['a number too large for JSON', { name: 'cases', data: [2n ** 60n], type: 'INT64' }, /cases: must be a whole number/],
  [
    'a time of day',
    { name: 'date_high', data: [new Date(0)], type: 'TIMESTAMP' },
    /date_high: must be a date that exists/,
  ],
  ['text that is not an object', { name: 'extra', data: ['[1]'], type: 'STRING' }, /extra: must be a JSON object/],
]
for (const [title, column, message] of invalidColumns) {
  test(`${title} is rejected with the number of its row`, async () => {
    await assert.rejects(readOne(column), (error) => {
      assert(error instanceof InputError, String(error))
      assert.match(error.message, message)
      assert.equal(error.findings[0]?.line, 1)
      return true
    })
  })
}

test('missing and unknown columns are reported once, not for every row', async () => {
  const file = write([someKey, { name: 'colour', data: ['red'], type: 'STRING' }])
  const { records, findings } = await validateRelease(hedOutbreaks, await writeText('a.parquet', file))
  assert.equal(records, 0)
  const of = (rule: string) => findings.filter((finding) => finding.rule === rule)
  assert.deepEqual([of('unknown').length, of('required').length], [1, requiredFields(hedOutbreaks).length])
})

test('with a mapping the cells are the texts that CSV would have', async () => {
  const file = write([
    { name: 'place', data: ['Lima', null, 'Cusco'], type: 'STRING' },
    { name: 'day', data: [0, 1, 18_322].map((days) => new Date(days * DAY)) },
    { name: 'count', data: [3n, null, 2n ** 60n], type: 'INT64' },
    { name: 'share', data: [0.5, 2, null], type: 'DOUBLE' },
    { name: 'sure', data: [true, false, null], type: 'BOOLEAN' },
    { name: 'more', data: [{ a: 1 }, null, {}], type: 'JSON' },
  ])
  const mapping = {
    key: ['share', 'sure', 'more'],
    columns: { locality: 'place', date_high: { from: 'day', date: 'YYYY-MM-DD' }, cases: 'count' },
  }
  const columns = ['key', 'locality', 'date_high', 'cases']
  const { rows } = await readMapped(await writeMapped(mapping, { written: { 'a.parquet': file } }), columns)
  assert.deepEqual(
    rows.map(({ line, cells }) => [line, ...Object.values(cells)]),
    [
      [1, '0.5|true|{"a":1}', 'Lima', '1970-01-01', '3'],
      [2, '2|false|', '', '1970-01-02', ''],
      [3, '||{}', 'Cusco', '2020-03-01', '1152921504606846976'],
    ],
  )
})

const assertRejected = async (bytes: Buffer, message: RegExp) => {
  const directory = await writeText('a.parquet', bytes)
  await assert.rejects(readRecords(directory), (error) => {
    assert(error instanceof InputError, String(error))
    assert.match(error.message, message)
    return true
  })
  assert.deepEqual((await validateRelease(hedOutbreaks, directory)).findings[0]?.file, 'a.parquet')
}
const VALID_FILE = writeCanonical(ROWS.slice(0, 250))
const damaged: [title: string, bytes: Buffer][] = [
  ['of no bytes', Buffer.alloc(0)],
  ['of text', Buffer.from('key,event\na,b\n')],
  ['truncated in the middle', VALID_FILE.subarray(0, VALID_FILE.length / 2)],
  ['without its last byte', VALID_FILE.subarray(0, -1)],
  ['without its first bytes', VALID_FILE.subarray(100)],
  ['with zeros in the middle', Buffer.from(VALID_FILE).fill(0, 1000, 5000)],
]
for (const [title, bytes] of damaged) {
  test(`a file ${title} is rejected with its name`, () =>
    assertRejected(bytes, /a\.parquet:0: cannot be read as Parquet/))
}

test('text that is not UTF-8 is rejected and never replaced', async () => {
  const file = writeOne({ name: 'locality', data: ['Canar'], type: 'STRING' })
  const at = file.indexOf('Canar')
  await assertRejected(Buffer.from(file).fill(0xf1, at + 2, at + 3), /a\.parquet:0: cannot be read as Parquet/)
})

test('a file that is listed but does not exist is rejected with its name', async () => {
  const directory = await writeMapped({ key: ['a'], columns: { event: 'a' } }, { linked: { 'a.parquet': '/nowhere' } })
  await assert.rejects(readMapped(directory, ['key', 'event']), /a\.parquet:0: cannot be read as Parquet \(ENOENT/)
})

const readAll = async (file: string, timeoutMs: number) => {
  for await (const batch of readParquet(file, 'a.parquet', { timeoutMs })) assert(batch.length > 0)
}

test('a decoder that exceeds its timeout is ended, and the file is rejected', async () => {
  const file = path.join(await writeText('a.parquet', VALID_FILE), 'a.parquet')
  await assert.rejects(readAll(file, 1), /a\.parquet:0: cannot be read as Parquet \(not decoded within 0\.001 s\)/)
})

test('a file with a damaged byte at any position is read or rejected, with no other error', async () => {
  const file = path.join(await writeText('a.parquet', VALID_FILE), 'a.parquet')
  const positions = Array.from({ length: 30 }, (_, i) => 3 + i * Math.floor(VALID_FILE.length / 30))
  let rejected = 0
  for (const at of positions) {
    const bytes = Buffer.from(VALID_FILE)
    bytes[at] = (bytes[at] ?? 0) ^ 0xff
    await writeFile(file, bytes)
    await readAll(file, 2000).catch((error: unknown) => {
      assert(error instanceof InputError, `at byte ${at}: ${String(error)}`)
      rejected += 1
    })
  }
  assert(rejected > 10, `${rejected} of ${positions.length}`)
})
