// A filtered query as one file: in every format the records of the JSON pages, complete or broken, and within limits.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { before, beforeEach, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { DataType, tableFromIPC } from 'apache-arrow'
import { parquetMetadataAsync } from 'hyparquet'
import { recordFormats, recordMediaTypes } from '../../../src/api/response/record-formats.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { Problem } from '../../../src/platform/problem.ts'
import {
  type ReadRecord,
  readCsvFile,
  readNdjsonFile,
  readParquetFile,
  toAsyncBuffer,
} from '../../fixtures/read-files.ts'
import { HOME, openRoutes, type Query, type Row } from '../../fixtures/routes.ts'
import { readStoredRecords } from '../../fixtures/stored-records.ts'
import { readResponse, startRequest } from '../../fixtures/streamed-response.ts'
import { wrapQueries } from '../../fixtures/wrap-queries.ts'

const RECORDS = 3000
const CSV = 'text/csv'
const rows: Row[] = Array.from({ length: RECORDS }, (_, i) => ({
  key: `k${i}`,
  event: `Event_${i % 7}`,
  ...(i % 3 === 0 ? { country_code: 'NA', country: 'Namibia' } : {}),
  ...(i % 2 === 0 ? { latitude: -22.5 + i / 1000, longitude: 17.25 } : {}),
  ...(i % 5 === 0 ? { cases: i, deaths: 0, date_low: '1919-12-31', date_high: '2020-02-29' } : {}),
  note: i % 4 === 0 ? 'She said "no", twice; Côte d’Ivoire' : i % 4 === 1 ? '=1+1' : null,
  extra: i % 6 === 0 ? { deep: [1, 'a, b'] } : {},
}))

const { control, wrapDatabase } = wrapQueries()
const routes = await openRoutes({ wrapDatabase })
let base: string
before(async () => {
  await routes.publish(rows)
  await routes.publish([...rows.slice(1), { key: 'later' }])
  await routes.refresh()
  base = await routes.listen()
})
beforeEach(() => void Object.assign(control, { queries: 0, delayMs: 0, fail: () => undefined }))

const urlOf = (query: Query = {}) =>
  `${base}${HOME}/outbreaks?${new URLSearchParams(Object.entries(query).map(([k, v]): [string, string] => [k, String(v)]))}`
const read = (accept: string, query: Query = {}) => readResponse(urlOf(query), { accept })

function readArrow(bytes: Buffer): ReadRecord[] {
  const table = tableFromIPC(bytes)
  return table.toArray().map((row) =>
    Object.fromEntries(
      table.schema.fields.map(({ name, type }) => {
        const value: unknown = row[name]
        if (value === null) return [name, null]
        if (DataType.isDate(type)) return [name, new Date(value as number).toISOString().slice(0, 10)]
        return [name, name === 'extra' ? JSON.parse(value as string) : name === 'id' ? Number(value) : value]
      }),
    ),
  )
}

interface FeatureCollection {
  type: string
  features: { type: string; id: number; geometry: { coordinates: number[] } | null; properties: ReadRecord }[]
  outbreaks: object
}

const readers: Record<keyof typeof recordFormats, (bytes: Buffer) => ReadRecord[] | Promise<ReadRecord[]>> = {
  'text/csv': (bytes) => readCsvFile(hedOutbreaks, bytes),
  'application/x-ndjson': readNdjsonFile,
  'application/geo+json': (bytes) =>
    (JSON.parse(String(bytes)) as FeatureCollection).features.map(({ properties }) => properties),
  'application/vnd.apache.parquet': (bytes) => readParquetFile(hedOutbreaks, bytes),
  'application/vnd.apache.arrow.stream': readArrow,
}

const questions: [title: string, query: Query][] = [
  ['all records', {}],
  ['an earlier release', { release: 1 }],
  ['a filter', { event: 'Event_3', country_code: 'NA' }],
  ['a filter on days', { date_from: '2020-01-01', date_to: '2020-12-31' }],
  ['a filter that no record matches', { event: 'Absent' }],
  ['selected fields', { fields: 'country_code,cases,date_low', event: 'Event_0' }],
  ['selected fields of all records', { fields: 'id,composite,extra' }],
]

