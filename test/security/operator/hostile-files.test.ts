// Hostile and wrong input files: outbreakctl reports each of them with a sentence, soon and within its memory, and accepts the
// control beside it, which is just inside the limit. What check accepts, publish accepts, and no value changes on the way.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { ByteWriter, type ColumnSource, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer'
import { newSettings, outbreakctl } from '../../../dev/service.ts'
import { MAX_NUM } from '../../../src/api/requests/parameters.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import {
  MAX_COLUMNS,
  MAX_LINE_LENGTH,
  MAX_RECORD_BYTES,
  MAX_SETTINGS_BYTES,
  PARQUET_GROUP_BYTES,
  PARQUET_GROUP_CELLS,
  PARQUET_MEMORY_BYTES,
} from '../../../src/publish/input/limits.ts'
import { readParquet } from '../../../src/publish/input/parquet-file.ts'
import { validateRelease } from '../../../src/publish/validate/validate-release.ts'
import { createTestDatabase } from '../../database.ts'
import { requiredConstants, writeMapped } from '../../fixtures/mappings.ts'
import { fullRow, writeNdjson, writeText } from '../../fixtures/releases.ts'
import { runMeasured } from './measured-process.ts'

const MIB = 1 << 20
/** The program itself takes 1.5 s of CPU time and 160 MiB to start. */
const MAX_CPU_MS = 8000
const MAX_MIB = 600

interface Report {
  records: number
  errors: number
  findings: { line: number; column: string | null; rule: string; severity: string; message: string }[]
}

/** Checks a directory in a process, within the limits of CPU time and memory. */
async function check(directory: string, maxMib = MAX_MIB) {
  const { code, output, cpuMs, peakMib } = await runMeasured(['release', 'check', directory])
  assert.notEqual(code, null, 'the process exceeded its limits and was killed')
  assert.ok(cpuMs < MAX_CPU_MS && peakMib < maxMib, `${cpuMs} ms of CPU time, ${Math.round(peakMib)} MiB`)
  return { code, output, report: () => JSON.parse(output) as Report }
}

const rejects = async (directory: string, message: RegExp, maxMib?: number) => {
  const { code, output } = await check(directory, maxMib)
  assert.equal(code, 1, output)
  assert.match(output, message)
  assert.ok(output.length < 2000, `${output.length} characters of output`)
}

const header = (columns: number) => Array.from({ length: columns }, (_, i) => `c${i}`).join(',')

test('a header of 100,000 columns is rejected at once', async () => {
  await rejects(await writeText('a.csv', `${header(100_000)}\n`), /has 100000 columns; the limit is 10000/)
})

test('a table for a mapping has the same limit of columns', async () => {
  const mapping = { key: ['c0'], columns: requiredConstants }
  const directory = await writeMapped(mapping, { written: { 'a.csv': `${header(MAX_COLUMNS + 1)}\n` } })
  await assert.rejects(readAll(directory), /has 10001 columns; the limit is 10000/)
})

test('control: a header of 10,000 columns is read, and each unknown column is an error', async () => {
  const { report } = await check(await writeText('a.csv', `${header(MAX_COLUMNS)}\n`))
  assert.ok(report().errors >= MAX_COLUMNS)
  assert.equal(report().findings.filter(({ rule }) => rule === 'columns').length, 0)
})

/** Throws what check reports, and everything else that goes wrong. */
async function readAll(directory: string): Promise<Report> {
  const report = await validateRelease(hedOutbreaks, directory)
  assert.equal(report.errors, 0, report.findings.map(({ line, message }) => `${line}: ${message}`).join('\n'))
  return { ...report, findings: [...report.findings] }
}

for (const [name, start] of [
  ['a.ndjson', '{"event":"'],
  ['a.csv', ''],
  ['a.csv', '"'],
] as const) {
  test(`a line of 120 MB that begins with ${JSON.stringify(start)} in ${name} is rejected`, async () => {
    const directory = await writeText(name, start)
    // The rest is NUL bytes that take no space on the disk.
    await truncate(path.join(directory, name), 120_000_000)
    await rejects(directory, new RegExp(`more than ${MAX_LINE_LENGTH} characters`))
  })
}

