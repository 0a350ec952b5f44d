// Every misspelt, repeated, empty, mistyped or contradictory parameter is 400 with its name.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { figureFilters } from '../../../../src/api/figures/figure-request.ts'
import { filterParameters } from '../../../../src/api/filters/filters.ts'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { hasSeries } from '../../../../src/methods/record-series.ts'
import { HOME, openRoutes } from '../../../fixtures/routes.ts'

const LISTS = ['/v1/hed-outbreaks/outbreaks', `${HOME}/outbreaks`]
const OTHERS = [`${HOME}/facets`, `${HOME}/citation`, `${HOME}/series`, `${HOME}/events`, `${HOME}/changes`]
const REQUIRED: Record<string, string> = { [`${HOME}/series`]: '&interval=day', [`${HOME}/changes`]: '&from=1' }
const { publish, refresh, assertProblem } = await openRoutes()
before(async () => {
  await publish([{ key: 'a' }])
  await refresh()
})

/** A valid value of each list parameter. */
const listParameters: Record<string, string> = {
  event: 'Cholera_Testland_2020',
  pathogen: 'Vibrio cholerae',
  disease: 'Cholera',
  host: 'human',
  country_code: 'XA',
  location_granularity: 'country',
  al1_code: 'DE-BY',
  admin_l1: 'Bavaria',
  admin_l2: 'Upper Bavaria',
  admin_l3: 'Munich',
  locality: 'Munich',
  location_type: 'residence',
  population: 'health workers',
  case_status: 'confirmed',
  count_kind: 'new',
  composite: 'false',
  series_id: '0123456789abcdef',
  source_name: 'Test ministry',
  who_region: 'AFR',
  un_region: 'Western Africa',
  date_type: 'onset',
  age_group: '0-4',
  sex: 'female',
  count_qualifier: 'exact',
  source_type: 'official',
  licence: 'CC0-1.0',
  verification: 'verified',
  missing: 'note',
}
const days = ['date_from', 'date_to', 'reported_from', 'reported_to']
const counts = ['cases', 'deaths', 'hospitalised', 'recovered', 'tested'].flatMap((name) => [
  `${name}_min`,
  `${name}_max`,
])
const singleParameters: Record<string, string> = {
  ...Object.fromEntries(days.map((name) => [name, '2020-01-01'])),
  ...Object.fromEntries(counts.map((name) => [name, '1'])),
  bbox: '-10,-10,10,10',
  updated_since_release: '1',
}
type InvalidQuery = [query: string, code: string, parameter: string]
const query = (...pairs: [name: string, value: string][]) => new URLSearchParams(pairs).toString()
const each = (names: readonly string[], values: readonly string[]): InvalidQuery[] =>
  names.flatMap((name) => values.map((value): InvalidQuery => [query([name, value]), 'invalid_parameter', name]))

