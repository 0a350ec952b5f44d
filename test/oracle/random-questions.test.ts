// Asks the service and a second program, written from docs/methods.md only, the same random questions about real and
// synthetic records. NUMBERS_QUESTIONS is the number of questions in all datasets together.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawMixedRows } from '../fixtures/oracle/mixed-records.ts'
import { type Row, writeNdjson } from '../fixtures/releases.ts'
import { findDifferences, pick, readResponse, summarise, summariseEvent } from './compare.ts'
import { createDraw } from './draw.ts'
import { drawHostileRows } from './hostile-records.ts'
import { type Published, type PublishedRecord, publish, type ReleaseInput } from './published.ts'
import { type Answer, skipWithoutPython } from './python.ts'
import { createMixedQuestions, createQuestions, type Question, readFilters, toTarget } from './questions.ts'
import {
  sampleReleases,
  skipCovid,
  skipMeasles,
  skipZika,
  writeCovid,
  writeMeasles,
  writeZika,
} from './real-releases.ts'

const QUESTIONS = Number(process.env['NUMBERS_QUESTIONS'] ?? 400)
const BATCH = 25
const CONCURRENCY = 4
const MAX_SHOWN_RECORDS = 40
const COVID = [
  'Italy',
  'France',
  'Spain',
  'Ecuador',
  'Nigeria',
  'Singapore',
  'Canada',
  'Australia',
  'Diamond Princess',
  'MS Zaandam',
]
const ZIKA = [
  'Puerto_Rico',
  'El_Salvador',
  'Panama',
  'Dominican_Republic',
  'Guatemala',
  'Haiti',
  'Nicaragua',
  'USVI',
  'Argentina',
]

const draw = createDraw()

const writeHostile = () => writeTwice(drawHostileRows(draw, 200))
const writeMixed = () => writeTwice(drawMixedRows(draw))

async function writeTwice(rows: readonly Row[]): Promise<ReleaseInput[]> {
  // The second release corrects counts and withdraws records.
  const corrected = rows.flatMap((row) => {
    if (draw.chance(0.03)) return []
    const { cases } = row
    return [
      typeof cases === 'number' && draw.chance(0.1) ? { ...row, cases: Math.max(0, cases + draw.below(20) - 8) } : row,
    ]
  })
  const directories = [await writeNdjson(rows), await writeNdjson(corrected)]
  return directories.map((directory) => ({ directory, confirmedWithdrawn: rows.length - corrected.length }))
}

const datasets: {
  name: string
  skip: string | false
  share: number
  byCountry: boolean
  isMixed?: true
  write(): Promise<readonly ReleaseInput[]>
}[] = [
  { name: 'synthetic records', skip: false, share: 0.4, byCountry: false, write: writeHostile },
  { name: 'counted in several ways', skip: false, share: 0.4, byCountry: false, isMixed: true, write: writeMixed },
  { name: 'the sample', skip: false, share: 0.15, byCountry: false, write: () => Promise.resolve(sampleReleases) },
  { name: 'measles in the United States', skip: skipMeasles, share: 0.15, byCountry: false, write: writeMeasles },
  { name: 'COVID-19 from two sources', skip: skipCovid, share: 0.15, byCountry: true, write: () => writeCovid(COVID) },
  { name: 'Zika in the Americas', skip: skipZika, share: 0.15, byCountry: true, write: () => writeZika(ZIKA) },
]

interface Comparison {
  question: Question
  /** Whether the answer has numbers. */
  answered: boolean
  differences: string[]
}

async function compare(
  published: Published,
  byId: ReadonlyMap<number, PublishedRecord>,
  question: Question,
): Promise<Comparison> {
  const [expected, response] = await Promise.all([published.oracle.ask(question), published.get(toTarget(question))])
  const actual = readResponse(question, response)
  const sides = [fitChosen(expected, actual), actual].map((answer) => summarise(question, answer, byId))
  const compared = { question, answered: hasNumbers(expected), differences: findDifferences(sides[0], sides[1]) }
  // A mixture: one way of counting is chosen, or none. With strict=true it is rejected.
  const { refused, chosen } = expected as { refused?: string; chosen?: unknown[] }
  const isMixed = question.kind !== 'guard' && (refused !== undefined || (chosen ?? []).length > 0)
  if (compared.differences.length > 0 || question.strict || !isMixed) return compared
  return { ...(await compare(published, byId, { ...question, strict: true })), answered: compared.answered }
}

interface ChosenSet {
  readonly values: Record<string, unknown>
  readonly counts: Record<string, unknown>
}

/** The service shows only the fields of a set that no filter or group fixes, and only the counts that are known. */
function fitChosen(expected: Answer, actual: Answer): Answer {
  const sets = expected['chosen'] as ChosenSet[] | undefined
  if (sets === undefined) return expected
  const [first] = (actual['chosen'] ?? []) as ChosenSet[]
  const keep = (values: Record<string, unknown>, isKept: (entry: [string, unknown]) => boolean) =>
    Object.fromEntries(Object.entries(values).filter(isKept))
  return {
    left_out_total: 0,
    ...expected,
    chosen: sets.map((set) => ({
      ...set,
      values: keep(set.values, ([name]) => first === undefined || name in first.values),
      counts: keep(set.counts, ([, count]) => count !== null),
    })),
  }
}

