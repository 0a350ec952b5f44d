// One mapping for all reports of cdcepi/zika. It lists by hand what each field of each country counts, and skips the other
// fields that the data guides list. A field that is in neither list is an error.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'csv-parse/sync'
import { commonConstants, constants, filesOf } from '../../fixtures/real-mappings.ts'

type Since = typeof START | typeof REPORT | typeof YEAR
type Counts = Record<string, [status: string, since: Since]>

interface Folder {
  country: string
  code: string
  counts: Counts
  /** Files that are not UTF-8. */
  windows1252?: string
  columns?: Record<string, unknown>
}

const START = 'the beginning'
const REPORT = 'the last report'
const YEAR = 'the first day of the year'
const KINDS: Record<Since, string> = { [START]: 'cumulative', [REPORT]: 'new', [YEAR]: 'period_to_date' }

const colombia: Counts = {
  zika_confirmed_laboratory: ['confirmed', START],
  zika_confirmed_clinic: ['probable', START],
  zika_suspected: ['suspected', START],
  zika_suspected_clinic: ['suspected', START],
}
const firstDayOfYear = { join: [{ from: 'report_date', split: { by: '-', part: 0 } }, { constant: '-01-01' }] }

/** The year is in the name of the field. Counts are still revised after the year, so the last day is unknown. */
const yearInField = (...names: string[]) => ({
  date_low: {
    from: 'data_field',
    map: Object.fromEntries(names.map((name) => [name, `${/20\d\d/.exec(name)}-01-01`])),
  },
  date_high: { constant: null },
})
const panama = ['2015', '2016', '2017'].map((year) => `Zika_confirmed_laboratory_${year}`)
const puertoRico = ['2016', '2017', '2015-2016', '2015-2017', '2016-2017'].map(
  (years) => `zika_confirmed_cumulative_${years}`,
)
const confirmedInYear = (names: readonly string[]): Counts =>
  Object.fromEntries(names.map((name) => [name, ['confirmed', YEAR]]))