const names = [...Object.keys(listParameters), ...Object.keys(singleParameters)]
const misspelt = names.flatMap((name) =>
  [
    name.toUpperCase(),
    `${name}s`,
    `${name}[]`,
    ` ${name}`,
    `${name}.`,
    name.slice(1),
    name.replace('_', '-').concat('x'),
  ].map(
    (wrong): InvalidQuery => [
      query([wrong, listParameters[name] ?? singleParameters[name] ?? '']),
      'unknown_parameter',
      wrong,
    ],
  ),
)
const repeated: InvalidQuery[] = [
  ...Object.entries(listParameters).map(
    ([name, value]): InvalidQuery => [query([name, value], [name, value]), 'repeated_parameter', name],
  ),
  ...Object.entries(singleParameters).map(
    ([name, value]): InvalidQuery => [query([name, value], [name, value]), 'repeated_parameter', name],
  ),
  ['event=a&event=b&host=human&event=a', 'repeated_parameter', 'event'],
]
const tooMany = ['event', 'pathogen', 'disease', 'source_name', 'series_id'].map(
  (name): InvalidQuery => [
    query(...Array.from({ length: 51 }, (_, i): [string, string] => [name, `value ${i}`])),
    'invalid_parameter',
    name,
  ],
)
const mistyped: InvalidQuery[] = [
  ...each(names, ['']),
  ...each(['event', 'pathogen', 'disease', 'source_name', 'series_id', 'age_group', 'licence'], ['\0', 'a\0b']),
  ...each(['admin_l1', 'admin_l2', 'admin_l3', 'locality', 'population'], ['\0', 'a\0b']),
  ...each(['location_type'], ['home', 'null', 'residence,care']),
  ...each(['host'], ['humans', 'human ', 'null', 'human,animal', '*', 'true']),
  ...each(['location_granularity'], ['admin', 'admin4', '0', 'country,admin1']),
  ...each(['case_status'], ['confirm', 'any', '1', ' confirmed']),
  ...each(['count_kind'], ['true', 'cumulative,new', 'incident']),
  ...each(['who_region', 'un_region'], ['AFRO', 'Africa', 'null']),
  ...each(['sex'], ['F', 'null', 'all']),
  ...each(['count_qualifier'], ['<', 'at least']),
  ...each(['composite'], ['1', '0', 'TRUE', 'yes', 'null', 'true,false', 't']),
  ...each(['country_code'], ['ZZ', 'C', 'CD,UG', 'Nowhere', '180', 'XX%']),
  ...each(['al1_code'], ['CD', 'ZZ-NK', 'CD-ZZZ9', 'CDNK', 'CD_NK', 'DE-', '-BY']),
  ...each(days, [
    '2020',
    '2020-01',
    '2020-1-1',
    '20200101',
    '2021-02-29',
    '2020-02-30',
    '2020-13-01',
    '2020-00-10',
    '0000-01-01',
    '2020-01-01T00:00:00Z',
    '01/02/2020',
    'today',
    '-2020-01-01',
    ' 2020-01-01',
  ]),
  ...each(counts, ['1.5', '1e3', '01', 'many', '2147483648', '-2147483648', ' 1']),
  ...each(
    ['bbox'],
    [
      ...['1,2,3', '1,2,3,4,5', 'a,b,c,d', '1, 2,3,4', '1,2,3,', '1e1,2,3,4', '+1,2,3,4', '.5,0,1,1', 'NaN,0,0,0'],
      ...['-181,0,0,0', '0,0,180.1,0', '0,-91,0,0', '0,0,0,90.5', '0,10,0,9', '10,20,-10,10'],
    ],
  ),
  ...each(['missing'], ['id', 'event', 'nothing', 'Note', 'note,deaths', '__proto__']),
  ...each(['updated_since_release'], ['0', '-1', '1.0', '01', '1e0', 'latest', '2147483648', '2020-01-01', '2', '99']),
]
const contradictory: InvalidQuery[] = [
  ['date_from=2020-01-02&date_to=2020-01-01', 'invalid_parameter', 'date_from'],
  ['date_to=1999-12-31&date_from=2000-01-01', 'invalid_parameter', 'date_from'],
  ['reported_from=2020-01-02&reported_to=2020-01-01', 'invalid_parameter', 'reported_from'],
  ['cases_min=2&cases_max=1', 'invalid_parameter', 'cases_min'],
  ['deaths_max=-1&deaths_min=0', 'invalid_parameter', 'deaths_min'],
  ['missing=cases&cases_min=1', 'invalid_parameter', 'missing'],
  ['missing=deaths&deaths_max=1', 'invalid_parameter', 'missing'],
  ['missing=disease&disease=Cholera', 'invalid_parameter', 'missing'],
  ['missing=note&missing=longitude&bbox=0,0,1,1', 'invalid_parameter', 'missing'],
  ['missing=date_report&reported_to=2020-01-01', 'invalid_parameter', 'missing'],
  ['missing=date_low&missing=date_high&date_from=2020-01-01', 'invalid_parameter', 'missing'],
]
const everywhere = [...misspelt, ...repeated, ...tooMany, ...mistyped, ...contradictory]
const onLists: InvalidQuery[] = [
  ...each(
    ['fields'],
    ['', ',', 'id,', ',id', 'id,id', 'ID', 'id, event', 'id;event', 'nothing', '*', '__proto__', 'body'],
  ),
  ...each(['count'], ['', 'true', 'EXACT', 'estimated', '1']),
  ...each(['strict'], ['', '1', 'yes', 'True']),
  ['fields=id&fields=event', 'repeated_parameter', 'fields'],
  ['count=exact&count=exact', 'repeated_parameter', 'count'],
  ['mixed=warn', 'unknown_parameter', 'mixed'],
  ['interval=day', 'unknown_parameter', 'interval'],
]
const onOthers: [address: string, ...InvalidQuery][] = [
  [`${HOME}/facets`, 'num=0', 'invalid_parameter', 'num'],
  [`${HOME}/facets`, 'num=1001', 'invalid_parameter', 'num'],
  [`${HOME}/facets`, 'fields=id', 'unknown_parameter', 'fields'],
  [`${HOME}/search`, '', 'invalid_parameter', 'q'],
  [`${HOME}/coverage`, 'interval=month', 'invalid_parameter', 'by'],
  [`${HOME}/coverage`, 'by=event', 'invalid_parameter', 'interval'],
  [`${HOME}/coverage`, 'by=cases&interval=month', 'invalid_parameter', 'by'],
  [`${HOME}/series`, 'counts=birth', 'invalid_parameter', 'counts'],
  [`${HOME}/series`, 'detail=long', 'invalid_parameter', 'detail'],
  [`${HOME}/series`, 'interval=fortnight', 'invalid_parameter', 'interval'],
  [`${HOME}/series`, 'interval=', 'invalid_parameter', 'interval'],
  [`${HOME}/series`, 'interval=day&interval=month', 'repeated_parameter', 'interval'],
  [`${HOME}/series`, 'interval=day&mixed=warn', 'unknown_parameter', 'mixed'],
  [`${HOME}/series`, 'interval=day&group_by=cases', 'invalid_parameter', 'group_by'],
  [`${HOME}/series`, 'interval=day&group_by=event&group_by=host', 'invalid_parameter', 'group_by'],
  [`${HOME}/series`, 'interval=day&across=source_name', 'invalid_parameter', 'across'],
  [`${HOME}/series`, 'interval=day&across=event&across=event', 'repeated_parameter', 'across'],
  [`${HOME}/series`, 'interval=day&across=event&group_by=event', 'invalid_parameter', 'across'],
  [`${HOME}/series`, 'interval=day&place=Narnia', 'invalid_parameter', 'place'],
  [`${HOME}/series`, 'interval=day&place=US&country_code=US', 'invalid_parameter', 'place'],
  [`${HOME}/series`, 'interval=day&explain=1', 'invalid_parameter', 'explain'],
  [`${HOME}/series`, 'interval=day&verification=verified', 'unknown_parameter', 'verification'],
  [`${HOME}/series`, 'interval=day&reported_from=2020-01-01', 'unknown_parameter', 'reported_from'],
  [`${HOME}/series`, 'interval=day&updated_since_release=1', 'unknown_parameter', 'updated_since_release'],
  [`${HOME}/sums`, 'cases_min=1', 'unknown_parameter', 'cases_min'],
  [`${HOME}/sums`, 'missing=note', 'invalid_parameter', 'missing'],
  [`${HOME}/sums`, 'group_by=day&group_by=month', 'invalid_parameter', 'group_by'],
  [`${HOME}/sums`, 'group_by=event&group_by=host&group_by=sex', 'invalid_parameter', 'group_by'],
  [`${HOME}/sums`, 'sort=cases', 'invalid_parameter', 'sort'],
  [`${HOME}/sums`, 'num=0', 'invalid_parameter', 'num'],
  [`${HOME}/vintages`, 'counts=cases', 'unknown_parameter', 'counts'],
  [`${HOME}/vintages`, 'interval=day&count=births', 'invalid_parameter', 'count'],
  [`${HOME}/vintages`, 'interval=day&from=99', 'invalid_parameter', 'from'],
  [`${HOME}/citation`, 'format=xml', 'invalid_parameter', 'format'],
  [`${HOME}/citation`, 'format=BibTeX', 'invalid_parameter', 'format'],
  [`${HOME}/citation`, 'release=9', 'invalid_parameter', 'release'],
  [`${HOME}/events`, 'fields=id', 'unknown_parameter', 'fields'],
  [`${HOME}/events`, 'page=x', 'invalid_parameter', 'page'],
  [`${HOME}/schema`, 'release=0', 'invalid_parameter', 'release'],
]

