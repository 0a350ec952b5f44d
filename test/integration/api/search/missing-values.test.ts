// A filter value that no record of the release has: a header names it and the nearest values, and strict=true is 400.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { HOME, openRoutes, type Row } from '../../../fixtures/routes.ts'

const V1 = '/v1/hed-outbreaks/outbreaks'
const V2 = `${HOME}/outbreaks`
const LISTS = [V1, V2, `${HOME}/facets`, `${HOME}/citation`]
/** strict=true also rejects mixed strata, so the query has one value of each. */
const ONE_STRATUM = {
  location_granularity: 'country',
  case_status: 'confirmed',
  count_kind: 'cumulative',
  composite: 'false',
}

const routes = await openRoutes()
const rows: Row[] = [
  { key: 'a', event: 'COVID-19_Testland_2020', disease: 'COVID-19', pathogen: 'SARS-CoV-2' },
  {
    key: 'b',
    event: 'Ebola_Testland_2014',
    disease: 'Ebola disease',
    pathogen: 'Zaire ebolavirus',
    country_code: 'GN',
    country: 'Guinea',
  },
  {
    key: 'c',
    event: 'Ebola_Testland_2018',
    disease: 'Ebola disease',
    pathogen: 'Zaire ebolavirus',
    location_granularity: 'admin1',
    admin_l1: 'Équateur',
    host: 'human',
  },
  {
    key: 'e',
    event: 'Arboviruses_Elsewhere',
    location_granularity: 'admin1',
    country_code: 'US',
    country: 'United States',
    al1_code: 'US-PR',
  },
]
before(async () => {
  await routes.publish(rows)
  await routes.publish([
    ...rows,
    { key: 'd', event: 'Zika_Testland_2016', disease: 'Zika virus disease', pathogen: 'Zika virus' },
  ])
  await routes.refresh()
})

const warningOf = async (address: string, query: Record<string, string | number>) => {
  const response = await routes.inject(address, query)
  assert.equal(response.statusCode, 200, response.body)
  return response.headers['outbreaks-warning']
}

describe('a value without records', () => {
  for (const [name, value, nearest] of [
    ['disease', 'COVID', 'disease=COVID-19'],
    ['disease', 'Zika', 'disease=Zika+virus+disease'],
    ['pathogen', 'Zika', 'pathogen=Zika+virus'],
    ['event', 'ebola', 'event=Ebola_Testland_2014, event=Ebola_Testland_2018'],
    ['event', 'Ebola_Testland_2015', 'event=Ebola_Testland_2014, event=Ebola_Testland_2018'],
    ['source_name', 'test ministri', 'source_name=Test+ministry'],
    ['host', 'environment', 'host=human'],
    ['composite', 'true', 'composite=false'],
    ['admin_l1', 'equateur', 'admin_l1=%C3%89quateur'],
  ] as const) {
    test(`${name}=${value} has a warning with ${nearest}`, async () => {
      const expected = `${name}=${value.replaceAll(' ', '+')} matches no records. Nearest: ${nearest}.`
      for (const address of LISTS) assert.equal(await warningOf(address, { [name]: value }), expected, address)
    })
  }

  test('is found under its name in another field', async () => {
    const expected = 'country_code=PR matches no records. Puerto Rico is al1_code=US-PR.'
    assert.equal(await warningOf(V2, { country_code: 'PR' }), expected)
  })

  test('has no warning if only the case differs', async () => {
    for (const query of [{ disease: 'covid-19' }, { country_code: 'gn' }, { host: 'HUMAN' }])
      assert.equal(await warningOf(V2, query), undefined)
    assert.deepEqual((await routes.getPage(V2, { disease: 'covid-19' })).data.length, 1)
  })

  test('has a warning without suggestions if nothing is similar', async () => {
    assert.equal(await warningOf(V2, { series_id: '0' }), 'series_id=0 matches no records. Nothing similar exists.')
    const valid = (await routes.getPage(V2)).data[0]?.['series_id']
    assert.equal(await warningOf(V2, { series_id: String(valid) }), undefined)
  })

  test('does not change the body, and other values still match', async () => {
    const response = await routes.inject(`${V2}?disease=COVID&disease=COVID-19`)
    assert.match(String(response.headers['outbreaks-warning']), /^disease=COVID matches no records\./)
    assert.equal(response.body, (await routes.get(V2, { disease: 'COVID-19' })).text)
    assert.equal((await routes.get(V1, { disease: 'COVID' })).text, '[]')
  })

  test('is judged by the release that is read', async () => {
    assert.equal(await warningOf(V2, { pathogen: 'Zika virus' }), undefined)
    assert.match(
      String(await warningOf(V2, { pathogen: 'Zika virus', release: 1 })),
      /^pathogen=Zika\+virus matches no records/,
    )
  })

  test('has no warning if every value has records', async () => {
    for (const address of LISTS) {
      assert.equal(
        await warningOf(address, { event: 'Ebola_Testland_2014', host: 'human', admin_l1: 'Équateur' }),
        undefined,
      )
      assert.equal(await warningOf(address, {}), undefined)
    }
  })

  test('has a warning also with 304 and on each page of a walk', async () => {
    const query = { disease: 'COVID', host: 'human' }
    const first = await routes.inject(V2, query)
    const again = await routes.inject(V2, query, { 'if-none-match': String(first.headers.etag) })
    assert.deepEqual([again.statusCode, again.headers['outbreaks-warning']], [304, first.headers['outbreaks-warning']])
    const address = `${V2}?event=Ebola_Testland_2014&event=Ebola_Testland_2018&event=x&num=1`
    const { next_page: next } = (await routes.inject(address)).json<{ next_page: string }>()
    assert.match(
      String((await routes.inject(`${address}&page=${next}`)).headers['outbreaks-warning']),
      /^event=x matches/,
    )
  })

  test('has a warning of bounded length, in ASCII', async () => {
    const query = new URLSearchParams(
      Array.from({ length: 30 }, (_, i): [string, string] => ['event', `é${i} ${'x'.repeat(100)}`]),
    )
    const response = await routes.inject(`${V2}?${query.toString()}`)
    const warning = String(response.headers['outbreaks-warning'])
    assert.ok(warning.length <= 1000)
    assert.match(warning, /^[ -~]+ \(and \d+ more\)$/)
  })
})

describe('400 with strict=true', () => {
  for (const address of LISTS) {
    test(`for a value without records of ${address}`, async () => {
      const query = { ...(address.includes('outbreaks/outbreaks') && ONE_STRATUM), strict: 'true' }
      const response = await routes.inject(address, { ...query, disease: 'COVID', event: 'ebola' })
      const body = response.json<{ code: string; parameter: string; detail: string; suggestions: unknown }>()
      assert.deepEqual([response.statusCode, body.code, body.parameter], [400, 'invalid_parameter', 'event'])
      assert.deepEqual(body.suggestions, [
        { parameter: 'event', value: 'ebola', nearest: ['Ebola_Testland_2014', 'Ebola_Testland_2018'] },
        { parameter: 'disease', value: 'COVID', nearest: ['COVID-19'] },
      ])
      assert.match(body.detail, /^event=ebola matches no records\. Nearest: /)
      assert.equal((await routes.inject(address, { ...query, disease: 'COVID-19' })).statusCode, 200)
    })
  }
})