test('control: lines of the maximum length are read, and their cells are rejected for another reason', async () => {
  const note = 'x'.repeat(MAX_LINE_LENGTH - 2000)
  const directory = await writeNdjson([{ key: 'a', note }])
  const { report } = await check(directory)
  assert.deepEqual(
    report().findings.map(({ rule }) => rule),
    ['length'],
  )
  await rm(path.join(directory, 'records.ndjson'))
  await writeFile(path.join(directory, 'a.csv'), `key,note\na,"${note}"\n`)
  assert.ok((await check(directory)).report().findings.every(({ rule }) => rule === 'required'))
})

for (const name of ['a.ndjson', 'a.csv', 'a.parquet', 'release.json', 'mapping.json']) {
  test(`a named pipe as ${name} is rejected, and not waited for`, { timeout: 20_000 }, async () => {
    const directory = await writeText('b.csv', 'key\n')
    await rm(path.join(directory, name), { force: true })
    execFileSync('mkfifo', [path.join(directory, name)])
    // In a process for the first: without the guard it never ends, and the test kills it.
    if (name === 'a.ndjson') await rejects(directory, /is not a regular file/)
    else await assert.rejects(readAll(directory), /is not a regular file/)
  })
}

for (const [title, place] of [
  ['a device', (file: string) => symlink('/dev/zero', file)],
  ['a directory', (file: string) => mkdir(file)],
] as const) {
  for (const name of ['a.csv', 'a.parquet', 'mapping.json'])
    test(`${title} as ${name} is rejected`, { timeout: 20_000 }, async () => {
      const directory = await writeText('b.csv', 'key\n')
      await place(path.join(directory, name))
      // A link that leads out of the directory is not followed for a mapping.
      await assert.rejects(readAll(directory), /is not (a regular file|in the release directory)/)
    })
}

test('control: a symbolic link to a regular file is read', async () => {
  const directory = await writeNdjson([{ key: 'a' }])
  await symlink(path.join(await writeNdjson([{ key: 'b' }]), 'records.ndjson'), path.join(directory, 'b.ndjson'))
  assert.equal((await readAll(directory)).records, 2)
})

test('release.json has a maximum size', async () => {
  const directory = await writeNdjson([{ key: 'a' }])
  const write = (length: number) =>
    writeFile(path.join(directory, 'release.json'), '{"title":"t","licence":"l"}'.padEnd(length))
  await write(MAX_SETTINGS_BYTES)
  assert.equal((await readAll(directory)).records, 1)
  await write(MAX_SETTINGS_BYTES + 1)
  await assert.rejects(readAll(directory), new RegExp(`is larger than ${MAX_SETTINGS_BYTES} bytes`))
})

/** Writes Parquet. `change` may make the file declare something else than it has. */
async function writeParquet(
  data: readonly unknown[],
  change: (writer: ParquetWriter) => void = () => {},
  page?: Uint8Array,
) {
  const columnData: ColumnSource[] = [{ name: 'key', data: [...data], type: 'STRING' }]
  const bytes = new ByteWriter()
  const writer = new ParquetWriter({
    writer: bytes,
    schema: schemaFromColumnData({ columnData }),
    statistics: false,
    ...(page && { codec: 'ZSTD' as const, compressors: { ZSTD: () => page } }),
  })
  await writer.write({ columnData, rowGroupSize: data.length, pageSize: 1 << 30 })
  change(writer)
  await writer.finish()
  const mapping = { key: ['key'], columns: requiredConstants }
  return writeMapped(mapping, { written: { 'a.parquet': Buffer.from(bytes.getBuffer()) } })
}

/** A frame of Zstandard in which each four bytes stand for 128 KiB of zeros. */
function zstdBomb(blocks: number): Uint8Array {
  const [type, size] = [1 << 1, (1 << 17) << 3]
  const frame = Buffer.alloc(6 + blocks * 4)
  frame.set([0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3])
  for (let i = 0; i < blocks; i++) frame.writeUIntLE(size | type | (i === blocks - 1 ? 1 : 0), 6 + i * 4, 3)
  return frame
}

test('Parquet: a page of 160 KB that decompresses to 5 GB is rejected', async () => {
  await rejects(await writeParquet(['a'], undefined, zstdBomb(40_000)), /cannot be read as Parquet/)
})

