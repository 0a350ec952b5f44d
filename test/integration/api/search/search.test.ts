// Search over HTTP on the sample: names, synonyms, other languages and misspellings.
import assert from 'node:assert/strict'
import path from 'node:path'
import { before, describe, test } from 'node:test'
import { readReleaseValues } from '../../../../src/api/search/read-values.ts'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { publishRelease } from '../../../../src/publish/publish.ts'
import type { PublishedRelease } from '../../../../src/storage/published-releases.ts'
import { writeNdjson } from '../../../fixtures/releases.ts'
import { HOME, openRoutes } from '../../../fixtures/routes.ts'
import { SEARCH_CASES } from './search-cases.ts'

const SEARCH = `${HOME}/search`
const EVENTS = `${HOME}/events`
/** At most this many cases may have another first hit. */
const MAX_MISSES = 3

interface Hit {
  kind: string
  value: string
  label: string
  parameter: string
  match: string
  records: number
  events: number | null
  countries: number | null
  first_day: string | null
  last_day: string | null
}
interface Found {
  data: Hit[]
  total: number
  suggestions: Hit[]
  incomplete: string[]
}

const routes = await openRoutes()
const search = async (q: string, more: Record<string, string | number> = {}) =>
  JSON.parse((await routes.get(SEARCH, { q, ...more })).text) as Found
const describeHit = ({ parameter, value }: Hit) => `${parameter}=${value}`

before(async () => {
  for (const release of [1, 2, 3, 4, 5, 6])
    await publishRelease(
      routes.operator,
      hedOutbreaks,
      path.resolve(import.meta.dirname, `../../../../sample/releases/${release}`),
    )
  await routes.refresh()
})

test(`at least ${SEARCH_CASES.length - MAX_MISSES} of ${SEARCH_CASES.length} searches have the expected first hit`, async (t) => {
  assert.ok(SEARCH_CASES.length >= 60)
  assert.equal(new Set(SEARCH_CASES.map(([query]) => query)).size, SEARCH_CASES.length)
  const misses: string[] = []
  for (const [query, ...expected] of SEARCH_CASES) {
    const [first] = (await search(query)).data
    const found = first === undefined ? 'nothing' : describeHit(first)
    if (!expected.includes(found)) misses.push(`${query}: ${found} instead of ${expected.join(' or ')}`)
  }
  t.diagnostic(`${misses.length} with another first hit. ${misses.join('; ')}`)
  assert.ok(misses.length <= MAX_MISSES, misses.join('\n'))
})

describe('a hit', () => {
  test('says what the value is, which filter takes it and what it holds', async () => {
    const { data, incomplete } = await search('mers')
    const { records, ...hit } = data[0] as Hit
    assert.deepEqual(hit, {
      kind: 'disease',
      value: 'Middle East respiratory syndrome',
      label: 'Middle East respiratory syndrome',
      parameter: 'disease',
      match: 'name',
      events: 2,
      countries: 2,
      first_day: hit.first_day,
      last_day: hit.last_day,
    })
    assert.deepEqual(incomplete, [])
    const filtered = await routes.walk(`${HOME}/outbreaks`, { disease: hit.value })
    assert.equal(filtered.length, records)
    const days = filtered.flatMap(({ date_low, date_high }) => [date_low, date_high].map((day) => String(day ?? '')))
    const sorted = days.filter((day) => day !== '').toSorted()
    assert.deepEqual([hit.first_day, hit.last_day], [sorted[0], sorted.at(-1)])
  })

  test('of every kind selects as many records as it says', async () => {
    const kinds = new Set<string>()
    for (const q of ['cholera', 'uganda', 'western africa', 'kerala', 'afr', 'vibrio', 'cholera haiti 2010', 'jhu']) {
      const [hit] = (await search(q)).data
      assert.ok(hit !== undefined, q)
      kinds.add(hit.kind)
      const { headers } = await routes.inject(`${HOME}/outbreaks`, {
        [hit.parameter]: hit.value,
        count: 'exact',
        num: 1,
      })
      assert.equal(headers['outbreaks-count'], String(hit.records), q)
    }
    assert.deepEqual([...kinds].toSorted(), ['disease', 'event', 'pathogen', 'place', 'source'])
  })

  test('has the readable name of a code, and how it matched', async () => {
    const matches = async (q: string) => {
      const [hit] = (await search(q)).data
      return [hit?.value, hit?.label, hit?.match]
    }
    assert.deepEqual(await matches('Ouganda'), ['UG', 'Uganda', 'name'])
    assert.deepEqual(await matches('marbug'), ['Marburg virus disease', 'Marburg virus disease', 'similar'])
    assert.deepEqual((await matches('rift valley'))[2], 'words')
  })

  test('is never a misspelling if some value has the words', async () => {
    const { data } = await search('niger')
    assert.equal(data[0]?.value, 'NE')
    assert.ok(data.every(({ match }) => match !== 'similar'))
  })
})

