// A filtered query as a file, read by other programs with the exact lines of docs/download-a-query.md: the same values and types
// as the JSON pages. A program that is not installed is skipped; pandas, pyarrow and geojson-pydantic belong to DUCKDB_PYTHON.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { parse } from 'csv-parse/sync'
import { newSettings, prepareDatabase, type Service, startService } from '../../../dev/service.ts'
import { columnType } from '../../../src/datasets/define.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { createTestDatabase } from '../../database.ts'
import { obtainToken } from '../../fixtures/api-client.ts'
import { type ReadRecord, readNdjsonFile } from '../../fixtures/read-files.ts'
import { type Row, writeNdjson } from '../../fixtures/releases.ts'
import { readResponse } from '../../fixtures/streamed-response.ts'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../../..')
const oracle = (name: string) => path.join(root, 'test/fixtures/oracle', name)
const page = await readFile(path.join(root, 'docs/download-a-query.md'), 'utf8')
const python = process.env['DUCKDB_PYTHON']

/** The code block of the page that contains a text. */
const blockWith = (text: string): string =>
  [...page.matchAll(/```\w+\n([^]*?)```/g)].map(([, code = '']) => code).find((code) => code.includes(text)) ??
  assert.fail(`the page has no code with ${text}`)
/** Without what the page prints. */
const programWith = (text: string): string => blockWith(text).replaceAll(/^print\(.*\n/gm, '')

function succeeds(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore', timeout: 60_000 })
    return true
  } catch {
    return false
  }
}

const Namibia = { country_code: 'NA', country: 'Namibia' }
const rows: Row[] = [
  { key: 'empty', ...Namibia },
  {
    key: 'full',
    ...{
      ...Namibia,
      pathogen_taxon_id: 666,
      disease: 'Cholera',
      host: 'human',
      latitude: -22.56,
      longitude: 17.083611,
    },
    ...{ date_low: '1854-08-31', date_high: '1970-01-01', date_report: '2024-02-29', cases: 2_147_483_647, deaths: 0 },
    ...{ composite: true, extra: { list: [1, 'two', null], text: 'a "b", c' } },
  },
  { key: 'quoted', ...Namibia, note: 'She said "stop", twice; then left.', cases: 12 },
  { key: 'formula', ...Namibia, note: '=1+1', location_granularity: 'locality', locality: '+x', admin_l1: '-y' },
  { key: 'at', ...Namibia, note: '@z', location_granularity: 'locality', locality: '-5a', admin_l1: 'NA' },
  { key: 'unicode', country_code: 'CI', country: 'Côte d’Ivoire', note: 'Ünïcödé 北京 🦠', date_low: '2020-02-29' },
  {
    key: 'missing-like',
    ...Namibia,
    note: 'null',
    location_granularity: 'locality',
    locality: 'None',
    admin_l1: 'NaN',
  },
  { key: 'other', country_code: 'DE', country: 'Germany' },
]
const QUESTION = 'country_code=NA&country_code=CI&release=1'

const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-query-'))
after(() => rm(directory, { recursive: true, force: true }))
const settings = newSettings(await createTestDatabase())
let service: Service
let token: string
let expected: ReadRecord[]
before(async () => {
  const credentials = await prepareDatabase(settings, await writeNdjson(rows))
  service = await startService(settings)
  token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
  const { body } = await readResponse(url(), { authorization: `Bearer ${token}` })
  expected = (JSON.parse(String(body)) as { data: ReadRecord[] }).data
  assert.equal(expected.length, rows.length - 1)
  for (const [type, name] of [
    ['text/csv', 'records.csv'],
    ['application/geo+json', 'records.geojson'],
    ['application/vnd.apache.parquet', 'records.parquet'],
    ['application/vnd.apache.arrow.stream', 'records.arrows'],
  ] as const) {
    const response = await readResponse(url(), { authorization: `Bearer ${token}`, accept: type })
    assert.equal(response.trailers['outbreaks-records'], String(expected.length))
    await writeFile(path.join(directory, name), response.body)
  }
})
after(() => service.stop())
const url = () => `${service.baseUrl}/v2/hed-outbreaks/outbreaks?${QUESTION}`

