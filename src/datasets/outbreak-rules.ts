// The rules between fields of an outbreak record. An error rejects the row. A warning is only reported: real reports
// contain more deaths than cases, negative corrections and retired codes, and none of that must be lost.
import { compareCountryName } from './country-names.ts'
import type { FieldValue, Rule } from './define.ts'
import { isCurrentSubdivision, isUserAssigned, KOSOVO } from './vocabulary.ts'

type ValueOf = (name: string) => FieldValue

const error = (name: string, column: string, check: Rule['check']): Rule => ({
  name,
  severity: 'error',
  column,
  check,
})
const warning = (name: string, column: string, check: Rule['check']): Rule => ({
  name,
  severity: 'warning',
  column,
  check,
})

/** A warning about how a whole table was converted. */
const tableWarning = (...rule: Parameters<typeof warning>): Rule => ({ ...warning(...rule), oncePerFile: true })

const DAYS = ['date_low', 'date_high', 'date_report']
const COUNTS = ['cases', 'deaths', 'hospitalised', 'recovered', 'tested']

/** Hosts and vectors, which are not pathogens. Names and ids of NCBI Taxonomy. */
const HOST_TAXA: Record<number, string> = {
  7159: 'Aedes aegypti',
  7160: 'Aedes albopictus',
  7165: 'Anopheles gambiae',
  8839: 'Anas platyrhynchos',
  9031: 'Gallus gallus',
  9103: 'Meleagris gallopavo',
  9544: 'Macaca mulatta',
  9598: 'Pan troglodytes',
  9605: 'Homo',
  9606: 'Homo sapiens',
  9615: 'Canis lupus familiaris',
  9685: 'Felis catus',
  9796: 'Equus caballus',
  9823: 'Sus scrofa',
  9825: 'Sus scrofa domesticus',
  9838: 'Camelus dromedarius',
  9913: 'Bos taurus',
  9925: 'Capra hircus',
  9940: 'Ovis aries',
  10090: 'Mus musculus',
  10116: 'Rattus norvegicus',
}

/** The fields that name a place, from the coarsest level to the finest. `place_id` may name a place of any level. */
const PLACE_LEVELS: readonly (readonly [granularity: string, fields: readonly string[]])[] = [
  ['admin1', ['al1_code', 'admin_l1']],
  ['admin2', ['admin_l2']],
  ['admin3', ['admin_l3']],
  ['locality', ['locality']],
]
const levelOf = (granularity: FieldValue) => PLACE_LEVELS.findIndex(([name]) => name === granularity)

