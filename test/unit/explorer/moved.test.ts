// What was withdrawn in one place and added in another with the same day and counts is one row; nothing else is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../../../clients/typescript/src/client.ts'
import { describeMove, joinMoved } from '../../../explorer/src/panels/moved.ts'

const LUBBOCK = { country_code: 'US', admin_l1: 'Texas', admin_l2: 'Lubbock', date_high: '2025-03-04', cases: 9 }
const GAINES = { ...LUBBOCK, admin_l2: 'Gaines' }
let id = 0
const changeOf = (change: 'added' | 'withdrawn', record: object) =>
  ({ id: ++id, change, [change === 'added' ? 'after' : 'before']: record }) as unknown as Change
const join = (...changes: Change[]) => joinMoved(changes).map(({ change, from }) => [from?.id ?? null, change.id])

test('the same day and count in another place is one row', () => {
  const [gone, added] = [changeOf('withdrawn', LUBBOCK), changeOf('added', GAINES)]
  assert.deepEqual(join(added, gone), [[gone.id, added.id]])
  assert.equal(describeMove(LUBBOCK as never, GAINES as never), 'from Lubbock to Gaines')
})

test('each withdrawn report moves once', () => {
  const gone = changeOf('withdrawn', LUBBOCK)
  const [first, second] = [changeOf('added', GAINES), changeOf('added', { ...GAINES, admin_l2: 'Terry' })]
  assert.deepEqual(join(gone, first, second), [
    [gone.id, first.id],
    [null, second.id],
  ])
})

for (const [title, other] of Object.entries({
  'another day': { ...GAINES, date_high: '2025-03-05' },
  'another count': { ...GAINES, cases: 10 },
  'another state': { ...GAINES, admin_l1: 'New Mexico' },
  'another source': { ...GAINES, source_name: 'Another' },
  'the same place': { ...LUBBOCK },
}))
  test(`${title} is no move`, () => {
    const [gone, added] = [changeOf('withdrawn', LUBBOCK), changeOf('added', other)]
    assert.equal(join(gone, added).length, 2)
  })

test('reports without a count do not move', () => {
  const without = (record: object) => ({ ...record, cases: null })
  assert.equal(join(changeOf('withdrawn', without(LUBBOCK)), changeOf('added', without(GAINES))).length, 2)
})
