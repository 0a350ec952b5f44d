// Judging that has used its CPU pauses and then goes on: every watch is judged, and a question that fails does not keep the others.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { startJudging } from '../../src/notify/watches/judging-loop.ts'
import { publishStep, STEPS } from '../fixtures/links/feed-releases.ts'
import { openNotifier } from '../fixtures/watches/open-notifier.ts'
import { LIVENESS_MS } from '../liveness.ts'

/** More than one transaction takes. */
const WATCHES = 120
const notifier = await openNotifier()
const { addClient, operator, superuser, refresh, database, routes, judge } = notifier
const lines: string[] = []
const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })

async function count(condition: string): Promise<number> {
  const { rows } = await superuser.query<{ count: number }>(`select count(*)::integer as count from ${condition}`)
  return rows[0]?.count ?? 0
}

async function judgeUntil(isDone: () => Promise<boolean>, judgeOne = judge): Promise<void> {
  const judging = startJudging({ database, routes, judge: judgeOne, log, budgetMs: 0, pauseMs: 20 })
  const deadline = Date.now() + LIVENESS_MS
  try {
    while (!(await isDone())) {
      assert.ok(Date.now() < deadline, lines.join(''))
      await wait(20)
    }
  } finally {
    await judging.stop()
  }
}

before(async () => {
  for (const client of ['a', 'b', 'c']) await addClient(client)
  for (const step of STEPS.slice(0, 2)) await publishStep(operator, step)
  await refresh()
  await superuser.query(
    `insert into watch (id, client_id, place, dataset, name, question, condition, judged)
     select gen_random_uuid(), client_id, place, 'hed-outbreaks', 'w', 'event=A', 'changes', 1
     from unnest(array['a', 'b', 'c']) as client_id, generate_series(1, ${WATCHES / 3}) as place`,
  )
})

test('what is over the budget is judged after a pause', async () => {
  await judgeUntil(async () => (await count('watch where judged = 2')) === WATCHES)
  assert.ok(lines.some((line) => line.includes('judging has used its CPU')))
  assert.equal(await count('delivery'), WATCHES)
})

test('an invalid query ends its watch, one that fails otherwise stays due, and the others are judged', async () => {
  const change = (question: string, place: number) =>
    superuser.query(`update watch set question = $1 where client_id = 'a' and place = ${place}`, [question])
  await change('no_such_filter=1', 1)
  await change('event=B', 2)
  await publishStep(operator, STEPS[3] ?? null)
  await refresh()
  const failing: typeof judge = {
    ...judge,
    parse: (question, condition) => {
      if (question === 'event=B') throw new Error('no reason that a client could mend')
      return judge.parse(question, condition)
    },
  }
  await judgeUntil(async () => (await count('watch where judged = 3')) === WATCHES - 2, failing)
  assert.equal(await count(`watch where state = 'ended' and reason like '%no_such_filter%'`), 1)
  assert.equal(await count(`watch where judged = 2 and state = 'active'`), 1)
  assert.ok(lines.some((line) => line.includes('could not be judged and is tried again')))
})
