// Synthetic records with everything that makes outbreak numbers go wrong: revisions of one day, cases and deaths in separate
// rows, dips, corrections, restarts, overlapping periods, missing dates and counts, several levels, sources and age groups.
import type { Row } from '../fixtures/releases.ts'
import type { Draw } from './draw.ts'

type Fields = Omit<Partial<Row>, 'key' | 'id'>
type Kind = 'new' | 'cumulative' | 'period_to_date' | 'point'

const DAY_MS = 86_400_000
const FIRST_DAY = Date.UTC(2020, 10, 1)
const DAYS = 160
const dayAt = (offset: number) => new Date(FIRST_DAY + offset * DAY_MS).toISOString().slice(0, 10)

const at = (country_code: string, country: string, location_granularity: string, names: Fields = {}): Fields => ({
  country_code,
  country,
  location_granularity,
  ...names,
})
const county = (al1_code: string, admin_l1: string, admin_l2: string) =>
  at('US', 'United States', 'admin2', { al1_code, admin_l1, admin_l2 })
const state = (al1_code: string, admin_l1: string) => at('US', 'United States', 'admin1', { al1_code, admin_l1 })

const PLACES: readonly Fields[] = [
  at('IT', 'Italy', 'country'),
  at('FR', 'France', 'country'),
  at('NG', 'Nigeria', 'country'),
  at('GH', 'Ghana', 'country'),
  at('US', 'United States', 'country'),
  at('NG', 'Nigeria', 'admin1', { al1_code: 'NG-LA', admin_l1: 'Lagos' }),
  at('NG', 'Nigeria', 'admin1', { al1_code: 'NG-KN', admin_l1: 'Kano' }),
  at('GH', 'Ghana', 'admin1', { admin_l1: 'Ashanti' }),
  at('GH', 'Ghana', 'admin1', { admin_l1: 'Volta' }),
  state('US-CO', 'Colorado'),
  state('US-TX', 'Texas'),
  state('US-FL', 'Florida'),
  county('US-CO', 'Colorado', 'Adams'),
  county('US-CO', 'Colorado', 'Mesa'),
  county('US-TX', 'Texas', 'Gaines'),
  county('US-TX', 'Texas', 'Lubbock'),
  county('US-NM', 'New Mexico', 'Lea'),
  at('GH', 'Ghana', 'admin2', { admin_l1: 'Volta', admin_l2: 'Ho' }),
  // The same province with and without its code.
  at('GH', 'Ghana', 'admin1', { al1_code: 'GH-AH', admin_l1: 'Ahafo' }),
  at('GH', 'Ghana', 'admin2', { admin_l1: 'Ahafo', admin_l2: 'Asunafo' }),
  at('GH', 'Ghana', 'locality', { locality: 'Tema harbour' }),
  at('NG', 'Nigeria', 'locality', { al1_code: 'NG-LA', admin_l1: 'Lagos', admin_l2: 'Ikeja', locality: 'Airport' }),
  at('FR', 'France', 'admin1', { admin_l1: 'Corse', place_id: 'geonames:3023518' }),
  // Ids of a state and of a county that is renamed; a town without its county; names without a code; names of several places.
  at('US', 'United States', 'admin1', { al1_code: 'US-CO', admin_l1: 'Colorado', place_id: 'geonames:5417618' }),
  at('US', 'United States', 'admin1', { admin_l1: 'Colorado' }),
  at('US', 'United States', 'admin2', { admin_l1: 'Texas', admin_l2: 'Gaines County', place_id: 'geonames:1' }),
  at('US', 'United States', 'admin2', { admin_l1: 'Texas', admin_l2: 'Gaines', place_id: 'geonames:1' }),
  at('US', 'United States', 'locality', { al1_code: 'US-TX', admin_l1: 'Texas', locality: 'Seminole' }),
  at('IN', 'India', 'admin1', { admin_l1: 'Orissa' }),
  at('IN', 'India', 'admin1', { admin_l1: 'Odisha' }),
  at('GH', 'Ghana', 'locality', { locality: 'Tema harbour, Ada; Keta' }),
  at('GH', 'Ghana', 'locality', { locality: 'Ada' }),
  at('XK', 'Kosovo', 'country'),
]
/** Places that may contain other places. */
const CONTAINERS: readonly Fields[] = [
  at('XA', 'A ship', 'country'),
  at('XB', 'Another ship', 'country'),
  at('XW', 'World', 'global'),
  at('XR', 'Western Africa', 'region'),
  at('XM', 'Nigeria and Ghana', 'multi_country'),
]
const EVENTS: readonly Fields[] = [
  { event: 'Cholera_West_Africa_2020', pathogen: 'Vibrio cholerae', disease: 'Cholera', host: 'human' },
  { event: 'Measles_United_States_2020', pathogen: 'Measles morbillivirus', disease: 'Measles', host: 'human' },
  { event: 'Influenza_World_2020', pathogen: 'Influenza A virus', disease: null, host: 'human' },
  { event: 'Influenza_World_2020', pathogen: 'Influenza A virus', disease: null, host: 'animal' },
  { event: 'Influenza_Europe_2021', pathogen: 'Influenza B virus', disease: null, host: 'human' },
]
/** Numbers tell the order, other texts do not. */
const REPORTS = ['Bulletin 9', 'Bulletin 10', 'Bulletin \u{1f9a0}', null]