test('Parquet: a row group that declares too many cells or bytes is rejected before it is read', async () => {
  const cells = await writeParquet(['a'], ({ row_groups: [group] }) => {
    if (group !== undefined) group.num_rows = BigInt(PARQUET_GROUP_CELLS + 1)
  })
  await rejects(cells, /row group 1 is too large: 1 columns, 134217729 cells.*Write smaller row groups/)
  const bytes = await writeParquet(['a'], ({ row_groups: [group] }) => {
    const column = group?.columns[0]?.meta_data
    if (column !== undefined) column.total_uncompressed_size = BigInt(PARQUET_GROUP_BYTES + 1)
  })
  await assert.rejects(readAll(bytes), /536870913 bytes uncompressed.*Write smaller row groups/)
})

test('Parquet: a page with more values than the row group declares is ended when it takes too much memory', async () => {
  const directory = await writeParquet(new Array<string>(2_000_000).fill('a'), ({ row_groups: [group] }) => {
    if (group !== undefined) group.num_rows = 10n
  })
  const read = async (memoryBytes: number) => {
    let rows = 0
    for await (const batch of readParquet(path.join(directory, 'a.parquet'), 'a.parquet', { memoryBytes }))
      rows += batch.length
    return rows
  }
  await assert.rejects(read(20 * MIB), /cannot be read as Parquet \(takes more than 20 MiB of memory\)/)
  // The control: the header and the ten rows.
  assert.equal(await read(PARQUET_MEMORY_BYTES), 11)
})

test('control: Parquet of thirty thousand rows is read', async () => {
  const { report } = await check(await writeParquet(Array.from({ length: 30_000 }, (_, i) => `k${i}`)))
  assert.deepEqual([report().records, report().errors], [30_000, 0])
})

/** Values that a program may change, reject late or fail on. */
const values: [title: string, json: string, rule: string | null][] = [
  ['half of a surrogate pair in extra', '"extra":{"a":"\\ud800"}', 'type'],
  ['half of a surrogate pair as a key in extra', '"extra":{"\\udc00":1}', 'type'],
  ['NUL in extra', '"extra":{"a":"\\u0000"}', 'type'],
  ['half of a surrogate pair in a text', '"note":"\\ud800"', 'type'],
  ['NUL in a text', '"note":"a\\u0000b"', 'type'],
  ['an event of 9,000 characters', `"event":"${'e'.repeat(9000)}"`, 'length'],
  ['an event of 201 characters', `"event":"${'é'.repeat(201)}"`, 'length'],
  ['an event of 200 characters', `"event":"${'é'.repeat(200)}"`, null],
  ['extra nested 6,000 deep', `"extra":{"a":${'['.repeat(6000)}${']'.repeat(6000)}}`, 'depth'],
  ['extra nested 11 deep', `"extra":{"a":${'['.repeat(10)}${']'.repeat(10)}}`, 'depth'],
  ['extra nested 10 deep', `"extra":{"a":${'['.repeat(9)}1${']'.repeat(9)}}`, null],
  ['1e400 in extra', '"extra":{"a":1e400}', 'number'],
  ['an integer of 30 digits in extra', `"extra":{"a":${'123456789'.repeat(4).slice(0, 30)}}`, 'number'],
  ['the first integer that is not exact', '"extra":{"a":9007199254740993}', 'number'],
  ['the last integer that is exact', '"extra":{"a":9007199254740991,"b":1e300,"c":0.1}', null],
  ['a fraction of 20 digits', '"latitude":1.2345678901234567890,"longitude":1', 'number'],
  ['a fraction of 16 digits', '"latitude":1.234567890123456,"longitude":1', null],
  ['a key twice', '"cases":1,"cases":2', 'repeated_key'],
  ['a key twice in extra', '"extra":{"a":[{"b":1,"b":1}]}', 'repeated_key'],
  ['the same key in several objects', '"extra":{"a":{"a":1},"b":[{"a":1},{"a":2}]}', null],
  ['__proto__ in extra', '"extra":{"__proto__":{"a":1},"constructor":2}', null],
  ['every second character outside the BMP', `"note":"${'𝒜a'.repeat(1000)}"`, null],
  ['more text than a record may have', `"extra":{"a":"${'𝒜'.repeat(9900)}"}`, 'length'],
  ['a long text in extra', `"extra":{"a":"${'x'.repeat(9900)}"}`, null],
]
const toLine = (key: string, json: string) => {
  const replaced = new Set(Object.keys(JSON.parse(`{${json}}`) as object))
  const row = Object.entries({ ...fullRow({ key }), note: undefined, event: 'Cholera_Testland_2020' })
  const text = JSON.stringify(Object.fromEntries(row.filter(([name]) => !replaced.has(name))))
  return `${text.slice(0, -1)},${json}}`
}

