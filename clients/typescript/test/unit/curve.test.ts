// The epidemic curve: what is unknown is marked and never drawn as zero.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Counts, Point, Series } from '../../src/client.ts'
import { drawCurve } from '../../src/curve.ts'

const counts = (cases: number | null): Counts => ({
  ...{ cases, deaths: null, hospitalised: null, recovered: null, tested: null },
})
const reporting = { places_known: 2, places_reporting: 2, share: 1 }

function week(first: string, last: string, cases: number | null, marks: Partial<Point> = {}): Point {
  return {
    ...{ period: first, first_day: first, last_day: last, records: 1 },
    ...{ new: counts(cases), cumulative: counts(cases), point: counts(null) },
    completeness: {
      ...{ cases: reporting, deaths: reporting, hospitalised: reporting, recovered: reporting, tested: reporting },
    },
    ...{ derived: false, revision: false, base_unknown: false, definition_changed: false },
    ...{ includes_earlier_days: false, overlapping: false, inexact: false, interim: false, in_span: false, ...marks },
  }
}

const series = (points: Point[], rest: Partial<Series> = {}): Series => ({
  ...{
    title: 'Measles, Chad, 2024',
    interval: 'isoweek',
    group_by: [],
    across: [],
    records: 9,
    series: 1,
    undated: 0,
    points,
  },
  ...{ understood: null, warnings: [], chosen: [], left_out: [], left_out_total: 0, ...rest },
})
const bars = (svg: string) =>
  [...svg.matchAll(/<rect x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)" fill="(\S+)".*?<title>(.*?)</g)].map(
    ([, x, y, width, height, colour, text]) => ({
      ...{ x: Number(x), y: Number(y), width: Number(width), height: Number(height), colour, text },
    }),
  )
const GREY = '#d9d9d9'

test('a known count is a bar from zero, an unknown one a grey band over the whole height', () => {
  const drawn = bars(
    drawCurve(
      series([
        week('2024-01-01', '2024-01-07', 5),
        week('2024-01-08', '2024-01-14', null),
        week('2024-01-15', '2024-01-21', 10),
      ]),
    ),
  )
  assert.deepEqual(
    drawn.map(({ text }) => text),
    ['2024-01-01: 5', '2024-01-08: unknown', '2024-01-15: 10'],
  )
  const [low, unknown, high] = drawn
  assert.ok(low && unknown && high)
  assert.equal(unknown.colour, GREY)
  assert.equal(unknown.height, high.height)
  assert.ok(Math.abs(low.height * 2 - high.height) < 0.2)
  assert.equal(low.y + low.height, high.y + high.height)
  assert.equal(low.x + low.width, unknown.x)
})

test('the caption says how it was counted, in lines that fit', () => {
  const words =
    'JHU Measles Tracking Team: counts of districts & counties, confirmed cases, new in each period, by day of report'
  const chosen = [{ words } as Series['chosen'][number]]
  const svg = drawCurve(series([week('2024-01-01', '2024-01-07', 5)], { chosen, left_out_total: 1 }), { width: 500 })
  const captions = [...svg.matchAll(/fill="#555">(.*?)<\/text>/g)].map(([, text]) => text)
  assert.deepEqual(captions, [
    'By week',
    'Counted as JHU Measles Tracking Team: counts of districts &#38;',
    'counties, confirmed cases, new in each period, by day of report; 1',
    'other way to count was left out.',
  ])
  const sides = drawCurve(
    series([], {
      points: undefined as never,
      groups: [{ group: { words, sex: null }, label: words, points: [], spans: [] } as never],
    }),
  )
  assert.match(sides, /by day of report<\/text>/)
})

test('days without a report are a grey band, also before the first report of a group', () => {
  const svg = drawCurve(
    series([], {
      points: undefined as never,
      groups: [
        {
          group: { country_code: 'NA' },
          label: 'Namibia',
          points: [week('2024-01-01', '2024-01-07', 1), week('2024-01-15', '2024-01-21', 2)],
        },
        { group: { country_code: null }, label: 'Not reported', points: [week('2024-01-15', '2024-01-21', 3)] },
      ].map((group) => ({ ...group, records: 1, series: 1, undated: 0, undated_counts: null, spans: [] })),
    }),
    { title: 'Measles' },
  )
  assert.deepEqual(
    bars(svg).flatMap(({ colour, text }) => (colour === GREY ? [text] : [])),
    ['no report', 'no report'],
  )
  assert.match(svg, />Measles: Namibia</)
  assert.match(svg, />Measles: Not reported</)
})

