// Generates synthetic outbreaks: events, their places, and the counts of each reporting step.
// Everything is a pure function of a seed, with 32-bit hashes and basic arithmetic only, so every machine gets the same bits:
// no Math.random, no exp or pow, no clock.
import { type Country, countries, type Pathogen, pathogens, placeNames } from './world.ts'

export interface Outbreak {
  readonly name: string
  readonly pathogen: Pathogen
  readonly country: Country
  readonly host: 'human' | 'animal' | null
  /** In days since 1970-01-01, as all days in this file. */
  readonly start: number
  readonly size: number
  readonly wave: Float64Array
  /** The status of the first two series of a place, and that of the third. */
  readonly statuses: readonly [string, string]
  readonly hash: number
}

export interface Place {
  readonly hash: number
  readonly granularity: string
  readonly al1Code: string | null
  readonly admin1: string | null
  readonly admin2: string | null
  readonly admin3: string | null
  readonly locality: string | null
  readonly latitude: number | null
  readonly longitude: number | null
  readonly start: number
  /** The number of days that a report covers, and the number of reports. */
  readonly cadence: number
  readonly steps: number
  readonly size: number
}

export interface Counts {
  readonly cases: number
  readonly deaths: number
}

export function hash(a: number, b: number): number {
  return mix(mix(a) ^ Math.imul(b, 0x9e3779b1))
}

function mix(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x7feb352d)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

export const pick = <T>(list: readonly T[], chance: number): T => list[chance % list.length] as T

export const DAY = 86_400_000
const OUTBREAKS = 2000
const MOMENTS = 1024
const FIRST_YEAR = 1984
const YEARS = 39

const waves = [1.4, 1.8, 2.5, 4].flatMap((reproduction) => {
  const wave = simulateWave(reproduction)
  return [wave, createSecondWave(wave)]
})

/** A susceptible-infectious-removed (SIR) epidemic: the share of its cases that occurred by each moment. */
function simulateWave(reproduction: number): Float64Array {
  const [seed, tick] = [0.002, 0.05]
  const course = [0]
  let susceptible = 1 - seed
  let infectious = seed
  let total = 0
  for (let infected = seed; infected >= seed * tick; ) {
    infected = reproduction * susceptible * infectious * tick
    susceptible -= infected
    infectious += infected - infectious * tick
    total += infected
    course.push(total)
  }
  const share = (moment: number) => course[Math.floor((moment * (course.length - 1)) / MOMENTS)] ?? 0
  return Float64Array.from({ length: MOMENTS + 1 }, (_, moment) => share(moment) / total)
}

/** The same wave twice, the second time lower. */
function createSecondWave(wave: Float64Array): Float64Array {
  const share = (moment: number) => wave[moment] ?? 0
  return wave.map((_, moment) =>
    moment <= MOMENTS / 2 ? 0.65 * share(2 * moment) : 0.65 + 0.35 * share(2 * moment - MOMENTS),
  )
}

const statusPairs: readonly Outbreak['statuses'][] = [
  ['confirmed', 'suspected'],
  ['confirmed', 'probable'],
  ['confirmed', 'discarded'],
  ['total', 'confirmed'],
  ['suspected', 'confirmed'],
  ['probable', 'suspected'],
]
const statusShare: Record<string, number> = { total: 1, suspected: 0.8, confirmed: 0.5, discarded: 0.3, probable: 0.2 }

export function createOutbreaks(seed: number): Outbreak[] {
  const taken = new Set<string>()
  return Array.from({ length: OUTBREAKS }, (_, index) => {
    const hashValue = hash(hash(seed, 1), index)
    const pathogen = pick(pathogens, hash(hashValue, 1))
    const country = pick(countries, hash(hashValue, 2))
    const nameOf = (turn: number) =>
      `Synthetic_${pathogen.label}_${country.name.replaceAll(' ', '-')}_${FIRST_YEAR + (turn % YEARS)}`
    let turn = hash(hashValue, 3) % YEARS
    while (taken.has(nameOf(turn))) turn++
    taken.add(nameOf(turn))
    const chance = hash(hashValue, 4)
    return {
      name: nameOf(turn),
      pathogen,
      country,
      host: pick(pathogen.hosts, hash(hashValue, 5)),
      start: Date.UTC(FIRST_YEAR + (turn % YEARS), 0, 1) / DAY + (hash(hashValue, 6) % 300),
      size: (1 << (4 + (chance % (pathogen.magnitude - 3)))) * (1 + (chance >>> 24) / 256),
      wave: pick(waves, hash(hashValue, 7)),
      statuses: pick(statusPairs, hash(hashValue, 8)),
      hash: hashValue,
    }
  })
}

