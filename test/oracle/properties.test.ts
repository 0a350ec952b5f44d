// What must hold for every number, on random records: the same numbers in any order of publication, parts that add up to the
// whole, and an explanation that adds up to its figure.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFilter } from '../../src/datasets/outbreak-places.ts'
import { type Row, writeNdjson } from '../fixtures/releases.ts'
import { ask, type Counts, type Figure } from './ask.ts'
import { findDifferences, readResponse, summarise } from './compare.ts'
import { createDraw } from './draw.ts'
import { drawHostileRows } from './hostile-records.ts'
import { type Published, type PublishedRecord, publish } from './published.ts'
import { skipWithoutPython } from './python.ts'
import { createQuestions, type Question, readFilters, toTarget } from './questions.ts'

const CHECKS = Number(process.env['PROPERTY_CHECKS'] ?? 25)
const FEBRUARY = ['2021-W05', '2021-W06', '2021-W07', '2021-W08']
const COUNTS = ['cases', 'deaths', 'hospitalised', 'recovered', 'tested'] as const
const skip = skipWithoutPython
const draw = createDraw()

const ADDED_SOURCE = 'A source that was added later'

/** Two databases. The second has the same rows with other keys in another order; its release 2 has one more source. */
async function publishTwice(): Promise<[Published, Published]> {
  const rows = drawHostileRows(draw, 120)
  const others = draw.shuffle(rows).map((row, i): Row => ({ ...row, key: `other ${i}` }))
  const repeated = draw.shuffle(rows.slice(0, 300))
  const added = repeated.map((row, i): Row => ({ ...row, key: `added ${i}`, source_name: ADDED_SOURCE }))
  return [
    await publish([{ directory: await writeNdjson(rows) }]),
    await publish([{ directory: await writeNdjson(others) }, { directory: await writeNdjson([...others, ...added]) }]),
  ]
}
const [first, second] = skip === false ? await publishTwice() : ([] as unknown as [Published, Published])
const filters = skip === false ? await readFilters(first) : new Set<string>()
const drawQuestion: () => Question =
  skip === false
    ? createQuestions(draw, first.records, { filters, releases: 1, byCountry: false })
    : () => assert.fail()

/** A question whose answer has figures. Some questions are rejected or match nothing, so it draws until one is answered. */
async function drawAnswered(accepts: (question: Question) => boolean, strict = false): Promise<Question> {
  for (let attempt = 0; attempt < 2000; attempt += 1) {
    const question = strict ? { ...drawQuestion(), strict } : drawQuestion()
    if (!accepts(question)) continue
    const answer = await first.oracle.ask(question)
    const figures = (answer['points'] ?? answer['data'] ?? []) as Figure[]
    if (figures.length > 0) return question
  }
  throw new Error('no question was answered')
}