test('a negative count goes below zero', () => {
  const [up, down] = bars(
    drawCurve(series([week('2024-01-01', '2024-01-07', 4), week('2024-01-08', '2024-01-14', -4)])),
  )
  assert.ok(up && down)
  assert.equal(up.y + up.height, down.y)
  assert.equal(up.height, down.height)
})

test('the legend explains the marks that are drawn, and only those', () => {
  const plain = drawCurve(series([week('2024-01-01', '2024-01-07', 4)]))
  assert.match(plain, />Measles, Chad, 2024</)
  assert.match(plain, /New cases/)
  assert.doesNotMatch(plain, /revised|definition|start unknown|not all places|not zero/)
  const partial = { ...reporting, places_reporting: 1 }
  const marked = drawCurve(
    series([
      week('2024-01-01', '2024-01-07', 4, { revision: true, base_unknown: true, definition_changed: true }),
      week('2024-01-08', '2024-01-14', 4, {
        completeness: {
          ...{ cases: partial, deaths: partial, hospitalised: partial, recovered: partial, tested: partial },
        },
      }),
    ]),
  )
  for (const text of ['revised by the source', 'case definition changed', 'start unknown', 'not all places reported'])
    assert.ok(marked.includes(text), text)
})

test('an answer without points says so, and a title cannot end the text', () => {
  const svg = drawCurve(series([]), { title: 'A & B </text><script>' })
  assert.match(svg, /no report/)
  assert.doesNotMatch(svg, /<script>/)
  assert.doesNotMatch(svg, /NaN|Infinity/)
})

test('the axes have whole counts and dates that suit the length', () => {
  const ticks = (svg: string) => [...svg.matchAll(/text-anchor="middle">(.*?)</g)].map(([, text]) => text)
  assert.deepEqual(ticks(drawCurve(series([week('2024-01-01', '2024-01-01', 1)]))), ['2024-01-01'])
  assert.deepEqual(ticks(drawCurve(series([week('1861-10-30', '1862-01-25', 1)]))).length, 8)
  assert.deepEqual(ticks(drawCurve(series([week('2020-01-15', '2020-06-30', 1)]))), [
    ...['2020-02', '2020-03', '2020-04', '2020-05', '2020-06'],
  ])
  assert.deepEqual(ticks(drawCurve(series([week('1990-05-01', '2024-06-30', 1)]))), [
    ...['1995', '2000', '2005', '2010', '2015', '2020'],
  ])
  const values = (svg: string) => [...svg.matchAll(/text-anchor="end">(.*?)</g)].map(([, text]) => text)
  assert.deepEqual(values(drawCurve(series([week('2024-01-01', '2024-01-01', 0)]))), ['0', '1'])
  assert.deepEqual(values(drawCurve(series([week('2024-01-01', '2024-01-01', 1463)]))), ['0', '500', '1,000'])
})

test('another count and kind can be drawn, and the release is printed', () => {
  const svg = drawCurve(Object.assign(series([week('2024-01-01', '2024-01-07', 4)], { undated: 3 }), { release: 6 }), {
    count: 'deaths',
    kind: 'cumulative',
  })
  assert.match(svg, /By week, release 6, 3 records without a day/)
  assert.deepEqual(bars(svg)[0]?.text, '2024-01-01: unknown')
})

test('a span is an outline over all its days, as high as its mean, and undated counts are told', () => {
  const svg = drawCurve(
    series([week('2024-01-15', '2024-01-21', null, { in_span: true }), week('2024-01-22', '2024-01-28', 10)], {
      undated: 1,
      undated_counts: counts(36),
      spans: [{ first_day: '2024-01-01', last_day: '2024-01-21', records: 1, new: counts(30) }],
    }),
  )
  const [, , bar, span] = bars(svg)
  assert.ok(bar && span)
  assert.deepEqual([span.text, span.colour], ['2024-01-01 to 2024-01-21: 30', 'none'])
  assert.ok(Math.abs(span.width - 3 * bar.width) < 0.3)
  assert.ok(Math.abs(span.height - bar.height) < 0.2)
  assert.match(svg, /1 records without a day \(36 cases\)/)
})