export const outbreakRules: readonly Rule[] = [
  error('dates_in_order', 'date_high', (valueOf) =>
    isBefore(valueOf('date_high'), valueOf('date_low')) ? 'is before date_low' : null,
  ),
  ...DAYS.map((day) =>
    error('day_has_begun', day, (valueOf, lastDay) =>
      isBefore(lastDay, valueOf(day))
        ? `is after ${lastDay}, the day of the data: as_of in release.json, or today`
        : null,
    ),
  ),
  warning('report_after_period', 'date_report', (valueOf) =>
    isBefore(valueOf('date_report'), valueOf('date_high')) ? 'is before date_high' : null,
  ),
  tableWarning('cumulative_start', 'date_low', (valueOf) =>
    valueOf('count_kind') === 'cumulative' &&
    valueOf('date_low') !== null &&
    valueOf('date_low') === valueOf('date_high')
      ? 'equals date_high: for a cumulative count, give the day counting began, or leave it empty'
      : null,
  ),
  warning('deaths_within_cases', 'deaths', (valueOf) => {
    const cases = valueOf('cases')
    return isAbove(valueOf('deaths'), cases) && !isAbove(0, cases)
      ? 'is greater than cases: check that both count the same people'
      : null
  }),
  ...COUNTS.map((count) =>
    error('negative_only_where_new', count, (valueOf) =>
      isAbove(0, valueOf(count)) && valueOf('count_kind') !== 'new'
        ? 'is below 0: only counts of kind new can be negative'
        : null,
    ),
  ),
  ...COUNTS.map((count) =>
    warning('negative_correction', count, (valueOf) =>
      isAbove(0, valueOf(count)) && valueOf('count_kind') === 'new'
        ? 'is below 0: it is treated as a correction of earlier days'
        : null,
    ),
  ),
  ...['cases', 'deaths'].map((count) =>
    error('reason_only_where_missing', `${count}_missing`, (valueOf) =>
      valueOf(count) !== null && valueOf(`${count}_missing`) !== null
        ? `says why ${count} is missing, but ${count} has a value`
        : null,
    ),
  ),
  error('country_agrees', 'country', (valueOf) =>
    compareNames(valueOf) === 'other' ? 'names another country than country_code' : null,
  ),
  warning('country_known', 'country', (valueOf) =>
    compareNames(valueOf) === 'unknown' ? 'is not a known name for the country in country_code' : null,
  ),
  tableWarning('country_is_country', 'location_granularity', (valueOf) => {
    const code = valueOf('country_code')
    if (valueOf('location_granularity') !== 'country') return null
    return typeof code === 'string' && isUserAssigned(code)
      ? `is country, but ${code} is not a country code: use multi_country, global or locality`
      : null
  }),
  error('place_in_country', 'al1_code', (valueOf) => {
    const part = valueOf('al1_code')
    const country = valueOf('country_code')
    if (typeof part !== 'string' || typeof country !== 'string') return null
    return part.startsWith(`${country}-`) ? null : 'is not part of the country in country_code'
  }),
  warning('subdivision_current', 'al1_code', (valueOf) => {
    const part = valueOf('al1_code')
    if (typeof part !== 'string' || isCurrentSubdivision(part)) return null
    return 'is not in the current ISO 3166-2 list: is it retired or mistyped?'
  }),
  ...PLACE_LEVELS.flatMap(([, fields], level) =>
    fields.map((field) =>
      error('place_not_finer', field, (valueOf) =>
        valueOf(field) !== null && level > levelOf(valueOf('location_granularity'))
          ? 'is more detailed than location_granularity'
          : null,
      ),
    ),
  ),
  warning('place_named', 'location_granularity', (valueOf) => {
    const fields = PLACE_LEVELS[levelOf(valueOf('location_granularity'))]?.[1]
    if (fields === undefined || [...fields, 'place_id'].some((field) => valueOf(field) !== null)) return null
    return `needs a place name, but ${fields.join(', ')} and place_id are all empty`
  }),
  ...[
    ['latitude', 'longitude'],
    ['longitude', 'latitude'],
  ].map(([missing = '', given = '']) =>
    error('coordinates_together', missing, (valueOf) =>
      valueOf(missing) === null && valueOf(given) !== null ? `is missing, but ${given} is given` : null,
    ),
  ),
  error('pathogen_is_no_host', 'pathogen_taxon_id', (valueOf) => {
    const host = HOST_TAXA[Number(valueOf('pathogen_taxon_id'))]
    return host === undefined ? null : `is ${host}, which is a host and not a pathogen`
  }),
]

const isBefore = (first: FieldValue, second: FieldValue) =>
  typeof first === 'string' && typeof second === 'string' && first < second
const isAbove = (first: FieldValue, second: FieldValue) =>
  typeof first === 'number' && typeof second === 'number' && first > second

/** Users who assign a code of their own (XA to XZ) also choose its name. ISO has no name of Kosovo. */
function compareNames(valueOf: ValueOf) {
  const country = valueOf('country_code')
  const name = valueOf('country')
  if (typeof country !== 'string' || typeof name !== 'string') return 'same'
  if (isUserAssigned(country) || country === KOSOVO) return 'same'
  return compareCountryName(country, name)
}
