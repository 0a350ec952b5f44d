// Random filters on sequences of releases: pages, offsets, counts, facets, sorted pages and changes have exactly the records
// that a comparison of each record in memory finds, and every walk has the digest of its release.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { publishRelease } from '../../src/publish/publish.ts'
import { HOME, openRoutes } from '../fixtures/routes.ts'
import {
  anyParameters,
  type FilterParameters,
  type Item,
  matches,
  toQueryString,
} from '../integration/api/filters/filter-oracle.ts'
import { fc } from '../seed.ts'
import { sequences } from './release-sequences.ts'

const QUESTIONS = Number(process.env['ENGINE_QUESTIONS'] ?? 150)
const V1 = '/v1/hed-outbreaks/outbreaks'
const V2 = `${HOME}/outbreaks`
const PER_TEST = 50
const RETRIES = 20

interface StoredRecord {
  readonly body: string
  readonly item: Item
}

type Routes = Awaited<ReturnType<typeof openRoutes>>

for (const { name, skip, write } of sequences) {
  test(name, { skip, timeout: 3_600_000 }, async (t) => {
    const routes = await openRoutes()
    for (const { directory, ...confirmed } of await write())
      await publishRelease(routes.operator, hedOutbreaks, directory, confirmed)
    await routes.refresh()
    const releases: StoredRecord[][] = []
    await t.test(`${name}: the digest of each release follows from a walk`, async () => {
      for (const { number, digest } of routes.releases()) {
        const records = await walkText(routes, { release: [String(number)], num: ['1000'] })
        assert.equal(digestOf(records), digest, `release ${number}`)
        releases.push(records)
      }
    })
    const questions = Math.ceil(QUESTIONS / sequences.length)
    const drawn = releases.map((records, i) =>
      fc.sample(
        anyParameters(
          records.map(({ item }) => item),
          i + 1,
        ),
        Math.ceil(questions / releases.length),
      ),
    )
    const all = drawn.flatMap((list, i) => list.map((parameters) => ({ parameters, release: i + 1 })))
    for (let from = 0; from < all.length; from += PER_TEST) {
      const batch = all.slice(from, from + PER_TEST)
      await t.test(`${name}: questions ${from + 1} to ${from + batch.length}`, async () => {
        for (const [i, { parameters, release }] of batch.entries())
          await ask(routes, releases, parameters, release, from + i)
      })
    }
  })
}

/** Asks every kind of question with these filters. `draw` chooses sizes, fields and orders. */
async function ask(
  routes: Routes,
  releases: readonly StoredRecord[][],
  parameters: FilterParameters,
  release: number,
  draw: number,
): Promise<void> {
  const records = releases[release - 1] ?? []
  const expected = records.filter(({ item }) => matches(item, parameters))
  const question: FilterParameters = { ...parameters, release: [String(release)] }
  const label = toQueryString(question)
  const num = [1 + ((draw * 37) % 400), 1000][draw % 2] as number
  const walked = expected.length / num > 20 ? [] : await walkText(routes, { ...question, num: [String(num)] })
  if (expected.length / num <= 20) assert.equal(textOf(walked), textOf(expected), label)
  const offset = (draw * 7919) % (expected.length + 2)
  const counted = await get(
    routes,
    `${V1}?${toQueryString({ ...question, offset: [String(offset)], count: ['exact'] })}`,
  )
  assert.equal(counted.headers['outbreaks-count'], String(expected.length), label)
  assert.equal(counted.body, `[${textOf(expected.slice(offset, offset + 100))}]`, label)
  await askFacets(routes, records, question, draw)
  await askSorted(routes, expected, question, draw)
  if (release > 1) await askChanges(routes, releases, parameters, release, draw)
}

async function askFacets(routes: Routes, records: readonly StoredRecord[], question: FilterParameters, draw: number) {
  const { facets } = hedOutbreaks
  const field = facets[draw % facets.length] as string
  const { body } = await get(routes, `${HOME}/facets?num=1000&${toQueryString(question)}`)
  const { values } = (JSON.parse(body) as Record<string, { values: { value: unknown; records: number }[] }>)[field] ?? {
    values: [],
  }
  const { [field]: _own, release: _release, ...others } = question
  const byValue = Map.groupBy(
    records.filter(({ item }) => item[field] !== null && matches(item, others)),
    ({ item }) => item[field],
  )
  assert.deepEqual(
    new Map(values.map(({ value, records: count }) => [value, count])),
    new Map([...byValue].slice(0).map(([value, members]) => [value, members.length])),
    `${field} of ${toQueryString(question)}`,
  )
}

