// A cover of a larger place: nothing is counted twice, and nothing that was reported is lost.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findFilter, findPaths } from '../../../src/datasets/outbreak-places.ts'
import { chooseCover } from '../../../src/methods/place-cover.ts'
import { fc } from '../../seed.ts'

const place = (path: string | null, reports = true) => ({
  path: path === null ? null : path.split('/').filter(Boolean),
  reports,
  known: true,
})
const taken = (places: ReturnType<typeof place>[]) => chooseCover(places).taken.map(({ path }) => path?.join('/'))

describe('a cover', () => {
  test('has the place itself if it reports, otherwise the places within it', () => {
    assert.deepEqual(taken([place('US/CO/Adams'), place('US/CO/Boulder'), place('US/TX'), place('US/TX/Gaines')]), [
      'US/CO/Adams',
      'US/CO/Boulder',
      'US/TX',
    ])
    assert.deepEqual(taken([place(''), place('US')]), [''])
    const { covered } = chooseCover([place('US/TX'), place('US/TX/Gaines')])
    assert.deepEqual(
      covered.map(({ path }) => path?.join('/')),
      ['US/TX/Gaines'],
    )
  })
  test('leaves out earlier counts of a place if places within it report', () => {
    assert.deepEqual(taken([place('US', false), place('US/CO'), place('US/TX', false)]), ['US/CO', 'US/TX'])
    assert.deepEqual(taken([place('US', false), place('US/CO', false)]), ['US'])
  })
  test('ignores a place that reports only after the range', () => {
    const later = { ...place('FR', false), known: false }
    assert.deepEqual(taken([later, place('FR/Corse', false)]), ['FR', 'FR/Corse'])
    assert.deepEqual(taken([later, place('FR/Corse')]), ['FR', 'FR/Corse'])
  })
  test('does not have a place without a position', () => {
    assert.deepEqual(chooseCover([place(null), place('US')]).unplaced.length, 1)
  })
  test('never has a place and a place within it, and covers every place that reports', () => {
    const paths = fc.array(fc.tuple(fc.array(fc.constantFrom('a', 'b'), { maxLength: 4 }), fc.boolean()), {
      maxLength: 15,
    })
    fc.assert(
      fc.property(paths, (all) => {
        const places = all.map(([path, reports]) => ({ path, reports, known: true }))
        const chosen = chooseCover(places).taken
        const isWithin = (inner: readonly string[], outer: readonly string[]) =>
          inner.length > outer.length && outer.every((step, i) => inner[i] === step)
        for (const a of chosen) for (const b of chosen) assert.ok(!isWithin(a.path, b.path))
        for (const one of places.filter(({ reports }) => reports))
          assert.ok(chosen.some(({ path }) => isWithin(one.path, path) || one.path.join() === path.join()))
      }),
    )
  })
})

describe('the position of a place', () => {
  const pathsOf = (...places: Record<string, string>[]) =>
    findPaths(places.map((fields) => (name: string) => fields[name] ?? null))
  const us = { country_code: 'US' }
  test('is its names from the country on, a code before a name', () => {
    assert.deepEqual(
      pathsOf(
        { ...us, location_granularity: 'admin2', al1_code: 'US-CO', admin_l1: 'Colorado', admin_l2: 'Adams' },
        { ...us, location_granularity: 'admin2', admin_l2: 'Adams' },
        { ...us, location_granularity: 'country' },
      ),
      [['country US', 'admin1 US-CO', 'admin2 Adams'], ['country US', 'admin2 Adams'], ['country US']],
    )
  })
  test('is the same with a code and without, if another record has both', () => {
    const [named, coded] = pathsOf(
      { ...us, location_granularity: 'admin1', admin_l1: 'Colorado' },
      { ...us, location_granularity: 'admin2', al1_code: 'US-CO', admin_l1: 'Colorado', admin_l2: 'Adams' },
    )
    assert.deepEqual(named, coded?.slice(0, 2))
  })
  test('of a place without a name is below the place that it names, not that place', () => {
    assert.deepEqual(pathsOf({ ...us, location_granularity: 'admin1' }), [['country US', 'admin1 ']])
  })
  test('does not change with the name if there is an id', () => {
    const [before, after] = pathsOf(
      { ...us, location_granularity: 'admin1', place_id: 'geonames:5', admin_l1: 'Old' },
      { ...us, location_granularity: 'admin1', place_id: 'geonames:5', admin_l1: 'New' },
    )
    assert.deepEqual(before, after)
  })
  test('exists for the world, but not for regions and codes that users assign', () => {
    assert.deepEqual(
      pathsOf(
        { country_code: 'XW', location_granularity: 'global' },
        { country_code: 'XM', location_granularity: 'multi_country' },
        { country_code: 'XA', location_granularity: 'country' },
        { country_code: 'XS', location_granularity: 'locality', locality: 'Diamond Princess' },
      ),
      [[], null, null, ['country XS', 'locality Diamond Princess']],
    )
  })
})

test('a named place is a filter', () => {
  const filterOf = (name: string) => [...(findFilter(name) ?? [['unknown', '']])].flat()
  assert.deepEqual(filterOf('world'), [])
  assert.deepEqual(filterOf('AFR'), ['who_region', 'AFR'])
  assert.deepEqual(filterOf('Western Africa'), ['un_region', 'Western Africa'])
  assert.deepEqual(filterOf('US'), ['country_code', 'US'])
  assert.deepEqual(filterOf('US-CO'), ['al1_code', 'US-CO'])
  for (const unknown of ['XA', 'usa', 'Narnia', '']) assert.deepEqual(filterOf(unknown), ['unknown', ''])
})
