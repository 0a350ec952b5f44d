// A scripted assistant asks the questions of test/questions, each in at most three calls. Its answers have the right number and the
// release, and a citation that resolves: to the numbers of the answer, and to the same bytes after the next release.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { Envelope } from '../../clients/mcp/src/envelope.ts'
import { writeChanges } from '../fixtures/releases.ts'
import { skipWithoutPython } from '../oracle/python.ts'
import { type Answer, type Grade, grade, type Item, type Json, type Question } from '../questions/grade.ts'
import { ask, startNode } from './node.ts'
import { type Plan, planOf } from './plans.ts'
import { readAnswer, readRows } from './read-answer.ts'

const QUESTIONS = path.resolve(import.meta.dirname, '../questions')
const questions = JSON.parse(readFileSync(path.join(QUESTIONS, 'questions.json'), 'utf8')) as Question[]
const MAX_CALLS = 3
const MAX_BYTES = 8000
const MIN_ANSWERED = 100
/** Of the questions that have a tool. */
const MAX_DEAD_ENDS = 3

if (skipWithoutPython) test('questions of assistants', { skip: skipWithoutPython }, () => {})
else {
  const truths = JSON.parse(
    execFileSync('python3', ['-B', path.join(QUESTIONS, 'truth.py')], { encoding: 'utf8', maxBuffer: 1e8 }),
  ) as Record<string, Json>
  const node = await startNode()
  const client = await node.openHttp()
  const grades = new Map<number, Grade>()
  /** What each cited address gave, to read again later. */
  const cited = new Map<string, string>()

  /** The answer, and the rows of all calls. */
  async function follow(plan: Plan, isWhole: boolean): Promise<{ answer: Envelope; rows: Item[]; calls: number }> {
    const answer = await ask(client, plan.tool, plan.arguments)
    let rows = readRows(answer.data)
    let calls = 1
    // Only the first rows were asked for.
    for (
      let next = isWhole ? answer.more?.call : undefined;
      next?.tool === plan.tool && calls < MAX_CALLS - 1 && answer.outcome === 'answer';
    ) {
      const further = await ask(client, next.tool, next.arguments)
      calls += 1
      rows = next.tool === 'count' ? readRows(further.data) : [...readRows(further.data), ...rows]
      next = further.more?.call
    }
    return { answer, rows, calls }
  }

  /** The service's answer at the address in the citation. */
  async function resolve({ citation, question, release }: Envelope): Promise<Item> {
    assert.ok(citation.endsWith(question), citation)
    assert.ok(citation.includes(`release ${release},`), citation)
    const { status, text } = await node.read(question)
    cited.set(question, hash('sha256', withoutRequestId(text)))
    // A rejection is always the same rejection.
    if (status === 400) assert.equal((JSON.parse(text) as Item)['code'], 'not_comparable', question)
    else assert.equal(status, 200, question)
    return JSON.parse(text) as Item
  }

  const plans = questions.flatMap((question) => {
    const plan = planOf(question)
    return plan === null ? [] : [{ question, plan }]
  })
  for (const { question, plan } of plans)
    test(`${question.number}: ${question.question}`, async () => {
      const { answer, rows, calls } = await follow(plan, !('num' in question.request.parameters))
      assert.ok(Buffer.byteLength(JSON.stringify(answer)) <= MAX_BYTES)
      const source = await resolve(answer)
      let total = calls
      const choose = async (index: string): Promise<Answer> => {
        const call = answer.choices?.[Number(index)]?.call
        if (call === undefined) return { status: 404, body: {} }
        total += 1
        const chosen = await ask(client, call.tool, call.arguments)
        return readAnswer(question, chosen, readRows(chosen.data), await resolve(chosen))
      }
      const said = readAnswer(question, answer, rows, source)
      const judged = await grade(question, truths[question.number], said, choose)
      // Rows are missing, and the answer says so.
      const isWarned = answer.warnings.some((warning) => warning.startsWith('Groups without a row'))
      const given = judged === 'misleading' && isWarned ? 'refused' : judged
      grades.set(question.number, given)
      assert.ok(total <= MAX_CALLS, `${total} calls`)
      const [words, right] = [said.body, truths[question.number] ?? null].map((each) =>
        JSON.stringify(each).slice(0, 1200),
      )
      assert.notEqual(given, 'misleading', `${JSON.stringify(plan)}\nsays ${words}\nthe truth is ${right}`)
      if (given === 'dead_end')
        console.log(`${question.number} leads nowhere: ${JSON.stringify(plan)}: ${words}; ${right}`)
    })

  test('at least a hundred questions are answered, and none misleads', () => {
    const given = [...grades.values()]
    const answered = given.filter((each) => each === 'right' || each === 'refused').length
    console.log(`${given.filter((each) => each === 'right').length} right, ${answered} answered, of ${plans.length}`)
    assert.ok(answered >= MIN_ANSWERED, `${answered} answered`)
    assert.ok(plans.length - answered <= MAX_DEAD_ENDS, `${plans.length - answered} lead nowhere`)
  })

  test('after another release every citation still gives the same bytes', async () => {
    await node.publish(
      await writeChanges(
        6,
        [
          {
            key: 'later',
            event: 'Measles_United_States_2025',
            country_code: 'US',
            country: 'United States',
            cases: 9999,
            date_low: '2025-03-01',
            date_high: '2025-03-07',
          },
        ],
        [],
      ),
    )
    const newest = async () =>
      (JSON.parse((await node.read('/v2/hed-outbreaks/releases/latest')).text) as Item)['number']
    while ((await newest()) !== 7) await wait(200)
    const changing = [...cited].filter(([address]) => !/\/releases\?|\/history\?/.test(address))
    for (const [address, digest] of changing) {
      const { text } = await node.read(address)
      assert.equal(hash('sha256', withoutRequestId(text)), digest, address)
    }
    assert.ok(changing.length >= MIN_ANSWERED)
  })
}

const withoutRequestId = (text: string) => text.replace(/"request_id":"[^"]*"/, '')
