// The rule of docs/methods.md, section 11: every step and every doubt, each with a control in which it decides nothing.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FieldValue } from '../../../src/datasets/define.ts'
import { outbreakPreference } from '../../../src/datasets/outbreak-preference.ts'
import { type CountedSet, recommend } from '../../../src/methods/recommended-set.ts'

const PARTS = ['age_group', 'sex', 'population']

type Change = Partial<Omit<CountedSet, 'values' | 'totals'>> & { cases?: number | null; deaths?: number | null }

/** National totals of confirmed cases on ten days, with what differs. */
function set(name: string, values: Record<string, FieldValue> = {}, change: Change = {}): CountedSet {
  const { cases = 100, deaths = null, ...rest } = change
  const defaults = {
    location_granularity: 'country',
    case_status: 'confirmed',
    count_kind: 'cumulative',
    composite: false,
  }
  return {
    ...{ records: 10, days: 10, firstDay: 0, lastDay: 100, contradicts: false, sourceTypes: ['official'] },
    ...{ places: new Set(['A']), countries: new Set(['FR']) },
    values: new Map<string, FieldValue>(Object.entries({ ...defaults, source_name: name, ...values })),
    totals: new Map([
      ['cases', cases],
      ['deaths', deaths],
    ]),
    ...rest,
  }
}

function choose(sets: readonly CountedSet[], question: { isCurve?: boolean; count?: string } = {}) {
  const asked = { count: 'cases', isCurve: false, parts: PARTS, ...question }
  const { chosen, leftOut, doubt } = recommend(outbreakPreference, sets, asked)
  const nameOf = ({ values }: CountedSet) => String(values.get('source_name'))
  return { chosen: nameOf(chosen), steps: leftOut.map(({ set: left, step }) => [nameOf(left), step]), doubt }
}

describe('each step', () => {
  const better = set('z')
  const steps: Record<string, [worse: CountedSet, isCurve?: boolean, better?: CountedSet]> = {
    count: [set('a', {}, { cases: null, deaths: 5 })],
    everyone: [set('a', { age_group: '0-4' })],
    exact: [set('a', {}, { contradicts: true })],
    curve: [set('a', {}, { days: 4 }), true],
    composite: [set('a'), false, set('z', { composite: true })],
    location_granularity: [set('a', { location_granularity: 'admin1' })],
    place: [set('a', { place: '["country","XA"]' }), false, set('z', { place: null })],
    source_type: [set('a', {}, { sourceTypes: ['literature', null] })],
    deaths: [set('a'), false, set('z', {}, { deaths: 1 })],
    case_status: [set('a', { case_status: 'suspected' })],
    count_kind: [set('a', { count_kind: 'point' })],
    date_type: [set('a', { date_type: 'report' }), false, set('z', { date_type: 'onset' })],
    location_type: [set('a', { location_type: 'care' }), false, set('z', { location_type: null })],
    last_day: [set('a', {}, { lastDay: 99 })],
    days: [set('a', {}, { days: 9 })],
    records: [set('a', {}, { records: 9 })],
  }
  for (const [step, [worse, isCurve = false, best = better]] of Object.entries(steps))
    test(`${step} decides, in any order of the sets`, () => {
      for (const sets of [
        [worse, best],
        [best, worse],
      ])
        assert.deepEqual(choose(sets, { isCurve }), { chosen: 'z', steps: [['a', step]], doubt: null })
    })
  test('name decides between equals', () => {
    assert.deepEqual(choose([set('b'), set('a')]), { chosen: 'a', steps: [['b', 'name']], doubt: null })
  })
  test('the count that was asked for decides', () => {
    const [cases, deaths] = [set('cases'), set('deaths', {}, { cases: null, deaths: 3 })]
    assert.equal(choose([cases, deaths]).chosen, 'cases')
    assert.equal(choose([cases, deaths], { count: 'deaths' }).chosen, 'deaths')
  })
})

test('of one country its own level comes first, of several the coarsest', () => {
  const world = set('world', { location_granularity: 'global' }, { countries: new Set() })
  assert.equal(choose([world, set('country')]).chosen, 'country')
  assert.equal(choose([world, set('countries', {}, { countries: new Set(['FR', 'IT']) })]).chosen, 'world')
  assert.equal(
    choose([set('world', { location_granularity: 'global' }, { countries: new Set(), cases: 201 }), set('country')])
      .doubt,
    'count',
  )
})