for (const type of recordMediaTypes) {
  describe(type, () => {
    for (const [title, query] of questions) {
      test(`${title}: the records of the JSON pages, with trailers that prove it`, async () => {
        const expected = await routes.walk(`${HOME}/outbreaks`, { ...query, num: 1000 })
        const { status, headers, trailers, body } = await read(type, query)
        assert.equal(status, 200, String(body))
        assert.deepEqual(await readers[type](body), expected)
        assert.equal(headers.trailer, 'Outbreaks-Records, Content-Digest')
        assert.deepEqual(trailers, {
          'outbreaks-records': String(expected.length),
          'content-digest': `sha-256=:${hash('sha256', body, 'base64')}:`,
        })
        const { contentType, extension } = recordFormats[type]
        const release = String(query['release'] ?? 2)
        assert.equal(headers['content-type'], contentType)
        assert.equal(headers['outbreaks-release'], release)
        assert.equal(
          headers['content-disposition'],
          `attachment; filename="hed-outbreaks-${release}-selection.${extension}"`,
        )
        assert.equal(headers.vary, 'accept, accept-encoding')
        assert.equal(headers['content-length'], undefined)
      })
    }
  })
}

test('CSV and NDJSON of a complete release have the bytes of the files of the release', async () => {
  const { body } = await read('application/x-ndjson')
  const stored = await readStoredRecords(routes.api, 2)
  assert.equal(String(body), stored.map((record) => `${record}\n`).join(''))
})

test('GeoJSON has a point or a null geometry, whichever fields are selected, and ends with the number of records', async () => {
  const { body } = await read('application/geo+json', { event: 'Event_3', fields: 'note' })
  const { type, features, outbreaks } = JSON.parse(String(body)) as FeatureCollection
  const records = await routes.walk(`${HOME}/outbreaks`, { event: 'Event_3' })
  assert.deepEqual(
    features.map(({ id, geometry }) => [id, geometry?.coordinates ?? null]),
    records.map(({ id, longitude, latitude }) => [id, latitude === null ? null : [longitude, latitude]]),
  )
  assert.deepEqual([type, outbreaks], ['FeatureCollection', { release: 2, records: records.length, complete: true }])
  assert.ok(
    features.every((feature) => feature.type === 'Feature' && Object.keys(feature.properties).join() === 'note'),
  )
})

test('Parquet and Arrow name the dataset and the release; Arrow ends with the end-of-stream marker', async () => {
  const parquet = await read('application/vnd.apache.parquet', { release: 1 })
  const { key_value_metadata } = await parquetMetadataAsync(toAsyncBuffer(parquet.body))
  const expected = { 'outbreaks.dataset': 'hed-outbreaks', 'outbreaks.release': '1' }
  assert.deepEqual(Object.fromEntries((key_value_metadata ?? []).map(({ key, value }) => [key, value])), expected)
  const arrow = await read('application/vnd.apache.arrow.stream', { release: 1 })
  assert.deepEqual(Object.fromEntries(tableFromIPC(arrow.body).schema.metadata), expected)
  assert.equal(arrow.body.subarray(-8).toString('hex'), 'ffffffff00000000')
})

test('JSON stays the same without Accept, with a range, and where no type is acceptable', async () => {
  const query = { event: 'Event_3', num: 5 }
  const comparable = async (headers: Record<string, string>) => {
    const { status, body, headers: received } = await readResponse(urlOf(query), headers)
    const { date: _date, 'x-request-id': _id, ...rest } = received
    return { status, headers: rest, body: String(body) }
  }
  const expected = await comparable({})
  assert.equal(expected.status, 200)
  assert.equal(expected.headers['content-type'], 'application/json; charset=utf-8')
  assert.equal(expected.headers['trailer'], undefined)
  for (const accept of [
    ...['*/*', 'application/json', 'application/*', 'text/*', 'image/png', 'text/csv;q=0', ',;'],
    ...['text/csv;q=0.5, application/json', 'application/json, text/csv', '*/*, text/csv;q=0.9'],
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  ])
    assert.deepEqual(await comparable({ accept }), expected, accept)
})

for (const accept of ['TEXT/CSV', 'text/csv; charset=utf-8', 'text/html, text/csv;q=0.9, */*;q=0.1']) {
  test(`${accept} selects CSV`, async () => {
    const { headers } = await read(accept, { event: 'Event_3' })
    assert.match(headers['content-type'] ?? '', /^text\/csv/)
  })
}

for (const [query, parameter] of [
  [{ num: 10 }, 'num'],
  [{ page: 'x' }, 'page'],
  [{ sort: '-cases' }, 'sort'],
  [{ release: 9 }, 'release'],
  [{ fields: 'evnt' }, 'fields'],
  [{ evnt: 'x' }, 'evnt'],
] as [Query, string][]) {
  test(`400 for ${JSON.stringify(query)}`, async () => {
    const { status, body, headers } = await read(CSV, query)
    assert.deepEqual([status, (JSON.parse(String(body)) as { parameter: string }).parameter], [400, parameter])
    assert.equal(headers['content-type'], 'application/problem+json')
    assert.equal(headers['content-disposition'], undefined)
  })
}

