// The place of an outbreak record: what identifies it, where it is in the tree of places, and which places may contain others.
import type { FieldValue } from './define.ts'
import { UN_REGIONS, WHO_REGIONS } from './regions.ts'
import { countryCodes, isUserAssigned, subdivisionCodes, subdivisionOf } from './vocabulary.ts'

type ValueOf = (name: string) => FieldValue | undefined

/** The fields of a place are texts; null is empty. */
const toText = (value: FieldValue | undefined) => (typeof value === 'string' ? value : '')

/** The levels of places, from the coarsest to the finest. */
export const GRANULARITIES = ['global', 'region', 'multi_country', 'country', 'admin1', 'admin2', 'admin3', 'locality']

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

/** The fields that can change while the place stays the same. */
export const PLACE_NAMES = ['al1_code', 'admin_l1', 'admin_l2', 'admin_l3', 'locality']

/**
 * The values that identify the place; the others are null, because names change. A country has its code, and a part of the
 * first level its own or that of its name, so that an id which is added later does not make another place of it.
 */
export function identifyPlace(valueOf: ValueOf): Map<string, FieldValue> {
  const identity = new Map(PLACE_FIELDS.map((field) => [field, valueOf(field) ?? null]))
  const keepOnly = (...kept: string[]) => {
    for (const field of PLACE_FIELDS) if (!kept.includes(field)) identity.set(field, null)
  }
  const level = valueOf('location_granularity')
  const code = firstLevelCode(valueOf)
  if (code !== null) {
    identity.set('al1_code', code)
    identity.set('admin_l1', null)
  }
  if (mayContainOthers(valueOf)) {
    if (identity.get('place_id') !== null) keepOnly('country_code', 'place_id')
  } else if (level === 'country') keepOnly('country_code')
  else if (level === 'admin1' && code !== null) keepOnly('country_code', 'al1_code')
  else if (identity.get('place_id') !== null) keepOnly('place_id')
  return identity
}

/** The code of the first level: the given one, or the one of its name. */
function firstLevelCode(valueOf: ValueOf): string | null {
  const given = toText(valueOf('al1_code'))
  const name = toText(valueOf('admin_l1'))
  if (given !== '') return given
  return name === '' ? null : subdivisionOf(toText(valueOf('country_code')), name)
}

/** True if the place may contain other places: the world, a region, several countries. Its counts are added to no others. */
export function mayContainOthers(valueOf: ValueOf): boolean {
  const level = valueOf('location_granularity')
  if (level === 'country') return isUserAssigned(toText(valueOf('country_code')))
  return level === 'global' || level === 'region' || level === 'multi_country'
}

const SEPARATOR = ' \u0000 '

/**
 * The path of each place in the tree of places; null if it has none. A level without a name is left out. If one of the
 * places has a name and a code of the first level, the name alone means the same place; of several codes, the first one.
 * Places with one id are one place: it has the path that is first in the order of texts.
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
  const named = places.map((valueOf) =>
    findPath(valueOf, toText(valueOf('al1_code')) || codes.get(nameOf(valueOf)) || firstLevelCode(valueOf)),
  )
  const pathOfId = new Map<string, string>()
  for (const [i, path] of named.entries()) {
    const id = toText(places[i]?.('place_id'))
    const text = path?.join(SEPARATOR)
    if (id === '' || text === undefined || text === '') continue
    const known = pathOfId.get(id)
    if (known === undefined || text < known) pathOfId.set(id, text)
  }
  const renamed = new Map<string, readonly string[]>()
  for (const [i, path] of named.entries()) {
    const text = pathOfId.get(toText(places[i]?.('place_id')))
    if (path !== null && text !== undefined) renamed.set(path.join(SEPARATOR), text.split(SEPARATOR))
  }
  return named.map((path) => (path === null ? null : replaceStart(path, renamed)))
}

/** Replaces the longest start of a path that is another name of a place. */
function replaceStart(path: readonly string[], renamed: ReadonlyMap<string, readonly string[]>): readonly string[] {
  for (let length = path.length; length > 0; length--) {
    const start = renamed.get(path.slice(0, length).join(SEPARATOR))
    if (start !== undefined) return [...start, ...path.slice(length)]
  }
  return path
}

function findPath(valueOf: ValueOf, code: string | null): readonly string[] | null {
  const level = valueOf('location_granularity')
  if (level === 'global') return []
  if (mayContainOthers(valueOf)) return null
  const steps = LEVELS.flatMap(([field, fieldLevel]) => {
    const name = field === 'al1_code' ? code : field === 'admin_l1' && code !== null ? null : valueOf(field)
    return toText(name) === '' ? [] : [{ level: fieldLevel, name: toText(name) }]
  })
  const path = steps.map((step) => `${step.level} ${step.name}`)
  // A place without its own name is below the last place that it names: it is not that place.
  const isNamed = steps.at(-1)?.level === level
  return isNamed ? path : [...path, `${toText(level)} ${toText(valueOf('place_id'))}`]
}

