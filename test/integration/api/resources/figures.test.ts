// Series, sums and vintages over HTTP: rejections with choices, groups, places, windows, explanations and releases.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { HOME, type Item, openRoutes, type Row } from '../../../fixtures/routes.ts'

const { get, inject, publish, refresh, assertProblem, getPage } = await openRoutes()

const row = (key: string, more: Partial<Row>): Row => ({
  key,
  ...{ event: 'A', source_name: 'Ministry', count_kind: 'new', country_code: 'FR', country: 'France' },
  ...more,
})
const week = (key: string, day: string, cases: number | null, more: Partial<Row> = {}) =>
  row(key, { date_low: day, date_high: day, cases, ...more })
const county = { location_granularity: 'admin2', country_code: 'US', country: 'United States', event: 'M' }
const colorado = { ...county, al1_code: 'US-CO', admin_l1: 'Colorado' }
const texas = { ...county, al1_code: 'US-TX', admin_l1: 'Texas' }

const province = { event: 'P', location_granularity: 'admin1', al1_code: 'FR-BRE', count_kind: 'cumulative' }

const first: Row[] = [
  week('a1', '2020-03-02', 5, { deaths: 1 }),
  week('a2', '2020-03-09', 7),
  week('a3', '2020-03-09', 40, { source_name: 'WHO', deaths: 2, count_qualifier: 'at_least' }),
  week('a4', '2020-03-10', 3, { case_status: 'suspected' }),
  week('a5', '2020-03-10', 9, { event: 'B' }),
  row('a6', { cases: 1, date_low: null, date_high: null }),
  week('c1', '2020-03-01', 100, { event: 'C', count_kind: 'cumulative' }),
  week('c2', '2020-03-31', 160, { event: 'C', count_kind: 'cumulative' }),
  week('c3', '2020-04-30', 150, { event: 'C', count_kind: 'cumulative' }),
  week('m1', '2025-01-05', 4, { ...colorado, admin_l2: 'Adams' }),
  week('m2', '2025-01-06', 6, { ...colorado, admin_l2: 'Boulder' }),
  week('m3', '2025-01-06', 20, { ...texas, admin_l2: 'Gaines' }),
  week('m4', '2025-01-06', 25, { ...texas, location_granularity: 'admin1' }),
  week('p1', '2020-01-01', 150, { ...province, admin_l1: 'Old name' }),
  week('p2', '2020-02-01', 210, { ...province, admin_l1: 'New name' }),
  week('q1', '2019-06-01', 500, { event: 'Q', count_kind: 'cumulative', source_name: 'Former' }),
  week('q2', '2020-06-01', 40, { event: 'Q', count_kind: 'cumulative' }),
  week('x1', '2020-01-01', 5, { event: 'X' }),
  week('x2', '2020-01-01', 7, { event: 'X', country_code: 'XB', country: 'Several countries' }),
  week('y1', '2020-01-01', 9, { event: 'Y', source_report: 'Report 1' }),
  week('y2', '2020-01-01', 4, { event: 'Y', source_report: 'Report 2' }),
  week('s1', '2020-01-01', 10, { event: 'S', age_group: null }),
  week('s2', '2020-01-01', 4, { event: 'S', age_group: '0-4' }),
  week('s3', '2020-01-01', 6, { event: 'S', age_group: '5-14' }),
  week('t1', '2020-01-01', 4, { event: 'T', age_group: '0-4' }),
  week('t2', '2020-01-01', 6, { event: 'T', age_group: '0-14', source_name: 'WHO' }),
]
before(async () => {
  await publish(first, { as_of: '2026-01-01' })
  await publish(
    first.map((one) => (one.key === 'a2' ? { ...one, cases: 8 } : one)),
    { as_of: '2026-02-01' },
  )
  await refresh()
})

