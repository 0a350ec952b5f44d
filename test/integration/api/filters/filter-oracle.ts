// Records that differ in every column, and an oracle for filters that tests each record in memory.
import { hash } from 'node:crypto'
import { synthesise } from '../../../../dev/synth/synthesise.ts'
import type { FieldValue } from '../../../../src/datasets/define.ts'
import type { Row } from '../../../fixtures/routes.ts'
import { fc } from '../../../seed.ts'

export type Item = Record<string, FieldValue>
/** Query parameters; several values for a repeated parameter. */
export type FilterParameters = Readonly<Record<string, readonly string[]>>

const places: [country: string, part: string | null][] = [
  ['CD', 'CD-NK'],
  ['CD', 'CD-IT'],
  ['CD', null],
  ['UG', 'UG-102'],
  ['GN', null],
  ['DE', 'DE-BY'],
  ['XA', null],
]
/** Names with characters that a query string must encode. */
const sources = [
  'Ministry',
  'Bulletin & Co',
  'a=b',
  '100 % sûr',
  'Źródło "9"',
  "O'Hara; drop",
  'x,y',
  'plus + minus',
  '/?#',
]
const statuses = ['confirmed', 'probable', 'suspected', 'total', 'discarded']
const levels = ['country', 'admin1', 'admin2', 'admin3', 'locality']
const kinds = ['new', 'cumulative', 'period_to_date', 'point']
const names: Record<string, string> = { CD: 'Congo', UG: 'Uganda', GN: 'Guinea', DE: 'Germany', XA: 'A ship' }

/** On both sides of the 180th meridian, at the poles, and none. */
const coordinates = [
  { latitude: -1.5, longitude: 29.25 },
  { latitude: 51, longitude: 0 },
  { latitude: -17.7, longitude: 178.1 },
  { latitude: -13.8, longitude: -172.1 },
  { latitude: 90, longitude: 180 },
  { latitude: -90, longitude: -180 },
  { latitude: null, longitude: null },
]

const pick = <Value>(list: readonly Value[], random: number): Value => list[random % list.length] as Value

/** The rows of a synthetic release, varied so that no column depends on another. */
export function variedRows(records: number, release: number): Row[] {
  return [...synthesise({ records, seed: 5, release })].map((row) => {
    const random = hash('sha256', row.key, 'buffer').readUInt32BE()
    const [country, part] = pick(places, random >>> 3)
    return {
      ...row,
      event: random % 5 === 0 ? pick(sources, random >>> 7) : (row['event'] ?? null),
      country_code: country,
      country: names[country] as string,
      ...placeAt(pick(levels, random >>> 11), row, part),
      case_status: pick(statuses, random >>> 13),
      count_kind: pick(kinds, random >>> 8),
      sex: pick(['female', 'male', 'other', null], random >>> 19),
      age_group: pick(['0-4', '5-14', null], random >>> 21),
      count_qualifier: pick(['exact', 'at_least', 'at_most', 'approximate'], random >>> 23),
      composite: (random >>> 10) % 3 === 0,
      host: pick(['human', 'animal', 'environment', null], random >>> 15),
      disease: (random >>> 6) % 4 === 0 ? null : (row['disease'] ?? null),
      source_name: pick(sources, random >>> 17),
      ...pick(coordinates, random >>> 2),
      population: pick(['health workers', 'travellers', null], random >>> 9),
      location_type: pick(['residence', 'exposure', null], random >>> 12),
      date_low: (random >>> 4) % 6 === 0 ? null : (row['date_low'] ?? null),
      date_high: (random >>> 5) % 7 === 0 ? null : (row['date_high'] ?? null),
    }
  })
}

/** A record has no place name below its level. */
const placeAt = (level: string, row: Row, part: string | null) => {
  const depth = levels.indexOf(level)
  const atLevel = (minimum: number, value: FieldValue) => (depth >= minimum ? value : null)
  return {
    location_granularity: level,
    al1_code: atLevel(1, part),
    admin_l1: atLevel(1, row['admin_l1'] ?? null),
    admin_l2: atLevel(2, row['admin_l2'] ?? null),
    admin_l3: atLevel(3, row['admin_l3'] ?? null),
    locality: atLevel(4, row['locality'] ?? null),
  }
}

const overlaps = (first: FieldValue, last: FieldValue, from: string | undefined, to: string | undefined): boolean => {
  const [start, end] = [first ?? last, last ?? first]
  if (from === undefined && to === undefined) return true
  if (typeof start !== 'string' || typeof end !== 'string') return false
  return (from === undefined || end >= from) && (to === undefined || start <= to)
}

const ranges = [
  ...['date_from', 'date_to', 'reported_from', 'reported_to', 'updated_since_release', 'bbox', 'missing'],
  ...['cases_min', 'cases_max', 'deaths_min', 'deaths_max'],
]

function isInRange(count: FieldValue | undefined, min: string | undefined, max: string | undefined): boolean {
  if (min === undefined && max === undefined) return true
  return typeof count === 'number' && count >= Number(min ?? -Infinity) && count <= Number(max ?? Infinity)
}

