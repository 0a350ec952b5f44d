// The short form of series, sums and vintages: the numbers, flags and ways of counting of the full form, in flat rows.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { HOME, type Item, openRoutes, type Row } from '../../../fixtures/routes.ts'

const { get, inject, publish, refresh } = await openRoutes()

let key = 0
const row = (
  event: string,
  from: string | null,
  to: string | null,
  cases: number | null,
  more: Partial<Row> = {},
): Row => ({
  key: `k${key++}`,
  ...{ event, disease: 'Measles', source_name: 'Ministry', count_kind: 'new', country_code: 'FR', country: 'France' },
  ...{ date_low: from, date_high: to, cases },
  ...more,
})
const dayOf = (first: string, days: number) =>
  new Date(Date.parse(first) + days * 86_400_000).toISOString().slice(0, 10)
/** A count for each of several periods that follow each other. */
const periods = (event: string, first: string, length: number, cases: readonly number[], more: Partial<Row> = {}) =>
  cases.map((one, i) => row(event, dayOf(first, i * length), dayOf(first, i * length + length - 1), one, more))
const MONTHS = ['2022-01-31', '2022-02-28', '2022-03-31', '2022-04-30']
const PROVINCE = { location_granularity: 'admin1', count_kind: 'cumulative' }

const rows: Row[] = [
  ...periods('Daily', '2024-01-01', 1, [3, 0, 5, 2, 8, 1, 4, 9, 2, 6, 1], { deaths: 1 }),
  ...periods('Weekly', '2024-01-03', 7, [30, 41, 12, 7]),
  ...periods('From Sunday', '2024-01-07', 7, [30, 41, 12, 7]),
  ...MONTHS.map((day, i) => row('Monthly', `${day.slice(0, 7)}-01`, day, 100 + i)),
  ...['2001', '2002', '2003'].map((year, i) => row('Yearly', `${year}-01-01`, `${year}-12-31`, 10 * i)),
  row('Total', '2013-12-01', '2016-03-27', 28_616, { count_kind: 'cumulative', deaths: 11_310 }),
  ...['2024-05-01', '2024-05-20'].map((day) => row('Beds', day, day, 7, { count_kind: 'point', hospitalised: 3 })),
  row('Undated', null, null, 36, { deaths: 27 }),
  // The second province is silent in February, and the first corrects itself.
  row('Provinces', '2020-01-01', '2020-01-31', 900, { ...PROVINCE, al1_code: 'FR-BRE', admin_l1: 'Bretagne' }),
  row('Provinces', '2020-01-01', '2020-02-29', 880, { ...PROVINCE, al1_code: 'FR-BRE', admin_l1: 'Bretagne' }),
  row('Provinces', '2020-01-01', '2020-01-31', 100, { ...PROVINCE, al1_code: 'FR-COR', admin_l1: 'Corse' }),
  row('Provinces', '2020-01-01', '2020-02-29', 990, { count_kind: 'cumulative' }),
  // The paper has the curve.
  ...periods('Mixed', '2024-01-01', 1, [3, 0, 5, 2, 8, 1, 4, 9, 2, 6, 1], { source_name: 'Paper' }),
  ...MONTHS.map((day, i) => row('Mixed', `${day.slice(0, 7)}-01`, day, 10 + Number(i === 0))),
  // Only the second source has deaths.
  ...['WHO', 'Paper'].map((source_name, i) =>
    row('Sources', '2021-01-01', '2021-03-31', 100 + i, {
      ...{ source_name, count_kind: 'cumulative', case_status: 'total', count_qualifier: 'at_least' },
      ...{ source_type: i === 0 ? 'international' : 'literature', deaths: i === 0 ? null : 5 },
    }),
  ),
]

before(async () => {
  await publish(rows.slice(0, 20))
  await publish(rows)
  await refresh()
})

type Answer = Item & {
  data: Item[]
  spans: Item[]
  undated_counts: Item[]
  beside: Item[] | null
  range?: Item[]
  chosen: Item[]
  left_out: (Item & { query: string; counts: Item })[]
}
const read = async (address: string) => JSON.parse((await get(`${HOME}/${address}`)).text) as Answer
const isObject = (value: unknown): value is Item => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The values of a group: a place has several. */
const groupOf = (group: Item): Item =>
  Object.fromEntries(
    Object.entries(group)
      .flatMap(([name, value]): [string, unknown][] =>
        isObject(value) ? Object.entries(value).map(([part, inner]) => [`${name}_${part}`, inner]) : [[name, value]],
      )
      .filter(([, value]) => value !== null),
  )