const read = async (address: string) => JSON.parse((await get(`${HOME}/${address}&detail=full`)).text) as Item
const casesOf = (figures: unknown) =>
  (figures as Item[]).map((figure) => [
    Object.values((figure['group'] ?? { period: figure['period'] }) as Item).join(),
    (figure['new'] as Item)['cases'],
  ])
const refuse = async (address: string) => {
  const response = await inject(`${HOME}/${address}&strict=true`)
  const problem = response.json<Item & { mixed: { field: string }[]; choices: Item[] }>()
  assert.deepEqual([response.statusCode, problem['code']], [400, 'not_comparable'], response.body)
  return { ...problem, fields: problem.mixed.map(({ field }) => field) }
}

describe('series', () => {
  test('have the figures of one series', async () => {
    const body = await read('series?interval=isoweek&event=A&source_name=Ministry&case_status=confirmed')
    assert.deepEqual(
      [body['interval'], body['across'], body['group_by'], body['records'], body['series'], body['undated']],
      ['isoweek', [], [], 2, 1, 1],
    )
    const [point] = body['points'] as [Item]
    const none = { hospitalised: null, recovered: null, tested: null }
    const empty = { places_known: 0, places_reporting: 0, share: null }
    assert.deepEqual(point, {
      ...{ period: '2020-W10', first_day: '2020-03-02', last_day: '2020-03-08', records: 1 },
      new: { cases: 5, deaths: 1, ...none },
      cumulative: { cases: null, deaths: null, ...none },
      point: { cases: null, deaths: null, ...none },
      // A week lies between the reports, so silence says nothing.
      completeness: { cases: empty, deaths: empty, hospitalised: empty, recovered: empty, tested: empty },
      ...{ derived: false, revision: false, base_unknown: false, definition_changed: false },
      ...{ includes_earlier_days: false, overlapping: false, inexact: false, interim: false, in_span: false },
    })
    assert.deepEqual([body['spans'], (body['undated_counts'] as Item)['cases']], [[], 1])
    assert.deepEqual(casesOf(body['points']), [
      ['2020-W10', 5],
      ['2020-W11', 8],
    ])
  })

  test('refuse what must not be added up, and list choices that work', async () => {
    const { fields, choices } = await refuse('series?interval=month&event=A')
    assert.deepEqual(fields, ['case_status', 'source_name'])
    const query = 'case_status=confirmed&source_name=Ministry'
    assert.deepEqual(choices[0], {
      words: 'Ministry: confirmed cases',
      values: { case_status: 'confirmed', source_name: 'Ministry' },
      ...{ records: 2, first_day: '2020-03-02', last_day: '2020-03-09', counts: { cases: 13, deaths: 1 }, query },
      url: `${HOME}/series?event=A&interval=month&strict=true&${query}`,
    })
    for (const { url, records } of choices)
      assert.equal((JSON.parse((await get(String(url))).text) as Item)['records'], records)
  })

  test('are judged by the records of the window only', async () => {
    const march = 'series?interval=day&country_code=FR&case_status=confirmed&source_name=Ministry&event=A&event=B'
    assert.deepEqual((await refuse(march)).fields, ['event'])
    assert.deepEqual(casesOf((await read(`${march}&date_to=2020-03-09`))['points']), [
      ['2020-03-02', 5],
      ['2020-03-09', 8],
    ])
  })

  test('add across events only by name, and never across sources', async () => {
    const query = 'interval=month&country_code=FR&count_kind=new&case_status=confirmed&date_from=2020-03-01'
    const body = await read(`series?${query}&source_name=Ministry&across=event`)
    assert.deepEqual([body['across'], casesOf(body['points'])], [['event'], [['2020-03', 22]]])
    assert.deepEqual((await refuse(`series?${query}&across=event`)).fields, ['source_name'])
  })

  test('of several sources stand side by side, with their range', async () => {
    const body = await read('series?interval=month&event=A&case_status=confirmed&group_by=source_name')
    const groups = body['groups'] as Item[]
    assert.deepEqual(
      groups.map((group) => [group['group'], casesOf(group['points'])]),
      [
        [{ source_name: 'Ministry' }, [['2020-03', 13]]],
        [{ source_name: 'WHO' }, [['2020-03', 40]]],
      ],
    )
    assert.deepEqual(
      groups.map(({ points }) => (points as [Item])[0]['inexact']),
      [false, true],
    )
    const [range] = body['range'] as [{ new: Item }]
    assert.deepEqual(
      [range.new['cases'], range.new['deaths'], range.new['tested']],
      [{ min: 13, max: 40 }, { min: 1, max: 2 }, null],
    )
  })

  test('read the report before the window', async () => {
    const body = await read('series?interval=month&event=C&date_from=2020-03-05&date_to=2020-04-30')
    assert.deepEqual(casesOf(body['points']), [
      ['2020-03', null],
      ['2020-04', -10],
    ])
    const [span] = body['spans'] as [Item & { new: Item }]
    assert.deepEqual([span['last_day'], span.new['cases']], ['2020-03-31', 60])
    assert.deepEqual(
      (body['points'] as Item[]).map((point) => [
        point['first_day'],
        (point['cumulative'] as Item)['cases'],
        point['revision'],
      ]),
      [
        ['2020-03-05', 160, false],
        ['2020-04-01', 150, true],
      ],
    )
  })

  test('explain every number by its records', async () => {
    const query = 'interval=month&event=C&explain=true'
    const body = await read(`series?${query}`)
    const { data } = await getPage(`${HOME}/outbreaks`, { event: 'C' })
    const explained = (body['points'] as { explain: { id: number; rules: Item; new: Item }[] }[]).flatMap(
      ({ explain }) => explain,
    )
    assert.deepEqual(
      explained.map(({ id, rules, new: added }) => [id, rules['cases'], rules['deaths'], added['cases']]),
      [
        [data[0]?.['id'], 'first_report', 'not_reported', null],
        [data[1]?.['id'], 'difference', 'not_reported', 60],
        [data[2]?.['id'], 'correction', 'not_reported', -10],
      ],
    )
    const undated = await read('series?interval=month&event=A&source_name=Ministry&case_status=confirmed&explain=true')
    assert.equal((undated['undated_records'] as unknown[]).length, 1)
  })

  test('leave out the earlier counts of a series that is not comparable', async () => {
    const body = await read('series?interval=month&event=Q&date_from=2020-01-01')
    const [point] = body['points'] as [{ cumulative: Item; completeness: Record<string, Item> }]
    assert.deepEqual([point.cumulative['cases'], point.completeness['cases']?.['places_known']], [40, 1])
    assert.deepEqual((await refuse('series?interval=month&event=Q')).fields, ['source_name'])
  })

  test('go on when a province is renamed and keeps its code', async () => {
    const body = await read('series?interval=month&event=P')
    assert.deepEqual(
      [body['series'], (body['points'] as { cumulative: Item }[]).map(({ cumulative }) => cumulative['cases'])],
      [1, [150, 210]],
    )
    const sums = await read('sums?event=P&group_by=admin_l1')
    assert.deepEqual(casesOf(sums['data']), [['New name', 60]])
  })

  test('without matching records have no points', async () => {
    const body = await read('series?interval=day&event=Z')
    assert.deepEqual([body['points'], body['records'], body['undated']], [[], 0, 0])
  })

  test('never add everyone to a part, not even on request', async () => {
    assert.deepEqual((await refuse('series?interval=day&event=S')).fields, ['age_group'])
    const { choices } = await refuse('series?interval=day&event=S&across=age_group')
    assert.deepEqual(
      choices.map(({ query }) => String(query)).sort((a, b) => (a < b ? -1 : 1)),
      ['age_group=0-4', 'age_group=5-14', 'missing=age_group'],
    )
    const parts = await read('series?interval=day&event=S&across=age_group&age_group=0-4&age_group=5-14')
    assert.deepEqual(casesOf(parts['points']), [['2020-01-01', 10]])
  })

  test('name the ages in common, with a place as without', async () => {
    const question = 'series?interval=day&event=T&across=age_group'
    for (const place of ['', '&place=FR'])
      assert.deepEqual((await refuse(`${question}${place}`)).fields.sort(), ['age_group', 'source_name'], place)
  })
})

