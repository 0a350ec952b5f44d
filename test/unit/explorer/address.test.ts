// The address of the explorer: any state survives, and what is not a state is dropped.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Address,
  COUNTS,
  changeQuestion,
  DEFAULT_VIEW,
  FILTERS,
  formatAddress,
  GROUPS,
  INTERVALS,
  KINDS,
  LANGUAGES,
  MAP_LEVELS,
  PAGES,
  PERIODS,
  parseAddress,
  parseQuestion,
  TAKEN,
} from '../../../explorer/src/address.ts'
import { fc } from '../../seed.ts'

const ORIGIN = 'https://data.example.org'
const number = fc.option(fc.integer({ min: 1, max: 999_999_999 }), { nil: null })
const text = fc.string({ minLength: 1, unit: 'grapheme' })
const states: fc.Arbitrary<Address> = fc.record({
  page: fc.constantFrom(...PAGES),
  item: number,
  question: fc
    .uniqueArray(fc.tuple(fc.constantFrom(...FILTERS), fc.uniqueArray(text, { minLength: 1, maxLength: 3 })), {
      selector: ([name]) => name,
      maxLength: 5,
    })
    .map((entries) => Object.fromEntries(entries)),
  view: fc.record({
    release: number,
    compare: number,
    interval: fc.constantFrom(...INTERVALS),
    count: fc.constantFrom(...COUNTS),
    kind: fc.constantFrom(...KINDS),
    group: fc.constantFrom(...GROUPS),
    scale: fc.constantFrom('linear', 'log'),
    align: fc.constantFrom('date', 'first'),
    level: fc.constantFrom(...MAP_LEVELS),
    columns: fc.uniqueArray(fc.stringMatching(/^[a-z0-9_]+$/), { minLength: 1, maxLength: 6 }),
    period: fc.constantFrom(...PERIODS),
    taken: fc.constantFrom(...TAKEN),
    code: fc.constantFrom(...LANGUAGES),
  }),
})

test('any state is read back from its address', () => {
  fc.assert(
    fc.property(states, (state) => {
      const expected = state.page === 'explore' ? { ...state, item: null } : state
      // Generated objects have no prototype.
      assert.deepEqual(parseAddress(new URL(formatAddress(expected), ORIGIN)), structuredClone(expected))
    }),
  )
})

test('the default view has an empty query', () => {
  const address = { page: 'explore', item: null, question: {}, view: DEFAULT_VIEW } as const
  assert.equal(formatAddress(address), '/explore')
})

for (const query of ['release=0', 'release=1.5', 'interval=hour', 'count=', 'event=', 'evnt=x', 'columns=%3Cb%3E'])
  test(`${query} is ignored`, () => {
    const { question, view } = parseAddress(new URL(`/explore?${query}`, ORIGIN))
    assert.deepEqual({ question, view }, { question: {}, view: DEFAULT_VIEW })
  })

test('a choice of the service becomes a question', () => {
  assert.deepEqual(
    parseQuestion('location_granularity=country&source_name=WHO+Disease+Outbreak+News&missing=date_type'),
    {
      location_granularity: ['country'],
      source_name: ['WHO Disease Outbreak News'],
      missing: ['date_type'],
    },
  )
})

test('an empty list removes a filter', () => {
  assert.deepEqual(changeQuestion({ event: ['a'], sex: ['male'] }, { sex: [], country_code: ['NA'] }), {
    event: ['a'],
    country_code: ['NA'],
  })
})