/** The numbers of a full row by the names of the short form, as the page describes them. */
function numbersOf(full: Item, prefix = ''): Item {
  const numbers: Item = {}
  for (const [name, value] of Object.entries(full)) {
    if (name === 'completeness' || name === 'explain') continue
    if (name === 'group') Object.assign(numbers, groupOf(value as Item))
    else if (name === 'total') Object.assign(numbers, numbersOf(value as Item, prefix))
    else if (isObject(value)) Object.assign(numbers, numbersOf(value, `${prefix}${name}_`))
    else if (value !== null && value !== '' && typeof value !== 'boolean') numbers[prefix + name] = value
  }
  return numbers
}
const flagsOf = (full: Item) => Object.entries(full).flatMap(([name, value]) => (value === true ? [name] : []))
const isTold = ([name, value]: [string, unknown]) =>
  value !== null && !name.startsWith('completeness_') && name !== 'flags' && name !== 'explain'
const knownOf = (rowsOf: readonly Item[] | null | undefined) =>
  rowsOf?.map((short) => Object.fromEntries(Object.entries(short).filter(isTold))) ?? rowsOf

/** The rows of the full form as lists: figures, spans and undated counts, each with its group. */
function fullLists(full: Item) {
  const groups = (full['groups'] as Item[] | undefined) ?? [full]
  if (full['data'] !== undefined) {
    const undated = full['undated_counts'] as Item[] | undefined
    return {
      data: full['data'] as Item[],
      spans: full['spans'] as Item[] | undefined,
      undated: undated?.map(({ counts, ...one }) => ({ ...one, undated: counts })),
    }
  }
  const rowsOf = (name: string, words: (group: Item) => Item = () => ({})) =>
    groups.flatMap((group) =>
      (group[name] as Item[]).map((one) => ({ group: group['group'] ?? {}, ...words(group), ...one })),
    )
  return {
    data: rowsOf('points', ({ label }) => ({ label: label ?? null })),
    spans: rowsOf('spans'),
    undated: groups
      .filter((group) => group['undated_counts'] !== null)
      .map((group) => ({ group: group['group'] ?? {}, records: group['undated'], undated: group['undated_counts'] })),
  }
}

const QUESTIONS = [
  'series?event=Daily&interval=day',
  'series?event=Daily&interval=isoweek&date_from=2024-01-04',
  'series?event=Total&interval=month',
  'series?event=Undated&interval=month',
  'series?event=Beds&interval=month',
  'series?event=Provinces&interval=month&location_granularity=admin1',
  'series?event=Provinces&interval=month&location_granularity=admin1&group_by=place',
  'series?event=Sources&interval=month&group_by=source_name&explain=true',
  'series?event=Sources&interval=year&side_by_side=true',
  'sums?event=Provinces&group_by=admin_l1',
  'sums?event=Provinces&place=FR',
  'sums?event=Sources',
  'sums?event=Total&measures=cfr',
  'sums?group_by=event&measures=cfr,per_100000',
  'sums?disease=Measles&group_by=event',
  'sums?group_by=event&group_by=year&date_from=2013-01-01',
  'sums?event=Undated&group_by=country_code',
  'sums?group_by=composite&event=Weekly',
  'sums?event=Nothing',
  'series?event=Nothing&interval=day',
]