test('what check accepts, publish accepts and returns unchanged; the rest has a rule', async (t) => {
  const settings = newSettings(await createTestDatabase())
  const store = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-files-'))
  after(() => rm(store, { recursive: true, force: true }))
  process.env['OUTBREAKS_FILES'] = store
  const directory = await writeText('a.ndjson', values.map(([, json], i) => `${toLine(`k${i}`, json)}\n`).join(''))
  const checked = (await check(directory)).report()
  const errors = new Map(
    checked.findings.filter(({ severity }) => severity === 'error').map(({ line, rule }) => [line, rule]),
  )
  for (const [i, [title, , rule]] of values.entries())
    await t.test(`${title}: ${rule ?? 'accepted'}`, () => assert.equal(errors.get(i + 1) ?? null, rule))
  const accepted = values.filter(([, , rule]) => rule === null)

  await t.test('publish rejects the same rows', () =>
    assert.rejects(
      outbreakctl(settings, 'release', 'publish', directory),
      new RegExp(`${values.length - accepted.length} rows are invalid`),
    ),
  )
  await t.test('the rejected rows can be confirmed: what they contain is stored', async () => {
    const count = String(values.length - accepted.length)
    const published = await outbreakctl<{ records: number; release: number }>(
      ...[settings, 'release', 'publish', directory, '--confirm-rejected', count],
    )
    assert.equal(published.records, accepted.length)
  })
  await t.test('the published records have the values of the input', async () => {
    const text = gunzipSync(await readFile(path.join(store, 'hed-outbreaks-1.ndjson.gz'))).toString()
    const lines = text.trim().split('\n')
    assert.equal(lines.length, accepted.length)
    for (const [i, [title, json]] of accepted.entries())
      for (const [name, value] of Object.entries(JSON.parse(`{${json}}`) as Record<string, unknown>))
        assert.deepEqual((JSON.parse(lines[i] ?? '') as Record<string, unknown>)[name], value, title)
  })
})

test('JSON in CSV has the same rules', async () => {
  const columns = Object.keys(fullRow({ key: 'a' }))
  const line = (change: Record<string, string>) =>
    columns
      .map((name) => change[name] ?? fullRow({ key: 'a' })[name] ?? '')
      .map((cell) => `"${String(typeof cell === 'object' ? JSON.stringify(cell) : cell).replaceAll('"', '""')}"`)
      .join(',')
  const write = (change: Record<string, string>) => writeText('a.csv', `${columns.join(',')}\n${line(change)}\n`)
  assert.equal((await readAll(await write({ latitude: '1.234567890123456', longitude: '1' }))).records, 1)
  for (const change of [{ latitude: '1.23456789012345678901', longitude: '1' }, { extra: '{"a":1e400}' }])
    await assert.rejects(readAll(await write(change)), /cannot be represented exactly/)
  await assert.rejects(readAll(await write({ extra: '{"a":1,"a":2}' })), /contains the key "a" twice/)
})

for (const [title, manifest] of [
  ['NUL in the title', { title: 'a\0b' }],
  ['half of a surrogate pair in the note', { note: '\ud800' }],
  ['NUL in an event of the reasons', { reasons: { events: { 'a\0': { added: 'new_report' } } } }],
  ['an event of 9,000 characters in the reasons', { reasons: { events: { ['e'.repeat(9000)]: {} } } }],
] as const) {
  test(`release.json: check rejects ${title}, which cannot be published`, async () => {
    await assert.rejects(readAll(await writeNdjson([{ key: 'a' }], manifest)), /release\.json/)
  })
}

test('check reads withdrawn.csv, which publish reads', async () => {
  const directory = await writeNdjson([{ key: 'a' }], { base: 1 })
  await writeFile(path.join(directory, 'withdrawn.csv'), 'key\nb\n')
  assert.equal((await readAll(directory)).records, 1)
  await writeFile(path.join(directory, 'withdrawn.csv'), 'id\nnone\n')
  await assert.rejects(readAll(directory), /must be a positive whole number/)
})

test('a page of the largest records has at most 32 MiB', () => {
  assert.ok(MAX_RECORD_BYTES * MAX_NUM <= 32 * MIB)
})
