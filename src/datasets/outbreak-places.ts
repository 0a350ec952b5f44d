// The place of an outbreak record: what identifies it, where it is in the tree of places, and which places may contain others.
import type { FieldValue } from './define.ts'
import { UN_REGIONS, WHO_REGIONS } from './regions.ts'
import { countryCodes, isUserAssigned, subdivisionCodes } from './vocabulary.ts'

type ValueOf = (name: string) => FieldValue | undefined

/** The fields of a place are texts; null is empty. */
const toText = (value: FieldValue | undefined) => (typeof value === 'string' ? value : '')

/** The fields of a place from the country to the locality, with the level of a record that is about such a place. */
const LEVELS = [
  ['country_code', 'country'],
  ['al1_code', 'admin1'],
  ['admin_l1', 'admin1'],
  ['admin_l2', 'admin2'],
  ['admin_l3', 'admin3'],
  ['locality', 'locality'],
] as const

/** Every field of a place, in the order of the declaration. */
export const PLACE_FIELDS = ['country_code', 'al1_code', 'admin_l1', 'admin_l2', 'admin_l3', 'locality', 'place_id']

/** The fields that may change while the place stays the same. */
export const PLACE_NAMES = ['al1_code', 'admin_l1', 'admin_l2', 'admin_l3', 'locality']

/** The values that identify the place: names that a code or an id makes superfluous are null, because names change. */
export function identifyPlace(valueOf: ValueOf): Map<string, FieldValue> {
  const identity = new Map(PLACE_FIELDS.map((field) => [field, valueOf(field) ?? null]))
  if (identity.get('place_id') !== null) for (const field of PLACE_NAMES) identity.set(field, null)
  else if (identity.get('al1_code') !== null) identity.set('admin_l1', null)
  return identity
}

/** True if the place may contain other places: the world, a region, several countries. Its counts are added to no others. */
export function mayContainOthers(valueOf: ValueOf): boolean {
  const level = valueOf('location_granularity')
  if (level === 'country') return isUserAssigned(toText(valueOf('country_code')))
  return level === 'global' || level === 'region' || level === 'multi_country'
}

/**
 * The path of each place in the tree of places; null if it has none. A level without a name is left out. If one of the
 * places has a name and a code of the first level, the name alone means the same place; of several codes, the first one.
 */
export function findPaths(places: readonly ValueOf[]): (readonly string[] | null)[] {
  const codes = new Map<string, string>()
  const nameOf = (valueOf: ValueOf) => JSON.stringify([valueOf('country_code'), valueOf('admin_l1')])
  for (const valueOf of places) {
    const code = toText(valueOf('al1_code'))
    if (code === '' || toText(valueOf('admin_l1')) === '') continue
    const name = nameOf(valueOf)
    const known = codes.get(name)
    if (known === undefined || code < known) codes.set(name, code)
  }
  return places.map((valueOf) =>
    findPath((name) =>
      name === 'al1_code' ? (valueOf('al1_code') ?? codes.get(nameOf(valueOf)) ?? null) : valueOf(name),
    ),
  )
}

function findPath(valueOf: ValueOf): readonly string[] | null {
  const level = valueOf('location_granularity')
  if (level === 'global') return []
  if (mayContainOthers(valueOf)) return null
  const identity = identifyPlace((name) => (name === 'place_id' ? null : valueOf(name)))
  const steps = LEVELS.flatMap(([field, fieldLevel]) => {
    const name = identity.get(field) ?? null
    return name === null ? [] : [{ level: fieldLevel, name: toText(name) }]
  })
  const above = steps.filter((step) => step.level !== level || level === 'country')
  const own = steps.find((step) => step.level === level)?.name ?? ''
  const path = above.map((step) => `${step.level} ${step.name}`)
  // An id replaces the name of the place, so that a renamed place stays at its position. A place without both is below the
  // last place that it names: it is not that place.
  return level === 'country' ? path : [...path, `${toText(level)} ${toText(valueOf('place_id')) || own}`]
}

/** The filter that selects a place and everything in it: a region, a country, or a part of a country. */
export function findFilter(name: string): ReadonlyMap<string, string> | null {
  if (name === 'world') return new Map()
  if (WHO_REGIONS.includes(name)) return new Map([['who_region', name]])
  if (UN_REGIONS.includes(name)) return new Map([['un_region', name]])
  if (countryCodes.has(name) && !isUserAssigned(name)) return new Map([['country_code', name]])
  return subdivisionCodes.has(name) ? new Map([['al1_code', name]]) : null
}
