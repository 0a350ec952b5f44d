// Sorted lists over HTTP: each record exactly once, in the order of the field, on pages of any size.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { sortChoices } from '../../../../src/api/filters/sorted-page.ts'
import { hedOutbreaks } from '../../../../src/datasets/hed-outbreaks.ts'
import { HOME, type Item, openRoutes } from '../../../fixtures/routes.ts'
import { variedRows } from './filter-oracle.ts'

const V2 = `${HOME}/outbreaks`
const routes = await openRoutes()
let records: Item[]
before(async () => {
  await routes.publish(variedRows(150, 1))
  await routes.publish(variedRows(150, 2))
  await routes.refresh()
  records = await routes.walk(V2, { num: 1000 })
})

/** Null last in both orders, then by id. */
function sortRecords(items: readonly Item[], field: string, sign: number): Item[] {
  const valueOf = (item: Item) => item[field] as string | number | null
  return items.toSorted((a, b) => {
    const [left, right] = [valueOf(a), valueOf(b)]
    if (left === right) return Number(a['id']) - Number(b['id'])
    if (left === null || right === null) return left === null ? 1 : -1
    return left < right ? -sign : sign
  })
}

describe('200', () => {
  test('by id, every date and every count, in both orders', async () => {
    const choices = sortChoices(hedOutbreaks)
    assert.deepEqual(choices.slice(0, 4), ['id', '-id', 'date_low', '-date_low'])
    assert.equal(choices.length, 2 * (1 + 3 + 5))
    for (const choice of choices) {
      const expected = sortRecords(records, choice.replace('-', ''), choice.startsWith('-') ? -1 : 1)
      assert.deepEqual(await routes.walk(V2, { sort: choice, num: 70 }), expected, choice)
    }
  })

  test('with filters and fields, on pages of any size', async () => {
    const matching = sortRecords(
      records.filter((record) => record['composite'] === false),
      'cases',
      -1,
    ).map(({ id, cases }) => ({ id, cases }))
    for (const num of [1, 7, 1000])
      assert.deepEqual(await routes.walk(V2, { composite: 'false', sort: '-cases', fields: 'id,cases', num }), matching)
  })

  test('sort=id is the same as no sort, and a pinned release is sorted by its own values', async () => {
    assert.equal((await routes.get(V2, { sort: 'id' })).text, (await routes.get(V2)).text)
    const earlier = await routes.walk(V2, { release: 1, num: 1000 })
    assert.deepEqual(await routes.walk(V2, { release: 1, sort: '-deaths' }), sortRecords(earlier, 'deaths', -1))
  })
})

describe('400', () => {
  test('for another order, a text field, and sort in v1', async () => {
    for (const sort of ['event', '+cases', '--cases', 'Cases', 'cases,id', ''])
      await routes.assertProblem(V2, { sort }, 400, 'invalid_parameter', 'sort')
    await routes.assertProblem('/v1/hed-outbreaks/outbreaks', { sort: 'cases' }, 400, 'unknown_parameter', 'sort')
  })

  test('for a cursor of another order', async () => {
    const { next } = await routes.getPage(V2, { sort: '-cases', num: 1 })
    for (const query of [{}, { sort: 'cases' }, { sort: '-cases', host: 'human' }])
      await routes.assertProblem(V2, { ...query, page: next ?? '' }, 400, 'invalid_parameter', 'page')
  })
})
