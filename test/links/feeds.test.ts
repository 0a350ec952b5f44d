// Feeds by link key, read by the programs of others: two feed readers, a strict parser and a schema. Twelve releases with a rollback
// and a prune: every entry keeps its bytes, in the feed and in the archive.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Credentials, newSettings, type Service, startService } from '../../dev/service.ts'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../../src/platform/postgres/database.ts'
import { pruneReleases } from '../../src/publish/prune.ts'
import { createTestDatabase } from '../database.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { publishStep, STEPS } from '../fixtures/links/feed-releases.ts'
import { prepareInProcess } from '../fixtures/operate/prepared-database.ts'
import { writeNdjson } from '../fixtures/releases.ts'
import { LIVENESS_MS } from '../liveness.ts'

const FEED = '/v2/hed-outbreaks/feed'
const QUESTIONS = ['', '?event=A', '?event=B', '?event=A&when=crosses:cases:1000']
const PYTHON = process.env['FEED_PYTHON'] ?? process.env['DUCKDB_PYTHON']
const FIND =
  'import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, ["atoma", "feedparser", "jsonfeedvalidator", "reader"])))'
const skipWithoutReaders =
  PYTHON !== undefined && spawnSync(PYTHON, ['-c', FIND]).status === 0
    ? false
    : 'FEED_PYTHON is not set to an interpreter with atoma, feedparser, jsonfeedvalidator and reader'

interface Seen {
  id: string
  title: string
  html: string
}
interface Read {
  feedparser: { bozo: boolean; entries: Seen[] }
  atoma: { id: string; updated: string; entries: Seen[] }
  jsonErrors: string[]
  refusesAtom: boolean
  refusesXml: boolean
  refusesJson: boolean
  atom: Seen[]
  json: Seen[]
  again: number
}
interface JsonFeed {
  next_url?: string
  items: {
    id: string
    title: string
    content_html: string
    _outbreaks: { release: number; before: { cases: number | null } | null; after: { cases: number | null } | null }
  }[]
}

const settings = newSettings(await createTestDatabase())
const operator = openDatabase({ url: settings.databaseUrl, role: 'outbreaks_operator', connections: 2 })
let service: Service
let token = ''
after(async () => {
  await service.stop()
  await operator.close()
})

const bearer = () => ({ authorization: `Bearer ${token}` })
const open = (address: string, headers: Record<string, string> = bearer()) =>
  fetch(address.startsWith('http') ? address : `${service.baseUrl}${address}`, {
    headers,
    signal: AbortSignal.timeout(LIVENESS_MS),
  })
async function read(address: string): Promise<string> {
  const response = await open(address)
  const text = await response.text()
  assert.equal(response.status, 200, text)
  return text
}
const readJson = async (address: string) => JSON.parse(await read(address)) as JsonFeed
async function makeLink(address: string): Promise<string> {
  const response = await open(`/v2/hed-outbreaks/link?${new URLSearchParams({ url: address })}`)
  return ((await response.json()) as { url: string }).url
}
const entriesOf = (atom: string): [id: string, text: string][] =>
  (atom.match(/<entry>.*?<\/entry>/gs) ?? []).map((text) => [/<id>(.*?)<\/id>/.exec(text)?.[1] ?? '', text])

/** By question and id, each entry as it was first seen. */
const seen = new Map<string, Map<string, string>>(QUESTIONS.map((question) => [question, new Map()]))
let changed = 0
async function compare(question: string, address: string): Promise<number> {
  const entries = entriesOf(await read(address))
  const known = seen.get(question) as Map<string, string>
  for (const [id, text] of entries) {
    if ((known.get(id) ?? text) !== text) changed += 1
    known.set(id, text)
  }
  return entries.length
}
/** The node learns of a release within a second or so. */
async function waitForRelease(number: number): Promise<void> {
  const deadline = Date.now() + LIVENESS_MS
  while ((await open(FEED)).headers.get('outbreaks-release') !== String(number)) {
    assert.ok(Date.now() < deadline, `release ${number} did not arrive`)
    await wait(50)
  }
}

before(async () => {
  const [first, ...later] = STEPS
  assert.ok(first)
  const credentials: Credentials = await prepareInProcess(settings, await writeNdjson(first.rows, first.manifest))
  service = await startService(settings)
  token = await obtainToken(credentials, `${service.baseUrl}/oauth/token`, service.baseUrl)
  for (const [i, step] of [first, ...later].entries()) {
    if (i > 0) await publishStep(operator, step)
    await waitForRelease(i + 1)
    for (const question of QUESTIONS) await compare(question, FEED + question)
  }
})

