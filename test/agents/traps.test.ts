// Questions that lead to a wrong number: double counts, what is unknown, corrections, guesses. No answer gives a number that is
// wrong without a warning: it chooses and says so, it offers choices, or it says that nothing is known.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Envelope } from '../../clients/mcp/src/envelope.ts'
import type { Item } from '../questions/grade.ts'
import { ask, startNode } from './node.ts'
import { readRows } from './read-answer.ts'

const node = await startNode()
const client = await node.openHttp()
const EBOLA = 'Ebola_Democratic_Republic_of_Congo_2018'

interface Trap {
  readonly name: string
  readonly call: readonly [string, Record<string, unknown>]
  /** The number that a careless reader would give. */
  readonly wrong?: number
  readonly says: RegExp
  readonly outcome: Envelope['outcome']
  readonly right?: (rows: Item[], answer: Envelope) => boolean
}

const casesOf = (rows: Item[]) => rows[0]?.['cases'] ?? null
const TRAPS: readonly Trap[] = [
  {
    name: 'sources that count the same people',
    call: ['count', { event: 'Lassa_Nigeria_2018' }],
    wrong: 6000,
    outcome: 'answer',
    says: /other ways of counting left out/,
    right: (rows) => casesOf(rows) === 422,
  },
  {
    name: 'sources that contradict each other',
    call: ['count', { event: 'Lassa_Nigeria_2018', case_status: 'confirmed' }],
    outcome: 'choose',
    says: /no single right number/,
  },
  {
    name: 'a year without a clear number',
    call: ['count', { event: 'Lassa_Nigeria_2017' }],
    outcome: 'choose',
    says: /no single right number/,
  },
  {
    name: 'a country with two statuses',
    call: ['count', { disease: 'Zika virus disease', country_code: 'JM' }],
    outcome: 'choose',
    says: /no single right number/,
  },
  {
    name: 'counties and the national total',
    call: ['count', { event: 'Measles_United_States_2025', release: 6 }],
    wrong: 4572,
    outcome: 'answer',
    says: /other way of counting left out/,
    right: (rows) => casesOf(rows) === 2286,
  },
  {
    name: 'countries and the world',
    call: ['count', { disease: 'COVID-19', event: 'COVID-19_Global_2019' }],
    outcome: 'answer',
    says: /left out/,
  },
  {
    name: 'an event that does not exist',
    call: ['count', { event: 'Measles_United_States_2024' }],
    wrong: 0,
    outcome: 'none',
    says: /not 0 cases/,
  },
  {
    name: 'a disease under another name',
    call: ['count', { disease: 'COVID' }],
    wrong: 0,
    outcome: 'none',
    says: /Nearest: disease=COVID-19/,
  },
  {
    name: 'a place without records',
    call: ['count', { disease: 'Cholera', country_code: 'IS' }],
    wrong: 0,
    outcome: 'none',
    says: /not 0 cases/,
  },
  {
    name: 'days without records',
    call: ['curve', { event: 'Measles_United_States_2025', date_from: '2019-01-01', date_to: '2019-12-31' }],
    wrong: 0,
    outcome: 'none',
    says: /not 0 cases/,
  },
  {
    name: 'a total of two years in its last week',
    call: ['curve', { event: EBOLA, interval: 'month' }],
    outcome: 'answer',
    says: /in_span/,
    right: (rows, { data }) =>
      rows.every((row) => row['new_cases'] == null) && JSON.stringify(data['spans']).includes('3470'),
  },
  {
    name: 'deaths that nobody has counted',
    call: ['count', { event: 'Measles_United_States_2025', measures: ['cfr'] }],
    wrong: 0,
    outcome: 'answer',
    says: /./,
    right: (rows) => rows[0]?.['deaths'] == null && rows[0]?.['cfr'] == null,
  },
  {
    name: 'an outbreak that went on after its last report',
    call: ['count', { event: 'Lassa_Nigeria_2018', case_status: 'total', source_name: 'WHO Disease Outbreak News' }],
    outcome: 'answer',
    says: /interim/,
  },
  {
    name: 'an earlier release',
    call: ['count', { event: 'Measles_United_States_2025', release: 3 }],
    outcome: 'answer',
    says: /Release 6 is newer than release 3/,
    right: (_, { release }) => release === 3,
  },
  {
    name: 'what was known on a day',
    call: ['count', { q: 'measles us 2025', release: '2025-09-01' }],
    outcome: 'answer',
    says: /newer than release 3/,
    right: (_, { release, citation }) => release === 3 && citation.includes('release=3'),
  },
  {
    name: 'a correction that looks like new cases',
    call: ['what_changed', { from: 5, to: 6, event: 'Measles_United_States_2025' }],
    outcome: 'answer',
    says: /./,
    right: (_, { data, method }) =>
      /correction is not a new case/.test(method) && (data['changes'] as Item)['corrected'] !== 0,
  },
  {
    name: 'all events of a country added up by hand',
    call: ['describe_event', { country_code: 'BD' }],
    outcome: 'answer',
    says: /no number to quote|not known/,
    right: (_, { method }) => /cannot be added together/.test(method),
  },
  {
    name: 'records added up by hand',
    call: ['records', { event: 'Lassa_Nigeria_2018', limit: 50 }],
    outcome: 'answer',
    says: /./,
    right: (_, { method }) => /count the same people/.test(method),
  },
  { name: 'a name that is only similar', call: ['search', { words: 'ebla' }], outcome: 'answer', says: /only similar/ },
  {
    name: 'a total with a first report of unknown days',
    call: ['curve', { event: 'COVID-19_Global_2019', country_code: 'IT', interval: 'isoweek' }],
    outcome: 'answer',
    says: /base_unknown/,
  },
]

