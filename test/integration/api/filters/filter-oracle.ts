// Records that differ in every column, and the plainest way to say which of them a question means: one by one, in memory.
import { hash } from 'node:crypto'
import { synthesise } from '../../../../dev/synth/synthesise.ts'
import type { FieldValue } from '../../../../src/datasets/define.ts'
import type { Row } from '../../../fixtures/routes.ts'
import { fc } from '../../../seed.ts'

export type Item = Record<string, FieldValue>
/** Parameters as they are asked: a list where a name is repeated. */
export type Asked = Readonly<Record<string, readonly string[]>>

const places: [country: string, part: string | null][] = [
  ['CD', 'CD-NK'],
  ['CD', 'CD-IT'],
  ['CD', null],
  ['UG', 'UG-102'],
  ['GN', null],
  ['DE', 'DE-BY'],
  ['XA', null],
]
/** Names that must survive a query string. */
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

const pick = <Value>(list: readonly Value[], chance: number): Value => list[chance % list.length] as Value

/** The rows of a release: synthetic ones, shaken so that no column follows from another. */
export function variedRows(records: number, release: number): Row[] {
  return [...synthesise({ records, seed: 5, release })].map((row) => {
    const chance = hash('sha256', row.key, 'buffer').readUInt32BE()
    const [country, part] = pick(places, chance >>> 3)
    return {
      ...row,
      event: chance % 5 === 0 ? pick(sources, chance >>> 7) : (row['event'] ?? null),
      country_code: country,
      country: names[country] as string,
      ...placeAt(pick(levels, chance >>> 11), row, part),
      case_status: pick(statuses, chance >>> 13),
      count_kind: pick(kinds, chance >>> 8),
      sex: pick(['female', 'male', 'other', null], chance >>> 19),
      age_group: pick(['0-4', '5-14', null], chance >>> 21),
      count_qualifier: pick(['exact', 'at_least', 'at_most', 'approximate'], chance >>> 23),
      composite: (chance >>> 10) % 3 === 0,
      host: pick(['human', 'animal', 'environment', null], chance >>> 15),
      disease: (chance >>> 6) % 4 === 0 ? null : (row['disease'] ?? null),
      source_name: pick(sources, chance >>> 17),
      date_low: (chance >>> 4) % 6 === 0 ? null : (row['date_low'] ?? null),
      date_high: (chance >>> 5) % 7 === 0 ? null : (row['date_high'] ?? null),
    }
  })
}

/** No name of a place is finer than the level. */
const placeAt = (level: string, row: Row, part: string | null) => {
  const depth = levels.indexOf(level)
  const upTo = (finest: number, value: FieldValue) => (depth >= finest ? value : null)
  return {
    location_granularity: level,
    al1_code: upTo(1, part),
    admin_l1: upTo(1, row['admin_l1'] ?? null),
    admin_l2: upTo(2, row['admin_l2'] ?? null),
    admin_l3: upTo(3, row['admin_l3'] ?? null),
    locality: upTo(4, row['locality'] ?? null),
  }
}

const within = (first: FieldValue, last: FieldValue, from: string | undefined, to: string | undefined): boolean => {
  const [begins, ends] = [first ?? last, last ?? first]
  if (from === undefined && to === undefined) return true
  if (typeof begins !== 'string' || typeof ends !== 'string') return false
  return (from === undefined || ends >= from) && (to === undefined || begins <= to)
}

const ranges = ['date_from', 'date_to', 'reported_from', 'reported_to', 'updated_since_release']

export function fits(record: Item, asked: Asked): boolean {
  const one = (name: string) => asked[name]?.[0]
  return (
    Object.entries(asked).every(
      ([name, values]) => ranges.includes(name) || values.includes(String(record[name] ?? '\0 nothing')),
    ) &&
    within(record['date_low'] ?? null, record['date_high'] ?? null, one('date_from'), one('date_to')) &&
    within(record['date_report'] ?? null, record['date_report'] ?? null, one('reported_from'), one('reported_to')) &&
    Number(record['last_release']) > Number(one('updated_since_release') ?? 0)
  )
}

export function writeQuery(asked: Asked): string {
  const query = new URLSearchParams()
  for (const [name, values] of Object.entries(asked)) for (const value of values) query.append(name, value)
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
]
const alien: Record<string, string> = {
  event: 'Nothing_Nowhere_1900',
  country_code: 'AQ',
  al1_code: 'DE-BY',
  series_id: '0',
}

/** Questions about these records: values that some have, now and then one that none has. */
export function questions(records: readonly Item[], release: number): fc.Arbitrary<Asked> {
  const valuesOf = (name: string) => {
    const known = [...new Set(records.map((record) => record[name] ?? null))]
      .filter((value) => value !== null)
      .map(String)
    const some = alien[name] === undefined ? known : [...known, alien[name]]
    return fc.uniqueArray(fc.constantFrom(...some), { minLength: 1, maxLength: Math.min(4, some.length) })
  }
  const days = [...new Set(records.map((record) => record['date_high'] ?? '2000-01-01'))].map(String)
  const period = (name: string) =>
    fc
      .tuple(fc.constantFrom(...days), fc.constantFrom(...days), fc.constantFrom('both', 'from', 'to'))
      .map(([one, other, ends]): Asked => {
        const [from, to] = [one, other].toSorted() as [string, string]
        return {
          ...(ends === 'to' ? {} : { [`${name}_from`]: [from] }),
          ...(ends === 'from' ? {} : { [`${name}_to`]: [to] }),
        }
      })
  const parts: fc.Arbitrary<Asked>[] = [
    ...columns.map((name) => valuesOf(name).map((values): Asked => ({ [name]: values }))),
    period('date'),
    period('reported'),
    fc.integer({ min: 1, max: release }).map((since): Asked => ({ updated_since_release: [String(since)] })),
  ]
  const some = (least: number, most: number) =>
    fc
      .subarray(
        parts.map((_, i) => i),
        { minLength: least, maxLength: most },
      )
      .chain((chosen) => fc.tuple(...chosen.map((i) => parts[i] as fc.Arbitrary<Asked>)))
      .map((asked) => Object.assign({}, ...asked) as Asked)
  // One filter alone fits thousands of records: such walks are long, and few of them are enough.
  return fc.oneof({ weight: 1, arbitrary: some(1, 1) }, { weight: 9, arbitrary: some(2, 4) })
}