function isInBox({ latitude, longitude }: Item, box: string | undefined): boolean {
  if (box === undefined) return true
  if (typeof latitude !== 'number' || typeof longitude !== 'number') return false
  const [west = 0, south = 0, east = 0, north = 0] = box.split(',').map(Number)
  const isBetween = west <= east ? longitude >= west && longitude <= east : longitude >= west || longitude <= east
  return isBetween && latitude >= south && latitude <= north
}

export function matches(record: Item, parameters: FilterParameters): boolean {
  const value = (name: string) => parameters[name]?.[0]
  return (
    Object.entries(parameters).every(
      ([name, values]) => ranges.includes(name) || values.includes(String(record[name] ?? '\0 nothing')),
    ) &&
    overlaps(record['date_low'] ?? null, record['date_high'] ?? null, value('date_from'), value('date_to')) &&
    overlaps(
      record['date_report'] ?? null,
      record['date_report'] ?? null,
      value('reported_from'),
      value('reported_to'),
    ) &&
    ['cases', 'deaths'].every((count) => isInRange(record[count], value(`${count}_min`), value(`${count}_max`))) &&
    isInBox(record, value('bbox')) &&
    (parameters['missing'] ?? []).every((name) => record[name] === null) &&
    Number(record['last_release']) > Number(value('updated_since_release') ?? 0)
  )
}

export function toQueryString(parameters: FilterParameters): string {
  const query = new URLSearchParams()
  for (const [name, values] of Object.entries(parameters)) for (const value of values) query.append(name, value)
  return query.toString()
}

const columns = [
  'event',
  'pathogen',
  'disease',
  'host',
  'country_code',
  'location_granularity',
  'al1_code',
  'case_status',
  'count_kind',
  'age_group',
  'sex',
  'count_qualifier',
  'who_region',
  'un_region',
  'date_type',
  'source_type',
  'verification',
  'composite',
  'source_name',
  'series_id',
  'admin_l1',
  'locality',
  'population',
  'location_type',
]
const unusedValues: Record<string, string> = {
  event: 'Nothing_Nowhere_1900',
  country_code: 'AQ',
  al1_code: 'DE-BY',
  series_id: '0',
  admin_l1: 'Nowhere',
  population: 'nobody',
}

/** Parameters for these records: values that some records have, and sometimes one that no record has. */
export function anyParameters(records: readonly Item[], release: number): fc.Arbitrary<FilterParameters> {
  const valuesOf = (name: string) => {
    const known = [...new Set(records.map((record) => record[name] ?? null))]
      .filter((value) => value !== null)
      .map(String)
    const values = unusedValues[name] === undefined ? known : [...known, unusedValues[name]]
    return fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: Math.min(4, values.length) })
  }
  const hasValues = (name: string) => name in unusedValues || records.some((record) => (record[name] ?? null) !== null)
  const days = [...new Set(records.map((record) => record['date_high'] ?? '2000-01-01'))].map(String)
  const period = (name: string) =>
    fc
      .tuple(fc.constantFrom(...days), fc.constantFrom(...days), fc.constantFrom('both', 'from', 'to'))
      .map(([a, b, bounds]): FilterParameters => {
        const [from, to] = [a, b].toSorted() as [string, string]
        return {
          ...(bounds === 'to' ? {} : { [`${name}_from`]: [from] }),
          ...(bounds === 'from' ? {} : { [`${name}_to`]: [to] }),
        }
      })
  const countRange = (name: string) =>
    fc
      .tuple(fc.integer({ min: -5, max: 200 }), fc.integer({ min: 0, max: 300 }), fc.constantFrom('both', 'min', 'max'))
      .map(
        ([min, width, bounds]): FilterParameters => ({
          ...(bounds === 'max' ? {} : { [`${name}_min`]: [String(min)] }),
          ...(bounds === 'min' ? {} : { [`${name}_max`]: [String(min + width)] }),
        }),
      )
  const boxes = fc.constantFrom('-180,-90,180,90', '0,-2,29.25,51', '170,-20,-170,0', '180,-90,-180,90', '10,10,10,10')
  const parts: fc.Arbitrary<FilterParameters>[] = [
    countRange('cases'),
    countRange('deaths'),
    boxes.map((box): FilterParameters => ({ bbox: [box] })),
    // Fields that no other part filters by, because that would be a contradiction.
    fc
      .subarray(['admin_l2', 'hospitalised', 'note'], { minLength: 1 })
      .map((missing): FilterParameters => ({ missing })),
    ...columns.filter(hasValues).map((name) => valuesOf(name).map((values): FilterParameters => ({ [name]: values }))),
    period('date'),
    period('reported'),
    fc.integer({ min: 1, max: release }).map((since): FilterParameters => ({ updated_since_release: [String(since)] })),
  ]
  const combine = (minLength: number, maxLength: number) =>
    fc
      .subarray(
        parts.map((_, i) => i),
        { minLength, maxLength },
      )
      .chain((chosen) => fc.tuple(...chosen.map((i) => parts[i] as fc.Arbitrary<FilterParameters>)))
      .map((parameters) => Object.assign({}, ...parameters) as FilterParameters)
  // A single filter matches thousands of records. Such walks are long, so they are rare.
  return fc.oneof({ weight: 1, arbitrary: combine(1, 1) }, { weight: 9, arbitrary: combine(2, 4) })
}