describe('entries never change', () => {
  test('over twelve releases and a rollback', () => {
    assert.equal(changed, 0)
    assert.deepEqual(
      QUESTIONS.map((question) => seen.get(question)?.size),
      [12, 9, 4, 6],
    )
  })

  test('the feed has the newest ten releases', async () => {
    assert.equal(await compare('', FEED), 10)
  })

  for (const question of QUESTIONS)
    test(`the archive of ${question || 'all releases'} has the same entries, byte for byte`, async () => {
      const alreadyChanged = changed
      const size = seen.get(question)?.size
      const entries = await compare(question, `${FEED}${question}${question === '' ? '?' : '&'}archive=1`)
      assert.ok(entries > 0)
      assert.deepEqual([changed, seen.get(question)?.size], [alreadyChanged, size])
    })

  test('a question that a release did not touch has no entry for it', async () => {
    const releases = (await readJson(`${FEED}?event=B&format=json&archive=1`)).items.map(
      ({ _outbreaks: { release } }) => release,
    )
    assert.deepEqual(releases, [3, 1])
  })

  test('a rollback is a new entry', async () => {
    const { items } = await readJson(`${FEED}?event=A&format=json&archive=1`)
    const [restored, original] = [6, 4].map((number) => items.find(({ _outbreaks: { release } }) => release === number))
    assert.match(restored?.title ?? '', /^Release 6 \(restores release 4\): cases 940 → 1,040/)
    assert.notEqual(restored?.id, original?.id)
  })

  test('ids do not depend on the order of the parameters or the format', async () => {
    const ids = async (address: string) => (await readJson(address)).items.map(({ id }) => id)
    const expected = entriesOf(await read(`${FEED}?event=A&when=crosses:cases:1000`)).map(([id]) => id)
    assert.deepEqual(await ids(`${FEED}?when=crosses:cases:1000&format=json&event=A&counts=cases`), expected)
  })
})

describe('archives (RFC 5005)', () => {
  test('the feed links to the archive, which links back and says that it is one', async () => {
    const feed = await read(`${FEED}?event=A`)
    const [, href = ''] = /<link rel="prev-archive"[^>]* href="([^"]*)"/.exec(feed) ?? []
    const archive = await read(href.replaceAll('&amp;', '&'))
    assert.match(archive, /<fh:archive\/>/)
    assert.match(archive, /<link rel="current"[^>]* href="[^"]*feed\?event=A"/)
    assert.doesNotMatch(archive, /prev-archive|next-archive/)
    assert.doesNotMatch(feed, /fh:archive\//)
    const idOf = (text: string) => /<id>(.*?)<\/id>/.exec(text)?.[1]
    assert.equal(idOf(archive), idOf(feed))
  })

  test('JSON Feed links to it as next_url', async () => {
    const { next_url: next = '' } = await readJson(`${FEED}?event=A&format=json`)
    assert.equal((await readJson(next)).items.at(-1)?._outbreaks.release, 1)
  })

  test('it may be kept: it never changes', async () => {
    const response = await open(`${FEED}?archive=1`)
    assert.match(response.headers.get('cache-control') ?? '', /^private, .*immutable/)
    assert.equal((await open(FEED)).headers.get('cache-control'), 'private, no-cache')
  })
})

test('the figures of every entry are those of /sums in both releases', async () => {
  const sum = async (release: number) => {
    const text = await read(`/v2/hed-outbreaks/sums?event=A&counts=cases&release=${release}`)
    const { data } = JSON.parse(text) as { data: { cases?: number }[] }
    return { cases: data[0]?.cases ?? null }
  }
  const { items } = await readJson(`${FEED}?event=A&counts=cases&format=json&archive=1`)
  assert.equal(items.length, 9)
  for (const { _outbreaks: entry } of items) {
    assert.deepEqual(entry.after, await sum(entry.release))
    assert.deepEqual(entry.before, entry.release === 1 ? null : await sum(entry.release - 1))
  }
})

describe('crossing a number', () => {
  const titleOf = async (number: number) =>
    (await readJson(`${FEED}?event=A&when=crosses:cases:1000&format=json&archive=1`)).items.find(
      ({ _outbreaks: { release } }) => release === number,
    )?.title
  for (const [number, words] of [
    [1, 'cases became known, below 1,000'],
    [4, 'cases reached 1,000 by new reports'],
    [5, 'cases fell below 1,000 by a correction'],
    [6, 'cases reached 1,000 by a rollback'],
    [9, 'cases can no longer be compared with 1,000'],
    [10, 'cases became known, below 1,000'],
  ] as const)
    test(`release ${number}: ${words}`, async () => {
      assert.ok((await titleOf(number))?.includes(`: ${words}, `), await titleOf(number))
    })

  test('a release that stays on one side has no entry, even if it is counted another way', async () => {
    for (const number of [2, 3, 7, 8]) assert.equal(await titleOf(number), undefined)
  })
})

