// Feeds of seven small releases: which releases have an entry, what it says, and that it never changes.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { HOSTILE, publishStep, STEPS } from '../../fixtures/links/feed-releases.ts'
import { HOME, openRoutes, type Query } from '../../fixtures/routes.ts'

interface Item {
  id: string
  title: string
  content_html: string
  _outbreaks: { release: number; before: object | null; after: object | null; counted_another_way: boolean }
}
const { assertProblem, get, inject, operator, refresh } = await openRoutes()
const FEED = `${HOME}/feed`

const open = async (query: Query = {}) => {
  const response = await inject(FEED, query)
  assert.equal(response.statusCode, 200, response.body)
  return response
}
const readItems = async (query: Query) => (await open({ ...query, format: 'json' })).json<{ items: Item[] }>().items
const listEntries = (atom: string) => atom.match(/<entry>.*?<\/entry>/gs) ?? []
const titlesOf = async (query: Query) => (await readItems(query)).map(({ title }) => title)

/** Each entry as it was first seen, by its id. */
const seen = new Map<string, string>()
before(async () => {
  for (const step of STEPS.slice(0, 7)) {
    await publishStep(operator, step)
    await refresh()
    for (const entry of [{}, { event: 'A' }].map((query) => open(query)))
      for (const text of listEntries((await entry).body)) {
        const [id = ''] = /<id>.*?<\/id>/.exec(text) ?? []
        assert.equal(text, seen.get(id) ?? text)
        seen.set(id, text)
      }
  }
})

describe('the feed of all releases', () => {
  test('has an entry for each, whose bytes stay the same while others are published', async () => {
    assert.equal(listEntries((await open()).body).length, 7)
    // 7 of all releases, 6 of the event.
    assert.equal(seen.size, 13)
  })

  test('counts the changes with their reasons', async () => {
    assert.deepEqual(await titlesOf({}), [
      'Release 7: records 6 → 7 (+1), 1 added: new report',
      'Release 6 (restores release 4): records 6 (unchanged), 1 corrected: release withdrawn',
      'Release 5: records 6 (unchanged), 1 corrected: revised by the source',
      'Release 4: records 5 → 6 (+1), 1 added: new report',
      'Release 3: records 5 (unchanged), 2 corrected: revised by the source',
      'Release 2: records 2 → 5 (+3), 3 added: new report',
      'Release 1: records 2, 2 added: new report',
    ])
  })
})

describe('the feed of a question', () => {
  test('has an entry only for releases that touched it, with the figures before and after', async () => {
    assert.deepEqual(await titlesOf({ event: 'A' }), [
      'Release 7: cases 1,040 → 5,000 (counted another way), 1 added: new report',
      'Release 6 (restores release 4): cases 940 → 1,040 (+100), 1 corrected: release withdrawn',
      'Release 5: cases 1,040 → 940 (−100), 1 corrected: entry error',
      'Release 4: cases 980 → 1,040 (+60), 1 added: new report',
      'Release 2: cases 600 → 980 (+380), 1 added: new report',
      'Release 1: cases 600, 1 added: new report',
    ])
  })

  test('its figures are those of /sums in both releases', async () => {
    const sum = async (release: number) => {
      const { data } = JSON.parse((await get(`${HOME}/sums`, { event: 'A', counts: 'cases', release })).text)
      return { cases: (data[0]?.cases as number | undefined) ?? null }
    }
    for (const { _outbreaks: entry } of await readItems({ event: 'A', counts: 'cases' })) {
      assert.deepEqual(entry.after, await sum(entry.release))
      assert.deepEqual(entry.before, entry.release === 1 ? null : await sum(entry.release - 1))
    }
  })

  test('a number that is not known is not 0, and a refusal is told in words', async () => {
    assert.deepEqual(await titlesOf({ event: 'A', counts: 'deaths', date_from: '2020-03-08' }), [
      'Release 4: deaths not known, 1 added: new report',
      'Release 2: deaths not known, 1 added: new report',
    ])
    const all = await readItems({ count_kind: 'new' })
    assert.match(all.at(-1)?.title ?? '', /^Release 1: no single number, 2 added/)
    assert.match(all.at(-1)?.content_html ?? '', /they differ in event/)
  })

  test('a report of an earlier day has an entry if it moves the figures of the days, without a change to count', async () => {
    assert.deepEqual(await titlesOf({ event: 'D', date_from: '2020-03-08' }), [
      'Release 3: cases 50 → 30 (−20)',
      'Release 2: cases not known → 50, 1 added: new report',
    ])
    assert.deepEqual(
      (await readItems({ event: 'A', date_from: '2020-03-15' })).map(({ _outbreaks: entry }) => entry.release),
      [4],
    )
  })
})

