// Makes synthetic releases: the records of an endless stream, of which a plan takes the beginning, and their revisions.
// A record depends on the seed and its number only, and says that it is synthetic; nothing here may pass for real.
import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Content, type FieldValue, givenFields } from '../../src/datasets/define.ts'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { type Counts, countStep, DAY, hash, pick } from './epidemic.ts'
import { type Series, streamSeries } from './series.ts'
import { remarks } from './world.ts'

export interface SynthPlan {
  /** The size of release 1. */
  records: number
  seed: number
  /** 1 is the base; release R is its state after R - 1 revisions. */
  release: number
}

/** The stable key, then every given field of the dataset in the order of its declaration. */
export type SynthRow = { key: string } & Content

/** One step of a series, and what it truly counts. */
interface Observation {
  readonly series: Series
  readonly step: number
  readonly truth: Counts
}

/** What a record says of an observation, as far as a revision may change it. */
interface Statement {
  readonly status: string
  readonly cases: number | null
  readonly deaths: number | null
  readonly casesMissing: string | null
  readonly deathsMissing: string | null
  readonly note: string | null
}

const BATCH_CHARACTERS = 1 << 14
const BUFFERED_BYTES = 1 << 20
const nothing: Counts = { cases: 0, deaths: 0 }
const whyUnknown = ['not_reported', 'not_reported', 'censored', 'withdrawn']
const extra = { synthetic: true }

/** Streams `outbreaks.csv` into the directory, then `release.json`, whose presence says that the release is whole. */
export async function writeSynthRelease(
  plan: SynthPlan,
  directory: string,
): Promise<{ records: number; bytes: number }> {
  const rows = synthesise(plan)
  const manifest = join(directory, 'release.json')
  if (existsSync(manifest)) throw new Error(`${manifest} exists already`)
  await mkdir(directory, { recursive: true })
  let records = 0
  const counted = rows.map((row) => {
    records++
    return row
  })
  const file = createWriteStream(join(directory, 'outbreaks.csv'), { highWaterMark: BUFFERED_BYTES })
  await pipeline(renderCsv(counted), file)
  await writeFile(manifest, `${JSON.stringify(describePlan(plan), null, 2)}\n`, { flag: 'wx' })
  return { records, bytes: file.bytesWritten }
}

const describePlan = ({ records, seed, release }: SynthPlan) => ({
  title: `Synthetic outbreak data: ${records} records, seed ${seed}, release ${release}`,
  licence: 'CC0-1.0',
  note: `Synthetic: no record describes a real outbreak. Made with records ${records}, seed ${seed}, release ${release}.`,
})

/** Yields batches of lines. Most cells repeat from row to row, so each column remembers what it last rendered. */
function* renderCsv(rows: Iterable<SynthRow>): Generator<string> {
  const seen: FieldValue[] = []
  const cells: string[] = []
  let batch = ['key', ...givenFields(hedOutbreaks).map((field) => field.name)].join(',')
  for (const row of rows) {
    let column = 0
    // A row has the order of the declaration, and going along it is ten times faster than looking up each name.
    for (const name in row) {
      const value = row[name] ?? null
      if (value !== seen[column]) {
        seen[column] = value
        cells[column] = (column === 0 ? '\n' : ',') + renderCell(value)
      }
      batch += cells[column++]
    }
    if (batch.length >= BATCH_CHARACTERS) {
      yield batch
      batch = ''
    }
  }
  yield `${batch}\n`
}