function hasNumbers(answer: Answer): boolean {
  const { count, points, data, groups } = answer
  return [points, data, groups].some((list) => Array.isArray(list) && list.length > 0) || Number(count) > 0
}

/** Looks for one series that shows the difference alone, and lists its records. */
async function describe(
  published: Published,
  byId: ReadonlyMap<number, PublishedRecord>,
  found: Comparison,
): Promise<string> {
  const { filters, missing } = found.question
  const matches = (record: PublishedRecord) =>
    missing.every((field) => record[field] === null) &&
    Object.entries(filters).every(([field, values]) => values.includes(record[field] as string))
  const matching = published.records.filter(matches)
  let smallest = found
  for (const id of [...new Set(matching.map(({ series_id }) => series_id))].slice(0, 100)) {
    const alone = await compare(published, byId, { ...found.question, filters: { ...filters, series_id: [id] } })
    if (alone.differences.length > 0) {
      smallest = alone
      break
    }
  }
  const ids = smallest.question.filters['series_id']
  const records = matching.filter(({ series_id }) => ids?.includes(series_id) ?? true).slice(0, MAX_SHOWN_RECORDS)
  const sorted = records.toSorted((a, b) => String(a['date_high']).localeCompare(String(b['date_high'])))
  return [
    toTarget(smallest.question),
    JSON.stringify(smallest.question),
    ...smallest.differences.map((difference) => `  ${difference}`),
    ...sorted.map((record) => `  ${showRecord(record)}`),
  ].join('\n')
}

async function compareEvents({ oracle, get }: Published): Promise<void> {
  const answer = await oracle.ask({ kind: 'events' })
  const expected = answer['events'] as Record<string, Record<string, unknown>[]>
  const headlines = answer['headlines'] as Record<string, { headline: Record<string, unknown> | null }>
  const { status, body } = await get('/events?num=1000')
  assert.equal(status, 200, JSON.stringify(body))
  const events = body['data'] as { event: string; figures: Record<string, unknown>[]; headline: unknown }[]
  assert.deepEqual(events.map(({ event }) => event).sort(), Object.keys(expected).sort())
  for (const { event, figures, headline } of events) {
    assert.deepEqual(findDifferences(summariseEvent(expected[event] ?? []), summariseEvent(figures)), [], event)
    const chosen = headlines[event]?.headline ?? null
    const actual = chosen === null || headline === null ? headline : pick(headline as Answer, Object.keys(chosen))
    assert.deepEqual(actual, chosen, event)
  }
}

const SHOWN = [
  'id',
  'count_kind',
  'date_low',
  'date_high',
  'date_report',
  'source_report',
  'case_definition',
  'count_qualifier',
]
const COUNTS = ['cases', 'deaths', 'hospitalised', 'recovered', 'tested']
const showRecord = (record: PublishedRecord) =>
  JSON.stringify(
    Object.fromEntries(
      [...SHOWN, ...COUNTS].flatMap((field) => (record[field] === null ? [] : [[field, record[field]]])),
    ),
  )

for (const { name, skip, share, byCountry, isMixed, write } of datasets) {
  test(`${name}: the service and the second program agree`, { skip: skipWithoutPython || skip }, async (t) => {
    const published = await publish(await write())
    const { records, releases } = published
    const byId = new Map(records.map((record) => [record.id, record]))
    const options = { filters: await readFilters(published), releases, byCountry }
    const drawQuestion = isMixed
      ? createMixedQuestions(draw, records, releases)
      : createQuestions(draw, records, options)
    const batches = Math.ceil((QUESTIONS * share) / BATCH)
    let [asked, answered] = [0, 0]
    for (let batch = 1; batch <= batches; batch += 1) {
      await t.test(`questions ${asked + 1} to ${asked + BATCH}`, async () => {
        const questions = Array.from({ length: BATCH }, drawQuestion)
        asked += BATCH
        const compared: Comparison[] = []
        const work = async () => {
          for (let question = questions.pop(); question !== undefined; question = questions.pop())
            compared.push(await compare(published, byId, question))
        }
        await Promise.all(Array.from({ length: CONCURRENCY }, work))
        answered += compared.filter((comparison) => comparison.answered).length
        const [first, ...others] = compared.filter(({ differences }) => differences.length > 0)
        if (first !== undefined)
          assert.fail(`${others.length + 1} of ${BATCH} differ, such as\n${await describe(published, byId, first)}`)
      })
    }
    await t.test('the figures of events', () => compareEvents(published))
    await t.test('at least half of the questions have numbers for an answer', () => {
      console.log(`${name}: ${records.length} records, ${asked} questions, ${answered} with numbers`)
      assert.ok(answered * 2 >= asked, `${answered} of ${asked}`)
    })
  })
}
