// A watch of the client against a spawned node and its notifier: a release is published, and the client reads what the watch says.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { findFreePort } from '../../../../dev/postgres.ts'
import {
  newSettings,
  outbreakctl,
  prepareDatabase,
  type Service,
  startNotifier,
  startService,
} from '../../../../dev/service.ts'
import { createEmptyDatabase } from '../../../../test/database.ts'
import { writeNdjson } from '../../../../test/fixtures/releases.ts'
import { NotFound, Outbreaks } from '../../src/client.ts'

const settings = newSettings(await createEmptyDatabase())
const event = 'Cholera_Haiti_2010'
const write = (cases: number) =>
  writeNdjson([{ key: 'one', event, date_low: '2020-01-01', date_high: '2020-03-01', cases }])
const { client_id, client_secret } = await prepareDatabase(settings, await write(90))
await outbreakctl(settings, 'release', 'publish', await write(110))
const port = String(await findFreePort())
const node = await startService(settings, { OUTBREAKS_NOTIFIER_URL: `http://127.0.0.1:${port}` })
after(() => node.stop())
const notifier = await startNotifier(settings, { OUTBREAKS_PORT: port, OUTBREAKS_BASE_URL: node.baseUrl })
after(() => notifier.stop())
const open = ({ baseUrl }: Service) => new Outbreaks({ baseUrl, clientId: client_id, clientSecret: client_secret })
const client = open(node)
const WAIT = { waitMs: 60_000 }

test('a preview has what the watch would have said', async () => {
  const { data, judged, warnings } = await client.previewWatch('crosses:cases:100', { event })
  assert.deepEqual([judged, warnings], [[2], []])
  const [notice] = data.filter(({ type }) => type === 'question.crossed')
  assert.deepEqual([notice?.data.release, notice?.data.before, notice?.data.after], [2, { cases: 90 }, { cases: 110 }])
  const { data: sums } = await client.sums({ event, counts: 'cases', release: 2 })
  assert.equal(sums[0]?.total.cases, 110)
})

test('a watch says something about a later release, once', async () => {
  const watch = await client.watch('crosses:cases:100', { event, counts: ['cases'] }, { name: 'Cholera' })
  assert.deepEqual(
    [watch.name, watch.question, watch.state, watch.judged],
    ['Cholera', `counts=cases&event=${event}`, 'active', 2],
  )
  const { next_after: known } = await client.notices()
  assert.equal(known, 2)
  const published = client.notices({ after: known, ...WAIT })
  await outbreakctl(settings, 'release', 'publish', await write(60))
  const [release] = (await published).data
  assert.deepEqual([release?.type, release?.data.release], ['release.published', 3])

  const said = await client.notices({ watch: watch.id, after: watch.judged, ...WAIT })
  const [notice] = said.data
  assert.deepEqual(
    [said.data.length, said.next_after, notice?.type, notice?.data.after],
    [1, 3, 'question.crossed', { cases: 60 }],
  )
  assert.deepEqual(await client.notices({ watch: watch.id, after: said.next_after }), { data: [], next_after: 3 })

  assert.equal((await client.changeWatch(watch.id, { state: 'paused', endpoint: null })).state, 'paused')
  assert.equal((await client.changeWatch(watch.id, { state: 'active', name: 'Haiti' })).name, 'Haiti')
  assert.deepEqual(
    (await client.watches()).map(({ id, name }) => [id, name]),
    [[watch.id, 'Haiti']],
  )
  await client.deleteWatch(watch.id)
  assert.deepEqual(await client.watches(), [])
  await assert.rejects(client.deleteWatch(watch.id), NotFound)
})

test('what cannot be watched is named', async () => {
  // A compiler rejects the last two.
  const cases: [when: string, question: object, parameter: string][] = [
    ['sometimes', {}, 'when'],
    ['changes', { group_by: 'event' }, 'group_by'],
    ['changes', { q: 'cholera' }, 'q'],
  ]
  for (const [when, question, parameter] of cases)
    await assert.rejects(client.watch(when, question), { name: 'InvalidParameter', parameter })
  assert.match(String((await client.previewWatch('changes', { event: 'Nothing' })).warnings), /Nothing/)
})

test('a service without a notifier has no watches, but notices of the dataset', async () => {
  const alone = await startService(settings)
  try {
    const error = { name: 'NotFound', code: 'watches_unavailable', message: /has no watches/ }
    await assert.rejects(open(alone).watch('changes', { event }), error)
    await assert.rejects(open(alone).notices({ watch: '00000000-0000-4000-8000-000000000001', ...WAIT }), error)
    assert.equal((await open(alone).notices({ after: 2 })).data[0]?.data.release, 3)
  } finally {
    await alone.stop()
  }
})