/** The types of the columns, and the records with `extra` parsed. */
function readOutput(stdout: string) {
  const [types = {}, ...records] = readNdjsonFile(Buffer.from(stdout))
  return { types, records: records.map((row) => ({ ...row, extra: JSON.parse(String(row['extra'])) as unknown })) }
}

/** The type of each column by its PostgreSQL type. */
const typesBy = (types: Record<string, string>, columns: object = typesOf(expected)) =>
  Object.fromEntries(
    hedOutbreaks.fields
      .filter(({ name }) => name in columns)
      .map((field) => [field.name, types[columnType(field)] ?? types['text']]),
  )
/** The columns that have a value. */
const typesOf = (records: readonly ReadRecord[]) =>
  Object.fromEntries(records.flatMap((row) => Object.entries(row).filter(([, value]) => value !== null)))

async function runIn(command: string, args: string[], name: string, code: string) {
  await writeFile(path.join(directory, name), code)
  const env = { ...process.env, LC_ALL: 'C.UTF-8' }
  return (await run(command, [...args, name], { cwd: directory, env, timeout: 120_000 })).stdout
}

test('curl: the exit code and the headers prove that the file is complete', async (t) => {
  if (!succeeds('curl', '--version')) return t.skip('curl is not installed')
  const command = blockWith('curl -sS --fail').replace(/\?[^"]*"/, `?${QUESTION}"`)
  const env = { ...process.env, H: `Authorization: Bearer ${token}`, API: service.baseUrl }
  await run('sh', ['-ec', command], { cwd: directory, env, timeout: 30_000 })
  const { stdout } = await run('sh', ['-ec', blockWith('openssl dgst')], { cwd: directory, env, timeout: 30_000 })
  const digest = hash('sha256', await readFile(path.join(directory, 'records.csv')), 'base64')
  assert.ok(stdout.includes('Outbreaks-Release: 1') || stdout.includes('outbreaks-release: 1'), stdout)
  assert.match(stdout, new RegExp(`outbreaks-records: ${expected.length}`, 'i'))
  assert.equal(stdout.split(digest).length - 1, 2, stdout)
})

const needsPandas = 'DUCKDB_PYTHON is not set to an interpreter with pandas, pyarrow and geojson-pydantic'
const hasPandas = python !== undefined && succeeds(python, '-c', 'import pandas, pyarrow, duckdb, geojson_pydantic')

test('pandas reads the CSV with the same values and types, and Namibia as NA', async (t) => {
  if (!hasPandas) return t.skip(needsPandas)
  const print = await readFile(oracle('print_frame.py'), 'utf8')
  const { types, records } = readOutput(await runIn(python, [], 'read_frame.py', programWith('pd.read_csv') + print))
  assert.deepEqual(records, expected)
  const named = { bigint: 'Int64', integer: 'Int64', 'double precision': 'Float64', boolean: 'boolean' }
  const dates = (name: string) => /^datetime64\[(us|ns|s)\]$/.test(String(types[name]))
  assert.deepEqual(
    Object.fromEntries(Object.entries(types).map(([name, type]) => [name, dates(name) ? 'date' : type])),
    typesBy({ ...named, date: 'date', text: 'string' }),
  )
})

test('pandas loses Namibia by default, which is why the page names the options', async (t) => {
  if (!hasPandas) return t.skip(needsPandas)
  const code = 'import pandas as pd\nprint(pd.read_csv("records.csv").country_code.isna().sum())\n'
  assert.equal((await runIn(python, [], 'read_default.py', code)).trim(), String(rows.length - 2))
})

test('pyarrow reads the Arrow stream with the same values and types', async (t) => {
  if (!hasPandas) return t.skip(needsPandas)
  const print = await readFile(oracle('print_frame.py'), 'utf8')
  const { types, records } = readOutput(await runIn(python, [], 'read_stream.py', programWith('pa.ipc') + print))
  assert.deepEqual(records, expected)
  const all = Object.fromEntries(hedOutbreaks.fields.map(({ name }) => [name, true]))
  const named = {
    bigint: 'int64',
    integer: 'int32',
    'double precision': 'double',
    boolean: 'bool',
    date: 'date32[day]',
  }
  assert.deepEqual(types, typesBy({ ...named, text: 'string' }, all))
})

test('DuckDB reads Parquet with the same values and types', async (t) => {
  if (python === undefined) return t.skip('DUCKDB_PYTHON is not set to an interpreter with duckdb')
  const { stdout } = await run(python, [oracle('read_files.py'), path.join(directory, 'records.parquet'), '{}'])
  const { types, records } = readOutput(stdout)
  assert.deepEqual(records, expected)
  const all = Object.fromEntries(hedOutbreaks.fields.map(({ name }) => [name, true]))
  const named = { bigint: 'BIGINT', integer: 'INTEGER', 'double precision': 'DOUBLE', boolean: 'BOOLEAN', date: 'DATE' }
  assert.deepEqual(types, typesBy({ ...named, text: 'VARCHAR' }, all))
  const query = `import duckdb\nprint(duckdb.sql("""${blockWith("'records.parquet'").replace(/;\s*$/, '')}"""))\n`
  assert.match(await runIn(python, [], 'run_query.py', query), /country_code/)
})

test('GeoJSON is valid by RFC 7946 and has the same values', async (t) => {
  if (!hasPandas) return t.skip(needsPandas)
  const { stdout } = await run(python, [oracle('check_geojson.py'), path.join(directory, 'records.geojson')])
  const features = readNdjsonFile(Buffer.from(stdout))
  assert.deepEqual(
    features,
    expected.map((record) => ({
      type: 'Feature',
      geometry:
        record['latitude'] === null ? null : { type: 'Point', coordinates: [record['longitude'], record['latitude']] },
      properties: record,
      id: record['id'],
    })),
  )
})

for (const [title, code, packages] of [
  ['R', 'read.csv(', ['jsonlite']],
  ['R with readr', 'readr::read_csv', ['jsonlite', 'readr']],
] as const) {
  test(`${title} reads the CSV with the same values and types, and Namibia as NA`, async (t) => {
    const libraries = packages.map((name) => `library(${name})`).join(';')
    if (!succeeds('Rscript', '-e', libraries)) return t.skip(`R with ${packages.join(' and ')} is not installed`)
    const print = await readFile(oracle('print_frame.R'), 'utf8')
    const { types, records } = readOutput(await runIn('Rscript', [], 'read.R', `${blockWith(code)}\n${print}`))
    assert.deepEqual(records, expected)
    const whole = title === 'R' ? 'integer' : 'numeric'
    const named = { bigint: whole, integer: whole, 'double precision': 'numeric', boolean: 'logical', date: 'Date' }
    assert.deepEqual(types, typesBy({ ...named, text: 'character' }))
  })
}

test('LibreOffice keeps every value of the CSV: NA, formulas, dates, numbers and text', async (t) => {
  if (!succeeds('soffice', '--version')) return t.skip('LibreOffice is not installed')
  const profile = `-env:UserInstallation=file://${directory}/profile`
  const convert = blockWith('soffice').replace('soffice', `soffice ${profile}`)
  await run('sh', ['-ec', convert], { cwd: directory, timeout: 120_000 })
  const back = ['--convert-to', 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false', '--outdir', 'back']
  await run('soffice', [profile, '--headless', ...back, 'records.ods'], { cwd: directory, timeout: 120_000 })
  const cells = async (name: string) => parse(await readFile(path.join(directory, name)), { relax_column_count: true })
  const original = await cells('records.csv')
  const converted = await cells('back/records.csv')
  const plain = (cell: string | undefined) => (/^(TRUE|FALSE)$/.test(cell ?? '') ? cell?.toLowerCase() : cell)
  assert.deepEqual(
    converted.map((line) => line.map(plain)),
    original,
  )
})
