// Pictures and embeds: their numbers are those of the API, what is rejected has none, and no text of a record becomes markup.
import assert from 'node:assert/strict'
import path from 'node:path'
import { before, test } from 'node:test'
import { buildExplorer } from '../../../explorer/build.ts'
import { loadDrawing } from '../../../src/api/pictures/drawing.ts'
import { HOME, type Item, openRoutes, type Row } from '../../fixtures/routes.ts'

await buildExplorer()
const drawing = await loadDrawing(path.resolve('explorer/dist'))
const origins = ['https://www.example.org']
const { inject, publish, refresh, assertProblem } = await openRoutes({
  embeds: { drawing, origins },
  explorerUrl: 'https://api.test/explore',
})
const bare = await openRoutes()

const HOSTILE = `</svg><script>alert(1)</script>"'&<b>`
const row = (key: string, day: string | null, cases: number | null, more: Partial<Row> = {}): Row => ({
  key,
  ...{ event: 'Curve', source_name: 'Ministry', count_kind: 'new', country_code: 'FR', country: 'France' },
  ...{ date_low: day, date_high: day, cases },
  ...more,
})
const rows = [
  row('c1', '2020-03-02', 5),
  row('c2', '2020-03-09', 1234),
  row('c3', '2020-03-16', null, { cases_missing: 'not_reported' }),
  row('c4', '2020-03-23', 7),
  row('s1', '2020-03-02', 71, { event: 'Sides', source_name: HOSTILE, count_kind: 'cumulative' }),
  row('s2', '2020-03-09', 43, { event: 'Sides', source_name: 'WHO', count_kind: 'cumulative' }),
  row('o1', '2020-03-02', 96, { event: HOSTILE, deaths: 3, count_kind: 'cumulative' }),
]
before(async () => {
  await publish(rows)
  await refresh()
  await publish(rows.map((one) => (one.key === 'c4' ? { ...one, cases: 8 } : one)))
  await Promise.all([refresh(), bare.refresh()])
})

const draw = async (query: Record<string, string | number>, resource = 'picture') => {
  const response = await inject(`${HOME}/${resource}`, query)
  assert.equal(response.statusCode, 200, response.body)
  return { text: response.body, headers: response.headers }
}
const read = async (address: string, query: Record<string, string | number>) =>
  (await inject(`${HOME}/${address}`, { ...query, detail: 'full' })).json<Item>()
/** What a bar says when the pointer is on it. */
const barsOf = (svg: string) =>
  [...svg.matchAll(/<rect [^>]*><title>[^<]*: ([^<]*)<\/title>/g)].map(([, value]) => value)
const written = (value: number | null) => (value === null ? 'unknown' : value.toLocaleString('en'))
const count = (text: string, part: string) => text.split(part).length - 1

test('200: a curve has the numbers of /series, of every release', async () => {
  for (const release of [1, 2]) {
    const query = { event: 'Curve', interval: 'isoweek', release }
    const { points } = (await read('series', query)) as { points: { new: { cases: number | null } }[] }
    const { text, headers } = await draw(query)
    assert.deepEqual(
      barsOf(text),
      points.map((point) => written(point.new.cases)),
    )
    assert.ok(points.length >= 3)
    assert.equal(headers['content-type'], 'image/svg+xml; charset=utf-8')
    assert.match(String(headers['cache-control']), /^private/)
    assert.equal(headers['cross-origin-resource-policy'], 'cross-origin')
    assert.match(text, new RegExp(`Data: Ministry, release ${release}<`))
    assert.match(text, new RegExp(`release=${release}<`))
    const again = await inject(`${HOME}/picture`, query, { 'if-none-match': String(headers['etag']) })
    assert.equal(again.statusCode, 304)
  }
})

test('200: totals have the numbers of /sums, side by side', async () => {
  const query = { event: 'Sides', side_by_side: 'true' }
  const { data } = (await read('sums', query)) as { data: { total: { cases: number } }[] }
  const { text } = await draw(query)
  assert.deepEqual(
    data.map(({ total }) => total.cases).sort((a, b) => a - b),
    [43, 71],
  )
  for (const { total } of data) assert.ok(text.includes(`>${total.cases}</text>`))
})