const common: Fields = {
  case_status: 'confirmed',
  date_type: 'report',
  location_type: null,
  age_group: null,
  sex: null,
  population: null,
  composite: false,
  source_name: 'Ministry',
}

/** Most series agree with `common`, so that many questions have a number for an answer. */
function drawSeries(draw: Draw): Fields {
  const rarely = (fields: Fields, share = 0.1) => (draw.chance(share) ? fields : {})
  return {
    ...common,
    ...draw.pick(EVENTS),
    ...draw.pick(draw.chance(0.12) ? CONTAINERS : PLACES),
    ...rarely({ source_name: draw.pick(['WHO', 'Źródło "9"']) }, 0.25),
    ...rarely({ case_status: draw.pick(['suspected', 'total']) }, 0.2),
    ...rarely({ date_type: draw.pick(['onset', null]) }),
    ...rarely({ location_type: 'residence' }, 0.05),
    ...rarely({ composite: true }, 0.05),
    ...rarely({ age_group: draw.pick(['0-4', '0-4', '5-14', '5-14', '15+', '0-14']) }, 0.2),
    ...rarely({ sex: draw.pick(['female', 'male']) }, 0.05),
    ...rarely({ population: 'health workers' }, 0.05),
  }
}

interface Report {
  low: string | null
  high: string | null
  count: number
}

/** Cumulative counts: they grow, dip and rebound, are corrected, and start again. */
function drawCumulative(draw: Draw): Report[] {
  // Where counting began: unknown, the day of the report itself, or a day that many reports give.
  const style = draw.pick(['unknown', 'same day', 'known', 'known'])
  let [day, count, start] = [draw.below(40), draw.below(200), 0]
  start = draw.chance(0.3) ? day : Math.max(0, day - draw.below(30))
  const reports: Report[] = []
  while (day < DAYS) {
    const low = style === 'unknown' ? null : style === 'same day' ? day : draw.chance(0.9) ? start : null
    // Some reports still count from an earlier start.
    const early = low !== null && style === 'known' && draw.chance(0.05) ? Math.max(0, low - 20) : low
    const isDip = draw.chance(0.12)
    const reported = isDip ? Math.max(0, count - draw.below(60) - 1) : count
    reports.push({ low: early === null ? null : dayAt(early), high: dayAt(day), count: reported })
    const last = day
    day += draw.pick([1, 1, 2, 3, 7, 7, 10, 30])
    count = draw.chance(0.06) ? Math.max(0, count - draw.below(80)) : count + draw.below(50)
    if (draw.chance(0.05)) [start, count] = [last + 1 + draw.below(day - last), draw.below(40)]
    if (start > day) start = day
  }
  return reports
}

/** New counts of days, weeks and months, some overlapping, some below 0, some with one date only. */
function drawNew(draw: Draw): Report[] {
  const reports: Report[] = []
  const step = draw.pick([1, 7, 7, 14])
  for (let day = draw.below(60); day < DAYS - 30; day += draw.chance(0.1) ? step + draw.below(5) : step) {
    const count = draw.chance(0.06) ? -draw.below(10) : draw.below(60)
    const oneDate = draw.chance(0.06)
    const lowFirst = draw.chance(0.5)
    reports.push({
      low: oneDate && lowFirst ? null : dayAt(day),
      high: oneDate && !lowFirst ? null : dayAt(day + step - 1),
      count,
    })
    const span = draw.pick([6, 9, 27])
    if (draw.chance(0.12)) reports.push({ low: dayAt(day), high: dayAt(day + span), count: draw.below(200) })
    if (draw.chance(0.08))
      reports.push({ low: dayAt(Math.max(0, day - 3)), high: dayAt(day + 3), count: draw.below(90) })
  }
  return reports
}

