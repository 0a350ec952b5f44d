// The words of names and queries, the search index of a few values, the synonyms, and the header of warnings.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { buildSearchIndex, type EventFacts } from '../../../src/api/search/search-index.ts'
import { describeNearest, formatParameter, warningHeader } from '../../../src/api/search/warnings.ts'
import { exchangeLetters, joinWords, splitQuery, splitWords } from '../../../src/api/search/words.ts'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { namesOfOutbreakValue } from '../../../src/datasets/outbreak-names.ts'
import { UN_REGIONS, WHO_REGIONS } from '../../../src/datasets/regions.ts'
import { DISEASES, UN_REGION_NAMES, WHO_REGION_NAMES } from '../../../src/datasets/synonyms.ts'

describe('words', () => {
  test('have no case, accents or punctuation', () => {
    assert.deepEqual(splitWords('Avian_influenza_H5N1_Hong_Kong_1997'), [
      'avian',
      'influenza',
      'h5n1',
      'hong',
      'kong',
      '1997',
    ])
    assert.deepEqual(splitWords("Côte d'Ivoire"), ['cote', 'ivoire'])
    assert.deepEqual(splitWords('Cox’s Bazar (Bangladesh)'), ['coxs', 'bazar', 'bangladesh'])
    assert.deepEqual(splitWords('Straße Łódź Ærø 中国'), ['strasse', 'lodz', 'aero', '中国'])
    assert.deepEqual(splitWords(' -!- '), [])
  })

  test('of a query have no stop words, unless it has no others', () => {
    assert.deepEqual(splitQuery('the outbreak of Ebola in Uganda, Ebola'), ['ebola', 'uganda'])
    assert.deepEqual(splitQuery('hepatitis E'), ['hepatitis', 'e'])
    assert.deepEqual(splitQuery('of the'), ['of', 'the'])
  })

  test('are compared as one word, and with two letters exchanged', () => {
    assert.equal(joinWords('Monkey-Pox'), joinWords('monkeypox'))
    assert.deepEqual(exchangeLetters('aab'), ['aba'])
    assert.ok(exchangeLetters('choelra').includes('cholera'))
  })
})

describe('the index', async () => {
  const event = (
    name: string,
    country: string,
    pathogen: string,
    firstDay: string | null,
    lastDay: string | null,
  ): EventFacts => ({
    event: name,
    ...{ firstDay, lastDay },
    values: new Map([
      ['country_code', [country]],
      ['pathogen', [pathogen]],
    ]),
  })
  const events = [
    event('Marburg_Guinea_2021', 'GN', 'Marburg virus', '2021-08-01', '2021-09-01'),
    event('Marburg_Equatorial_Guinea_2023', 'GQ', 'Marburg virus', '2023-02-01', null),
    event('Zika_A', 'BR', 'Zika virus', '2014-12-01', '2016-01-01'),
    event('Zika_B', 'BR', 'Zika virus', null, null),
  ]
  const count = (field: string, value: string, records = 1) => ({ field, value, records })
  const index = await buildSearchIndex(hedOutbreaks, {
    counts: [
      ...events.map((facts, i) => count('event', facts.event, i + 1)),
      ...['GN', 'GQ', 'BR'].map((code) => count('country_code', code)),
      count('pathogen', 'Marburg virus', 3),
      count('host', 'human', 9),
      count('host', 'animal', 1),
    ],
    events,
    incomplete: ['event'],
  })
  const find = async (q: string, ...fields: string[]) => (await index.search(q, fields)).map(({ value }) => value)

  test('ranks a value higher if the query has more of its words', async () => {
    assert.deepEqual(await find('marburg guinea', 'event'), ['Marburg_Guinea_2021', 'Marburg_Equatorial_Guinea_2023'])
  })

  test('finds an event by the names of its country and by each of its years', async () => {
    assert.deepEqual(await find('zika brasilien 2015', 'event'), ['Zika_A'])
    assert.deepEqual(await find('marburg guinée équatoriale 2023', 'event'), ['Marburg_Equatorial_Guinea_2023'])
  })

  test('ranks equal matches by the number of records', async () => {
    assert.deepEqual(await find('zika', 'event'), ['Zika_B', 'Zika_A'])
  })

  test('finds only values of the given fields', async () => {
    assert.deepEqual(await find('marburg', 'pathogen'), ['Marburg virus'])
    assert.deepEqual(await find('marburg', 'host'), [])
    assert.deepEqual(
      [index.has('host', 'human'), index.has('host', 'environment'), index.has('event', 'human')],
      [true, false, false],
    )
    assert.deepEqual(index.incomplete, ['event'])
  })

  test('never corrects a number', async () => {
    assert.deepEqual(await find('marburg 2022', 'event'), [])
    assert.deepEqual(await find('marbrug 2023', 'event'), ['Marburg_Equatorial_Guinea_2023'])
  })

  test('suggests values with some of the words, or the values of a field that has few', async () => {
    const suggest = async (q: string, ...fields: string[]) =>
      (await index.suggest(q, fields, 2)).map(({ value }) => value)
    assert.deepEqual(await suggest('marburg 1900', 'event'), ['Marburg_Guinea_2021', 'Marburg_Equatorial_Guinea_2023'])
    assert.deepEqual(await suggest('environment', 'host'), ['human', 'animal'])
    assert.equal((await suggest('zzzzzz', 'event', 'country_code', 'host', 'pathogen', 'disease')).length, 2)
  })
})

