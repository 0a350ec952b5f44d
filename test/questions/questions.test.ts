// Questions as analysts first ask them, of a node with the sample. The truth comes from the tables (truth.py).
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { publishRelease } from '../../src/publish/publish.ts'
import { HOME, openRoutes } from '../fixtures/routes.ts'
import { skipWithoutPython } from '../oracle/python.ts'
import { type Answer, type Grade, grade, type Item, type Json, type Question } from './grade.ts'

const questions = JSON.parse(readFileSync(path.join(import.meta.dirname, 'questions.json'), 'utf8')) as Question[]
const SAMPLE = path.resolve(import.meta.dirname, '../../sample/releases')
const MIN_RIGHT = 0.9
const MAX_DEAD_ENDS = 0.03

/** The four grades, each by an answer that deserves it. */
test('an answer gets the grade that it deserves', async () => {
  const check = { kind: 'total' }
  const row = (cases: number | null) => ({ data: [{ group: {}, total: { cases } }] })
  const refusal = (...numbers: number[]): Answer => ({
    status: 400,
    body: { choices: numbers.map((cases) => ({ url: '/choice', counts: { cases } })) },
  })
  const gradeOf = (answer: Answer, truth: Json, next: Item = {}) =>
    grade({ check }, truth, answer, async () => ({ status: 200, body: next }))
  const curve = { ways: [{ runs: [{ '2020-01-05': 10, '2020-01-12': 30 }], late: [] }], from: null, to: null }
  const week = (cases: number) => ({ first_day: '2020-01-06', last_day: '2020-01-12', new: { cases } })
  const gradeCurve = (cases: number) =>
    grade({ check: { kind: 'curve' } }, curve, { status: 200, body: { points: [week(cases)] } }, assert.fail)
  assert.deepEqual(
    await Promise.all([
      gradeOf({ status: 200, body: row(7) }, { cases: 7 }),
      gradeOf({ status: 200, body: row(8) }, { cases: 7 }),
      gradeOf(refusal(7, 8), { cases: 7 }, row(7)),
      gradeOf(refusal(8, 7), { cases: 7 }, row(8)),
      gradeOf(refusal(8, 7), { contradicting: [7, 8] }),
      gradeOf({ status: 400, body: {} }, { cases: 7 }),
      gradeOf({ status: 200, body: { data: [] } }, { cases: 7 }),
      gradeCurve(20),
      gradeCurve(30),
    ]),
    ['right', 'misleading', 'refused', 'dead_end', 'right', 'dead_end', 'dead_end', 'right', 'misleading'],
  )
})

if (skipWithoutPython) test('questions', { skip: skipWithoutPython }, () => {})
else {
  const truths = JSON.parse(
    execFileSync('python3', ['-B', path.join(import.meta.dirname, 'truth.py')], { encoding: 'utf8', maxBuffer: 1e8 }),
  ) as Record<string, Json>
  const { inject, operator, refresh } = await openRoutes()
  for (const release of readdirSync(SAMPLE).sort())
    await publishRelease(operator, hedOutbreaks, path.join(SAMPLE, release))
  await refresh()

  const ask = async (address: string): Promise<Answer> => {
    const response = await inject(address)
    return { status: response.statusCode, body: response.json<Item>() }
  }
  const addressOf = ({ request: { resource, parameters } }: Question) => {
    const query = Object.entries(parameters).flatMap(([name, values]) =>
      [values].flat().map((each): [string, string] => [name, String(each)]),
    )
    if (['series', 'sums', 'vintages'].includes(resource)) query.push(['detail', 'full'])
    return `${HOME}/${resource}${query.length > 0 ? `?${new URLSearchParams(query)}` : ''}`
  }
  /** All pages of a list, as one answer. */
  async function askAll(address: string): Promise<Answer> {
    const first = await ask(address)
    const data = (first.body['data'] ?? []) as Json[]
    for (let { body } = first; typeof body['next_page'] === 'string'; ) {
      const page = `${address}${address.includes('?') ? '&' : '?'}page=${encodeURIComponent(body['next_page'])}`
      ;({ body } = await ask(page))
      data.push(...((body['data'] ?? []) as Json[]))
    }
    return first
  }
  const grades = new Map<number, Grade>()
  for (const question of questions)
    test(`${question.number}: ${question.question}`, async () => {
      const address = addressOf(question)
      const isPrefix = question.check.kind === 'headlines'
      const answer = await (isPrefix ? ask(address) : askAll(address))
      const truth = truths[question.number]
      const given = await grade(question, truth, answer, (url) => ask(url.replace(/^https?:\/\/[^/]+/, '')))
      grades.set(question.number, given)
      const [said, right] = [answer.body, truth ?? null].map((each) => JSON.stringify(each).slice(0, 1500))
      assert.notEqual(given, 'misleading', `${address}\nsays ${said}\nthe truth is ${right}`)
    })

  test('nearly all questions have the right answer at once, and none misleads', () => {
    const counts: Record<Grade, number> = { right: 0, refused: 0, misleading: 0, dead_end: 0 }
    for (const question of questions) {
      const given = grades.get(question.number) ?? 'dead_end'
      counts[given] += 1
      const request = given === 'right' ? '' : `: ${addressOf(question)}`
      console.log(`${String(question.number).padStart(3)}  ${given.padEnd(10)}  ${question.question}${request}`)
    }
    for (const [given, count] of Object.entries(counts))
      console.log(`${given.padEnd(10)} ${String(count).padStart(3)} of ${questions.length}`)
    assert.equal(counts.misleading, 0)
    assert.ok(counts.right >= MIN_RIGHT * questions.length, `${counts.right} are right at once`)
    assert.ok(counts.dead_end <= MAX_DEAD_ENDS * questions.length, `${counts.dead_end} lead nowhere`)
  })
}
