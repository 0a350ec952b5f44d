// Synthetic events that several sources count in several ways: levels, sources, statuses, kinds of count, days and places, with
// totals that agree, nearly agree, or not at all. Few records each, so that a question reaches one rule of the choice.
import type { Row } from '../fixtures/releases.ts'
import type { Draw } from './draw.ts'

type Fields = Omit<Partial<Row>, 'key' | 'id'>

const DAY_MS = 86_400_000
const FIRST_DAY = Date.UTC(2020, 0, 1)
const dayAt = (offset: number) => new Date(FIRST_DAY + offset * DAY_MS).toISOString().slice(0, 10)

const COUNTRIES: readonly Fields[] = [
  { country_code: 'IT', country: 'Italy' },
  { country_code: 'FR', country: 'France' },
  { country_code: 'NG', country: 'Nigeria' },
]
const PARTS: readonly Fields[] = [
  { country_code: 'IT', country: 'Italy', al1_code: 'IT-25', admin_l1: 'Lombardia' },
  { country_code: 'IT', country: 'Italy', al1_code: 'IT-34', admin_l1: 'Veneto' },
  { country_code: 'IT', country: 'Italy', admin_l1: 'Another part' },
  { country_code: 'NG', country: 'Nigeria', al1_code: 'NG-LA', admin_l1: 'Lagos' },
]
const level = (location_granularity: string) => (place: Fields) => ({ ...place, location_granularity })
const PLACES: readonly (readonly Fields[])[] = [
  ...[COUNTRIES.map(level('country')), COUNTRIES.map(level('country'))],
  ...[PARTS.map(level('admin1')), PARTS.map(level('admin1'))],
  PARTS.map(level('admin2')).map((place, i) => ({ ...place, admin_l2: `District ${i}` })),
  PARTS.map(level('locality')).map((place, i) => ({ ...place, locality: `Town ${i}` })),
  [
    { country_code: 'XA', country: 'A ship', location_granularity: 'country' },
    { country_code: 'XB', country: 'Another ship', location_granularity: 'country' },
  ],
  [{ country_code: 'XW', country: 'World', location_granularity: 'global' }],
  [
    { country_code: 'XR', country: 'Western Africa', location_granularity: 'region' },
    { country_code: 'XS', country: 'Europe', location_granularity: 'region' },
  ],
  [{ country_code: 'XM', country: 'Italy and France', location_granularity: 'multi_country' }],
]
const FACTORS = [1, 1, 1, 0.95, 1.1, 1.2, 0.8, 0.5, 2.1, 4, 10, 15, 0.1, 0]
const DISEASES = 36

/** Most sets agree with the first one of their event in most fields. */
function drawFields(draw: Draw): Fields {
  const rarely = (fields: Fields, share: number) => (draw.chance(share) ? fields : {})
  return {
    ...{ case_status: 'confirmed', date_type: 'report', composite: false, source_name: 'Ministry' },
    ...rarely({ source_name: draw.pick(['WHO', 'A paper', 'Zeitung', 'a lower case']) }, 0.5),
    ...rarely({ case_status: draw.pick(['suspected', 'total', 'probable', 'discarded']) }, 0.35),
    ...rarely({ date_type: draw.pick(['onset', 'lab', 'notification', null]) }, 0.15),
    ...rarely({ location_type: draw.pick(['residence', 'exposure', 'care']) }, 0.1),
    ...rarely({ composite: true }, 0.12),
    ...rarely({ age_group: draw.pick(['0-4', '5-14', '0-14']) }, 0.1),
    ...rarely({ sex: draw.pick(['female', 'male']) }, 0.06),
    ...rarely({ population: 'health workers' }, 0.04),
  }
}

/** The reports of one place: a total, a curve of totals, weeks, or days. */
function drawReports(draw: Draw, kind: unknown, total: number, first: number, length: number): Fields[] {
  const number = draw.pick([1, 1, 1, 2, 3, 5, 9])
  const step = Math.max(1, Math.trunc(length / number))
  const ends = Array.from({ length: number }, (_, i) => first + step * (i + 1) - 1)
  const share = (i: number) => Math.round((total * (i + 1)) / number)
  const isStartKnown = draw.chance(0.6)
  const deaths = draw.chance(0.5)
  const noCases = draw.chance(0.06)
  return ends.flatMap((end, i) => {
    const count = kind === 'new' ? share(i) - (i === 0 ? 0 : share(i - 1)) : share(i)
    const low =
      kind === 'new'
        ? end - step + 1
        : kind === 'period_to_date' || (kind === 'cumulative' && isStartKnown)
          ? first
          : null
    const row: Fields = {
      date_low: low === null ? null : dayAt(low),
      date_high: draw.chance(0.03) ? null : dayAt(end),
      date_report: draw.chance(0.5) ? dayAt(end + draw.below(60)) : null,
      cases: noCases ? null : count,
      deaths: deaths || noCases ? Math.trunc(count / 7) : null,
      source_type: draw.pick(['official', 'official', 'international', 'media', 'literature', 'composite', null]),
    }
    // Nothing tells which of two counts of the same days is right.
    return draw.chance(0.04) ? [row, { ...row, cases: count + 1 + draw.below(5) }] : [row]
  })
}

function drawSet(draw: Draw, event: Fields, truth: { total: number; first: number; length: number }): Fields[] {
  const fields = drawFields(draw)
  const count_kind = draw.pick(['new', 'new', 'cumulative', 'cumulative', 'cumulative', 'period_to_date', 'point'])
  const places = draw.shuffle(draw.pick(PLACES)).slice(0, draw.pick([1, 1, 2, 3]))
  const total = Math.round(truth.total * draw.pick(FACTORS))
  const first = draw.chance(0.7) ? truth.first : truth.first + draw.below(120)
  const length = draw.chance(0.6) ? truth.length : 1 + draw.below(200)
  return places.flatMap((place) =>
    drawReports(draw, count_kind, Math.round(total / places.length), first, length).map((report) => ({
      ...event,
      ...fields,
      ...place,
      count_kind,
      ...report,
    })),
  )
}

/** The rows of many events, one to four of each disease. */
export function drawMixedRows(draw: Draw): Row[] {
  const rows = Array.from({ length: DISEASES }, (_, i) => {
    const disease = `Disease ${i}`
    const truth = { total: draw.pick([0, 3, 40, 100, 1000, 5000]), first: draw.below(200), length: 1 + draw.below(150) }
    return Array.from({ length: draw.pick([1, 1, 2, 2, 3, 4]) }, (__, j) => {
      const event = (pathogen: string, host: string): Fields => ({ event: `Event_${i}_${j}`, disease, pathogen, host })
      const main = event(draw.chance(0.9) ? 'Virus' : 'Bacterium', draw.chance(0.95) ? 'human' : 'animal')
      const own = draw.chance(0.5) ? truth : { ...truth, first: draw.below(300), total: draw.below(300) }
      return Array.from({ length: draw.pick([1, 2, 2, 3, 3, 4, 6]) }, () =>
        drawSet(draw, draw.chance(0.95) ? main : event('Variant', 'human'), own),
      ).flat()
    }).flat()
  }).flat()
  return draw.shuffle(rows).map((row, i): Row => ({ ...row, key: `row ${i}` }))
}
