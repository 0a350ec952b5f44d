// A cover of a larger place: nothing is counted twice, and nothing that was reported is lost.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findContained, findFilter, findPaths, identifyPlace } from '../../../src/datasets/outbreak-places.ts'
import { chooseCover } from '../../../src/methods/place-cover.ts'
import { fc } from '../../seed.ts'

/** `US/CO/Adams` names the levels from the top; `US/town Bent` is a town without its state and county. */
const toPath = (path: string) =>
  path
    .split('/')
    .filter(Boolean)
    .map((name, i) =>
      name.startsWith('town ') ? name.replace('town', 'locality') : `${['country', 'admin1', 'admin2'][i]} ${name}`,
    )
const place = (path: string | null, reports = true) => ({
  path: path === null ? null : toPath(path),
  reports,
  known: true,
})
const show = (path: readonly string[] | null) => path?.map((step) => step.replace(/^(country|admin\d) /, '')).join('/')
const taken = (places: ReturnType<typeof place>[]) => chooseCover(places).taken.map(({ path }) => show(path))

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
      covered.map(({ path }) => show(path)),
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
  test('leaves out a town without its county beside counties that report, and takes it alone', () => {
    assert.deepEqual(taken([place('US/CO/Adams'), place('US/CO/town Bent')]), ['US/CO/Adams'])
    assert.deepEqual(taken([place('US/CO/Adams', false), place('US/CO/town Bent')]), ['US/CO/locality Bent'])
    assert.deepEqual(taken([place('US/CO/town Bent')]), ['US/CO/locality Bent'])
  })
  test('is partial if a silent place is replaced, or if its parts are known and left out', () => {
    const isPartial = (...places: ReturnType<typeof place>[]) => chooseCover(places).isPartial
    assert.equal(isPartial(place('US', false), place('US/CO')), true)
    assert.equal(isPartial(place('US/CO/Adams'), place('US/CO/town Bent')), true)
    assert.equal(isPartial(place('US'), place('US/CO')), false)
    assert.equal(isPartial(place('US', false), place('US/CO', false)), false)
  })
  test('does not have a place without a position', () => {
    assert.deepEqual(chooseCover([place(null), place('US')]).unplaced.length, 1)
  })
  test('never has a place and a place within it, and covers every place that reports', () => {
    const paths = fc.array(
      fc.tuple(fc.array(fc.constantFrom('country a', 'country b'), { maxLength: 4 }), fc.boolean()),
      {
        maxLength: 15,
      },
    )
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
  test('is the code of a name that ISO 3166-2 has, or had', () => {
    const [orissa, odisha] = pathsOf(
      { country_code: 'IN', location_granularity: 'admin1', admin_l1: 'Orissa' },
      { country_code: 'IN', location_granularity: 'admin2', admin_l1: 'Odisha', admin_l2: 'Puri' },
    )
    assert.deepEqual(
      [orissa, odisha?.slice(0, 2)],
      [
        ['country IN', 'admin1 IN-OD'],
        ['country IN', 'admin1 IN-OD'],
      ],
    )
  })
  test('of a state with an id is above its counties', () => {
    const [state, county] = pathsOf(
      { ...us, location_granularity: 'admin1', al1_code: 'US-CO', admin_l1: 'Colorado', place_id: 'geonames:5417618' },
      { ...us, location_granularity: 'admin2', al1_code: 'US-CO', admin_l1: 'Colorado', admin_l2: 'Adams' },
    )
    assert.deepEqual(county?.slice(0, 2), state)
  })
  test('of places with one id is one, with everything in it', () => {
    const [old, renamed, town] = pathsOf(
      { country_code: 'SD', location_granularity: 'admin2', admin_l1: 'Z', admin_l2: 'Abyei', place_id: 'geonames:1' },
      { country_code: 'SS', location_granularity: 'admin2', admin_l1: 'Y', admin_l2: 'Abyei', place_id: 'geonames:1' },
      { country_code: 'SS', location_granularity: 'locality', admin_l1: 'Y', admin_l2: 'Abyei', locality: 'Agok' },
    )
    assert.deepEqual(old, renamed)
    assert.deepEqual(town?.slice(0, 3), old)
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
  const filterOf = (name: string) => [...(findFilter(name)?.values ?? [['unknown', '']])].flat()
  assert.deepEqual(filterOf('world'), [])
  assert.deepEqual(filterOf('AFR'), ['who_region', 'AFR'])
  assert.deepEqual(filterOf('Western Africa'), ['un_region', 'Western Africa'])
  assert.deepEqual(filterOf('US'), ['country_code', 'US'])
  assert.deepEqual(filterOf('XK'), ['country_code', 'XK'])
  assert.deepEqual(filterOf('US-CO'), ['country_code', 'US'])
  assert.deepEqual(findFilter('US-CO')?.path, ['country US', 'admin1 US-CO'])
  assert.deepEqual(filterOf('us'), ['country_code', 'US'])
  assert.deepEqual(filterOf('western africa'), ['un_region', 'Western Africa'])
  for (const unknown of ['XA', 'usa', 'Narnia', '']) assert.deepEqual(filterOf(unknown), ['unknown', ''])
})

describe('what identifies a place', () => {
  const identify = (fields: Record<string, string>) =>
    Object.fromEntries([...identifyPlace((name) => fields[name] ?? null)].filter(([, value]) => value !== null))
  test('of a country is its code, with or without an id', () => {
    const france = { location_granularity: 'country', country_code: 'FR' }
    assert.deepEqual(identify(france), { country_code: 'FR' })
    assert.deepEqual(identify({ ...france, place_id: 'geonames:3017382' }), { country_code: 'FR' })
  })
  test('of the first level is its code, or that of its name', () => {
    const part = { location_granularity: 'admin1', country_code: 'IN' }
    for (const name of ['Orissa', 'Odisha', 'ODISHA'])
      assert.deepEqual(identify({ ...part, admin_l1: name }), { country_code: 'IN', al1_code: 'IN-OD' })
    assert.deepEqual(identify({ ...part, al1_code: 'IN-OD', admin_l1: 'Odisha', place_id: 'geonames:1' }), {
      country_code: 'IN',
      al1_code: 'IN-OD',
    })
  })
  test('below it is the id, whatever the country', () => {
    const abyei = { location_granularity: 'admin2', admin_l2: 'Abyei', place_id: 'geonames:1' }
    assert.deepEqual(identify({ ...abyei, country_code: 'SD' }), identify({ ...abyei, country_code: 'SS' }))
  })
})

describe('places that contain others by name', () => {
  const contained = (...names: string[]) =>
    [
      ...findContained(
        names.map(
          (locality) => (name: string) =>
            ({ country_code: 'US', location_granularity: 'locality', locality })[name] ?? null,
        ),
      ),
    ].map((i) => names[i])
  test('a list contains the places that it names', () => {
    assert.deepEqual(contained('St. Croix, St. John, St. Thomas', 'St. Croix', 'St. John', 'St. Thomas'), [
      'St. Croix',
      'St. John',
      'St. Thomas',
    ])
    assert.deepEqual(contained('Santiago, Fogo, Maio, Boavista', 'Santiago', 'Fogo'), ['Santiago', 'Fogo'])
    assert.deepEqual(contained('Natore; Pabna', 'natore'), ['natore'])
  })
  test('of lists with a common name the longest is used', () => {
    assert.deepEqual(contained('A, B', 'B, C, D', 'A'), ['A, B'])
  })
  test('a place with the name of its state is no list', () => {
    assert.deepEqual(contained('Miami, Florida', 'Florida'), ['Miami, Florida'])
    assert.deepEqual(contained('Miami, Florida', 'Tampa, Florida'), [])
  })
})
