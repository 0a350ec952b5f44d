// The recommended answer of docs/methods.md, section 11: what is chosen for a question, what is said about it, and when events
// are added up.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { HOME, type Item, openRoutes, type Row } from '../../../fixtures/routes.ts'

const { get, inject, publish, refresh } = await openRoutes()

let key = 0
const country = (code: string) => ({
  country_code: code,
  country: { FR: 'France', DE: 'Germany', IT: 'Italy', XW: 'World', XA: 'Ship' }[code] ?? '',
})
const row = (event: string, from: string, to: string, cases: number | null, more: Partial<Row> = {}): Row => ({
  key: `r${key++}`,
  ...{ event, disease: 'Cholera', source_name: 'WHO', source_type: 'international', count_kind: 'cumulative' },
  ...{ case_status: 'total', date_low: from, date_high: to, cases, ...country('FR') },
  ...more,
})
const WORLD = { location_granularity: 'global', ...country('XW') }
const REGION = { location_granularity: 'multi_country', ...country('XW') }
const local = (locality: string) => ({ location_granularity: 'locality', locality })

const rows: Row[] = [
  // Two sources and two levels; the paper has the curve.
  row('A', '2020-01-01', '2020-03-31', 100),
  ...['2020-01-31', '2020-02-29', '2020-03-31'].map((day, i) =>
    row('A', '2020-01-01', day, [20, 50, 95][i] ?? 0, { source_name: 'Paper', source_type: 'literature' }),
  ),
  row('A', '2020-01-01', '2020-03-31', 60, { ...local('Nice'), source_name: 'Paper', source_type: 'literature' }),
  // Two papers that contradict each other.
  ...[10, 90].map((cases, i) =>
    row('B', '2021-01-01', '2021-03-31', cases, { source_name: `Paper ${i}`, source_type: 'literature' }),
  ),
  // An event, a part of it under its own name, and one of other days.
  row('C', '2022-01-01', '2022-12-31', 1000, { disease: 'Measles', deaths: 10 }),
  row('C town', '2022-02-01', '2022-03-31', 30, { disease: 'Measles', ...local('Nice') }),
  row('C later', '2023-02-01', '2023-03-31', 7, { disease: 'Measles', count_kind: 'new' }),
  // Several countries together, one of them, and one that is not among them.
  row('D', '2022-01-01', '2022-12-31', 500, { disease: 'Zika', ...REGION }),
  row('D', '2022-01-01', '2022-12-31', 200, { disease: 'Zika', ...country('FR'), source_name: 'Ministry' }),
  row('D', '2022-01-01', '2022-12-31', 90, { disease: 'Zika', ...country('DE'), source_name: 'Ministry' }),
  row('D France', '2022-02-01', '2022-03-31', 150, { disease: 'Zika' }),
  row('D Italy', '2022-02-01', '2022-03-31', 40, { disease: 'Zika', ...country('IT') }),
  // A worldwide count, and an earlier outbreak.
  row('E', '2022-01-01', '2022-12-31', 9000, { disease: 'Mpox', ...WORLD }),
  row('E early', '2017-01-01', '2017-12-31', 20, { disease: 'Mpox' }),
  // One outbreak under two names.
  row('F', '2007-01-01', '2007-12-31', 108, { disease: 'Plague', ...local('Yap') }),
  row('F too', '2007-02-01', '2007-12-31', 107, { disease: 'Plague', ...local('Yap State') }),
  // An outbreak with a total, and one whose only count has no day and is of another kind.
  row('R', '2020-01-01', '2020-09-30', 7, { disease: 'Rabies', ...country('DE') }),
  row('R undated', '2020-01-01', '2020-09-30', 94, {
    ...{ disease: 'Rabies', ...country('DE'), count_kind: 'point', date_low: null, date_high: null },
  }),
]

const italy = (event: string, cases: number, more: Partial<Row> = {}) =>
  row(event, '2020-01-01', '2020-03-31', cases, { disease: 'Dengue', ...country('IT'), ...more })