/** The levels that contain the groups of a field: a row of such a level is not a row among them. */
export function levelsAbove(field: string): readonly string[] | null {
  const above = ['global', 'region', 'multi_country']
  if (field === 'al1_code' || field === 'admin_l1') return [...above, 'country']
  if (field === 'admin_l2') return [...above, 'country', 'admin1']
  return ['country_code', 'who_region', 'un_region'].includes(field) ? above : null
}

/** The filters that say where a record is; a requested place excludes them. */
export const WHERE_FILTERS = ['country_code', 'al1_code', 'who_region', 'un_region']

interface PlaceFilter {
  /** By field: the value that records have. */
  readonly values: ReadonlyMap<string, string>
  /** The start of the paths of the places. */
  readonly path: readonly string[]
}

/** How to find a place and everything in it: a region, a country, or a part of a country. */
export function findFilter(requested: string): PlaceFilter | null {
  const upper = requested.toUpperCase()
  const region = UN_REGIONS.find((one) => one.toUpperCase() === upper)
  const name = upper === 'WORLD' ? 'world' : (region ?? upper)
  const filter = (field: string, value: string, path: readonly string[] = []) => ({
    values: new Map([[field, value]]),
    path,
  })
  if (name === 'world') return { values: new Map(), path: [] }
  if (WHO_REGIONS.includes(name)) return filter('who_region', name)
  if (UN_REGIONS.includes(name)) return filter('un_region', name)
  if (countryCodes.has(name) && !isUserAssigned(name)) return filter('country_code', name)
  if (!subdivisionCodes.has(name)) return null
  // A report may have the name of the part and no code.
  const country = name.slice(0, 2)
  return filter('country_code', country, [`country ${country}`, `admin1 ${name}`])
}

/** The names in a name that lists several places, such as "St. Croix, St. John, St. Thomas". */
const namesIn = (name: string): string[] =>
  name
    .toLowerCase()
    .split(/\s*[,;/&]\s*|\s+and\s+/)
    .filter((part) => part !== '')

/** True if the own name of the place lists several places. */
export const listsPlaces = (valueOf: ValueOf): boolean => namesIn(ownName(valueOf)).length > 1

const ownName = (valueOf: ValueOf): string => {
  const level = valueOf('location_granularity')
  return toText(valueOf(LEVELS.findLast(([, fieldLevel]) => fieldLevel === level)?.[0] ?? ''))
}

/**
 * The positions of the places that others contain by name, of places with one level and the same coarser names. Lists are looked at from the longest on: a
 * place is contained if its name, or one of the names in it, is in a list that is used. "Miami, Florida" alongside "Florida" is
 * no list but a part of it.
 */
export function findContained(places: readonly ValueOf[]): Set<number> {
  const contained = new Set<number>()
  const all = places.map((valueOf, i) => {
    const name = ownName(valueOf).toLowerCase()
    const level = valueOf('location_granularity')
    const above = LEVELS.filter(([, fieldLevel]) => fieldLevel !== level)
    const code = firstLevelCode(valueOf)
    const where = above.map(([field]) => {
      if (field === 'al1_code') return code
      return field === 'admin_l1' && code !== null ? null : valueOf(field)
    })
    return { i, name, parts: namesIn(name), where: JSON.stringify([level, ...where]) }
  })
  for (const members of Map.groupBy(all, ({ where }) => where).values()) {
    const names = new Set(members.map(({ name }) => name))
    /** The names in the lists that are used, each with the last name of its list. */
    const taken = new Map<string, string | undefined>()
    const lists = [...names]
      .map((name) => ({ name, parts: namesIn(name) }))
      .filter(({ parts }) => parts.length > 1)
      .sort((a, b) => b.parts.length - a.parts.length || (a.name < b.name ? -1 : 1))
    const leftOut = new Set<string>()
    for (const { name, parts } of lists) {
      const found = parts.filter((part) => names.has(part))
      const isWithin = found.length === 1 && found[0] === parts.at(-1) && name.includes(',')
      const last = parts.at(-1)
      // "Miami, Florida" and "Tampa, Florida" have the state in common, not a place.
      if (isWithin || parts.some((part) => taken.has(part) && (part !== last || taken.get(part) !== last)))
        leftOut.add(name)
      else for (const part of parts) taken.set(part, last)
    }
    for (const { i, name, parts } of members)
      if (leftOut.has(name) || (parts.length === 1 && taken.has(name))) contained.add(i)
  }
  return contained
}