describe('sums', () => {
  const measles = 'event=M&case_status=confirmed&source_name=Ministry'
  test('have a row for each group', async () => {
    const body = await read(`sums?${measles}&location_granularity=admin2&group_by=al1_code`)
    assert.deepEqual(
      [body['groups'], casesOf(body['data'])],
      [
        2,
        [
          ['US-CO', 10],
          ['US-TX', 20],
        ],
      ],
    )
    const sorted = await read(`sums?${measles}&location_granularity=admin2&group_by=admin_l2&sort=-new_cases&num=2`)
    assert.deepEqual(
      [sorted['groups'], casesOf(sorted['data'])],
      [
        3,
        [
          ['Gaines', 20],
          ['Boulder', 6],
        ],
      ],
    )
  })
  test('group by two fields, one of them a length of period', async () => {
    const body = await read(`sums?${measles}&location_granularity=admin2&group_by=al1_code&group_by=day`)
    assert.deepEqual(casesOf(body['data']), [
      ['US-CO,2025-01-05', 4],
      ['US-CO,2025-01-06', 6],
      ['US-TX,2025-01-06', 20],
    ])
  })
  test('without a group are one row', async () => {
    const body = await read(`sums?${measles}&location_granularity=admin2&date_from=2025-01-06&date_to=2025-01-31`)
    assert.deepEqual(casesOf(body['data']), [['', 26]])
    const [only] = body['data'] as [Item]
    assert.deepEqual([only['first_day'], only['last_day']], ['2025-01-06', '2025-01-31'])
  })
  test('by place describe the place', async () => {
    const body = await read(`sums?${measles}&group_by=place&location_granularity=admin1&sort=-new_cases&num=1`)
    assert.deepEqual((body['data'] as [{ group: { place: Item } }])[0].group.place, {
      ...{ location_granularity: 'admin1', country_code: 'US', al1_code: 'US-TX', admin_l1: 'Texas' },
      ...{ admin_l2: null, admin_l3: null, locality: null, place_id: null },
    })
  })
  test('are in the order of the groups, null last', async () => {
    assert.deepEqual(casesOf((await read('sums?event=S&group_by=age_group'))['data']), [
      ['0-4', 4],
      ['5-14', 6],
      ['', 10],
    ])
  })
  test('take the later of two reports of the same day', async () => {
    assert.deepEqual(casesOf((await read('sums?event=Y'))['data']), [['', 4]])
  })
  test('refuse a place that may contain the others, and say how to choose it', async () => {
    const { fields, choices } = await refuse('sums?event=X')
    assert.deepEqual(fields, ['place'])
    assert.deepEqual(
      choices.map(({ values, query }) => [(values as Item)['place'], query]),
      [
        [null, null],
        [{ location_granularity: 'country', country_code: 'XB' }, 'location_granularity=country&country_code=XB'],
      ],
    )
  })
  test('refuse levels that overlap', async () => {
    const { fields } = await refuse(`sums?${measles}`)
    assert.deepEqual(fields, ['location_granularity'])
  })
  test('of a coarser place are made of places without overlap', async () => {
    for (const place of ['US', 'world', 'AMR', 'Northern America']) {
      const body = await read(`sums?${measles}&place=${place}&explain=true`)
      assert.deepEqual(casesOf(body['data']), [['', 35]], place)
      const [cover] = body['covers'] as [{ made_of: Item[]; left_out: number }]
      assert.deepEqual(
        [cover.made_of.map((one) => one['admin_l2'] ?? one['al1_code']), cover.left_out],
        [['Adams', 'Boulder', 'US-TX'], 1],
      )
      const rules = (body['data'] as [{ explain: { rules: Item }[] }])[0].explain.map((one) => one.rules['cases'])
      assert.deepEqual(rules, ['counted', 'counted', 'covered', 'counted'])
    }
    const later = await read(`sums?${measles}&place=US&date_from=2025-01-06`)
    assert.deepEqual(
      (later['covers'] as [{ made_of: Item[] }])[0].made_of.map((one) => [one['admin_l2'], one['records']]),
      [
        ['Adams', 0],
        ['Boulder', 1],
        [null, 1],
      ],
    )
    assert.deepEqual(casesOf((await read(`sums?${measles}&place=US-CO`))['data']), [['', 10]])
    assert.deepEqual(casesOf((await read(`sums?${measles}&place=AFR`))['data']), [])
  })
})

