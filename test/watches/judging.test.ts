// What watches say about small releases: reports, corrections, a rollback, another way of counting, withdrawals, and pruning.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { pruneReleases } from '../../src/publish/prune.ts'
import { publishStep, STEPS } from '../fixtures/links/feed-releases.ts'
import { type NoticeBody, openNotifier } from '../fixtures/watches/open-notifier.ts'

const notifier = await openNotifier()
const { operator, refresh, watch, judgeAll, deliveries, preview, addClient } = notifier

/** The question and the condition of each watch, and what it says: the release and the type. */
const WATCHED: readonly (readonly [question: string, when: string, says: readonly string[]])[] = [
  [
    'event=A',
    'changes',
    [
      '2 question.changed',
      '4 question.changed',
      '5 question.changed',
      '6 question.changed',
      '7 question.changed',
      '8 question.changed',
      '9 question.not_comparable',
      '10 question.not_comparable',
    ],
  ],
  [
    'event=A',
    'changes:cases:100',
    [
      '2 question.changed',
      '5 question.changed',
      '6 question.changed',
      '7 question.changed',
      '8 question.changed',
      '9 question.not_comparable',
      '10 question.not_comparable',
    ],
  ],
  [
    'event=A',
    'crosses:cases:1000',
    [
      '4 question.crossed',
      '5 question.crossed',
      '6 question.crossed',
      '9 question.not_comparable',
      '10 question.not_comparable',
    ],
  ],
  ['event=A', 'corrects', ['5 records.corrected', '6 records.corrected', '8 records.corrected', '9 records.corrected']],
  ['', 'appears', ['2 event.appeared', '8 event.appeared', '10 event.appeared']],
  ['source_name=Ministry', 'appears', ['2 event.appeared', '10 event.appeared']],
  ['event=Nothing+like+this', 'changes', []],
  ['', 'changes', [2, 3, 4, 5, 6, 7, 8, 9, 10].map((release) => `${release} release.published`)],
  ['', 'corrects', [3, 5, 6, 8, 9].map((release) => `${release} records.corrected`)],
  // A filter matches without regard to case, so its watch does too.
  ['source_name=ministry', 'appears', ['2 event.appeared', '10 event.appeared']],
]
const ids: string[] = []
const said = async (id: string) => (await deliveries(id)).map(({ release, type }) => `${release} ${type}`)
const bodiesOf = async (i: number) => (await deliveries(ids[i] ?? '')).map(({ body }) => body)
/** Without what a preview cannot have. */
const strip = ({ type, time, data: { watch: _watch, name: _name, ...data } }: NoticeBody) => ({ type, time, data })

before(async () => {
  await addClient('alice')
  for (const [i, step] of STEPS.slice(0, 10).entries()) {
    await publishStep(operator, step)
    if (i === 0) {
      await refresh()
      for (const [question, when] of WATCHED) ids.push(await watch(question, when))
    }
    // The notifier is down during three releases, and judges each of them afterwards.
    if (![3, 4, 5].includes(i)) await judgeAll()
  }
})

for (const [i, [question, when, expected]] of WATCHED.entries())
  test(`${question || 'all releases'}, ${when}`, async () => {
    assert.deepEqual(await said(ids[i] ?? ''), expected)
    const notices = await bodiesOf(i)
    assert.deepEqual(await preview(question, when), notices.map(strip))
  })