const add = (figures: readonly { new: Counts }[], count: (typeof COUNTS)[number]) => {
  const known = figures.map((figure) => figure.new[count]).filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

async function getFigures(published: Published, question: Question): Promise<Figure[]> {
  const { status, body } = await published.get(toTarget(question))
  assert.equal(status, 200, JSON.stringify([question, body]))
  return (body['points'] ?? body['data']) as Figure[]
}

/** Repeats a check; each one is counted. */
function check(title: string, run: () => Promise<void>, times = CHECKS): void {
  test(title, { skip }, async (t) => {
    for (let i = 1; i <= times; i += 1) await t.test(`${title}, ${i}`, run)
  })
}

check('the order of publication does not change a number', async () => {
  const { explain: _explain, ...question } = drawQuestion()
  const answers = await Promise.all([first, second].map(({ get }) => get(`${toTarget(question)}&release=1`)))
  const [one, other] = answers.map((response) => summarise(question, readResponse(question, response), new Map()))
  // Which of two reports of one day with the same count is taken depends on the order, and so does the number of records of a span.
  const differences = findDifferences(one, other).filter((difference) => !/^\/spans\/\d+\/records:/.test(difference))
  assert.deepEqual(differences, [], toTarget(question))
})

check('a source that is added never changes the number of another source', async () => {
  const { explain: _explain, ...drawn } = drawQuestion()
  const sources = [...new Set(first.records.map((record) => String(record['source_name'])))]
  const question: Question = { ...drawn, filters: { source_name: [draw.pick(sources)], ...drawn.filters } }
  const answers = await Promise.all([1, 2].map((release) => second.get(`${toTarget(question)}&release=${release}`)))
  const [one, other] = answers.map((response) => summarise(question, readResponse(question, response), new Map()))
  assert.deepEqual(findDifferences(one, other), [], toTarget(question))
})

check('the records of an explanation add up to the figure', async () => {
  const drawn = await drawAnswered(({ kind }) => kind === 'series' || kind === 'sums')
  const question: Question = { ...drawn, explain: true }
  const { body } = await first.get(toTarget(question))
  const groups = (body['groups'] as { points: Figure[] }[] | number | undefined) ?? []
  const figures =
    ((body['points'] ?? body['data']) as Figure[] | undefined) ??
    (groups as { points: Figure[] }[]).flatMap(({ points }) => points)
  assert.ok(figures.length > 0, toTarget(question))
  for (const figure of figures) {
    const used = figure.explain?.filter(({ rules }) => rules['cases'] !== 'covered')
    assert.equal(used?.length, figure.records, toTarget(question))
    for (const count of COUNTS) {
      const counted = (figure.explain ?? []).filter(({ rules }) => rules[count] !== 'span')
      assert.equal(add(counted, count), figure.new[count], `${count} of ${toTarget(question)}`)
    }
  }
})

check('the weeks of February 2021 add up to the month', async () => {
  const drawn = await drawAnswered(({ kind, group_by }) => kind === 'series' && group_by === undefined)
  const { date_from: _from, date_to: _to, explain: _explain, ...question } = drawn
  const window = draw.chance(0.5) ? { date_from: '2021-02-01', date_to: '2021-02-28' } : {}
  const weeks = await first.get(toTarget({ ...question, ...window, interval: 'isoweek' }))
  const months = await first.get(toTarget({ ...question, ...window, interval: 'month' }))
  assert.equal(weeks.status, months.status)
  if (weeks.status !== 200) return
  const isInFebruary = ({ last_day: day }: { last_day: string }) => day >= '2021-02-01' && day <= '2021-02-28'
  const [ofWeeks = [], ofMonth = []] = [weeks, months].map(({ body }) => {
    const points = (body['points'] as Figure[]).filter(
      ({ period }) => FEBRUARY.includes(period) || period === '2021-02',
    )
    return [...points, ...(body['spans'] as Figure[]).filter(isInFebruary)]
  })
  for (const count of COUNTS) assert.equal(add(ofWeeks, count), add(ofMonth, count), toTarget(question))
})

check('the new counts of a series whose start is known add up to its last count', async () => {
  const started = first.records.filter((record) => record['count_kind'] === 'cumulative' && record['date_low'] !== null)
  const { series_id } = draw.pick(started)
  const { data } = await ask(first, 'sums', { series_id, explain: 'true' })
  const [figure] = data
  if (figure === undefined) return
  for (const count of COUNTS) {
    const rules = new Set(figure.explain?.map((line) => line.rules[count]))
    const [sum, last]: (number | null)[] = [figure.new[count], figure.cumulative[count]]
    if (rules.has('since_start') && !rules.has('restart')) assert.equal(sum, last, series_id)
    if (!rules.has('restart')) assert.ok((sum ?? 0) <= (last ?? 0), series_id)
  }
})

check('the choices of a refusal are answered, and have the records and counts that they promise', async () => {
  for (let attempt = 0; attempt < 3000; attempt += 1) {
    const { explain: _explain, ...question } = drawQuestion()
    if (question.kind !== 'sums' || question.group_by !== undefined) continue
    const { status, body } = await first.get(toTarget(question))
    if (status !== 400) continue
    const choices = body['choices'] as { query: string | null; records: number; counts: Record<string, unknown> }[]
    const choice = draw.pick(choices)
    if (choice.query === null) continue
    const { filters: given, missing: absent } = question
    const chosenFields = new URLSearchParams(choice.query)
    const kept = Object.fromEntries(Object.entries(given).filter(([field]) => !chosenFields.has(field)))
    const missing = absent.filter((field) => !chosenFields.has(field))
    const target = `${toTarget({ ...question, filters: kept, missing })}&${choice.query}`
    const chosen = await first.get(target)
    assert.equal(chosen.status, 200, `${target} ${JSON.stringify(chosen.body)}`)
    // Records without a count are in the range too, but they are not compared.
    assert.ok(Number(chosen.body['records']) >= choice.records, target)
    // Counts without a day and a further choice have numbers of their own.
    if (chosen.body['undated'] !== 0 || chosen.body['left_out_total'] !== 0) continue
    const [figure] = chosen.body['data'] as { total: Counts }[]
    const total = Object.fromEntries(Object.entries(figure?.total ?? {}).filter(([, value]) => value !== null))
    assert.deepEqual(choice.counts, total, target)
    return
  }
  throw new Error('no question was refused')
})

/** A place of a cover: the fields of the place and the number of its records. */
type Part = Record<string, string | number | null>

check('the parts of a cover add up to the whole', async () => {
  const isCover = ({ kind, group_by, place }: Question) =>
    kind === 'sums' && group_by === undefined && place !== undefined
  // Strict, because a part may be counted in another way than the whole, or in none.
  const { explain: _explain, ...question } = await drawAnswered(isCover, true)
  const { body } = await first.get(toTarget(question))
  const [whole] = body['data'] as Figure[]
  const [cover] = body['covers'] as { made_of: Part[] }[]
  assert.ok(whole !== undefined && cover !== undefined)
  // A place that does not report within the days has no figure of its own, only earlier counts.
  const reporting = cover.made_of.filter(({ records }) => Number(records) > 0)
  const parts = await Promise.all(reporting.map((part) => sumOfPart(question, part)))
  for (const count of COUNTS) {
    assert.equal(add(parts, count), whole.new[count], toTarget(question))
    if (reporting.length < cover.made_of.length) continue
    const known = parts.map(({ cumulative }) => cumulative[count]).filter((value) => value !== null)
    const sum = known.length === 0 ? null : known.reduce((total, value) => total + value, 0)
    assert.equal(sum, whole.cumulative[count], toTarget(question))
  }
})

/** The sum of the series of one place of a cover. */
async function sumOfPart(question: Question, { records: _records, ...place }: Part): Promise<Figure> {
  const isOfPlace = (record: PublishedRecord) =>
    Object.entries(place).every(
      ([field, value]) => (field === 'admin_l1' && place['al1_code'] !== null) || record[field] === value,
    )
  const { place: whole = 'world', ...rest } = question
  const asked = rest.filters['series_id']
  const series = [...new Set(first.records.filter(isOfPlace).map(({ series_id }) => series_id))].filter(
    (id) => asked?.includes(id) ?? true,
  )
  // The records of one series may differ in a field that selects the whole place.
  const inWhole = Object.fromEntries([...(findFilter(whole)?.values ?? [])].map(([field, value]) => [field, [value]]))
  const [figure] = await getFigures(first, { ...rest, filters: { ...rest.filters, ...inWhole, series_id: series } })
  assert.ok(figure !== undefined)
  return figure
}