for (const { name, call, wrong, says, outcome, right } of TRAPS)
  test(`trap: ${name}`, async () => {
    const [tool, given] = call
    const answer = await ask(client, tool, given)
    const rows = readRows(answer.data)
    const said = JSON.stringify(answer).slice(0, 1500)
    assert.equal(answer.outcome, outcome, said)
    assert.match([...answer.warnings, answer.method].join('\n'), says, said)
    if (outcome === 'answer' && right === undefined) assert.ok(answer.warnings.length > 0, said)
    if (right !== undefined) assert.ok(right(rows, answer), said)
    if (wrong !== undefined)
      assert.equal(
        rows.some((row) => Object.values(row).includes(wrong)),
        false,
        said,
      )
    if (outcome === 'none') assert.equal(rows.length, 0, said)
  })

test('every choice is a call that works as it stands, and has one number', async () => {
  const refused = TRAPS.filter(({ outcome }) => outcome === 'choose').map(({ call }) => call)
  const calls = [
    ...refused,
    ['curve', { event: 'Lassa_Nigeria_2017' }],
    ['count', { case_status: 'confirmed', disease: 'Ebola disease', location_granularity: 'country' }],
  ] as const
  for (const [tool, given] of calls) {
    const answer = await ask(client, tool, given)
    if (answer.outcome !== 'choose') continue
    assert.ok((answer.choices ?? []).length > 0 && (answer.choices ?? []).length <= 5)
    for (const { call, counts } of answer.choices ?? []) {
      const chosen = await ask(client, call.tool, call.arguments)
      assert.equal(chosen.outcome, 'answer', JSON.stringify(call))
      assert.equal(chosen.release, answer.release)
      if (counts !== undefined && tool === 'count')
        assert.equal(casesOf(readRows(chosen.data)), counts['cases'] ?? null)
    }
  }
})

test('a wrong argument is an error in words, and no number', async () => {
  for (const [name, given] of [
    ['count', { evnt: 'x' }],
    ['count', { release: 99 }],
    ['count', { q: 'blorp in narnia' }],
    ['curve', { event: 'Lassa_Nigeria_2018', date_from: '2018-13-45' }],
    ['records', { id: 999_999 }],
    ['records', { history: true }],
    ['describe_event', { page: 'forged' }],
    ['what_changed', { from: 77, to: 78 }],
  ] as const) {
    const result = await client.callTool({ name, arguments: given })
    assert.equal(result.isError, true, JSON.stringify(given))
    assert.equal(result.structuredContent, undefined)
    const [content] = result.content as { text: string }[]
    assert.ok((content?.text.length ?? 0) > 10 && (content?.text.length ?? 0) <= 1000, content?.text)
  }
})