test('the table has every filter of the declaration', () => {
  const declared = hedOutbreaks.fields.filter(({ filterable }) => filterable).map((field) => field.name)
  assert.deepEqual(Object.keys(listParameters).toSorted(), [...declared, 'missing'].toSorted())
  const parameters = [...Object.keys(listParameters), ...Object.keys(singleParameters)]
  assert.deepEqual(parameters.toSorted(), Object.keys(filterParameters(hedOutbreaks)).toSorted())
  assert.deepEqual(
    days,
    hedOutbreaks.periods.flatMap(({ name }) => [`${name}_from`, `${name}_to`]),
  )
  assert.ok(everywhere.length + onLists.length + onOthers.length > 300)
})

const allFilters = filterParameters(hedOutbreaks)
const seriesFilters = hasSeries(hedOutbreaks) ? figureFilters(hedOutbreaks) : {}

describe('400', () => {
  for (const address of LISTS) {
    test(`for ${everywhere.length + onLists.length} invalid queries of ${address}`, async () => {
      for (const [invalid, code, parameter] of [...everywhere, ...onLists]) {
        await assertProblem(`${address}?${invalid}`, {}, 400, code, parameter)
      }
    })
  }
  for (const address of OTHERS) {
    test(`for ${everywhere.length} invalid queries of ${address}`, async () => {
      for (const [invalid, code, parameter] of everywhere) {
        // Figures have only the filters of whole series.
        if (address === `${HOME}/series` && parameter in allFilters && !(parameter in seriesFilters)) continue
        await assertProblem(`${address}?${invalid}${REQUIRED[address] ?? ''}`, {}, 400, code, parameter)
      }
    })
  }
  for (const [address, invalid, code, parameter] of onOthers) {
    test(`${code} ${parameter}: ${address}?${invalid}`, async () => {
      await assertProblem(`${address}?${invalid}`, {}, 400, code, parameter)
    })
  }
})
