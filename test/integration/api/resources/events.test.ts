// Events, facets, the schema and citations of small releases.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { Compile } from 'typebox/compile'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { HOME, type Item, openRoutes, type Row } from '../../../fixtures/routes.ts'

const { get, getPage, inject, publish, refresh, walk, assertProblem } = await openRoutes()

const row = (key: string, more: Partial<Row>): Row => ({ key, source_name: 'Ministry', count_kind: 'new', ...more })
const first: Row[] = [
  row('a1', { event: 'A', date_low: '2020-03-02', date_high: '2020-03-08', cases: 5, deaths: 1 }),
  row('a2', { event: 'A', date_low: '2020-03-09', date_high: '2020-03-15', cases: 7 }),
  row('a3', { event: 'A', date_high: '2020-03-15', count_kind: 'cumulative', cases: 40, source_name: 'WHO & co' }),
  row('a4', {
    event: 'A',
    date_high: '2020-03-15',
    cases: 3,
    source_name: 'WHO & co',
    country_code: 'FR',
    country: 'France',
  }),
  row('a5', {
    event: 'A',
    location_granularity: 'admin1',
    al1_code: 'FR-BRE',
    country_code: 'FR',
    country: 'France',
    cases: 100,
  }),
  row('b1', { event: 'B', pathogen: 'Other', host: 'animal', case_status: 'suspected' }),
]
const second: Row[] = [...first.filter(({ key }) => key !== 'b1'), row('c1', { event: 'C' })].map((current) =>
  current.key === 'a2' ? { ...current, cases: 8 } : current,
)
before(async () => {
  await publish(first)
  await publish(second)
  await refresh()
})

const read = async (address: string) => JSON.parse((await get(address)).text) as Item

describe('events', () => {
  const counts = (cases: number | null, deaths: number | null = null) => ({
    ...{ cases, deaths, hospitalised: null, recovered: null, tested: null },
  })
  const placeOf = (country_code: string, al1_code: string | null = null) => {
    const location_granularity = al1_code === null ? 'country' : 'admin1'
    const names = { admin_l1: null, admin_l2: null, admin_l3: null, locality: null, place_id: null }
    return { location_granularity, place: { location_granularity, country_code, al1_code, ...names } }
  }
  const [xa, france, bretagne] = [placeOf('XA'), placeOf('FR'), placeOf('FR', 'FR-BRE')]
  const comparison = {
    ...{ case_status: 'confirmed', count_kind: 'new', date_type: null, composite: false, location_type: null },
    ...{ pathogen: 'Vibrio cholerae', disease: null, host: null, age_group: null, sex: null, population: null },
  }
  const defaults = {
    ...{ places: 1, records: 1, first_day: '2020-03-15', last_day: '2020-03-15' },
    ...{ new: counts(null), cumulative: counts(null), undated: counts(null), interim: false },
  }

  test('have a summary, and a figure for each set of comparable counts', async () => {
    const { data, next } = await getPage(`${HOME}/events`, { release: 1 })
    assert.equal(next, null)
    assert.deepEqual(
      data.map((event) => event['event']),
      ['A', 'B'],
    )
    assert.deepEqual(data[0], {
      event: 'A',
      title: 'A',
      // The source with the greatest total was counted on one day, and has more than twice the others.
      headline: null,
      doubt: 'count',
      records: 5,
      pathogens: ['Vibrio cholerae'],
      country_codes: ['FR', 'XA'],
      diseases: [],
      sources: ['Ministry', 'WHO & co'],
      first_day: '2020-03-02',
      last_day: '2020-03-15',
      last_release: 1,
      figures: [
        { ...comparison, ...xa, source_name: 'Ministry', records: 2, first_day: '2020-03-02', new: counts(12, 1) },
        { ...comparison, ...bretagne, source_name: 'Ministry', first_day: null, last_day: null, undated: counts(100) },
        { ...comparison, ...xa, source_name: 'WHO & co', count_kind: 'cumulative', cumulative: counts(40) },
        { ...comparison, ...france, source_name: 'WHO & co', new: counts(3) },
      ].map((figure) => ({ ...defaults, ...figure })),
      more_figures: 0,
    })
  })

  test('belong to the release, and have the last release that changed them', async () => {
    const { data } = await getPage(`${HOME}/events`)
    assert.deepEqual(
      data.map((event) => [event['event'], event['last_release']]),
      [
        ['A', 2],
        ['C', 2],
      ],
    )
    const [event] = data as [{ figures: { new: Item }[] }]
    assert.equal(event.figures[0]?.new['cases'], 13)
  })

  test('with filters are those with a matching record', async () => {
    const names = async (query: Record<string, string | number>) =>
      (await walk(`${HOME}/events`, { num: 1, release: 1, ...query })).map((event) => event['event'])
    assert.deepEqual(await names({ host: 'animal' }), ['B'])
    assert.deepEqual(await names({ case_status: 'confirmed', date_from: '2020-03-09' }), ['A'])
    assert.deepEqual(await names({ missing: 'disease' }), ['A', 'B'])
    assert.deepEqual(await names({ event: 'B', host: 'animal' }), ['B'])
    assert.deepEqual(await names({ country_code: 'FR', release: 2, updated_since_release: 1 }), [])
    assert.deepEqual(await names({ country_code: 'XA', release: 2, updated_since_release: 1 }), ['A', 'C'])
    assert.deepEqual(await names({ q: 'other', host: 'animal' }), ['B'])
    assert.deepEqual(await names({ q: 'cholerae', host: 'animal' }), [])
    const [event] = await walk(`${HOME}/events`, { release: 1, country_code: 'FR' })
    assert.equal(event?.['records'], 5)
  })

  test('with a value that no record has come with a warning, and 400 with strict=true', async () => {
    const { headers, body } = await inject(`${HOME}/events`, { host: 'environment', release: 1 })
    assert.equal(headers['outbreaks-warning'], 'host=environment matches no records. Nearest: host=animal.')
    assert.match(body, /"data":\[\]/)
    await assertProblem(
      `${HOME}/events`,
      { host: 'environment', strict: 'true', release: 1 },
      400,
      'invalid_parameter',
      'host',
    )
  })

  test('a cursor is valid only for its filters', async () => {
    const { next } = await getPage(`${HOME}/events`, { missing: 'disease', num: 1, release: 1 })
    assert.ok(next !== null)
    for (const query of [{}, { missing: 'note' }])
      await assertProblem(`${HOME}/events`, { ...query, page: next }, 400, 'invalid_parameter', 'page')
  })

  test('are paged', async () => {
    assert.deepEqual(
      (await walk(`${HOME}/events`, { num: 1, release: 1 })).map((event) => event['event']),
      ['A', 'B'],
    )
  })
})