const levels = ['country', 'admin1', 'admin2', 'admin3', 'locality']
const levelShare = [1, 1 / 4, 1 / 32, 1 / 96, 1 / 256]

/** Place `ordinal` of an outbreak: first the country, then alternately a subdivision and a district or town in it. */
export function locate(outbreak: Outbreak, ordinal: number): Place {
  const { country } = outbreak
  const { subdivisions } = country
  const hashValue = hash(outbreak.hash, 100 + ordinal)
  const count = subdivisions.length || 1
  const turn = Math.ceil(ordinal / 2)
  // Numbers the places of one subdivision, starting with the subdivision as 0, so that no two have the same name.
  const number = 2 * Math.floor((turn - 1) / count) + ((ordinal + 1) % 2)
  const level = ordinal === 0 ? 0 : subdivisions.length === 0 ? 4 : number === 0 ? 1 : 2 + (hashValue % 3)
  const subdivision = level === 0 ? undefined : subdivisions[(turn + outbreak.hash) % count]
  const createName = (chance: number) => `${pick(placeNames, chance)} ${number}`
  const [shape, where, amount] = [hash(hashValue, 1), hash(hashValue, 2), hash(hashValue, 3)]
  const located = where % 4 > 0
  const spread = level === 0 ? 0 : 1500
  const degrees = (middle: number, chance: number) =>
    located ? (middle * 1000 + (chance % (2 * spread + 1)) - spread) / 1000 : null
  const cadence = pick([1, 7, 7, 14], shape)
  return {
    hash: hashValue,
    granularity: levels[level] ?? 'country',
    al1Code: subdivision && where % 8 !== 1 ? subdivision.code : null,
    admin1: subdivision?.name ?? null,
    admin2: level >= 2 && subdivision ? createName(hashValue >>> 8) : null,
    admin3: level === 3 ? createName(hashValue >>> 16) : null,
    locality: level === 4 ? createName(hashValue >>> 16) : null,
    latitude: degrees(country.latitude, where >>> 4),
    longitude: degrees(country.longitude, where >>> 16),
    start: outbreak.start + (level === 0 ? 0 : (shape >>> 4) % 60),
    cadence,
    steps: cadence === 1 ? 21 + (amount % 70) : cadence === 7 ? 8 + (amount % 45) : 6 + (amount % 20),
    size: Math.max(3, outbreak.size * (levelShare[level] ?? 1) * (0.25 + (amount >>> 24) / 256)),
  }
}

/** Factors from Monday to Sunday: cases of the weekend are partly counted on Monday. */
const weekday = [1.35, 1.1, 1.05, 1.05, 1, 0.8, 0.65]

/** The counts of one step. Equal for all series of a place and status, so that new and cumulative counts agree. */
export function countStep(outbreak: Outbreak, place: Place, status: string, step: number): Counts {
  const moment = (index: number) => outbreak.wave[Math.floor((index * MOMENTS) / place.steps)] ?? 1
  const chance = hash(place.hash, 1000 + step)
  const rhythm = place.cadence === 1 ? (weekday[(place.start + step + 3) % 7] ?? 1) : 1
  const noise = 0.75 + (chance & 127) / 256
  const expected =
    place.size * (statusShare[status] ?? 1) * (moment(step + 1) - moment(step)) * rhythm * noise +
    (chance >>> 16) / 65536
  // Reporting starts with a case.
  const cases = Math.max(step === 0 ? 1 : 0, Math.floor(expected))
  const deaths = Math.floor(cases * outbreak.pathogen.fatality + ((chance >>> 7) & 511) / 512)
  return { cases, deaths: Math.min(cases, deaths) }
}