/** Counts since the start of a period. Reports of an earlier period go on after the next one began. */
function drawPeriods(draw: Draw): Report[] {
  const reports: Report[] = []
  const length = draw.pick([30, 61, 90])
  for (let low = draw.below(30); low < DAYS; low += length) {
    let count = 0
    for (
      let day = low + draw.below(8);
      day < Math.min(DAYS, low + length + draw.below(15));
      day += draw.pick([1, 5, 7, 14])
    ) {
      count = draw.chance(0.12) ? Math.max(0, count - draw.below(30)) : count + draw.below(40)
      reports.push({ low: dayAt(low), high: dayAt(day), count })
    }
  }
  return reports
}

function drawPoints(draw: Draw): Report[] {
  const reports: Report[] = []
  for (let day = draw.below(60); day < DAYS; day += draw.pick([1, 3, 7, 20])) {
    const high = draw.chance(0.1) ? null : dayAt(day)
    reports.push({ low: draw.chance(0.5) ? dayAt(day) : null, high, count: draw.below(300) })
  }
  return reports
}

const DRAWN: Record<Kind, (draw: Draw) => Report[]> = {
  new: drawNew,
  cumulative: drawCumulative,
  period_to_date: drawPeriods,
  point: drawPoints,
}

/** The rows of one report: usually one, sometimes a revision of the same day or separate rows for cases and deaths. */
function drawRows(draw: Draw, { low, high, count }: Report, names: Fields, kind: Kind): Fields[] {
  const last = high ?? low
  const lost = draw.chance(0.02)
  const reportDay = last !== null && draw.chance(0.7) ? last : null
  const base: Fields = {
    ...names,
    count_kind: kind,
    date_low: lost && draw.chance(0.5) ? null : low,
    date_high: lost ? null : high,
    date_report: reportDay,
    source_report: draw.pick(REPORTS),
    case_definition: draw.chance(0.2) ? draw.pick(['2019', '2020', null]) : '2020',
    count_qualifier: draw.chance(0.03) ? draw.pick(['at_least', 'approximate']) : 'exact',
  }
  const deaths = Math.trunc(count / 10)
  const cases = draw.chance(0.03) ? null : count
  const rows: Fields[] = draw.chance(0.15)
    ? [
        { ...base, cases },
        { ...base, deaths },
      ]
    : [{ ...base, cases, ...(draw.chance(0.6) ? { deaths } : {}), ...(draw.chance(0.2) ? { tested: count * 3 } : {}) }]
  if (draw.chance(0.1)) {
    const revised = kind === 'new' ? count - draw.below(9) : Math.max(0, count - draw.below(9))
    const later = reportDay === null || draw.chance(0.3) ? null : draw.pick([reportDay, '2021-11-01'])
    rows.push({ ...base, cases: revised, date_report: later, source_report: draw.pick(REPORTS) })
  }
  return rows
}

/** A renamed province keeps its code; the rows of one series have both names. */
const rename = (draw: Draw, fields: Fields): Fields =>
  typeof fields['al1_code'] === 'string' && draw.chance(0.1) ? { admin_l1: `${String(fields['admin_l1'])} State` } : {}

/** The rows of a number of series. The keys do not tell the order of the days. */
export function drawHostileRows(draw: Draw, series: number): Row[] {
  const rows = Array.from({ length: series }, () => {
    const names = drawSeries(draw)
    const kind = draw.pick<Kind>(['new', 'new', 'cumulative', 'cumulative', 'cumulative', 'period_to_date', 'point'])
    return DRAWN[kind](draw).flatMap((report) =>
      drawRows(draw, report, names, kind).map((row) => ({ ...row, ...rename(draw, names) })),
    )
  }).flat()
  return draw.shuffle(rows).map((row, i): Row => ({ ...row, key: `row ${i}` }))
}