describe('a curve', () => {
  const total = set('total', { composite: true }, { days: 1, cases: 1000 })
  test('comes before one total of as many', () => {
    assert.equal(choose([total, set('curve', {}, { cases: 900 })], { isCurve: true }).chosen, 'curve')
  })
  test('of some places does not', () => {
    assert.equal(choose([total, set('curve', {}, { cases: 899 })], { isCurve: true }).chosen, 'total')
  })
})

describe('of the kinds of count of one source', () => {
  const kinds = (cumulative: number, added: number) => [
    set('a', {}, { cases: cumulative }),
    set('a', { count_kind: 'new' }, { cases: added }),
  ]
  const kindOf = (sets: readonly CountedSet[], isCurve = false) =>
    recommend(outbreakPreference, sets, { count: 'cases', isCurve, parts: PARTS }).chosen.values.get('count_kind')
  test('a total takes the greatest', () => {
    assert.equal(kindOf(kinds(100, 99)), 'cumulative')
    assert.equal(kindOf(kinds(100, 100)), 'new')
    assert.equal(kindOf(kinds(99, 100)), 'new')
  })
  test('a curve takes the new counts, if they are of the whole', () => {
    assert.equal(kindOf(kinds(100, 90), true), 'new')
    assert.equal(kindOf(kinds(100, 89), true), 'cumulative')
  })
})

describe('nothing is chosen', () => {
  const part = { location_granularity: 'locality' }
  const elsewhere = { places: new Set(['B']), deaths: null }
  const doubts: Record<string, [best: CountedSet, other: CountedSet, harmless: CountedSet]> = {
    place: [
      set('a', { location_granularity: 'region', place: 'X' }),
      set('b', { location_granularity: 'region', place: 'Y' }),
      set('b', { location_granularity: 'region', place: 'X' }),
    ],
    places: [set('a', part), set('b', part, { ...elsewhere, cases: 80 }), set('b', part, { ...elsewhere, cases: 85 })],
    count: [set('a'), set('b', {}, { cases: 201 }), set('b', {}, { cases: 200 })],
    status: [
      set('a'),
      set('b', { case_status: 'suspected' }, { cases: 2000 }),
      set('b', { case_status: 'suspected' }, { cases: 1999 }),
    ],
    'status of all cases': [
      set('a'),
      set('b', { ...part, case_status: 'total' }, { cases: 1000 }),
      set('b', { ...part, case_status: 'total' }, { cases: 999 }),
    ],
    days: [
      set('a', {}, { firstDay: 51, cases: 100 }),
      set('b', {}, { firstDay: 0, lastDay: 99, cases: 150 }),
      set('b', {}, { firstDay: 10, lastDay: 99, cases: 150 }),
    ],
    'days that are others, of as many': [
      set('a', {}, { firstDay: 91 }),
      set('b', {}, { firstDay: 0, lastDay: 99 }),
      set('b', {}, { firstDay: 10, lastDay: 99 }),
    ],
    'days with more than a tenth': [
      set('a', {}, { firstDay: 90, cases: 99 }),
      set('b', {}, { lastDay: 50, cases: 12 }),
      set('b', {}, { lastDay: 50, cases: 11 }),
    ],
  }
  for (const [doubt, [best, other, harmless]] of Object.entries(doubts))
    test(`with the doubt ${doubt}`, () => {
      assert.equal(choose([best, other]).doubt, doubt.split(' ')[0])
      assert.equal(choose([best, harmless]).doubt, null)
    })
  test('if the parts have more than the whole', () => {
    assert.equal(choose([set('a'), set('b', part, { cases: 118 })]).doubt, 'count')
    assert.equal(choose([set('a'), set('b', part, { cases: 117 })]).doubt, null)
  })
  test('but a source that agrees means the same place by another name', () => {
    const suspected = (name: string) => set(name, { ...part, case_status: 'suspected' }, { ...elsewhere, cases: 300 })
    const agreeing = set('b', part, { ...elsewhere, cases: 90, lastDay: 99 })
    assert.equal(choose([set('a', part), agreeing, suspected('b')]).doubt, null)
    assert.equal(choose([set('a', part), agreeing, suspected('c')]).doubt, 'places')
  })
  test('but a status is part of all cases', () => {
    const all = set('a', { ...part, case_status: 'total' })
    assert.equal(choose([all, set('b', part, { ...elsewhere, cases: 100 })]).doubt, null)
    assert.equal(choose([all, set('b', part, { ...elsewhere, cases: 101 })]).doubt, 'places')
    assert.equal(
      choose([set('a', part), set('b', { ...part, case_status: 'suspected' }, { ...elsewhere, cases: 60 })]).doubt,
      'places',
    )
  })
})
