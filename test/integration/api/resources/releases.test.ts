// The list of releases, releases selected by date, and pruned releases.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { pruneReleases } from '../../../../src/publish/prune.ts'
import { rollbackTo } from '../../../../src/publish/rollback.ts'
import { HOME, openRoutes } from '../../../fixtures/routes.ts'

const RELEASES = `${HOME}/releases`
const RECORDS = `${HOME}/outbreaks`
const PINNED = ['/v1/hed-outbreaks/outbreaks', RECORDS, `${HOME}/event-names`, `${RECORDS}/1`]

test('without a release, lists and dates are 503, and a release by number is 404', async () => {
  const { assertProblem } = await openRoutes()
  await assertProblem(RELEASES, {}, 503, 'nothing_published')
  await assertProblem(`${RELEASES}/latest`, {}, 503, 'nothing_published')
  await assertProblem(`${RELEASES}/1`, {}, 404, 'not_found')
  for (const address of PINNED) {
    await assertProblem(address, { release: '2026-03-01' }, 503, 'nothing_published')
  }
})

describe('four releases', async () => {
  const routes = await openRoutes()
  const published = [
    '2026-03-01T23:59:59.999999Z',
    '2026-03-02T00:00:00Z',
    '2026-03-02T12:00:00.1234Z',
    '2026-03-05T01:00:00+02:00',
  ]
  const asOf = ['2026-03-01', '2026-03-02', '2026-03-02', '2026-03-04']
  before(async () => {
    for (const [index, publishedAt] of published.entries()) {
      const rows = [{ key: 'a', cases: index }, ...(index === 1 ? [{ key: 'b' }] : [])]
      await routes.publish(rows, { as_of: asOf[index] })
      await routes.superuser.query('update release set published_at = $1 where number = $2', [publishedAt, index + 1])
    }
    await routes.superuser.query(`update release set note = 'A "note" – with ümlauts' where number = 2`)
    await routes.refresh()
  })

  test('are listed with their metadata, the newest first', async () => {
    const common = { title: 'A test', licence: 'CC0-1.0', note: null, restores: null, pruned_at: null, files: [] }
    const { text, release } = await routes.get(RELEASES)
    assert.equal(release, 4)
    const { data } = JSON.parse(text) as { data: Record<string, unknown>[] }
    for (const { digest } of data) assert.match(String(digest), /^[0-9a-f]{64}$/)
    assert.equal(new Set(data.map(({ digest }) => digest)).size, 4)
    const metadata = data.map(
      ({ digest: _digest, reasons: _reasons, preferred: _preferred, warnings: _warnings, ...rest }) => rest,
    )
    assert.deepEqual(metadata, [
      {
        ...{ number: 4, ...common, published_at: '2026-03-04T23:00:00.000Z', as_of: '2026-03-04' },
        ...{ records: 1, added: 0, corrected: 1, withdrawn: 0, rejected: 0 },
      },
      {
        ...{ number: 3, ...common, published_at: '2026-03-02T12:00:00.123Z', as_of: '2026-03-02' },
        ...{ records: 1, added: 0, corrected: 1, withdrawn: 1, rejected: 0 },
      },
      {
        ...{
          number: 2,
          ...common,
          note: 'A "note" – with ümlauts',
          published_at: '2026-03-02T00:00:00.000Z',
          as_of: '2026-03-02',
        },
        ...{ records: 2, added: 1, corrected: 1, withdrawn: 0, rejected: 0 },
      },
      {
        ...{ number: 1, ...common, published_at: '2026-03-01T23:59:59.999Z', as_of: '2026-03-01' },
        ...{ records: 1, added: 1, corrected: 0, withdrawn: 0, rejected: 0 },
      },
    ])
  })

  test('are the same one by one and in pages of any num', async () => {
    const all = await routes.walk(RELEASES)
    for (const num of [1, 2, 3, 4, 5]) assert.deepEqual(await routes.walk(RELEASES, { num }), all)
    for (const release of all) {
      const single = await routes.get(`${RELEASES}/${release['number']}`)
      assert.deepEqual([JSON.parse(single.text), single.release], [release, release['number']])
    }
  })

  const absent = ['5', '0', '01', '-1', '1.0', '1e0', '%201', '2147483648', '99999999999', 'Latest', '2026-03-02', '+1']
  for (const number of absent) {
    test(`404 for the release ${number}`, async () => {
      await routes.assertProblem(`${RELEASES}/${number}`, {}, 404, 'not_found')
    })
  }
  for (const [address, parameter] of [
    [RELEASES, 'release'],
    [`${RELEASES}/1`, 'release'],
    [`${RELEASES}/1`, 'num'],
  ] as const) {
    test(`400 for ${parameter} at ${address}`, async () => {
      await routes.assertProblem(address, { [parameter]: 1 }, 400, 'unknown_parameter', parameter)
    })
  }

  const days: [day: string, release: number][] = [
    ['2026-03-01', 1],
    ['2026-03-02', 3],
    ['2026-03-03', 3],
    ['2026-03-04', 4],
    ['2026-03-05', 4],
    ['2028-02-29', 4],
    ['9999-12-31', 4],
  ]
  for (const [day, release] of days) {
    test(`release=${day} reads release ${release}, on every endpoint`, async () => {
      for (const address of PINNED) {
        const byDate = await routes.get(address, { release: day })
        assert.deepEqual(byDate, await routes.get(address, { release }))
        assert.equal(byDate.release, release)
      }
    })
  }

  test('changes accept dates', async () => {
    const byDate = await routes.get(`${HOME}/changes`, { from: '2026-03-01', to: '2026-03-03' })
    assert.deepEqual(byDate, await routes.get(`${HOME}/changes`, { from: 1, to: 3 }))
    assert.equal(byDate.release, 3)
  })

  test('400 for a date before the first release, with as_of of the first', async () => {
    for (const address of PINNED) {
      for (const release of ['2026-02-28', '0001-01-01', '0000-01-01']) {
        const { detail } = await routes.assertProblem(address, { release }, 400, 'invalid_parameter', 'release')
        assert.match(detail, /The first release is as of 2026-03-01\.$/)
      }
    }
  })

  test('a cursor is accepted with a date on or after as_of of its release, and 400 with an earlier one', async () => {
    const page = (await routes.getPage(RECORDS, { release: 2, num: 1 })).next ?? ''
    // Release 3 is as of the same day, but the walk may have started before.
    assert.equal((await routes.getPage(RECORDS, { page, release: '2026-03-02' })).release, 2)
    await routes.assertProblem(RECORDS, { page, release: '2026-03-01' }, 400, 'invalid_parameter', 'release')
    await routes.assertProblem(RECORDS, { page, release: '2026-02-30' }, 400, 'invalid_parameter', 'release')
    await routes.superuser.query(`update release set as_of = '2026-02-01' where number = 1`)
    await routes.superuser.query(`update release set as_of = '2026-03-01' where number = 2`)
    await routes.refresh()
    assert.equal((await routes.getPage(RECORDS, { page, release: '2026-03-01' })).release, 2)
  })

  const malformed = [
    ...['', '0', '00', '01', '-1', '+1', '1.0', '1e3', '0x1', ' 1', '1 ', '1\n', '１', '2147483648', '9999999999'],
    ...[
      '99999999999',
      'Latest',
      'newest',
      '2026-3-2',
      '26-03-02',
      '2026-03-2',
      '2026-00-10',
      '2026-13-01',
      '2026-03-00',
    ],
    ...['2026-03-32', '2026-02-29', '2026-02-30', '2026-04-31', '1900-02-29', '2026-03-02T00:00:00Z', '2026-03-02Z'],
    ...[
      '2026/03/02',
      '20260302-',
      '-2026-03-02',
      '+002026-03-02',
      '2026-03-02 ',
      ' 2026-03-02',
      '2026-W10-1',
      '１２３４-01-01',
    ],
  ]
  for (const release of malformed) {
    test(`400 for the release ${JSON.stringify(release)}`, async () => {
      for (const address of PINNED)
        await routes.assertProblem(address, { release }, 400, 'invalid_parameter', 'release')
    })
  }

  test('400 for a number out of range and a date that does not exist says what a release can be', async () => {
    for (const release of ['2147483648', '2026-02-30']) {
      const { detail } = await routes.assertProblem(RECORDS, { release }, 400, 'invalid_parameter', 'release')
      assert.match(detail, /must be a release number from 1 to 2147483647, a date \(YYYY-MM-DD\) or latest/)
    }
  })

  // The last two tests publish releases.
  test('a walk over the releases lists those that existed when it started', async () => {
    const first = await routes.getPage(RELEASES, { num: 1 })
    await routes.publish([{ key: 'c' }])
    await routes.refresh()
    const others = await routes.walk(RELEASES, { num: 2, page: first.next ?? '' })
    assert.deepEqual(
      [...first.data, ...others].map(({ number }) => number),
      [4, 3, 2, 1],
    )
    assert.equal((await routes.get(RELEASES)).release, 5)
  })

  test('a release that another node has just published is read without a refresh', async () => {
    await routes.publish([{ key: 'd' }])
    assert.equal((await routes.get(`${RELEASES}/6`)).release, 6)
  })
})