test('count=exact names the number of records before the first of them, and strict=true refuses a mixture', async () => {
  const { headers, trailers } = await read(CSV, { event: 'Event_3', count: 'exact' })
  assert.equal(headers['outbreaks-count'], trailers['outbreaks-records'])
  const strict = await read(CSV, { event: 'Event_3', strict: 'true' })
  assert.deepEqual([strict.status, (JSON.parse(String(strict.body)) as { code: string }).code], [400, 'not_comparable'])
})

test('HEAD has the headers and reads no record', async () => {
  const { status, headers, body } = await readResponse(urlOf(), { accept: CSV }, 'HEAD')
  assert.deepEqual([status, body.length, control.queries], [200, 0, 0])
  assert.match(headers['content-type'] ?? '', /^text\/csv/)
  assert.equal(headers['content-length'], undefined)
})

test('400 over HTTP/1.0, whose clients cannot recognise a broken response', async () => {
  const socket = connect(Number(new URL(base).port), '127.0.0.1')
  socket.end(`GET ${HOME}/outbreaks HTTP/1.0\r\naccept: ${CSV}\r\n\r\n`)
  const parts: Buffer[] = []
  for await (const part of socket) parts.push(part as Buffer)
  assert.match(String(Buffer.concat(parts)), /^HTTP\/1\.1 400 .*This format needs HTTP\/1\.1/s)
})

test('an error before the first record has its status', async () => {
  control.fail = () => new Problem('unavailable', 'planted')
  const { status } = await read(CSV)
  assert.equal(status, 503)
})

for (const type of recordMediaTypes) {
  test(`${type}: an error after the headers breaks the response`, async () => {
    control.fail = (query) => (query > 3 ? new Error('planted') : undefined)
    const response = await startRequest(urlOf(), { accept: type })
    assert.equal(response.statusCode, 200)
    await assert.rejects(async () => {
      for await (const part of response) void part
    }, /aborted|ECONNRESET/)
    assert.deepEqual(response.trailers, {})
    control.queries = 0
    await assert.rejects(
      fetch(urlOf(), { headers: { accept: type } }).then((fetched) => fetched.arrayBuffer()),
      TypeError,
    )
  })
}

test('a query that finds another number of records than the release has breaks the response', async () => {
  await routes.superuser.query('update release set records = records + 1 where number = 2')
  await routes.refresh()
  await assert.rejects(read(CSV), /aborted/)
  await routes.superuser.query('update release set records = records - 1 where number = 2')
  await routes.refresh()
  assert.equal((await read(CSV)).status, 200)
})

test('a page that fails for a moment is read again', async () => {
  control.fail = (query) => (query === 3 || query === 4 ? new Problem('overloaded', 'planted') : undefined)
  const { trailers } = await read(CSV)
  assert.equal(trailers['outbreaks-records'], String(RECORDS))
  assert.ok(control.queries >= 8)
})

test('a client that goes away ends the walk', async () => {
  control.delayMs = 50
  const lost = await startRequest(urlOf(), { accept: CSV })
  lost.destroy()
  await wait(200)
  const { queries } = control
  await wait(300)
  assert.equal(control.queries, queries)
})

test('a walk that sends no byte for longer than the timeout of the connection is completed', async () => {
  // The server looks for sent bytes every two seconds. Parquet sends its first rows after 2,000 records, which are 4 pages.
  const unreadTimeoutMs = 4000
  const impatient = await openRoutes({ url: routes.url, wrapDatabase, connections: { unreadTimeoutMs } })
  await impatient.refresh()
  const url = `${await impatient.listen()}${HOME}/outbreaks`
  control.delayMs = 700
  const startedAt = performance.now()
  const { trailers } = await readResponse(url, { accept: 'application/vnd.apache.parquet' })
  assert.equal(trailers['outbreaks-records'], String(RECORDS))
  assert.ok(performance.now() - startedAt > unreadTimeoutMs)
})

test('a client gets two files at a time and then 429; a place is free again after each', async () => {
  control.delayMs = 1000
  const start = () => startRequest(urlOf(), { accept: CSV })
  const running = await Promise.all([start(), start()])
  const ended = Promise.all(running.map((response) => once(response.resume(), 'end')))
  const third = await read(CSV)
  assert.deepEqual([third.status, third.headers['retry-after']], [429, '5'])
  assert.match(String(third.body), /concurrency_exceeded/)
  control.delayMs = 0
  assert.equal((await readResponse(urlOf({ num: 1 }))).status, 200)
  await ended
  assert.equal((await read(CSV, { event: 'Event_1' })).status, 200)
})