function renderCell(value: FieldValue): string {
  if (value === null) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export function synthesise(plan: SynthPlan): Generator<SynthRow> {
  const { records, seed, release } = plan
  if (!Number.isSafeInteger(records) || records < 1) throw new RangeError('records must be a whole number from 1')
  if (!Number.isSafeInteger(release) || release < 1) throw new RangeError('release must be a whole number from 1')
  if (seed !== seed >>> 0) throw new RangeError('seed must be a whole number from 0 to 4294967295')
  return streamRows(plan)
}

function* streamRows({ records, seed, release }: SynthPlan): Generator<SynthRow> {
  const added = Math.ceil(records / 1000)
  const total = records + (release - 1) * added
  let number = 0
  for (const series of streamSeries(seed)) {
    let before = nothing
    for (let step = 0; step < series.place.steps; step++) {
      if (number === total) return
      number++
      const truth = countTruth(series, step, before)
      const observation = { series, step, truth }
      before = truth
      const born = number <= records ? 1 : 1 + Math.ceil((number - records) / added)
      let statement: Statement | null = makeStatement(observation)
      for (let revision = born + 1; revision <= release && statement; revision++) {
        statement = revise(observation, statement, revision, hash(hash(seed, 2 + revision), number))
      }
      if (statement) yield composeRow(`synthetic-${seed}-${number}`, observation, statement)
    }
  }
}

/** The counts of this step, or of all steps so far. */
function countTruth({ outbreak, place, status, cumulative, breakStep }: Series, step: number, before: Counts): Counts {
  const counted = countStep(outbreak, place, status, step)
  if (!cumulative) return counted
  const kept = step === breakStep ? 0.8 : 1
  return {
    cases: Math.ceil(before.cases * kept) + counted.cases,
    deaths: Math.ceil(before.deaths * kept) + counted.deaths,
  }
}

function makeStatement({ series, step, truth }: Observation): Statement {
  const chance = hash(series.hash, 100 + step)
  const falls = step === series.breakStep
  const casesMissing = chance % 64 === 0 && !falls ? pick(whyUnknown, chance >>> 6) : null
  const deathsUnread = (chance >>> 8) % 32 === 0 && !falls ? pick(whyUnknown, chance >>> 13) : null
  const deathsMissing = series.deathsMissing ?? deathsUnread
  return {
    status: series.status,
    cases: casesMissing ? null : truth.cases,
    deaths: deathsMissing ? null : truth.deaths,
    casesMissing,
    deathsMissing,
    note: (chance >>> 16) % 12 === 0 ? pick(remarks, chance >>> 20) : null,
  }
}

/** One revision: most statements stay, one in a thousand is removed (null), ten in a thousand are corrected. */
function revise(observation: Observation, said: Statement, revision: number, chance: number): Statement | null {
  const { series, step, truth } = observation
  const { cumulative, breakStep } = series
  const lot = chance % 1000
  if (lot > 10) return said
  // Without this record the fall would only seem to come later.
  if (lot === 0) return step === breakStep ? said : null
  // Late reports raise new counts. Recounts lower cumulative ones, so that the records behind them still do not fall.
  const direction = cumulative ? -1 : 1
  const read = said.cases ?? 0
  const change = 1 + ((chance >>> 10) % (1 + (read >>> 3)))
  const cases = said.cases === null || (cumulative && read === 0) ? truth.cases : read + direction * change
  const shift = (chance >>> 12) % 4 === 0 ? direction : 0
  const deaths = said.deaths === null ? null : Math.min(cases, Math.max(0, said.deaths + shift))
  return {
    status: !cumulative && said.status === 'suspected' && (chance >>> 14) % 2 === 0 ? 'probable' : said.status,
    cases,
    deaths,
    casesMissing: null,
    deathsMissing: said.deathsMissing,
    note: `Synthetic correction in revision ${revision}: read "${said.cases ?? 'nothing'}", now ${cases}.`,
  }
}

function composeRow(key: string, { series, step }: Observation, statement: Statement): SynthRow {
  const { outbreak, place, cumulative } = series
  const chance = hash(series.hash, 10_000 + step)
  const startInferred = chance % 29 === 0
  const last = place.start + (step + 1) * place.cadence - 1
  const late = (chance >>> 8) % 16 === 0 ? (chance >>> 12) % 8 : 0
  return {
    key,
    event: outbreak.name,
    pathogen: outbreak.pathogen.name,
    pathogen_taxon_id: outbreak.pathogen.taxonId,
    disease: outbreak.pathogen.disease,
    disease_icd11: outbreak.pathogen.icd11,
    host: outbreak.host,
    host_species: null,
    country_code: outbreak.country.code,
    country: outbreak.country.name,
    location_granularity: place.granularity,
    al1_code: place.al1Code,
    admin_l1: place.admin1,
    admin_l2: place.admin2,
    admin_l3: place.admin3,
    locality: place.locality,
    place_id: null,
    location_as_reported: series.locationAsReported,
    location_type: series.locationType,
    latitude: place.latitude,
    longitude: place.longitude,
    date_low: startInferred ? null : formatDay(cumulative ? place.start : last - place.cadence + 1),
    date_high: formatDay(last),
    date_report: (chance >>> 16) % 23 === 0 ? null : formatDay(last + series.delay + late),
    date_type: series.dateType,
    date_inferred: startInferred || place.cadence === 14,
    case_status: statement.status,
    case_definition: null,
    count_kind: cumulative ? 'cumulative' : 'new',
    age_group: null,
    sex: null,
    population: null,
    cases: statement.cases,
    deaths: statement.deaths,
    hospitalised: null,
    recovered: null,
    tested: null,
    count_qualifier: 'exact',
    cases_missing: statement.casesMissing,
    deaths_missing: statement.deathsMissing,
    composite: series.sourceType === 'composite',
    source_name: series.sourceName,
    source_report: `Synthetic report ${step + 1}`,
    source_type: series.sourceType,
    source_url: series.sourceUrl && `${series.sourceUrl}/report-${step + 1}`,
    licence: null,
    verification: series.verification,
    note: statement.note,
    extra,
  }
}

const days: string[] = []
const formatDay = (day: number) => (days[day] ??= new Date(day * DAY).toISOString().slice(0, 10))
