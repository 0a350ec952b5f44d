// A second dataset works like the first: its tables come from its declaration, and no route or command knows its name.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { parquetReadObjects } from 'hyparquet'
import pg from 'pg'
import { formatTablesSql } from '../../../dev/dataset-tables.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { exportRelease } from '../../../src/publish/export/export-files.ts'
import { pruneReleases } from '../../../src/publish/prune.ts'
import { publishRelease } from '../../../src/publish/publish.ts'
import { rollbackTo } from '../../../src/publish/rollback.ts'
import { openDirectoryStore } from '../../../src/storage/files/directory-store.ts'
import { createTestDatabase } from '../../database.ts'
import { writeNdjson, writeText } from '../../fixtures/releases.ts'
import { openRoutes } from '../../fixtures/routes.ts'
import { wastewater } from './wastewater.ts'

const url = await createTestDatabase()
await runSql(formatTablesSql(wastewater))
const routes = await openRoutes({ dataset: wastewater, url })
const { operator } = routes
const HOME = '/v2/wastewater'
const SAMPLES = `${HOME}/samples`

async function runSql(text: string) {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query<Record<string, unknown>>(text)
  await client.end()
  return rows
}

type Sample = { key: string; copies: number | null; day: string; plant?: string; remark?: string }
const toRow = ({ key, copies, day, plant = 'North', remark }: Sample) => ({
  ...{ key, event: 'Poliovirus_Testland_2024', plant, counting: 'cumulative', copies, remark: remark ?? null },
  ...{ sampled_from: null, sampled_to: day, published: null, source_name: 'Laboratory A', more: { pump: 1 } },
})
const toText = (selected: readonly Sample[]) => selected.map((sample) => `${JSON.stringify(toRow(sample))}\n`).join('')

const samples: Sample[] = [
  { key: 'a', copies: 10, day: '2024-01-01' },
  { key: 'b', copies: 30, day: '2024-01-08', remark: 'Heavy rain; pumps "off".' },
  { key: 'c', copies: 25, day: '2024-01-15' },
  { key: 'd', copies: 7, day: '2024-01-01', plant: 'South' },
]

test('its tables are of the same form as those of the first dataset', async () => {
  const describe = (table: string) =>
    runSql(`
      select replace(relname, '${table}', '') as name, relkind, relacl::text from pg_class
      where relname like '${table}\\_%' and relname !~ '_version_|_event|_series' order by 1`)
  assert.deepEqual(await describe(wastewater.table), await describe(hedOutbreaks.table))
})

test('it can be published independently of the first dataset', async () => {
  const other = await publishRelease(operator, hedOutbreaks, await writeNdjson([{ key: 'x' }]))
  assert.equal(other.release, 1)
  const text = toText(samples)
  const first = await publishRelease(operator, wastewater, await writeText('samples.ndjson', text))
  assert.deepEqual([first.release, first.records, first.added], [1, 4, 4])
  const late = text.replace('null,"sampled_to"', '"2025-01-01","sampled_to"')
  const invalid = publishRelease(operator, wastewater, await writeText('samples.ndjson', late))
  await assert.rejects(invalid, /is before sampled_from/)
  await routes.refresh()
})

test('its records are read by cursor and by offset, with and without a filter', async () => {
  const records = await routes.walk(SAMPLES, { num: 2 })
  assert.deepEqual(
    Object.keys(records[0] ?? {}),
    wastewater.fields.map(({ name }) => name),
  )
  assert.deepEqual(
    records.map(({ id, copies, line_break }) => [id, copies, line_break]),
    [
      [1, 10, false],
      [2, 30, false],
      [3, 25, true],
      [4, 7, false],
    ],
  )
  const { text } = await routes.get('/v1/wastewater/samples', { offset: 1, num: 2 })
  assert.deepEqual(JSON.parse(text), records.slice(1, 3))
  assert.deepEqual(await routes.walk(SAMPLES, { plant: 'South' }), records.slice(3))
  assert.deepEqual(await routes.walk(SAMPLES, { sampled_from: '2024-01-02', num: 1 }), records.slice(1, 3))
  assert.deepEqual(JSON.parse((await routes.get(`${HOME}/event-names`)).text), ['Poliovirus_Testland_2024'])
  await routes.assertProblem(SAMPLES, { country_code: 'FR' }, 400, 'unknown_parameter', 'country_code')
})