describe('the short form has what the full form has', () => {
  for (const question of QUESTIONS)
    test(question, async () => {
      const [short, full] = [await read(question), (await read(`${question}&detail=full`)) as Item]
      const { data, spans, undated } = fullLists(full) as Record<'data' | 'spans' | 'undated', Item[]>
      assert.deepEqual(
        knownOf(short.data),
        data.map((one) => numbersOf(one)),
      )
      assert.deepEqual(
        knownOf(short.spans),
        spans?.map((one) => numbersOf(one)),
      )
      assert.deepEqual(
        knownOf(short.undated_counts),
        undated?.map((one) => numbersOf(one)),
      )
      const beside = full['beside'] as Item[] | null | undefined
      assert.deepEqual(knownOf(short.beside), beside === null ? null : (beside ?? []).map((one) => numbersOf(one)))
      assert.deepEqual(
        knownOf(short.range),
        (full['range'] as Item[] | undefined)?.map((one) => numbersOf(one)),
      )
      assert.deepEqual(
        short.data.map((one) => one['flags']),
        data.map(flagsOf),
      )
      assert.deepEqual(
        short.data.map((one) => one['explain']),
        data.map((one) => one['explain']),
      )
      for (const name of ['title', 'records', 'series', 'undated', 'left_out_total', 'group_by', 'across', 'interval'])
        assert.deepEqual(short[name], full[name], name)
      // Every way of counting is named, and the numbers come first.
      const words = (sets: unknown) => new Set((sets as Item[]).map((one) => one['words']))
      assert.deepEqual(words(short.chosen), words(full['chosen']))
      const names = Object.keys(short)
      assert.ok(names.indexOf('data') < names.indexOf('chosen') && names.indexOf('warnings') < names.indexOf('data'))
      // Rows of one list have the same columns, and none is empty everywhere.
      assert.equal(new Set(short.data.map((one) => Object.keys(one).join())).size, Math.min(1, short.data.length))
    })

  test('and nothing else: a measles curve has six columns', async () => {
    const { data, ...rest } = await read('series?event=Weekly&interval=isoweek')
    assert.deepEqual(data[0], {
      ...{ period: '2024-W02', first_day: '2024-01-08', last_day: '2024-01-14', records: 1 },
      ...{ new_cases: 30, flags: ['includes_earlier_days'] },
    })
    assert.deepEqual(Object.entries(rest).slice(0, 5), [
      ['title', 'Weekly'],
      ['understood', null],
      ['warnings', []],
      ['interval', 'isoweek'],
      ['interval_from', 'request'],
    ])
  })

  test('completeness is there where it says something', async () => {
    const provinces = await read('series?event=Provinces&interval=month&location_granularity=admin1')
    assert.deepEqual(
      provinces.data.map((one) => one['completeness_cases']),
      [1, 0.898],
    )
    const daily = await read('series?event=Daily&interval=day')
    assert.ok(daily.data.every((one) => !('completeness_cases' in one)))
  })

  test('vintages name the count', async () => {
    const question = 'vintages?event=Monthly&interval=month&count=cases'
    const [short, full] = [await read(question), await read(`${question}&detail=full`)]
    assert.deepEqual(
      short.data.map(({ new_cases: added, flags, ...one }) => ({
        ...one,
        ...{ new: added, cumulative: null, point: null, revision: (flags as string[]).includes('revision') },
      })),
      full.data,
    )
    assert.ok(short.data.length > 4)
  })
})

describe('the short form of CSV', () => {
  const lines = async (address: string) => {
    const { body } = await inject(`${HOME}/${address}`, {}, { accept: 'text/csv' })
    return body.trimEnd().split('\r\n')
  }
  test('has the period, the numbers and their flags', async () => {
    const [head, first = ''] = await lines('series?event=Daily&interval=month&counts=cases')
    assert.equal(head, 'period,new_cases,flags')
    assert.match(first, /^\d{4}-\d\d,\d+,/)
    // A total has what it is made of.
    const [sums] = await lines('sums?event=Daily&group_by=country_code&counts=cases')
    assert.equal(sums, 'country_code,first_day,last_day,cases,flags')
    const [months] = await lines('sums?event=Daily&group_by=month&counts=cases')
    assert.equal(months, 'month,cases,flags')
  })
  test('says what a line is, and its days, where there are spans and undated totals', async () => {
    assert.deepEqual(await lines('series?event=Provinces&interval=month'), [
      'period,first_day,last_day,new_cases,cumulative_cases,flags,row',
      '2020-02,2020-02-01,2020-02-29,,990,derived in_span,figure',
      ',2020-01-01,2020-02-29,990,,,span',
    ])
    assert.deepEqual(await lines('series?event=Total&interval=month'), [
      'period,first_day,last_day,new_cases,new_deaths,cumulative_cases,cumulative_deaths,flags,row',
      '2016-03,2016-03-01,2016-03-31,,,28616,11310,derived in_span,figure',
      ',2013-12-01,2016-03-27,28616,11310,,,,span',
    ])
    assert.deepEqual(await lines('sums?event=Undated&group_by=country_code'), [
      'country_code,first_day,last_day,undated_cases,undated_deaths,row',
      'FR,,,36,27,undated',
    ])
  })
  test('keeps a completeness below 1, which warns', async () => {
    const [head = ''] = await lines('series?event=Provinces&interval=month&location_granularity=admin1')
    assert.match(head, /completeness_cases/)
  })
  test('has its first columns without rows too', async () => {
    assert.deepEqual(await lines('sums?event=Nothing&group_by=event'), ['event,first_day,last_day'])
  })
  test('columns chooses, in the order of the reader, also what no row has', async () => {
    const columns = 'counted,new_cases,period,point_deaths'
    assert.deepEqual(await lines(`series?event=Provinces&interval=month&columns=${columns}`), [
      columns,
      ...[',2020-02,', '990,,'].map((line) => `"Ministry: national counts, confirmed cases, running totals",${line}`),
    ])
    assert.deepEqual(await lines('sums?event=Nothing&columns=cases,flags'), ['cases,flags'])
    const [, only] = await lines('sums?event=Undated&group_by=country_code&columns=country_code,cases')
    assert.equal(only, 'FR,')
    const [full] = await lines('series?event=Provinces&interval=month&detail=full&columns=period,new_cases,derived')
    assert.equal(full, 'period,new_cases,derived')
  })
  test('400 for a column that there is not, with those that there are', async () => {
    const { body, statusCode } = await inject(
      `${HOME}/series?event=Daily&interval=month&format=csv&columns=period,cases`,
    )
    const { parameter, detail } = JSON.parse(body) as Record<'parameter' | 'detail', string>
    assert.deepEqual([statusCode, parameter], [400, 'columns'])
    assert.match(
      detail,
      /no column "cases"\. Its columns are period, first_day, .*new_cases, .*flags, row, counted, .*point_tested/,
    )
  })
})