describe('facets', () => {
  test('count every value of the release', async () => {
    const facets = await read(`${HOME}/facets?release=1`)
    assert.deepEqual(Object.keys(facets), hedOutbreaks.facets)
    assert.deepEqual(facets['event'], {
      values: [
        { value: 'A', records: 5 },
        { value: 'B', records: 1 },
      ],
      distinct: 2,
    })
    assert.deepEqual(facets['count_kind'], {
      values: [
        { value: 'new', records: 5 },
        { value: 'cumulative', records: 1 },
      ],
      distinct: 2,
    })
    assert.deepEqual(facets['host'], { values: [{ value: 'animal', records: 1 }], distinct: 1 })
  })

  test('count the matching records, for each field without its own filter', async () => {
    const facets = await read(`${HOME}/facets?release=1&source_name=WHO+%26+co&country_code=FR`)
    const values = (name: string) =>
      (facets[name] as { values: Item[] }).values.map(({ value, records }) => [value, records])
    assert.deepEqual(values('event'), [['A', 1]])
    assert.deepEqual(values('source_name'), [
      ['Ministry', 1],
      ['WHO & co', 1],
    ])
    assert.deepEqual(values('country_code'), [
      ['FR', 1],
      ['XA', 1],
    ])
  })

  test('list at most num values and the number of distinct values', async () => {
    const { event } = (await read(`${HOME}/facets?release=1&num=1`)) as { event: unknown }
    assert.deepEqual(event, { values: [{ value: 'A', records: 5 }], distinct: 2 })
  })
})

test('every record is valid against the schema', async () => {
  const schema = await read(`${HOME}/schema`)
  assert.equal(schema['$id'], `https://api.test${HOME}/schema?release=2`)
  const { data } = await getPage(`${HOME}/outbreaks`)
  const check = Compile(schema as never)
  for (const record of data) assert.ok(check.Check(record))
  assert.ok(!check.Check({ ...data[0], cases: 1.5 }))
  const { case_status: status, sex } = schema['properties'] as Record<string, { title: string; oneOf: object[] }>
  assert.equal(status?.title, 'Status')
  assert.deepEqual(status?.oneOf[0], { const: 'confirmed', title: 'Confirmed' })
  assert.deepEqual(sex?.oneOf.at(-1), { const: null, title: 'Everyone' })
})

describe('a citation', () => {
  test('has the canonical query, the release and the sources', async () => {
    const citation = await read(`${HOME}/citation?source_name=WHO+%26+co&event=A&release=1`)
    assert.equal(citation['url'], `https://api.test${HOME}/outbreaks?event=A&source_name=WHO+%26+co&release=1`)
    assert.deepEqual([citation['sources'], citation['more_sources']], [[{ source_name: 'WHO & co', records: 2 }], 0])
    assert.match(String(citation['digest']), /^[0-9a-f]{64}$/)
    assert.match(
      String(citation['text']),
      /^A; WHO & co\. .*, release 1, data as of \d{4}-\d\d-\d\d, published \d{4}-\d\d-\d\d\. CC0-1\.0\..*WHO & co \(2\)\.$/,
    )
    const { pathname, search } = new URL(citation['url'])
    assert.equal((await getPage(pathname + search)).data.length, 2)
  })

  test('is the same for the newest release and for its number', async () => {
    assert.equal((await get(`${HOME}/citation`)).text, (await get(`${HOME}/citation?release=2`)).text)
  })

  for (const [format, type, start] of [
    ['text', 'text/plain; charset=utf-8', 'A test. '],
    ['bibtex', 'application/x-bibtex; charset=utf-8', '@misc{outbreaks_2_'],
    ['csl-json', 'application/vnd.citationstyles.csl+json; charset=utf-8', '[{"id":"outbreaks-2-'],
  ] as const) {
    test(`with format=${format} is a file`, async () => {
      const response = await inject(`${HOME}/citation`, { format })
      assert.deepEqual(
        [response.statusCode, response.headers['content-type'], response.headers['outbreaks-release']],
        [200, type, '2'],
      )
      assert.match(String(response.headers['content-disposition']), /^attachment; filename="citation\./)
      assert.ok(response.body.startsWith(start), response.body)
    })
  }

  test('escapes the special characters of TeX', async () => {
    const { body } = await inject(`${HOME}/citation`, { format: 'bibtex', source_name: 'WHO & co' })
    assert.match(body, /WHO \\& co/)
  })
})