describe('the synonyms', () => {
  const sample = parse(readFileSync(new URL('../../../sample/releases/1/outbreaks.csv', import.meta.url), 'utf8'), {
    columns: true,
  }) as Record<string, string>[]

  test('cover every disease of the sample and every region', () => {
    const diseases = [...new Set(sample.map(({ disease = '' }) => disease))].filter((name) => name !== '')
    const unnamed = diseases.filter((name) => namesOfOutbreakValue('disease', name).names.length === 0)
    assert.deepEqual(unnamed, [])
    assert.deepEqual(Object.keys(UN_REGION_NAMES).toSorted(), UN_REGIONS.toSorted())
    assert.deepEqual(Object.keys(WHO_REGION_NAMES).toSorted(), WHO_REGIONS.toSorted())
    for (const region of UN_REGIONS) {
      const { names } = namesOfOutbreakValue('un_region', region)
      assert.ok(names.length >= 8 && names.every((name) => name !== ''), region)
    }
  })

  /** Measles in English, rubella in Spanish and Portuguese. */
  const AMBIGUOUS = ['rubeola']

  test('have one disease for each name, and no empty name', () => {
    const names = DISEASES.map(([disease]) => [...new Set(disease.split('; ').map(joinWords))])
    assert.ok(names.flat().every((name) => name !== ''))
    const shared = [...Map.groupBy(names.flat(), (name) => name)].filter(([, uses]) => uses.length > 1)
    assert.deepEqual(
      shared.map(([name]) => name),
      AMBIGUOUS,
    )
  })

  test('name a pathogen by the parts of its value, and lead from it to its disease', () => {
    const { names, related } = namesOfOutbreakValue('pathogen', 'Orthoebolavirus sudanense (Sudan virus, SUDV)')
    assert.ok(names.includes('Sudan ebolavirus') && names.includes('SUDV'))
    assert.ok(related.includes('Ebola'))
    assert.deepEqual(namesOfOutbreakValue('pathogen', 'Something else'), { names: [], related: [] })
    assert.deepEqual(namesOfOutbreakValue('country_code', 'XA'), { names: [], related: [] })
    assert.equal(namesOfOutbreakValue('al1_code', 'CD-NK').label, 'Nord-Kivu, Congo - Kinshasa')
    assert.deepEqual(namesOfOutbreakValue('note', 'anything'), { names: [], related: [] })
  })
})

describe('the header of warnings', () => {
  test('is readable ASCII, with parameters as in a query string', () => {
    assert.equal(formatParameter('country', "Côte d'Ivoire & co"), 'country=C%C3%B4te+d%27Ivoire+%26+co')
    assert.equal(describeNearest(['a=b', 'c=d']), 'Nearest: a=b, c=d.')
    assert.equal(describeNearest([]), 'Nothing similar exists.')
    assert.deepEqual(warningHeader([]), {})
    assert.deepEqual(warningHeader(['One.', 'Two.']), { 'outbreaks-warning': 'One. Two.' })
  })

  test('shortens long values and counts the warnings that do not fit', () => {
    assert.equal(formatParameter('q', 'é'.repeat(70)), `q=${'%C3%A9'.repeat(60)}...`)
    const header =
      warningHeader(Array.from({ length: 9 }, (_, i) => `${i}${'x'.repeat(199)}`))['outbreaks-warning'] ?? ''
    assert.match(header, /^0x+ 1x+ 2x+ 3x+ \(and 5 more\)$/)
    assert.deepEqual(warningHeader(['x'.repeat(2000)]), { 'outbreaks-warning': '(and 1 more)' })
  })
})