describe('a notice', () => {
  test('tells a crossing by new reports from one by a correction and one by a rollback', async () => {
    const crossed = await bodiesOf(2)
    assert.deepEqual(
      crossed.map(({ data }) => data['cause']),
      ['new_reports', 'correction', 'rollback', 'correction', 'new_reports'],
    )
    assert.match(
      crossed[0]?.data.title ?? '',
      /^Release 4: cases reached 1,000 by new reports, cases 980 → 1,040 \(\+60\)/,
    )
    assert.match(crossed[1]?.data.title ?? '', /^Release 5: cases fell below 1,000 by a correction/)
  })

  test('a number that is not known any more is null and never 0', async () => {
    const [, , , gone] = await bodiesOf(2)
    assert.deepEqual(gone?.data['after'], { cases: null })
    assert.deepEqual(gone?.data['became'], [{ count: 'cases', from: 'known', to: 'unknown' }])
  })

  test('names new events', async () => {
    assert.deepEqual((await bodiesOf(4))[0]?.data['events'], ['D'])
  })

  test('is a CloudEvent with a citation and links, and its id is that of the delivery', async () => {
    const [delivery] = await deliveries(ids[2] ?? '')
    const { body } = delivery ?? assert.fail()
    assert.equal(body.id, delivery?.id)
    const { specversion, source, datacontenttype } = body as unknown as Record<string, string>
    assert.deepEqual(
      [specversion, source, datacontenttype],
      ['1.0', `https://api.test/v2/hed-outbreaks/watches/${ids[2]}`, 'application/json'],
    )
    assert.match(String(body.data['citation']), /release 4, data as of/)
    assert.deepEqual(body.data['links'], {
      page: 'https://api.test/explore/events/A/changes?release=4&compare=3',
      changes: 'https://api.test/v2/hed-outbreaks/changes?event=A&from=3&to=4',
      figures: 'https://api.test/v2/hed-outbreaks/sums?counts=cases&event=A&release=4',
    })
  })
})

test('judging again writes nothing again', async () => {
  const first = await bodiesOf(0)
  await notifier.superuser.query('update watch set judged = 1')
  await judgeAll()
  assert.deepEqual(await bodiesOf(0), first)
})

test('most watches are skipped: the release touched no event, source or country of theirs', async () => {
  await notifier.superuser.query('delete from watch')
  const [a, d] = [await watch('event=A', 'changes'), await watch('event=D', 'changes')]
  await publishStep(operator, STEPS[10] ?? null)
  // A round ends after two seconds, so a busy machine needs several.
  const rounds = await judgeAll()
  const sum = (name: 'pairs' | 'skipped' | 'notices') => rounds.reduce((total, round) => total + round[name], 0)
  assert.deepEqual([sum('pairs'), sum('skipped'), sum('notices')], [2, 2, 0])
  assert.deepEqual([await said(a), await said(d)], [[], []])
})

test('a release that was pruned before it was judged is told, not left out', async () => {
  const id = await watch('event=B', 'crosses:cases:7')
  await publishStep(operator, STEPS[11] ?? null)
  const all = await watch('', 'changes')
  await publishStep(operator, STEPS[10] ?? null)
  await pruneReleases(operator, hedOutbreaks, 13, 12)
  await judgeAll()
  assert.deepEqual(await said(id), ['12 question.not_comparable', '13 question.not_comparable'])
  const [body] = (await deliveries(id)).map((one) => one.body)
  assert.equal(body?.data['reason'], 'pruned')
  assert.match(body?.data.title ?? '', /^Release 12 cannot be compared with release 11/)
  // What is said about all releases needs no records.
  assert.deepEqual(await said(all), ['12 release.published', '13 release.published'])
})

test('a watch whose query is no longer valid ends with the reason, and the others go on', async () => {
  await notifier.superuser.query('delete from watch')
  const [invalid, valid] = [await watch('event=A', 'changes'), await watch('', 'changes')]
  await notifier.superuser.query(`update watch set question = 'removed_field=1' where id = '${invalid}'`)
  await publishStep(operator, STEPS[11] ?? null)
  const rounds = await judgeAll()
  assert.deepEqual(
    rounds.flatMap(({ ended }) => ended.map((one) => one.watch)),
    [invalid],
  )
  const { body } = await notifier.send('GET', `/${invalid}`)
  assert.equal(body?.['state'], 'ended')
  assert.match(String(body?.['ended_because']), /^its query is no longer valid: .*removed_field/)
  assert.equal((await said(valid)).length, 1)
})
