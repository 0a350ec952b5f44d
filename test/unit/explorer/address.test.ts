// The address of the explorer: any state survives, and what is not a state is dropped.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Address,
  AVERAGES,
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
  SORTS,
  TABS,
  TAKEN,
} from '../../../explorer/src/address.ts'
import { fc } from '../../seed.ts'

const ORIGIN = 'https://data.example.org'
const number = fc.option(fc.integer({ min: 1, max: 999_999_999 }), { nil: null })
const text = fc.string({ minLength: 1, unit: 'grapheme' })
const states: fc.Arbitrary<Address> = fc.record({
  page: fc.constantFrom('event', ...PAGES),
  item: number,
  tab: fc.constantFrom(...TABS),
  question: fc
    .uniqueArray(fc.tuple(fc.constantFrom(...FILTERS), fc.uniqueArray(text, { minLength: 1, maxLength: 3 })), {
      selector: ([name]) => name,
      maxLength: 5,
    })
    .map((entries) => Object.fromEntries(entries)),
  view: fc.record({
    release: number,
    compare: number,
    interval: fc.constantFrom(null, ...INTERVALS),
    count: fc.constantFrom(...COUNTS),
    kind: fc.constantFrom(...KINDS),
    group: fc.constantFrom(...GROUPS),
    scale: fc.constantFrom('linear', 'log'),
    align: fc.constantFrom('date', 'first'),
    level: fc.constantFrom(null, ...MAP_LEVELS),
    side: fc.boolean(),
    layout: fc.constantFrom('one', 'each'),
    measures: fc.constantFrom('none', 'per_100000'),
    average: fc.constantFrom(...AVERAGES),
    sort: fc.constantFrom(...SORTS),
    columns: fc.uniqueArray(fc.stringMatching(/^[a-z0-9_]+$/), { minLength: 1, maxLength: 6 }),
    period: fc.constantFrom(...PERIODS),
    taken: fc.constantFrom(...TAKEN),
    code: fc.constantFrom(...LANGUAGES),
  }),
})

/** The path has a place for some members only, and the first page has no question about events. */
function normalise(state: Address): Address {
  const { event = [], ...rest } = state.question
  const [first = 'Measles'] = event
  // A path with dots only is another path.
  const name = /^\.+$/.test(first) ? 'Measles' : first
  if (state.page === 'event') return { ...state, item: null, question: { ...rest, event: [name] } }
  return {
    ...state,
    tab: 'overview',
    ...(state.page === 'explore' ? { item: null, question: rest } : {}),
    // What follows the page of the events is the name of one.
    ...(state.page === 'events' ? { item: null } : {}),
  }
}

test('any state is read back from its address', () => {
  fc.assert(
    fc.property(states, (state) => {
      const expected = normalise(state)
      // Generated objects have no prototype.
      assert.deepEqual(parseAddress(new URL(formatAddress(expected), ORIGIN)), structuredClone(expected))
    }),
  )
})

test('the default view has an empty query', () => {
  const address = { page: 'explore', item: null, tab: 'overview', question: {}, view: DEFAULT_VIEW } as const
  assert.equal(formatAddress(address), '/explore')
})

test('addresses from before events had pages of their own', () => {
  for (const [old, now] of [
    ['/explore?event=A_2020&release=3', '/explore/events/A_2020?release=3'],
    ['/explore?event=A_2020&country_code=FR&interval=month', '/explore/events/A_2020?country_code=FR&interval=month'],
    ['/explore?event=A&event=B&group=event', '/explore/compare?event=A&event=B&group=event'],
    ['/explore?event=A&group=source_name', '/explore/compare?event=A&group=source_name'],
    ['/explore/events/A%2FB%20C/changes?compare=2', '/explore/events/A%2FB%20C/changes?compare=2'],
  ] as const)
    assert.equal(formatAddress(parseAddress(new URL(old, ORIGIN))), now)
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