const folders: Record<string, Folder> = {
  'Argentina/Surveillance_Bulletin': {
    country: 'Argentina',
    code: 'AR',
    counts: {
      cumulative_confirmed_local_cases: ['confirmed', START],
      cumulative_probable_local_cases: ['probable', START],
      cumulative_cases_under_study: ['suspected', START],
    },
  },
  'Brazil/COES_Microcephaly': { country: 'Brazil', code: 'BR', counts: {} },
  'Brazil/Epidemiological_Bulletin': { country: 'Brazil', code: 'BR', counts: { zika_reported: ['total', START] } },
  'Colombia/Epidemiological_Bulletin': {
    country: 'Colombia',
    code: 'CO',
    counts: colombia,
    windows1252: 'Epidemiological_Bulletin_2016-Week-18.csv',
  },
  'Colombia/Municipality_Zika': { country: 'Colombia', code: 'CO', counts: colombia },
  'Dominican_Republic/Epidemiological_Bulletin': {
    country: 'Dominican Republic',
    code: 'DO',
    counts: {
      total_zika_new_suspected: ['suspected', REPORT],
      total_zika_new_confirmed_pcr: ['confirmed', REPORT],
      zika_suspected_cumulative: ['suspected', START],
      zika_confirmed_pcr_cumulative: ['confirmed', START],
    },
  },
  'Ecuador/GACETA-ZIKA': {
    country: 'Ecuador',
    code: 'EC',
    counts: {
      total_zika_suspected_cumulative: ['suspected', START],
      total_zika_confirmed_cumulative: ['confirmed', START],
    },
    windows1252: 'GACETA-ZIKA_2017-07-19.csv',
  },
  'El_Salvador/Epidemiological_Bulletin': {
    country: 'El Salvador',
    code: 'SV',
    counts: { cumulative_confirmed: ['confirmed', YEAR], cumulative_suspected_total: ['suspected', YEAR] },
    windows1252: 'Epidemiological_Bulletin-2017-0[6-9]-*.csv',
    columns: { date_low: firstDayOfYear },
  },
  'Guatemala/SEMEPI': {
    country: 'Guatemala',
    code: 'GT',
    counts: {
      total_zika_confirmed: ['confirmed', REPORT],
      total_zika_suspected: ['suspected', REPORT],
      total_zika_confirmed_cumulative: ['confirmed', START],
      total_zika_suspected_cumulative: ['suspected', START],
    },
    // A municipality is here one of the 29 health areas.
    columns: { location_granularity: { from: 'location_type', map: { country: 'country', municipality: 'admin1' } } },
  },
  'Haiti/Evolution-Epidimie-du-ZIKA': {
    country: 'Haiti',
    code: 'HT',
    counts: {
      total_zika_new_suspected: ['suspected', REPORT],
      total_zika_new_suspected_cumulative: ['suspected', START],
    },
  },
  'Mexico/DGE_Zika': { country: 'Mexico', code: 'MX', counts: { weekly_zika_confirmed: ['confirmed', REPORT] } },
  'Nicaragua/MINSA_ZIKA_Search': {
    country: 'Nicaragua',
    code: 'NI',
    counts: {
      total_zika_confirmed: ['confirmed', REPORT],
      total_zika_confirmed_cumulative: ['confirmed', START],
      total_zika_new_suspected: ['suspected', REPORT],
    },
  },
  'Panama/MDS_Zika': {
    country: 'Panama',
    code: 'PA',
    counts: confirmedInYear(panama),
    columns: yearInField(...panama),
  },
  'Puerto_Rico/PRDH_Arbovirus': {
    country: 'United States',
    code: 'US',
    counts: confirmedInYear(puertoRico),
    columns: yearInField(...puertoRico),
  },
  'USVI/USVI_Zika': {
    country: 'U.S. Virgin Islands',
    code: 'VI',
    counts: {
      zika_reported: ['total', START],
      zika_lab_positive: ['confirmed', START],
      zika_not: ['discarded', START],
    },
    columns: { location_granularity: { from: 'location_type', map: { territory: 'country', county: 'admin1' } } },
  },
  'United_States/CDC_Report': {
    country: 'United States',
    code: 'US',
    counts: { zika_reported_local: ['confirmed', START] },
  },
  'United_States/FDH_Arbovirus': { country: 'United States', code: 'US', counts: {} },
}

/** Replaces spellings of one place by the correct one or, if all are correct, by the most common one. */
const firstLevel = {
  Sta_Marta_DE: 'Sta_Marta_D.E.',
  'Sta_marta_d.e.': 'Sta_Marta_D.E.',
  'Boli\u00advar': 'Bolivar',
  'Quindi\u00ado': 'Quindio',
  Canar: 'Cañar',
  Cabanas: 'Cabañas',
  Zamora: 'Zamora-Chinchipe',
  unknown: null,
  Other: null,
  Sin_Especificar: null,
}
const secondLevel = {
  Santa_marta: 'Santa_Marta',
  Sitio_Nuevo: 'Sitionuevo',
  Tolu_Viejo: 'Toluviejo',
  San_juan_del_cesar: 'San_Juan_Del_Cesar',
  La_jagua_del_pilar: 'La_Jagua_Del_Pilar',
  Armero_Guayabal: 'Armero_(Guayabal)',
  'Armero_(guayabal)': 'Armero_(Guayabal)',
  Peðol: 'Peñol',
  'Pe\u0321ol': 'Peñol',
  // Parts of names with a hyphen: Miriti_-_Parana, and the province of Zamora-Chinchipe.
  Miriti_: 'Miriti_Parana',
  Chinchipe: null,
  Unknown: null,
}
const admin1 = { from: 'location', split: { by: '-', part: 1 }, map: firstLevel, otherwise: 'keep' }
const admin2 = { from: 'location', split: { by: '-', part: 2 }, map: secondLevel, otherwise: 'keep' }