describe('a link key', () => {
  test('opens its feed without a token, and no other', async () => {
    const link = await makeLink(`${FEED}?event=A`)
    const response = await open(link, {})
    assert.equal(response.status, 200)
    assert.match(response.headers.get('cache-control') ?? '', /^private/)
    assert.equal(await response.text(), await read(`${FEED}?event=A`))
    assert.equal((await open(link.replace('event=A', 'event=B'), {})).status, 401)
    assert.equal((await open(`${link}&archive=1`, {})).status, 401)
  })

  test('is not in the feed, whose archives need links of their own', async () => {
    const link = await makeLink(`${FEED}?event=A`)
    const text = await (await open(link, {})).text()
    assert.doesNotMatch(text, /obk1|key=/)
    const archive = await makeLink(`${FEED}?event=A&archive=1`)
    assert.equal(await (await open(archive, {})).text(), await read(`${FEED}?event=A&archive=1`))
  })

  test('gets 304 until there is something new', async () => {
    const link = await makeLink(`${FEED}?event=A`)
    const { headers } = await open(link, {})
    assert.equal((await open(link, { 'if-none-match': headers.get('etag') ?? '' })).status, 304)
  })
})

describe('programs of others read it by link key', { skip: skipWithoutReaders }, () => {
  let seenByOthers: Read
  let items: JsonFeed['items']
  before(async () => {
    const links = [await makeLink(`${FEED}?event=A&archive=1`), await makeLink(`${FEED}?event=A&archive=1&format=json`)]
    const script = path.resolve(import.meta.dirname, '../fixtures/links/read_feeds.py')
    const { status, stdout, stderr } = spawnSync(PYTHON as string, [script, ...links], {
      encoding: 'utf8',
      timeout: LIVENESS_MS * 4,
    })
    assert.equal(status, 0, stderr)
    seenByOthers = JSON.parse(stdout) as Read
    items = (await readJson(`${FEED}?event=A&archive=1&format=json`)).items
  })
  const identify = (entries: readonly { id: string; title: string }[]) => entries.map(({ id, title }) => [id, title])
  const note = (entries: readonly Seen[]) => entries.find(({ title }) => title.startsWith('Release 4'))?.html ?? ''

  test('feedparser finds well-formed Atom with every entry', () => {
    assert.equal(seenByOthers.feedparser.bozo, false)
    assert.deepEqual(identify(seenByOthers.feedparser.entries), identify(items))
  })
  test('feedparser notices XML that is not well-formed', () => assert.ok(seenByOthers.refusesXml))
  test('atoma, which is strict, finds all that RFC 4287 demands', () => {
    assert.deepEqual(identify(seenByOthers.atoma.entries), identify(items))
  })
  test('atoma refuses a feed without a date', () => assert.ok(seenByOthers.refusesAtom))
  test('the JSON Schema of JSON Feed finds no error', () => assert.deepEqual(seenByOthers.jsonErrors, []))
  test('the schema refuses an item without what it demands', () => assert.ok(seenByOthers.refusesJson))
  for (const format of ['atom', 'json'] as const)
    test(`reader, a feed reader with a database, subscribes to ${format}`, () => {
      assert.deepEqual(new Set(identify(seenByOthers[format])), new Set(identify(items)))
    })
  test('a second update finds nothing new', () => assert.equal(seenByOthers.again, 0))
  for (const format of ['atom', 'json'] as const)
    test(`hostile text of a note is text in ${format}, not markup`, () => {
      const html = note(seenByOthers[format])
      assert.doesNotMatch(html, /<script/i)
      assert.ok(html.includes('&lt;script&gt;alert('), html)
    })
})

test('a hostile title and event name are text in the feed', async () => {
  const names = JSON.parse(await read('/v2/hed-outbreaks/event-names')) as string[]
  const event = names.find((name) => name.includes('<script>')) ?? assert.fail('no such event')
  const feed = await read(`${FEED}?${new URLSearchParams({ event, archive: '1' })}`)
  assert.equal(entriesOf(feed).length, 1)
  assert.doesNotMatch(feed, /<script|\u202e|<!--/)
  assert.doesNotMatch(await read(FEED), /<script|\u202e|<!--/)
})

test('after a prune the entries that can be computed are the same, and the feed of all releases has every one', async () => {
  await pruneReleases(operator, hedOutbreaks, 5, 4)
  const deadline = Date.now() + LIVENESS_MS
  const address = `${FEED}?event=A&archive=1`
  while (entriesOf(await read(address)).length > 5) {
    assert.ok(Date.now() < deadline, 'the prune did not arrive')
    await wait(100)
  }
  await compare('?event=A', address)
  const { items } = await readJson(`${address}&format=json`)
  assert.deepEqual(
    items.map(({ _outbreaks: { release } }) => release),
    [10, 9, 8, 7, 6],
  )
  assert.equal(await compare('', `${FEED}?archive=1`), 10)
  assert.equal(changed, 0)
})
