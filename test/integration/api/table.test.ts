// Small answers as CSV by Accept: the values of the JSON, and the JSON itself unchanged.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import { HOME, openRoutes } from '../../fixtures/routes.ts'

const routes = await openRoutes()
before(async () => {
  await routes.publish([{ key: 'a', country_code: 'NA', country: 'Namibia' }, { key: 'b' }])
  await routes.publish([{ key: 'a', cases: 2, date_low: '2024-01-01', date_high: '2024-01-02' }, { key: 'b' }], {
    note: 'A, "b"',
  })
  await routes.refresh()
})

async function getTable(path: string, query: Record<string, string> = {}) {
  const { statusCode, headers, body } = await routes.inject(`${HOME}${path}`, query, { accept: 'text/csv' })
  assert.equal(statusCode, 200, body)
  assert.equal(headers['content-type'], 'text/csv; charset=utf-8; header=present')
  assert.equal(headers['vary'], 'accept, accept-encoding')
  const rows: Record<string, string>[] = parse(body, { columns: true })
  return { headers, rows }
}

test('/facets: a line for each value of each field', async () => {
  const json = JSON.parse((await routes.get(`${HOME}/facets`, { release: 1 })).text) as Record<
    string,
    { values: { value: string | boolean; records: number }[]; distinct: number }
  >
  const { rows, headers } = await getTable('/facets', { release: '1' })
  const expected = Object.entries(json).flatMap(([field, { values, distinct }]) =>
    values.map(({ value, records }) => ({ field, value, records, distinct })),
  )
  assert.deepEqual(
    rows,
    expected.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)]))),
  )
  assert.ok(rows.some(({ field, value }) => field === 'country_code' && value === 'NA'))
  assert.equal(headers['content-disposition'], 'attachment; filename="hed-outbreaks-1-facets.csv"')
})

test('/releases: a line for each release, the newest first', async () => {
  const { data } = await routes.getPage(`${HOME}/releases`)
  const { rows } = await getTable('/releases')
  assert.equal(rows.length, 2)
  assert.deepEqual(
    rows.map(({ number, note, records, digest, published_at }) => ({ number, note, records, digest, published_at })),
    data.map((release) => ({
      number: String(release['number']),
      note: release['note'] ?? '',
      records: String(release['records']),
      digest: release['digest'],
      published_at: release['published_at'],
    })),
  )
})

for (const parameter of ['page', 'num']) {
  test(`400 for /releases as CSV with ${parameter}`, async () => {
    const response = await routes.inject(`${HOME}/releases`, { [parameter]: '1' }, { accept: 'text/csv' })
    const { code, parameter: named } = response.json<{ code: string; parameter: string }>()
    assert.deepEqual([response.statusCode, code, named], [400, 'invalid_parameter', parameter])
  })
}

for (const [path, query, columns] of [
  ['/facets', {}, 'records,value'],
  ['/coverage', { by: 'country_code', interval: 'year' }, 'period,value'],
  ['/releases', {}, 'as_of,number'],
] as const)
  test(`${path}: columns chooses the columns, in their order; an unknown one is 400 with all names`, async () => {
    const all = await getTable(path, query)
    const chosen = await getTable(path, { ...query, columns })
    assert.deepEqual(Object.keys(chosen.rows[0] ?? {}), columns.split(','))
    assert.deepEqual(
      chosen.rows.map((row) => Object.values(row)),
      all.rows.map((row) => columns.split(',').map((name) => row[name])),
    )
    assert.notEqual(all.headers['etag'], chosen.headers['etag'])
    const ask = (values: object) => routes.inject(HOME + path, { ...query, format: 'csv', ...values })
    const refused = await ask({ columns: `${columns},colour` })
    const { detail, parameter } = refused.json<{ detail: string; parameter: string }>()
    assert.deepEqual([refused.statusCode, parameter], [400, 'columns'])
    assert.match(detail, new RegExp(`no column "colour"\\. Its columns are .*\\b${columns.split(',')[0]}\\b`))
    for (const values of [{ columns, format: 'json' }, { columns: '=1+1' }, { columns: '' }])
      assert.equal((await ask(values)).statusCode, 400, JSON.stringify(values))
  })

for (const path of ['/facets', '/releases']) {
  test(`${path}: JSON and CSV have different ETags, each is compared with its own, and both can be compressed`, async () => {
    const json = await routes.inject(HOME + path)
    const csv = await routes.inject(HOME + path, {}, { accept: 'text/csv' })
    assert.match(String(json.headers['content-type']), /^application\/json/)
    assert.equal(json.headers['content-disposition'], undefined)
    assert.notEqual(json.headers['etag'], csv.headers['etag'])
    const conditional = (accept: string) =>
      routes.inject(HOME + path, {}, { accept, 'if-none-match': String(csv.headers['etag']) })
    assert.deepEqual([(await conditional('text/csv')).statusCode, (await conditional('*/*')).statusCode], [304, 200])
    const gzip = await routes.inject(HOME + path, {}, { accept: 'text/csv', 'accept-encoding': 'gzip' })
    const isGzip = gzip.headers['content-encoding'] === 'gzip'
    assert.equal(isGzip ? String(gunzipSync(gzip.rawPayload)) : gzip.body, csv.body)
  })
}