test('200: one total has the number of /sums', async () => {
  const { data } = (await read('sums', { event: HOSTILE })) as { data: { total: { cases: number; deaths: number } }[] }
  const { text } = await draw({ event: HOSTILE })
  assert.ok(text.includes(`>${data[0]?.total.cases}</text>`))
  assert.ok(text.includes(`${data[0]?.total.deaths} deaths`))
})

test('200: what is refused has the reason and no number', async () => {
  const refused = await inject(`${HOME}/series`, { country_code: 'FR' })
  assert.equal(refused.statusCode, 400)
  for (const resource of ['picture', 'embed']) {
    const { text } = await draw({ country_code: 'FR' }, resource)
    assert.match(text, /These records are about different things/)
    for (const value of ['1,234', '>71<', '>43<', '>96<']) assert.ok(!text.includes(value), `${resource}: ${value}`)
  }
  assert.match((await draw({ event: 'Nothing' })).text, /No record of this release/)
})

test('200: no text becomes markup, and nothing is loaded', async () => {
  const queries = [
    { event: HOSTILE },
    { event: 'Sides', side_by_side: 'true' },
    { event: `${HOSTILE}\u0001x` },
    { q: `cholera ${HOSTILE}` },
  ]
  for (const query of queries)
    for (const resource of ['picture', 'embed']) {
      const { text } = await draw(query, resource)
      assert.doesNotMatch(text, /<script|<b>|javascript:|<image|<foreignObject|@import|url\((?!#)/)
      assert.ok(!text.includes('\u0001'))
      assert.equal(count(text, '<svg'), count(text, '</svg>'))
    }
})

test('200: the picture has the width and the colours that were asked for', async () => {
  for (const width of [320, 1600])
    assert.match((await draw({ event: 'Curve', width })).text, new RegExp(`^<svg [^>]*width="${width}"`))
  const [light, dark] = [await draw({ event: 'Curve' }), await draw({ event: 'Curve', theme: 'dark' })]
  assert.ok(light.text.includes('fill="#ffffff"') && !dark.text.includes('fill="#ffffff"'))
  assert.ok(dark.text.includes('fill="#18222c"'))
})

test('400: a width, a format or a colour that does not exist', async () => {
  await assertProblem(`${HOME}/picture`, { event: 'Curve', width: 319 }, 400, 'invalid_parameter', 'width')
  await assertProblem(`${HOME}/picture`, { event: 'Curve', width: 1601 }, 400, 'invalid_parameter', 'width')
  await assertProblem(`${HOME}/picture`, { event: 'Curve', format: 'gif' }, 400, 'invalid_parameter', 'format')
  await assertProblem(`${HOME}/embed`, { event: 'Curve', theme: 'blue' }, 400, 'invalid_parameter', 'theme')
})

test('200: an embed says its release and whether there is a newer one, and only named origins may show it', async () => {
  const old = await draw({ event: 'Curve', release: 1 }, 'embed')
  assert.match(old.text, /A newer release exists: release 2\./)
  assert.match(old.text, /href="https:\/\/api\.test\/explore\/events\/Curve\?release=2"/)
  const newest = await draw({ event: 'Curve' }, 'embed')
  assert.match(newest.text, /release 2/)
  assert.doesNotMatch(newest.text, /newer release/)
  const policy = String(newest.headers['content-security-policy'])
  assert.match(policy, /^default-src 'none'; style-src 'sha256-[^']+'; /)
  assert.match(policy, /; frame-ancestors 'self' https:\/\/www\.example\.org$/)
  assert.equal(newest.headers['cache-control'], 'private, no-cache')
  assert.equal(newest.headers['referrer-policy'], 'no-referrer')
  for (const resource of ['picture', 'series', 'sums', 'outbreaks', 'citation'])
    assert.match(
      String((await inject(`${HOME}/${resource}`, { event: 'Curve' })).headers['content-security-policy']),
      /frame-ancestors 'none'/,
    )
})

test('400: a reader of a frame sees why there is no picture', async () => {
  const response = await inject(`${HOME}/embed`, { event: 'Curve', release: 9 }, { accept: 'text/html' })
  assert.equal(response.statusCode, 400)
  assert.match(response.body, /<h1>No picture<\/h1>/)
  assert.match(
    String(response.headers['content-security-policy']),
    /frame-ancestors 'self' https:\/\/www\.example\.org$/,
  )
})

test('404: without a built explorer there are no pictures', async () => {
  for (const resource of ['picture', 'embed']) await bare.assertProblem(`${HOME}/${resource}`, {}, 404, 'not_found')
})