const ORDERS = ['cases', '-cases', 'date_high', '-date_report', '-deaths', '-id', 'date_low']

async function askSorted(routes: Routes, expected: readonly StoredRecord[], question: FilterParameters, draw: number) {
  const sort = ORDERS[draw % ORDERS.length] as string
  const [field, sign] = [sort.replace('-', ''), sort.startsWith('-') ? -1 : 1]
  const valueOf = ({ item }: StoredRecord) => item[field] as string | number | null
  const sorted = expected.toSorted((a, b) => {
    const [left, right] = [valueOf(a), valueOf(b)]
    if (left === right) return Number(a.item['id']) - Number(b.item['id'])
    if (left === null || right === null) return left === null ? 1 : -1
    return left < right ? -sign : sign
  })
  const { body } = await get(routes, `${V2}?${toQueryString({ ...question, sort: [sort], num: ['50'] })}`)
  assert.equal(parsePage(body).text, textOf(sorted.slice(0, 50)), `${sort} of ${toQueryString(question)}`)
}

async function askChanges(
  routes: Routes,
  releases: readonly StoredRecord[][],
  { updated_since_release: _since, ...parameters }: FilterParameters,
  to: number,
  draw: number,
) {
  const from = 1 + (draw % (to - 1))
  const [before, after] = [from, to].map(
    (release) => new Map((releases[release - 1] ?? []).map((record) => [Number(record.item['id']), record])),
  ) as [Map<number, StoredRecord>, Map<number, StoredRecord>]
  const expected = [...new Set([...before.keys(), ...after.keys()])]
    .sort((a, b) => a - b)
    .filter((id) => before.get(id)?.body !== after.get(id)?.body)
    .filter((id) => [before.get(id), after.get(id)].some((record) => record && matches(record.item, parameters)))
  const query = { ...parameters, from: [String(from)], to: [String(to)], num: ['200'] }
  const found: number[] = []
  for (let page: string | null = ''; page !== null; ) {
    const cursor: Record<string, string[]> = page === '' ? {} : { page: [page] }
    const { body } = await get(routes, `${HOME}/changes?${toQueryString({ ...query, ...cursor })}`)
    const answer = JSON.parse(body) as { data: { id: number }[]; next_page: string | null }
    found.push(...answer.data.map(({ id }) => id))
    page = found.length > 1000 ? null : answer.next_page
  }
  assert.deepEqual(found, expected.slice(0, found.length > 1000 ? found.length : undefined), toQueryString(query))
}

/** On a busy machine the service may respond 503: try again. */
async function get({ inject }: Routes, address: string) {
  for (let attempt = 1; ; attempt += 1) {
    const response = await inject(address)
    if (response.statusCode === 503 && attempt < RETRIES) continue
    assert.equal(response.statusCode, 200, `${address} ${response.body}`)
    return response
  }
}

async function walkText(routes: Routes, query: FilterParameters): Promise<StoredRecord[]> {
  const bodies: string[] = []
  for (let next: string | null = ''; next !== null; ) {
    const cursor: Record<string, string[]> = next === '' ? {} : { page: [next] }
    const page = parsePage((await get(routes, `${V2}?${toQueryString({ ...query, ...cursor })}`)).body)
    if (page.text !== '') bodies.push(...page.text.split(',\n'))
    next = page.next
  }
  return bodies.map((body) => ({ body, item: JSON.parse(body) as Item }))
}

/** The records of a page as text, and the cursor of the next page. */
function parsePage(body: string) {
  const end = body.lastIndexOf('],"has_more":')
  const { next_page: next } = JSON.parse(`{${body.slice(end + 2)}`) as { next_page: string | null }
  return { text: body.slice('{"data":['.length, end), next }
}

const textOf = (records: readonly StoredRecord[]) => records.map(({ body }) => body).join(',\n')

/** docs/verify-a-download.md */
function digestOf(records: readonly StoredRecord[]): string {
  const groups = Map.groupBy(records, ({ item }) => Math.floor((Number(item['id']) - 1) / 100))
  const digests = [...groups.values()].map((group) =>
    hash('sha256', group.map(({ body }) => `${body}\n`).join(''), 'buffer'),
  )
  return hash('sha256', Buffer.concat(digests))
}
