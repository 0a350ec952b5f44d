// How the publisher of a release prefers an event to be counted: it wins, is said, belongs to its release, and comes back with it.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { hedOutbreaks } from '../../../src/datasets/hed-outbreaks.ts'
import { rollbackTo } from '../../../src/publish/rollback.ts'
import { HOME, openRoutes, type Row } from '../../fixtures/routes.ts'

const { get, inject, publish, refresh, operator } = await openRoutes()

const paper = (key: string, cases: number): Row => ({
  ...{ key, event: 'Lassa', disease: 'Lassa fever', country_code: 'FR', country: 'France' },
  ...{ source_name: `Paper ${key}`, source_type: 'literature', count_kind: 'cumulative', case_status: 'total' },
  ...{ date_low: '2021-01-01', date_high: '2021-03-31', cases },
})
const rows = [paper('1', 10), paper('2', 90)]
const PREFERRED = { Lassa: { source_name: 'Paper 2' } }
const SUMS = `${HOME}/sums?event=Lassa`

before(async () => {
  await publish(rows, { preferred: PREFERRED })
  await publish(rows)
  await rollbackTo(operator, hedOutbreaks, 1, 'The second release forgot what is preferred')
  await refresh()
})

interface Sums {
  data: { cases: number }[]
  chosen: { decided_by: string[] }[]
  left_out: { reason: string }[]
}
interface Events {
  data: { headline: { cases: number } | null; doubt: string | null }[]
}

for (const release of [1, 3])
  test(`release ${release}: the preferred set answers, in figures and in the headline, and the other is left out`, async () => {
    const { data, chosen, left_out: leftOut } = JSON.parse((await get(SUMS, { release })).text) as Sums
    assert.deepEqual(
      data.map(({ cases }) => cases),
      [90],
    )
    assert.deepEqual(chosen[0]?.decided_by, ['preferred'])
    assert.deepEqual(
      leftOut.map(({ reason }) => reason),
      ['The publisher of the release prefers another set.'],
    )
    const events = JSON.parse((await get(`${HOME}/events`, { release })).text) as Events
    assert.equal(events.data[0]?.headline?.cases, 90)
    const { preferred } = JSON.parse((await get(`${HOME}/releases/${release}`)).text) as { preferred: unknown }
    assert.deepEqual(preferred, PREFERRED)
  })

test('a release that prefers nothing is published, and nothing is chosen', async () => {
  const response = await inject(SUMS, { release: 2 })
  assert.equal(response.statusCode, 400)
  assert.equal(response.json<{ code: string }>().code, 'not_comparable')
  const events = JSON.parse((await get(`${HOME}/events`, { release: 2 })).text) as Events
  assert.deepEqual([events.data[0]?.headline, events.data[0]?.doubt], [null, 'count'])
})

test('a question that fixes another set is answered with it', async () => {
  const { data } = JSON.parse((await get(`${SUMS}&source_name=Paper 1`)).text) as Sums
  assert.equal(data[0]?.cases, 10)
})

for (const [name, preferred, message] of [
  ['an unknown event', { Ebola: { source_name: 'WHO' } }, /names the event Ebola, but the release has no record of it/],
  ['values that no record has', { Lassa: { source_name: 'WHO' } }, /Lassa: no record has source_name "WHO"/],
  [
    'what is not a way of counting',
    { Lassa: { cases: 'many' } },
    /Lassa: cases does not say how something was counted/,
  ],
  ['no value', { Lassa: {} }, /preferred/],
] as const)
  test(`${name} is rejected`, () => assert.rejects(publish(rows, { preferred }), message))