const PAPER = { source_name: 'Paper', source_type: 'literature' as const }
const withdrawn = italy('J', 90, PAPER)
rows.push(
  // Only some people, and everyone beside women and men.
  italy('G', 30, { age_group: '0-4' }),
  italy('G', 50, { age_group: '5-14' }),
  italy('G all', 100),
  italy('G all', 40, { sex: 'female' }),
  italy('G all', 45, { sex: 'male' }),
  // A total without its last day, and one of a town with its days.
  italy('H', 3, { ...PAPER, ...local('Bari'), case_status: 'confirmed' }),
  italy('H', 5, { ...PAPER, date_high: null }),
  // Italy and a part of it, of two sources.
  italy('I', 10),
  italy('I', 4, { location_granularity: 'admin1', al1_code: 'IT-25', admin_l1: 'Lombardia' }),
  italy('I', 9, PAPER),
  // A source that the next release withdraws.
  italy('J', 10),
)

before(async () => {
  const first = rows.map((one) => (one.event === 'A' && one.source_name === 'Paper' ? { ...one, cases: 11 } : one))
  await publish([...first.slice(0, 8), ...first.filter(({ event }) => event === 'J'), withdrawn])
  await publish(rows)
  await refresh()
})

interface Said {
  readonly words: string
  readonly event?: string
  readonly because: string
  readonly decided_by: string[]
  readonly counts: Item
  readonly url: string
}
type Answer = Item & {
  chosen: Said[]
  left_out: Said[]
  data: { group: Item; total: Item; cumulative: Item }[]
  points: { period: string; new: Item }[]
}
const read = async (address: string) =>
  JSON.parse((await get(`${HOME}/${address}${address.startsWith('events') ? '' : '&detail=full'}`)).text) as Answer
const totalsOf = ({ data }: Answer) => data.map(({ group, total }) => [...Object.values(group), total['cases']])
const eventsOf = (sets: readonly Said[]) => sets.map(({ event = '' }) => event).sort((a, b) => (a < b ? -1 : 1))

describe('of one event', () => {
  test('a total is the national one of the official source, and says what was left out', async () => {
    const answer = await read('sums?event=A')
    assert.deepEqual(totalsOf(answer), [[100]])
    const [chosen] = answer.chosen
    assert.deepEqual(
      [chosen?.words, chosen?.decided_by, chosen?.counts],
      ['WHO: national counts, all cases, running totals', ['location_granularity', 'source_type'], { cases: 100 }],
    )
    assert.deepEqual(
      answer.left_out.map(({ words, because, counts }) => [words, because, counts['cases']]),
      [
        ['Paper: counts of single places, all cases, running totals', 'location_granularity', 60],
        ['Paper: national counts, all cases, running totals', 'source_type', 95],
      ],
    )
  })
  test('every url gives the numbers of its set, and nothing is left to choose', async () => {
    const answer = await read('sums?event=A')
    for (const { url, counts } of [...answer.chosen, ...answer.left_out]) {
      const other = JSON.parse((await get(url)).text) as Answer
      assert.deepEqual([totalsOf(other), other.chosen, other.left_out], [[[counts['cases']]], [], []], url)
    }
  })
  test('a curve comes from the source that has one', async () => {
    const answer = await read('series?event=A&interval=month')
    assert.deepEqual(
      answer.points.map(({ period, new: added }) => [period, added['cases']]),
      [
        ['2020-01', 20],
        ['2020-02', 30],
        ['2020-03', 45],
      ],
    )
    assert.deepEqual(answer.chosen[0]?.decided_by, ['curve'])
  })
  test('a table says in a column how it was counted, if it is asked for or differs from line to line', async () => {
    const table = async (query: string) => (await inject(`${HOME}/${query}&format=csv`)).body.split('\r\n')
    const [head = '', first = ''] = await table('series?event=A&interval=month&columns=period,counted')
    assert.deepEqual([head, first], ['period,counted', '2020-01,"Paper: national counts, all cases, running totals"'])
    const [same = ''] = await table('series?event=A&interval=month')
    assert.doesNotMatch(same, /counted/)
  })
  test('strict=true refuses', async () => {
    const response = await inject(`${HOME}/sums?event=A&strict=true`)
    assert.deepEqual([response.statusCode, response.json<Item>()['code']], [400, 'not_comparable'])
  })
  test('a doubt refuses with the numbers, and side_by_side shows them', async () => {
    const response = await inject(`${HOME}/sums?event=B&detail=full`)
    const problem = response.json<Item & { choices: Said[] }>()
    assert.match(
      String(problem['detail']),
      /counted in 2 ways, and none is clearly the best: Paper 0 \(1 record, 10 cases\); Paper 1 \(1 record, 90 cases\)/,
    )
    for (const { url, counts } of problem.choices)
      assert.deepEqual(totalsOf(JSON.parse((await get(url)).text) as Answer), [[counts['cases']]])
    const both = await read('sums?event=B&side_by_side=true')
    assert.deepEqual(
      both.data.map(({ group, total }) => [group['words'], total['cases']]),
      [
        ['Paper 0: national counts, all cases, running totals', 10],
        ['Paper 1: national counts, all cases, running totals', 90],
      ],
    )
    const { groups } = await read('series?event=B&interval=year&side_by_side=true')
    assert.equal((groups as Item[]).length, 2)
    assert.equal((await inject(`${HOME}/sums?event=B&side_by_side=true&group_by=event`)).statusCode, 400)
  })
  test('a number is followed through the releases by the set of the last one', async () => {
    const { data, chosen } = (await read('vintages?event=A&interval=month')) as unknown as {
      data: Item[]
      chosen: Said[]
    }
    assert.equal(chosen[0]?.words, 'Paper: national counts, all cases, running totals')
    assert.deepEqual(
      data.map(({ release, period, new: added }) => [release, period, added]),
      [
        [1, '2020-01', 11],
        [1, '2020-02', 0],
        [1, '2020-03', 0],
        [2, '2020-01', 20],
        [2, '2020-02', 30],
        [2, '2020-03', 45],
      ],
    )
  })
})