/** Places of the second level whose name lacks the first level. */
export const MISPLACED = [
  'county Ecuador-Orellana_Joya_de_los_Sachas',
  'county Panama-Costa_del_Este',
  'municipality Dominican_Republic-Distrito_Nacional',
  'municipality Dominican_Republic-Jimani_de_Independencia',
  'municipality Dominican_Republic-Santo_Domingo_Norte',
  'municipality Dominican_Republic-Santo_Domingo_Este',
  'municipality Dominican_Republic-Santo_Domingo_Oeste',
]

/** Fields of the data guide that the mapping skips: parts of the cases, other conditions and overlapping periods. */
function findSkippedFields(folder: string, counts: Counts): string[] {
  const [guide = ''] = filesOf(`cdcepi-zika/${path.dirname(folder)}/*_Data_Guide.csv`)
  const fields: { data_field: string }[] = parse(readFileSync(guide, 'latin1'), {
    columns: true,
    bom: true,
    relax_column_count: true,
    record_delimiter: ['\r\n', '\n', '\r'],
  })
  return [...new Set(fields.map((field) => field.data_field))].filter((field) => !(field in counts))
}

/** The fields of a folder that count cases. */
export const countedIn = (folder: string): string[] => Object.keys(folders[folder]?.counts ?? {})

const linkName = (folder: string, file: string) => `${folder.replace('/', '__')}__${file}`

/** The folder of a report, by the name it has in the release. */
export const folderOf = (name: string): string => name.split('__').slice(0, 2).join('/')

/** All reports, by a name that includes the folder, because some names occur in several folders. */
export const zikaReports = (): Record<string, string> =>
  Object.fromEntries(
    Object.keys(folders).flatMap((folder) =>
      filesOf(`cdcepi-zika/${folder}/data/*.csv`).map((file) => [linkName(folder, path.basename(file)), file]),
    ),
  )

function createGroups(folder: string, { country, code, counts, windows1252, columns }: Folder) {
  const mapCounts = <T>(convert: (count: Counts[string]) => T) =>
    Object.fromEntries(Object.entries(counts).map(([field, count]) => [field, convert(count)]))
  const group = {
    names: [linkName(folder, '*')],
    skip: [
      { where: 'value', is: ['', 'NA'] },
      { where: 'unit', is: ['municipalities'] },
      { where: 'data_field', is: findSkippedFields(folder, counts) },
      // The sum of states that are also listed.
      { where: 'location_type', is: ['region'] },
      { where: { join: ['location_type', { constant: ' ' }, 'location'] }, is: MISPLACED },
    ],
    key: [{ constant: folder }, 'location_type', admin1, admin2, 'report_date', 'data_field'],
    columns: {
      ...constants({ country, country_code: code }),
      case_status: { from: 'data_field', map: mapCounts(([status]) => status) },
      count_kind: { from: 'data_field', map: mapCounts(([, since]) => KINDS[since]) },
      ...columns,
    },
  }
  if (windows1252 === undefined) return [group]
  return [{ ...group, names: [linkName(folder, windows1252)], encoding: 'windows-1252' }, group]
}

export const zikaReportsMapping = () => ({
  files: Object.entries(folders).flatMap(([folder, settings]) => createGroups(folder, settings)),
  columns: {
    ...commonConstants,
    ...constants({
      event: 'Zika_Americas_2015',
      pathogen: 'Zika virus',
      disease: 'Zika virus disease',
      date_type: 'report',
    }),
    ...constants({ source_name: 'CDC Epidemic Prediction Initiative', source_url: 'https://github.com/cdcepi/zika' }),
    location_granularity: {
      from: 'location_type',
      map: {
        country: 'country',
        ...{ state: 'admin1', province: 'admin1', department: 'admin1', territory: 'admin1' },
        ...{ municipality: 'admin2', county: 'admin2' },
      },
    },
    admin_l1: admin1,
    admin_l2: admin2,
    location_as_reported: 'location',
    date_high: { from: 'report_date', date: 'YYYY-MM-DD' },
    date_report: { from: 'report_date', date: 'YYYY-MM-DD' },
    cases: { from: 'value', number: true },
  },
})