test('it has facets, series, a schema and a citation, but no summaries of events', async () => {
  const facets = JSON.parse((await routes.get(`${HOME}/facets`)).text) as Record<string, { values: unknown }>
  assert.deepEqual(Object.keys(facets), ['event', 'plant', 'counting', 'source_name'])
  assert.deepEqual(facets['plant']?.values, [
    { value: 'North', records: 3 },
    { value: 'South', records: 1 },
  ])
  const series = JSON.parse(
    (await routes.get(`${HOME}/series`, { interval: 'isoweek', plant: 'North', detail: 'full' })).text,
  ) as {
    points: { period: string; new: { copies: number | null }; revision: boolean }[]
  }
  assert.deepEqual(
    series.points.map((point) => [point.period, point.new.copies, point.revision]),
    [
      ['2024-W01', null, false],
      ['2024-W02', 20, false],
      ['2024-W03', -5, true],
    ],
  )
  const schema = JSON.parse((await routes.get(`${HOME}/schema`)).text) as { title: string; required: string[] }
  assert.deepEqual([schema.title, schema.required.length], ['WastewaterSample', wastewater.fields.length])
  const citation = JSON.parse((await routes.get(`${HOME}/citation`)).text) as { sources: unknown[] }
  assert.deepEqual(citation.sources, [{ source_name: 'Laboratory A', records: 4 }])
  assert.equal((await routes.inject(`${HOME}/events`)).statusCode, 404)
})

test('changes, history, rollback and pruning work as for the first dataset', async () => {
  const changed = await writeText('samples.ndjson', toText([{ key: 'c', copies: 35, day: '2024-01-15' }]), { base: 1 })
  await writeFile(path.join(changed, 'withdrawn.csv'), 'key\nd\n')
  const second = await publishRelease(operator, wastewater, changed, { confirmedWithdrawn: 1 })
  assert.deepEqual([second.release, second.corrected, second.withdrawn], [2, 1, 1])
  await routes.refresh()
  const changes = await routes.walk(`${HOME}/changes`, { from: 1, to: 2 })
  assert.deepEqual(
    changes.map(({ id, change }) => [id, change]),
    [
      [3, 'corrected'],
      [4, 'withdrawn'],
    ],
  )
  const history = await routes.walk(`${SAMPLES}/3/history`)
  assert.deepEqual(
    history.map(({ record }) => {
      const { copies, line_break } = record as Record<string, unknown>
      return [copies, line_break]
    }),
    [
      [25, true],
      [35, false],
    ],
  )
  assert.equal((await rollbackTo(operator, wastewater, 1, 'Back.')).release, 3)
  await pruneReleases(operator, wastewater, 2)
  await routes.refresh()
  await routes.assertProblem(SAMPLES, { release: 1 }, 410, 'release_pruned')
  const copies = (await routes.walk(SAMPLES, { release: 3 })).map((record) => record['copies'])
  assert.deepEqual(copies, [10, 30, 25, 7])
})

test('it is exported as CSV, NDJSON and Parquet', async () => {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-files-'))
  after(() => rm(directory, { recursive: true, force: true }))
  const files = await exportRelease(operator, openDirectoryStore(directory), wastewater, 3)
  assert.deepEqual(
    files.map(({ name, records }) => [name, records]),
    [
      ['wastewater-3.csv.gz', 4],
      ['wastewater-3.ndjson.gz', 4],
      ['wastewater-3.parquet', 4],
    ],
  )
  const records = await routes.walk(SAMPLES, { release: 3 })
  const text = gunzipSync(await readFile(path.join(directory, 'wastewater-3.ndjson.gz'))).toString()
  const lines = text.trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line) as unknown),
    records,
  )
  const bytes = await readFile(path.join(directory, 'wastewater-3.parquet'))
  const rows = await parquetReadObjects({ file: new Uint8Array(bytes).buffer })
  assert.deepEqual(
    rows.map(({ id, copies, plant }) => [Number(id), copies, plant]),
    records.map(({ id, copies, plant }) => [id, copies, plant]),
  )
})