test('a date never reads a release that a rollback withdrew', async () => {
  const routes = await openRoutes()
  const days = ['2026-03-01', '2026-03-08', '2026-03-15']
  for (const [cases, as_of] of days.entries()) await routes.publish([{ key: 'a', cases }], { as_of })
  const readDays = async (): Promise<number[]> => {
    await routes.refresh()
    const read = [...days, '2026-03-22'].map((release) => routes.get(RECORDS, { release }))
    return (await Promise.all(read)).map(({ release }) => release)
  }
  assert.deepEqual(await readDays(), [1, 2, 3, 3])
  await rollbackTo(routes.operator, hedOutbreaks, 2, 'Wrong figures.')
  assert.deepEqual(await readDays(), [1, 4, 4, 4])
  assert.equal(routes.releases().at(-1)?.asOf, '2026-03-08')
  // The corrected table of the same day can follow.
  await routes.publish([{ key: 'a', cases: 9 }], { as_of: '2026-03-15' })
  assert.deepEqual(await readDays(), [1, 4, 5, 5])
})

test('410 for every request for a pruned release, with the oldest that can be read', async () => {
  const routes = await openRoutes()
  const rows = [{ key: 'a' }, { key: 'b' }, { key: 'c' }]
  for (const cases of [1, 2, 3, 4]) await routes.publish(rows.map((row) => ({ ...row, cases })))
  await routes.refresh()
  const firstPage = await routes.getPage(RECORDS, { release: 2, num: 2 })
  const changes = await routes.getPage(`${HOME}/changes`, { from: 1, to: 2, num: 1 })
  const kept = await routes.get(RECORDS, { release: 3 })

  await pruneReleases(routes.operator, hedOutbreaks, 3)
  await routes.refresh()
  for (const address of PINNED) {
    const { detail } = await routes.assertProblem(address, { release: 2 }, 410, 'release_pruned')
    assert.match(detail, /The oldest release you can read is 3/)
  }
  await routes.assertProblem(RECORDS, { page: firstPage.next ?? '', num: 2 }, 410, 'release_pruned')
  await routes.assertProblem(`${HOME}/changes`, { from: 1 }, 410, 'release_pruned')
  await routes.assertProblem(`${HOME}/changes`, { from: 1, page: changes.next ?? '' }, 410, 'release_pruned')
  assert.equal((await routes.get(RECORDS, { release: 3 })).text, kept.text)
  const listed = await routes.walk(RELEASES)
  assert.deepEqual(
    listed.map(({ number, pruned_at: prunedAt }) => [number, prunedAt !== null]),
    [
      [4, false],
      [3, false],
      [2, true],
      [1, true],
    ],
  )
})

test('latest is the newest release, must be revalidated, and follows a new release', async () => {
  const routes = await openRoutes()
  await routes.publish([{ key: 'a' }])
  const getLatest = async (tag = '') => {
    await routes.refresh()
    return routes.inject(`${RELEASES}/latest`, {}, tag === '' ? {} : { 'if-none-match': tag })
  }
  const first = await getLatest()
  assert.equal(first.body, (await routes.get(`${RELEASES}/1`)).text)
  assert.equal(first.headers['content-location'], `https://api.test${RELEASES}/1`)
  assert.equal(first.headers['cache-control'], 'private, no-cache')
  const tag = String(first.headers['etag'])
  assert.equal((await getLatest(tag)).statusCode, 304)
  await routes.publish([{ key: 'a' }, { key: 'b' }])
  const second = await getLatest(tag)
  assert.equal(second.statusCode, 200)
  assert.equal(second.json<{ number: number }>().number, 2)
  for (const path of ['LATEST', 'latest/files/hed-outbreaks-2.csv.gz', 'newest'])
    await routes.assertProblem(`${RELEASES}/${path}`, {}, 404, 'not_found')
})