test('num limits the hits, and total counts all of them', async () => {
  const { data, total } = await search('ebola', { num: 3 })
  assert.equal(data.length, 3)
  assert.ok(total > 20)
})

test('without a hit the nearest values are suggested', async () => {
  const { data, total, suggestions } = await search('banana')
  assert.deepEqual([data, total], [[], 0])
  assert.equal(suggestions[0] && describeHit(suggestions[0]), 'country_code=PA')
  assert.deepEqual((await search('xyzzy')).suggestions, [])
})

test('a search reads the release it names', async () => {
  const rows = [{ key: 'other', event: 'Mumps_Testland_2021', disease: 'Mumps', pathogen: 'Mumps virus' }]
  const confirmedWithdrawn = routes.releases().at(-1)?.records ?? 0
  await publishRelease(routes.operator, hedOutbreaks, await writeNdjson(rows), { confirmedWithdrawn })
  await routes.refresh()
  assert.equal((await search('oreillons', { release: 7 })).data[0]?.value, 'Mumps')
  assert.deepEqual((await search('oreillons', { release: 1 })).data, [])
  assert.deepEqual((await search('cholera', { release: 7 })).data, [])
})

describe('the index of a release', () => {
  const release = () => routes.releases()[0] as PublishedRelease

  test('has only the most frequent values of a field with too many, and lists the field', async () => {
    const { counts, events, incomplete } = await readReleaseValues(routes.index, hedOutbreaks, release(), 2)
    assert.ok(counts.filter(({ field }) => field === 'disease').every(({ records }) => records > 1))
    assert.ok([...Map.groupBy(counts, ({ field }) => field).values()].every((values) => values.length <= 2))
    assert.equal(events.length, 2)
    assert.deepEqual(
      ['event', 'disease', 'pathogen', 'locality', 'host'].map((field) => incomplete.includes(field)),
      [true, true, true, true, false],
    )
  })
})

describe('events with q', () => {
  const names = async (q: string, num = 100) =>
    (await routes.walk(EVENTS, { q, num, release: 1 })).map(({ event }) => event)

  test('are those that match, best first', async () => {
    assert.deepEqual(await names('cholera haiti'), ['Cholera_Haiti_2022', 'Cholera_Haiti_2010'])
    assert.deepEqual(await names('ebola ouganda 2022'), ['Sudan_virus_Uganda_2022'])
  })

  test('have the same order on pages of any size', async () => {
    const all = await names('ebola')
    assert.ok(all.length > 20)
    assert.equal(new Set(all).size, all.length)
    assert.deepEqual(await names('ebola', 7), all)
  })

  test('a cursor is valid only for its q', async () => {
    const { next } = await routes.getPage(EVENTS, { q: 'ebola', num: 2, release: 1 })
    for (const query of [{ q: 'cholera' }, {}])
      await routes.assertProblem(EVENTS, { ...query, page: next ?? '' }, 400, 'invalid_parameter', 'page')
  })

  test('if none matches, a header has the nearest names', async () => {
    const response = await routes.inject(EVENTS, { q: 'cholera banana', release: 1 })
    assert.equal(response.body, '{"data":[],"has_more":false,"next_page":null}')
    assert.match(
      String(response.headers['outbreaks-warning']),
      /^q=cholera\+banana matches no event\. Nearest: event=Cholera_\w+, .*\.$/,
    )
    assert.equal((await routes.inject(EVENTS, { q: 'ebola', release: 1 })).headers['outbreaks-warning'], undefined)
  })
})

describe('400', () => {
  const tooMany = Array.from({ length: 11 }, (_, i) => `w${i}`).join(' ')
  for (const [name, query] of [
    ['without q', {}],
    ['if q is empty', { q: '' }],
    ['if q has no letter or digit', { q: ' -!- ' }],
    ['if q has more than ten words', { q: tooMany }],
    ['if q is too long', { q: 'a'.repeat(201) }],
    ['if q has a NUL', { q: 'a\0b' }],
  ] as const) {
    test(name, async () => {
      await routes.assertProblem(SEARCH, query, 400, 'invalid_parameter', 'q')
      if ('q' in query) await routes.assertProblem(EVENTS, query, 400, 'invalid_parameter', 'q')
    })
  }
  test('for a num out of range, an unknown release and a filter', async () => {
    await routes.assertProblem(SEARCH, { q: 'a', num: 101 }, 400, 'invalid_parameter', 'num')
    await routes.assertProblem(SEARCH, { q: 'a', release: 9 }, 400, 'invalid_parameter', 'release')
    await routes.assertProblem(SEARCH, { q: 'a', event: 'x' }, 400, 'unknown_parameter', 'event')
  })
})