describe('no number is of something else', () => {
  const refuse = async (address: string) => {
    const response = await inject(`${HOME}/${address}`)
    assert.equal(response.statusCode, 400, response.body)
    return response.json<{ choices: { counts: Item }[] }>().choices.map(({ counts }) => counts['cases'])
  }
  test('one age group is not the answer where nobody counted everyone', async () => {
    assert.deepEqual(await refuse('sums?event=G'), [30, 50])
    assert.deepEqual(totalsOf(await read('sums?event=G&across=age_group')), [[80]])
    assert.deepEqual((await read('sums?event=G&event=G%20all&group_by=event')).left_out[0]?.because, 'people')
  })
  test('across leaves everyone apart from the groups', async () => {
    const answer = await read('sums?event=G%20all&across=sex')
    const { words, counts, because, url } = answer.left_out[0] as Said
    assert.deepEqual([totalsOf(answer), because, counts, url], [[[100]], 'everyone', { cases: 85 }, null])
    assert.equal(words, 'WHO: national counts, all cases, running totals, groups added up')
  })
  test('a total without its last day counts too, unless days are asked for', async () => {
    const { data, undated_counts: undated, chosen } = await read('sums?event=H')
    const [known] = undated as { counts: Item }[]
    assert.deepEqual([data, known?.counts['cases'], chosen[0]?.counts['cases']], [[], 5, 5])
    assert.deepEqual(totalsOf(await read('sums?event=H&date_to=2020-12-31')), [[3]])
    const { data: events } = (await read('events?event=H')) as unknown as { data: { headline: Item }[] }
    assert.equal(events[0]?.headline['cases'], 5)
  })
  test('the counts of what was chosen for a place are those of the answer', async () => {
    const answer = await read('sums?event=I&place=IT')
    assert.deepEqual([totalsOf(answer), answer.chosen[0]?.counts], [[[10]], { cases: 10 }])
  })
  test('a set that the last release does not have is in no release', async () => {
    const { data } = (await read('vintages?event=J&interval=year')) as unknown as { data: Item[] }
    assert.deepEqual(
      data.map(({ release, new: added }) => [release, added]),
      [
        [1, 10],
        [2, 10],
      ],
    )
    assert.deepEqual(await refuse('vintages?event=J&interval=year&strict=true'), [10, 90])
  })
})

