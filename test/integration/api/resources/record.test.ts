// One record: its content in each release, and its history.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { HOME, openRoutes } from '../../../fixtures/routes.ts'
import { readStoredRecords } from '../../../fixtures/stored-records.ts'

const recordOf = (id: number | string) => `${HOME}/outbreaks/${id}`
const historyOf = (id: number | string) => `${recordOf(id)}/history`

describe('a record that is corrected, withdrawn and added again', async () => {
  const routes = await openRoutes()
  const rest = [{ key: 'other' }]
  const odd = { latitude: 1.5, longitude: 0, note: 'a "quoted" ü note', extra: { big: 1e21 } }
  before(async () => {
    await routes.publish([{ key: 'a', cases: 1, ...odd }, ...rest])
    await routes.publish([{ key: 'a', cases: 2 }, ...rest, { key: 'late' }])
    await routes.publish([{ key: 'a', cases: 2 }, ...rest])
    await routes.publish([...rest, { key: 'later' }])
    await routes.publish([{ key: 'a', cases: 2 }, ...rest])
    await routes.publish([...rest])
  })

  const readBody = async (id: number, release: number) =>
    (await readStoredRecords(routes.api, release)).find((body) => body.startsWith(`{"id":${id},`))

  test('is read byte for byte as it is stored in the release', async () => {
    for (const release of [1, 2, 3, 5]) {
      const { text, release: header } = await routes.get(recordOf(1), { release })
      assert.deepEqual([text, header], [await readBody(1, release), release])
    }
    assert.equal((await routes.get(recordOf(2))).release, 6)
  })

  const missing: [id: number, release: number, ranges: string][] = [
    [1, 4, 'These releases do: 1 to 3; 5.'],
    [1, 6, 'These releases do: 1 to 3; 5.'],
    [3, 1, 'These releases do: 2.'],
    [99, 6, 'No release contains it.'],
    [Number.MAX_SAFE_INTEGER, 6, 'No release contains it.'],
  ]
  for (const [id, release, ranges] of missing) {
    test(`404 for record ${id} in release ${release}: ${ranges}`, async () => {
      const { detail, headers } = await routes.assertProblem(recordOf(id), { release }, 404, 'not_found')
      assert.equal(detail, `Release ${release} does not contain record ${id}. ${ranges}`)
      assert.equal(headers['outbreaks-release'], String(release))
    })
  }

  test('the history has every version, the oldest first, with its releases', async () => {
    const { text, release } = await routes.get(historyOf(1))
    const version = async (from: number, to: number) =>
      `{"from_release":${from},"to_release":${to},"record":${await readBody(1, from)}}`
    const versions = [await version(1, 2), await version(2, 4), await version(5, 6)]
    assert.equal(text, `{"data":[${versions.join(',\n')}],"has_more":false,"next_page":null}`)
    assert.equal(release, 6)
  })

  test('to_release of the current version is null', async () => {
    const [only, ...others] = await routes.walk(historyOf(2))
    assert.deepEqual([only?.['from_release'], only?.['to_release'], others], [1, null, []])
  })

  test('the history is the same for any num', async () => {
    const history = await routes.walk(historyOf(1))
    for (const num of [1, 2, 3]) assert.deepEqual(await routes.walk(historyOf(1), { num }), history)
  })

  test('400 for a cursor of the history of another record', async () => {
    const page = (await routes.getPage(historyOf(1), { num: 1 })).next ?? ''
    await routes.assertProblem(historyOf(2), { page }, 400, 'invalid_parameter', 'page')
  })

  test('404 for the history of a record that was never published', async () => {
    await routes.assertProblem(historyOf(99), {}, 404, 'not_found')
  })

  for (const id of [
    '0',
    '01',
    '-1',
    '1.0',
    '1e0',
    '0x1',
    '%201',
    '1%20',
    '１',
    'abc',
    '9007199254740992',
    '9'.repeat(30),
  ]) {
    test(`404 for the id ${id}`, async () => {
      await routes.assertProblem(recordOf(id), {}, 404, 'not_found')
      await routes.assertProblem(historyOf(id), {}, 404, 'not_found')
    })
  }

  test('400 for unknown parameters and for an unknown release', async () => {
    await routes.assertProblem(recordOf(1), { num: 1 }, 400, 'unknown_parameter', 'num')
    await routes.assertProblem(historyOf(1), { release: 1 }, 400, 'unknown_parameter', 'release')
    await routes.assertProblem(recordOf(1), { release: 7 }, 400, 'invalid_parameter', 'release')
  })

  // This test is the last because it publishes a release.
  test('a walk through the history stays on the release it started on', async () => {
    const first = await routes.getPage(historyOf(2), {})
    const page = (await routes.getPage(historyOf(1), { num: 2 })).next ?? ''
    await routes.publish([{ key: 'a', cases: 2 }])
    assert.deepEqual((await routes.getPage(historyOf(2), {})).data, first.data)
    await routes.refresh()
    assert.equal((await routes.walk(historyOf(1), { page })).length, 1)
    assert.deepEqual(
      (await routes.walk(historyOf(1))).map((version) => [version['from_release'], version['to_release']]),
      [
        [1, 2],
        [2, 4],
        [5, 6],
        [7, null],
      ],
    )
    assert.equal((await routes.walk(historyOf(2)))[0]?.['to_release'], 7)
  })
})

test('503 if no release has been published', async () => {
  const { assertProblem } = await openRoutes()
  await assertProblem(recordOf(1), {}, 503, 'nothing_published')
  await assertProblem(historyOf(1), {}, 503, 'nothing_published')
})