describe('counts', () => {
  test('choose the counts of both forms, and a set that has the first', async () => {
    const both = await read('sums?event=Sources&counts=deaths&counts=cases')
    assert.deepEqual((await read('sums?event=Sources&counts=deaths,cases')).data, both.data)
    assert.deepEqual([both.data[0]?.['cases'], both.data[0]?.['deaths']], [101, 5])
    const deaths = await read('sums?event=Daily&counts=deaths')
    assert.deepEqual(Object.keys(deaths.data[0] ?? {}), [
      'deaths',
      'first_day',
      'last_day',
      'records',
      'new_deaths',
      'flags',
    ])
    const full = await read('sums?event=Sources&counts=deaths&detail=full')
    assert.deepEqual([full.data[0]?.['total'], full.data[0]?.['new']], [{ deaths: 5 }, { deaths: 5 }])
    assert.deepEqual(full.chosen[0]?.['counts'], { deaths: 5 })
  })
  test('that do not exist are rejected with the nearest', async () => {
    const response = await inject(`${HOME}/sums?counts=case`)
    assert.equal(response.statusCode, 400)
    assert.match(String(response.json<Item>()['detail']), /^counts has no value "case"\. Did you mean cases\?/)
  })
})

describe('without interval', () => {
  const found: Record<string, string> = {
    'series?event=Daily': 'day',
    'series?event=Weekly': 'isoweek',
    'series?event=From+Sunday': 'epiweek',
    'series?event=Monthly': 'month',
    'series?event=Yearly': 'year',
    // Nothing fits: a total over years, counts without increments, and no record at all.
    'series?event=Total': 'isoweek',
    'series?event=Beds': 'isoweek',
    'series?event=Nothing': 'isoweek',
    // The set that is chosen decides, not all records.
    'series?event=Mixed': 'day',
    'series?disease=Measles&event=Daily&event=Monthly&group_by=event': 'isoweek',
    'vintages?event=Monthly': 'month',
  }
  for (const [question, interval] of Object.entries(found))
    test(`${question} is by ${interval}`, async () => {
      const answer = await read(question)
      assert.deepEqual([answer['interval'], answer['interval_from']], [interval, 'records'])
      const asked = await read(`${question}&interval=${interval}`)
      assert.deepEqual([asked['interval_from'], asked.data], ['request', answer.data])
    })
})

test('each way of counting can be asked for with its query', async () => {
  const question = 'sums?event=Sources'
  const { chosen, left_out: leftOut } = await read(question)
  assert.deepEqual([chosen.length, leftOut.length], [1, 1])
  for (const { query, counts } of [...chosen, ...leftOut] as Answer['left_out']) {
    assert.match(query, /^source_name=\w+$/)
    assert.equal((await read(`${question}&${query}`)).data[0]?.['cases'], counts['cases'])
  }
})

test('chosen sets of several groups that were counted alike are one entry', async () => {
  const { data, chosen } = await read(
    'sums?event=Provinces&event=Sources&group_by=al1_code&location_granularity=admin1',
  )
  assert.deepEqual([data.length, chosen.length], [2, 0])
  const events = await read('sums?group_by=event')
  const sets = events.chosen.reduce((sum, one) => sum + Number(one['sets'] ?? 1), 0)
  assert.ok(sets > events.chosen.length, JSON.stringify(events.chosen))
})

test('each form and choice of counts has an ETag of its own', async () => {
  const tags = new Map<string, string>()
  for (const form of ['', '&detail=full', '&counts=cases', '&counts=cases&detail=full', '&counts=deaths']) {
    const { headers } = await inject(`${HOME}/sums?event=Daily&release=2${form}`)
    tags.set(form, String(headers['etag']))
  }
  assert.equal(new Set(tags.values()).size, tags.size)
  const again = await inject(`${HOME}/sums?event=Daily&release=2`, {}, { 'if-none-match': tags.get('') ?? '' })
  const other = await inject(
    `${HOME}/sums?event=Daily&release=2&detail=full`,
    {},
    { 'if-none-match': tags.get('') ?? '' },
  )
  assert.deepEqual([again.statusCode, other.statusCode], [304, 200])
})