describe('when', () => {
  test('has only the releases in which the figure crossed the number, and says how', async () => {
    const titles = await titlesOf({ event: 'A', when: 'crosses:cases:1000' })
    assert.deepEqual(
      titles.map((title) => /: (.*?), cases/.exec(title)?.[1]),
      [
        'cases reached 1,000 by a rollback',
        'cases fell below 1,000 by a correction',
        'cases reached 1,000 by new reports',
        'cases became known, below 1,000',
      ],
    )
  })

  test('its entries are others than those without it', async () => {
    const ids = (await readItems({ event: 'A', when: 'crosses:cases:1000' })).map(({ id }) => id)
    const plain = await readItems({ event: 'A' })
    assert.ok(plain.every(({ id }) => !ids.includes(id)))
  })
})

test('texts of publishers are escaped in HTML and in XML, without control characters', async () => {
  const { body } = await open({ event: 'A' })
  const [item] = (await readItems({ event: 'A' })).filter(({ _outbreaks: { release } }) => release === 4)
  const escaped = HOSTILE.replace('\u202e', '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
  assert.ok(item?.content_html.includes(`Note by the publisher: ${escaped}<br>second line`))
  assert.ok(body.includes(escaped.replaceAll('&', '&amp;')))
  assert.doesNotMatch(body, /<script|\u202e/)
})

test('Atom by default; JSON Feed by format or Accept; both say what they are', async () => {
  const accept = async (type: string) => (await inject(FEED, {}, { accept: type })).headers['content-type']
  const [atom, json] = ['application/atom+xml; charset=utf-8', 'application/feed+json']
  for (const type of ['*/*', 'text/html,*/*;q=0.8', 'application/atom+xml', 'application/rss+xml'])
    assert.equal(await accept(type), atom)
  for (const type of ['application/feed+json', 'application/json']) assert.equal(await accept(type), json)
  assert.equal((await open({ format: 'json' })).headers['content-type'], json)
  assert.equal(
    (await inject(FEED, { format: 'atom' }, { accept: 'application/feed+json' })).headers['content-type'],
    atom,
  )
})

test('a reader that has the newest entries gets 304, and no cache shares them', async () => {
  const { headers } = await open({ event: 'A' })
  assert.equal(headers['cache-control'], 'private, no-cache')
  assert.equal(headers['content-disposition'], undefined)
  assert.equal((await inject(FEED, { event: 'A' }, { 'if-none-match': String(headers.etag) })).statusCode, 304)
})

describe('400', () => {
  test('q: a later version can read words differently', async () => {
    const { detail } = await assertProblem(FEED, { q: 'cholera' }, 400, 'unknown_parameter', 'q')
    assert.match(detail, /Send q to \/sums/)
  })

  test('an archive that does not exist yet', async () => {
    const { detail } = await assertProblem(FEED, { archive: 1 }, 400, 'invalid_parameter', 'archive')
    assert.match(detail, /release 10/)
  })

  for (const [title, query, parameter] of [
    ['a threshold of an unknown count', { when: 'crosses:people:10' }, 'when'],
    ['a threshold of 0', { when: 'crosses:cases:0' }, 'when'],
    ['a threshold of a count that is not shown', { when: 'crosses:deaths:10', counts: 'cases' }, 'when'],
    ['an unknown format', { format: 'rss' }, 'format'],
  ] as const)
    test(title, async () => {
      await assertProblem(FEED, query, 400, 'invalid_parameter', parameter)
    })

  test('groups', async () => {
    await assertProblem(FEED, { group_by: 'event' }, 400, 'unknown_parameter', 'group_by')
  })
})