describe('vintages', () => {
  test('have a row for each interval in each release', async () => {
    const query = 'interval=isoweek&event=A&source_name=Ministry&case_status=confirmed'
    const body = await read(`vintages?${query}`)
    assert.deepEqual(
      (body['data'] as Item[]).map((one) => [one['release'], one['report_date'], one['reference_date'], one['new']]),
      [
        [1, '2026-01-01', '2020-03-08', 5],
        [1, '2026-01-01', '2020-03-15', 7],
        [2, '2026-02-01', '2020-03-08', 5],
        [2, '2026-02-01', '2020-03-15', 8],
      ],
    )
    assert.equal(((await read(`vintages?${query}&from=2&count=deaths`))['data'] as Item[]).length, 2)
    await assertProblem(`${HOME}/vintages?${query}&from=2&to=1`, {}, 400, 'invalid_parameter', 'from')
  })
})

test('figures are tables as text/csv', async () => {
  const lines = async (address: string) => {
    const response = await inject(`${HOME}/${address}&detail=full`, {}, { accept: 'text/csv' })
    assert.equal(response.headers['content-type'], 'text/csv; charset=utf-8; header=present', response.body)
    return response.body.split('\r\n').map((line) => line.split(',').slice(0, 6))
  }
  const head = ['period', 'first_day', 'last_day', 'records', 'new_cases']
  assert.deepEqual(await lines('series?interval=month&event=A&case_status=confirmed&group_by=source_name'), [
    ['source_name', ...head],
    ['Ministry', '2020-03', '2020-03-01', '2020-03-31', '2', '13'],
    ['WHO', '2020-03', '2020-03-01', '2020-03-31', '1', '40'],
    ['Ministry', '', '', '', '1', ''],
    [''],
  ])
  const [sums, firstSum] = await lines('sums?event=C&group_by=year&group_by=event')
  assert.deepEqual(sums, ['year', 'event', 'first_day', 'last_day', 'records', 'total_cases'])
  assert.deepEqual(firstSum, ['2020', 'C', '2020-01-01', '2020-12-31', '3', '50'])
  const [vintages] = await lines('vintages?interval=year&event=C')
  assert.deepEqual(vintages, ['release', 'report_date', 'period', 'reference_date', 'records', 'new'])
})

describe('strict=true on a list', () => {
  test('judges the records that match', async () => {
    for (const list of [`${HOME}/outbreaks`, '/v1/hed-outbreaks/outbreaks']) {
      const status = async (query: string) => (await inject(`${list}?strict=true&${query}`)).statusCode
      assert.equal(await status('event=A'), 400)
      assert.equal(await status('event=A&source_name=WHO'), 200)
      assert.equal(await status('event=C'), 200)
      assert.equal((await inject(`${list}?strict=true&event=A`)).json<Item>()['code'], 'not_comparable')
    }
  })
})
