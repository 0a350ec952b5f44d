// A client sees and changes only its own watches, has at most fifty, and loses them with its access.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { endLostWatches } from '../../src/notify/watches/judge-due.ts'
import { publishStep, STEPS } from '../fixtures/links/feed-releases.ts'
import { openNotifier } from '../fixtures/watches/open-notifier.ts'

const notifier = await openNotifier()
const { send, watch, addClient, operator, refresh, judgeAll, deliveries, superuser, database, routes } = notifier
const ended = () => endLostWatches(database, routes.dataset)
const A = 'event=A'

before(async () => {
  for (const client of ['alice', 'bob', 'carol', 'dave', 'eve', 'frank']) await addClient(client)
  await publishStep(operator, STEPS[0] ?? null)
  await refresh()
})

describe("another client's watch", () => {
  test('does not exist: it cannot be read, changed, deleted, or asked what it said', async () => {
    const id = await watch(A, 'changes')
    for (const [method, path, body] of [
      ['GET', `/${id}`, undefined],
      ['PATCH', `/${id}`, { state: 'paused' }],
      ['DELETE', `/${id}`, undefined],
      ['GET', `/${id}/notices`, undefined],
    ] as const)
      assert.equal((await send(method, path, body, 'bob')).status, 404, method)
    assert.deepEqual((await send('GET', '', undefined, 'bob')).body, { data: [] })
    // The same requests of the owner succeed.
    assert.equal((await send('GET', `/${id}/notices`)).status, 200)
    assert.equal((await send('PATCH', `/${id}`, { state: 'paused' })).status, 200)
    assert.equal((await send('DELETE', `/${id}`)).status, 204)
  })

  test('nor does its endpoint', async () => {
    const endpoint = '00000000-0000-4000-8000-000000000001'
    await superuser.query(
      `insert into endpoint (id, client_id, place, dataset, kind, address, state) values ($1, 'alice', 1, 'hed-outbreaks', 'webhook', 'https://a.test', 'active')`,
      [endpoint],
    )
    const body = { question: A, when: 'changes', endpoint }
    const stranger = await send('POST', '', body, 'bob')
    assert.deepEqual([stranger.status, stranger.body?.['parameter']], [400, 'endpoint'])
    assert.equal((await send('POST', '', body)).status, 201)
  })
})

test('a client has fifty watches at most, even if it asks for sixty at once', async () => {
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => send('POST', '', { question: A, when: 'changes' }, 'eve')),
  )
  const { rows } = await superuser.query(`select count(*)::integer as count from watch where client_id = 'eve'`)
  const created = answers.filter(({ status }) => status === 201).length
  assert.equal(rows[0].count, created)
  assert.ok(created <= 50)
  for (const { status, body } of answers.filter((answer) => answer.status !== 201))
    assert.ok(['limit_reached', 'unavailable'].includes(String(body?.['code'])), `${status}`)
  while ((await send('POST', '', { question: A, when: 'changes' }, 'eve')).status === 201);
  const full = await send('POST', '', { question: A, when: 'changes' }, 'eve')
  assert.deepEqual([full.status, full.body?.['code']], [409, 'limit_reached'])
  assert.equal((await superuser.query(`select from watch where client_id = 'eve'`)).rowCount, 50)
})

test('a paused watch is not judged, and a resumed one begins with the next release', async () => {
  const id = await watch(A, 'changes', 'frank')
  await send('PATCH', `/${id}`, { state: 'paused' }, 'frank')
  await publishStep(operator, STEPS[1] ?? null)
  await judgeAll()
  assert.equal((await send('PATCH', `/${id}`, { state: 'active' }, 'frank')).body?.['judged'], 2)
  await publishStep(operator, STEPS[3] ?? null)
  await judgeAll()
  assert.deepEqual(
    (await deliveries(id)).map(({ release }) => release),
    [3],
  )
})

for (const [client, loss, reason] of [
  ['bob', `update client set disabled_at = now() where client_id = 'bob'`, 'its client was disabled'],
  ['carol', `update client set scopes = '{}' where client_id = 'carol'`, 'its client lost the scope '],
  ['dave', `update client set public_keys = '[]' where client_id = 'dave'`, 'all secrets of its client have expired'],
] as const)
  test(`a watch says nothing any more and ends, because ${reason}`, async () => {
    const id = await watch('', 'changes', client)
    await superuser.query(loss)
    await publishStep(operator, STEPS[notifier.releases().length] ?? null)
    // Not even if nothing has noticed the loss yet.
    await judgeAll()
    assert.deepEqual(await deliveries(id), [])
    assert.equal(await ended(), 1)
    const { body } = await send('GET', `/${id}`, undefined, client)
    assert.equal(body?.['state'], 'ended')
    assert.ok(String(body?.['ended_because']).startsWith(reason))
    const change = await send('PATCH', `/${id}`, { state: 'active' }, client)
    assert.deepEqual([change.status, change.body?.['code']], [409, 'conflict'])
    assert.equal(await ended(), 0)
  })

test('a body, a question and a condition that are not valid are named', async () => {
  const cases: [body: unknown, status: number, parameter: string | undefined][] = [
    ['{', 400, undefined],
    ['[]', 400, undefined],
    [{}, 400, 'question'],
    [{ question: A }, 400, 'when'],
    [{ question: A, when: 'sometimes' }, 400, 'when'],
    [{ question: A, when: 'crosses:cases:0' }, 400, 'when'],
    [{ question: A, when: 'crosses:people:10' }, 400, 'when'],
    [{ question: A, when: 'changes', often: true }, 400, 'often'],
    [{ question: 5, when: 'changes' }, 400, 'question'],
    [{ question: 'q=cholera', when: 'changes' }, 400, 'q'],
    [{ question: 'group_by=event', when: 'changes' }, 400, 'group_by'],
    [{ question: 'country_code=ZZZ', when: 'changes' }, 400, 'country_code'],
    [{ question: `event=${'x'.repeat(4001)}`, when: 'changes' }, 400, 'question'],
    [{ question: `event=${'x'.repeat(9000)}`, when: 'changes' }, 413, undefined],
    [{ question: 'counts=deaths', when: 'crosses:cases:10' }, 400, 'when'],
    [{ question: A, when: 'changes', name: '' }, 400, 'name'],
    [{ question: A, when: 'changes', endpoint: 'x' }, 400, 'endpoint'],
  ]
  for (const [body, status, parameter] of cases) {
    const answer = await send('POST', '', body)
    assert.deepEqual([answer.status, answer.body?.['parameter']], [status, parameter], JSON.stringify(body))
  }
  for (const id of ['x', '%00', "'; drop table watch; --"])
    assert.equal((await send('GET', `/${encodeURIComponent(id)}`)).status, 404)
  const { body } = await send('POST', '/preview', { question: 'event=Nothing', when: 'changes' })
  assert.match(String(body?.['warnings']), /Nothing/)
})
