// `format` in the address gives the response that Accept gives, at every resource with several formats.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { HOME, openRoutes } from '../../fixtures/routes.ts'

const routes = await openRoutes()
before(async () => {
  const counted = {
    case_status: 'confirmed',
    count_kind: 'new',
    cases: 2,
    date_low: '2025-01-06',
    date_high: '2025-01-12',
  }
  await routes.publish([{ key: 'a', ...counted }, { key: 'b' }])
  await routes.publish([{ key: 'a', ...counted, cases: 3 }, { key: 'b' }])
  await routes.refresh()
})

const FORMATS = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  geojson: 'application/geo+json',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.stream',
}
const tables: [path: string, query: Record<string, string>][] = [
  ['/facets', {}],
  ['/releases', {}],
  ['/coverage', { by: 'country_code', interval: 'year' }],
  ['/series', { interval: 'isoweek' }],
  ['/sums', {}],
  ['/vintages', { interval: 'isoweek' }],
]
const cases: [path: string, format: keyof typeof FORMATS, query: Record<string, string>][] = [
  ...Object.keys(FORMATS).map((format): [string, keyof typeof FORMATS, Record<string, string>] => [
    '/outbreaks',
    format as keyof typeof FORMATS,
    {},
  ]),
  ['/changes', 'ndjson', { from: '1' }],
  ...tables.map(([path, query]): [string, 'csv', Record<string, string>] => [path, 'csv', query]),
]

for (const [path, format, query] of cases)
  test(`${path}?format=${format} is ${FORMATS[format]}, whatever Accept says`, async () => {
    const byHeader = await routes.inject(HOME + path, query, { accept: FORMATS[format] })
    const byAddress = await routes.inject(HOME + path, { ...query, format }, { accept: 'text/html, application/json' })
    assert.equal(byAddress.statusCode, 200, byAddress.body)
    assert.equal(byAddress.headers['content-type'], byHeader.headers['content-type'])
    assert.equal(String(byAddress.headers['content-type']).split(';')[0], FORMATS[format])
    assert.ok(byAddress.rawPayload.equals(byHeader.rawPayload))
  })

for (const [path, query] of [['/outbreaks', {}], ['/changes', { from: '1' }], ...tables] as typeof tables)
  test(`${path}?format=json is JSON, whatever Accept says`, async () => {
    const { statusCode, headers } = await routes.inject(
      HOME + path,
      { ...query, format: 'json' },
      { accept: 'text/csv, application/x-ndjson' },
    )
    assert.deepEqual([statusCode, headers['content-type']], [200, 'application/json; charset=utf-8'])
  })

test('a format that the resource does not have is refused with those it has', async () => {
  const response = await routes.inject(`${HOME}/sums`, { format: 'xlsx' })
  const { code, detail } = response.json<{ code: string; detail: string }>()
  assert.deepEqual([response.statusCode, code], [400, 'invalid_parameter'])
  assert.match(detail, /^format must be one of json, csv\./)
})