describe('events are added up', () => {
  test('without those that are part of another, whatever the kind of count', async () => {
    const answer = await read('sums?disease=Measles')
    assert.deepEqual(totalsOf(answer), [[1007]])
    assert.deepEqual([eventsOf(answer.chosen), eventsOf(answer.left_out)], [['C', 'C later'], ['C town']])
    assert.equal(answer.left_out[0]?.because, 'inside')
    assert.equal(answer.data[0]?.cumulative['cases'], null)
  })
  test('of several countries with those elsewhere', async () => {
    const answer = await read('sums?disease=Zika')
    assert.deepEqual([totalsOf(answer), eventsOf(answer.chosen)], [[[540]], ['D', 'D Italy']])
  })
  test('not beside a worldwide count', async () => {
    assert.deepEqual(totalsOf(await read('sums?disease=Mpox')), [[9000]])
  })
  test('not twice under two names', async () => {
    assert.deepEqual(totalsOf(await read('sums?disease=Plague')), [[108]])
  })
  test('without those in doubt, which are named', async () => {
    const answer = await read('sums?disease=Cholera')
    assert.deepEqual([totalsOf(answer), eventsOf(answer.chosen)], [[[100]], ['A']])
    assert.deepEqual(
      answer.left_out.slice(0, 2).map(({ event, because }) => [event, because]),
      [
        ['B', 'count'],
        ['B', 'count'],
      ],
    )
  })
  test('as asked with across', async () => {
    assert.deepEqual(totalsOf(await read('sums?disease=Measles&across=event')), [[1037]])
  })
  test('with their kind, also if another has no day', async () => {
    const { data } = await read('sums?disease=Rabies&across=event')
    assert.deepEqual(
      data.map(({ cumulative, total }) => [cumulative['cases'], total['cases']]),
      [[7, 7]],
    )
  })
  test('but two diseases are not', async () => {
    const response = await inject(`${HOME}/sums?country_code=FR`)
    assert.deepEqual([response.statusCode, response.json<Item>()['group_by']], [400, ['event']])
    const groups = await read('sums?country_code=FR&group_by=disease')
    assert.deepEqual(totalsOf(groups), [
      ['Cholera', 100],
      ['Measles', 1007],
      ['Mpox', 20],
      ['Plague', 108],
      ['Zika', 200],
    ])
  })
})

test('a place without any record of the question has no numbers', async () => {
  assert.deepEqual(totalsOf(await read('sums?disease=Plague&place=IT')), [])
  assert.deepEqual(totalsOf(await read('sums?disease=Plague&place=FR&event=D')), [])
})

test('an event has a headline, by which events are sorted', async () => {
  const { data } = (await read('events?sort=-cases&num=3')) as unknown as {
    data: { event: string; headline: Item }[]
  }
  assert.deepEqual(
    data.map(({ event, headline }) => [event, headline['cases'], headline['deaths'], headline['words']]),
    [
      ['E', 9000, null, 'WHO: worldwide, all cases, running totals'],
      ['C', 1000, 10, 'WHO: national counts, all cases, running totals'],
      ['D', 500, null, 'WHO: several countries together, all cases, running totals'],
    ],
  )
  // Several records together have more than any of them; an event in doubt has no number.
  const names = async (query: string) =>
    ((await read(`events?${query}`)) as unknown as { data: { event: string }[] }).data.map(({ event }) => event)
  assert.deepEqual(await names('cases_min=500'), ['C', 'D', 'E'])
  assert.deepEqual(await names('cases_min=500&cases_max=1000&num=1'), ['C'])
  assert.deepEqual(await names('disease=Zika&cases_min=40&cases_max=150'), ['D France', 'D Italy'])
  assert.deepEqual(await names('q=zika&cases_max=150&num=1'), ['D France'])
  assert.deepEqual(await names('deaths_min=0'), ['C'])
  assert.deepEqual(await names('disease=Cholera&cases_min=0'), ['A'])
  const { data: doubtful } = (await read('events?event=B')) as unknown as { data: Item[] }
  assert.deepEqual([doubtful[0]?.['headline'], doubtful[0]?.['doubt']], [null, 'count'])
})
