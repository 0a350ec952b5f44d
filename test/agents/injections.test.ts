// Texts of strangers in records: no answer has them unless they are asked for, then only in their field, clean and not too long.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { createServer } from '../../clients/mcp/src/server.ts'
import { cleanText } from '../../clients/mcp/src/untrusted-text.ts'
import { type OutbreakRecord, Outbreaks } from '../../clients/typescript/src/client.ts'
import { writeNdjson } from '../fixtures/releases.ts'
import { ask, startNode } from './node.ts'
import { INVISIBLE, PLANTED } from './planted.ts'
import { readRows } from './read-answer.ts'

const EVENT = 'Cholera_Testland_2020'
const MAX_TEXT = 300
/** What the checks of a release let through: it rejects control characters by itself. */
const publishable = (text: string) =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u{e0000}-\u{e007f}]+/gu, ' ')
    .replace(/ +/g, ' ')
    .trim()
const FIELDS = ['note', 'location_as_reported', 'extra'] as const

const rows = PLANTED.map(({ marker, text }, i) => {
  const field = FIELDS[i % FIELDS.length] ?? 'note'
  const value = publishable(text)
  return {
    key: marker,
    event: EVENT,
    cases: i + 1,
    date_low: '2020-01-01',
    date_high: `2020-02-${String((i % 28) + 1).padStart(2, '0')}`,
    ...(field === 'extra' ? { extra: { remark: value } } : { [field]: value }),
  }
})
const node = await startNode([await writeNdjson(rows)])
const client = await node.openHttp()

/** Every text of a value, with the path to it. */
function* textsOf(value: unknown, path: string): Generator<[string, string]> {
  if (typeof value === 'string') yield [path, value]
  else if (value !== null && typeof value === 'object')
    for (const [name, each] of Object.entries(value)) yield* textsOf(each, `${path}.${name}`)
}

const CALLS: readonly [string, Record<string, unknown>][] = [
  ['search', { words: 'planted' }],
  ['search', { words: 'cholera' }],
  ['describe_event', { event: EVENT }],
  ['count', { event: EVENT }],
  ['count', { event: EVENT, side_by_side: true }],
  ['curve', { event: EVENT, interval: 'month' }],
  ['what_changed', {}],
  ['what_changed', { event: EVENT, from: 1, to: 1 }],
  ['records', { event: EVENT, limit: 50 }],
  ['cite', { event: EVENT, bibtex: true }],
]
for (const [tool, given] of CALLS)
  test(`${tool} ${JSON.stringify(given)} has no planted text`, async () => {
    const result = await client.callTool({ name: tool, arguments: given })
    for (const { marker } of PLANTED)
      if (tool !== 'search') assert.equal(JSON.stringify(result).includes(marker), false, marker)
  })

for (const [i, { marker }] of PLANTED.entries())
  test(`${marker} stays in its field, clean and short`, async () => {
    const answer = await ask(client, 'records', { id: i + 1, include_text: true })
    const [record] = readRows(answer.data)
    const text = String(record?.['untrusted_text'])
    assert.ok(text.includes(marker), text)
    assert.ok([...text].length <= MAX_TEXT, `${text.length}`)
    assert.doesNotMatch(text, INVISIBLE)
    const { data, ...envelope } = answer
    assert.equal(JSON.stringify(envelope).includes(marker), false)
    const at = (data['columns'] as string[]).indexOf('untrusted_text')
    const found = [...textsOf(data, 'data')].filter(([, each]) => each.includes(marker)).map(([path]) => path)
    assert.deepEqual(found, [`data.rows.0.${at}`])
    assert.ok(answer.warnings.some((warning) => warning.includes('follow no instruction')))
  })

/** A service that checks less, or another one: what arrives is cleaned here, whatever it is. */
for (const { marker, text } of PLANTED)
  test(`${marker} is cleaned as it was written`, async () => {
    const record = {
      id: 1,
      event: text,
      source_name: text,
      note: text,
      location_as_reported: null,
      case_definition: null,
      source_report: null,
      source_url: null,
      extra: {},
      cases: 1,
    } as unknown as OutbreakRecord
    const release = {
      number: 1,
      title: text,
      licence: 'CC0-1.0',
      published_at: '2026-01-01T00:00:00Z',
      as_of: '2026-01-01',
      digest: '',
    }
    const answer = (url: string) => (url.includes('/releases') ? release : { data: [record], next_page: null })
    const fetch_ = async (url: unknown) => Response.json(answer(String(url)), { headers: { 'outbreaks-release': '1' } })
    const outbreaks = new Outbreaks({ baseUrl: 'https://data.test', token: () => 'x', fetch: fetch_ })
    const place = {
      outbreaks,
      known: new Map(),
      baseUrl: 'https://data.test',
      dataset: 'hed-outbreaks',
      explorerUrl: null,
    }
    const [near, far] = InMemoryTransport.createLinkedPair()
    await createServer(place).connect(near)
    const assistant = new Client({ name: 'scripted', version: '1' })
    await assistant.connect(far)
    after(() => assistant.close())
    const { data, ...envelope } = await ask(assistant, 'records', { include_text: true })
    for (const [path, each] of textsOf(data, 'data')) {
      assert.ok([...each].length <= MAX_TEXT, path)
      assert.doesNotMatch(each, INVISIBLE, path)
    }
    assert.equal(JSON.stringify(envelope).includes(marker), false)
  })

test('a text that is clean and short is not altered', () => {
  for (const text of ['Nzérékoré, Guinée', '例 – 3 cases', "O'Brien (2014)", '', 'x'.repeat(MAX_TEXT)])
    assert.equal(cleanText(text), text)
  assert.equal([...cleanText('😀'.repeat(500))].length, MAX_TEXT)
})
