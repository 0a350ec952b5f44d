// Generates synthetic releases: the first records of an endless stream, and their revisions.
// A record depends only on the seed and its number. Every record says that it is synthetic, so that it cannot pass for real.
import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Content, FieldValue } from '../../src/datasets/define.ts'
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

/** The stable key, then the fields that synthetic records have, always in the same order. */
export type SynthRow = { key: string } & Content

/** One step of a series, and its true counts. */
interface Observation {
  readonly series: Series
  readonly step: number
  readonly truth: Counts
}

/** The part of a record that a revision may change. */
interface ReportedCounts {
  readonly status: string
  readonly cases: number | null
  readonly deaths: number | null
  readonly casesMissing: string | null
  readonly deathsMissing: string | null
  readonly note: string | null
}

const BATCH_CHARACTERS = 1 << 14
const BUFFERED_BYTES = 1 << 20
const NO_COUNTS: Counts = { cases: 0, deaths: 0 }
const missingReasons = ['not_reported', 'not_reported', 'censored', 'withdrawn']
const extra = { synthetic: true }

/** Streams `outbreaks.csv` into the directory, then writes `release.json`, which marks the release as complete. */
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

/** Yields batches of lines. Most cells repeat from row to row, so each column caches its last cell. */
function* renderCsv(rows: Iterable<SynthRow>): Generator<string> {
  const previous: FieldValue[] = []
  const cells: string[] = []
  let batch = ''
  for (const row of rows) {
    if (cells.length === 0) batch = Object.keys(row).join(',')
    let column = 0
    // All rows have the same order. Iterating over it is ten times faster than looking up each name.
    for (const name in row) {
      const value = row[name] ?? null
      if (value !== previous[column]) {
        previous[column] = value
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
    let previousTruth = NO_COUNTS
    for (let step = 0; step < series.place.steps; step++) {
      if (number === total) return
      number++
      const truth = countTruth(series, step, previousTruth)
      const observation = { series, step, truth }
      previousTruth = truth
      const firstRelease = number <= records ? 1 : 1 + Math.ceil((number - records) / added)
      let report: ReportedCounts | null = createReport(observation)
      for (let revision = firstRelease + 1; revision <= release && report; revision++) {
        report = revise(observation, report, revision, hash(hash(seed, 2 + revision), number))
      }
      if (report) yield createRow(`synthetic-${seed}-${number}`, observation, report)
    }
  }
}

/** The counts of this step, or of all steps so far for a cumulative series. */
function countTruth(
  { outbreak, place, status, cumulative, breakStep }: Series,
  step: number,
  previousTruth: Counts,
): Counts {
  const counted = countStep(outbreak, place, status, step)
  if (!cumulative) return counted
  const kept = step === breakStep ? 0.8 : 1
  return {
    cases: Math.ceil(previousTruth.cases * kept) + counted.cases,
    deaths: Math.ceil(previousTruth.deaths * kept) + counted.deaths,
  }
}

function createReport({ series, step, truth }: Observation): ReportedCounts {
  const chance = hash(series.hash, 100 + step)
  const decreases = step === series.breakStep
  const casesMissing = chance % 64 === 0 && !decreases ? pick(missingReasons, chance >>> 6) : null
  const deathsUnknown = (chance >>> 8) % 32 === 0 && !decreases ? pick(missingReasons, chance >>> 13) : null
  const deathsMissing = series.deathsMissing ?? deathsUnknown
  return {
    status: series.status,
    cases: casesMissing ? null : truth.cases,
    deaths: deathsMissing ? null : truth.deaths,
    casesMissing,
    deathsMissing,
    note: (chance >>> 16) % 12 === 0 ? pick(remarks, chance >>> 20) : null,
  }
}

/** One revision: most records stay, one in a thousand is removed (null), ten in a thousand are corrected. */
function revise(
  observation: Observation,
  report: ReportedCounts,
  revision: number,
  chance: number,
): ReportedCounts | null {
  const { series, step, truth } = observation
  const { cumulative, breakStep } = series
  const draw = chance % 1000
  if (draw > 10) return report
  // Without this record the decrease would appear at a later record.
  if (draw === 0) return step === breakStep ? report : null
  // Late reports raise new counts. Recounts lower cumulative counts, so that later records still do not decrease.
  const direction = cumulative ? -1 : 1
  const reported = report.cases ?? 0
  const change = 1 + ((chance >>> 10) % (1 + (reported >>> 3)))
  const cases = report.cases === null || (cumulative && reported === 0) ? truth.cases : reported + direction * change
  const shift = (chance >>> 12) % 4 === 0 ? direction : 0
  const deaths = report.deaths === null ? null : Math.min(cases, Math.max(0, report.deaths + shift))
  return {
    status: !cumulative && report.status === 'suspected' && (chance >>> 14) % 2 === 0 ? 'probable' : report.status,
    cases,
    deaths,
    casesMissing: null,
    deathsMissing: report.deathsMissing,
    note: `Synthetic correction in revision ${revision}: read "${report.cases ?? 'nothing'}", now ${cases}.`,
  }
}

function createRow(key: string, { series, step }: Observation, report: ReportedCounts): SynthRow {
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
    case_status: report.status,
    case_definition: null,
    count_kind: cumulative ? 'cumulative' : 'new',
    age_group: null,
    sex: null,
    population: null,
    cases: report.cases,
    deaths: report.deaths,
    hospitalised: null,
    recovered: null,
    tested: null,
    count_qualifier: 'exact',
    cases_missing: report.casesMissing,
    deaths_missing: report.deathsMissing,
    composite: series.sourceType === 'composite',
    source_name: series.sourceName,
    source_report: `Synthetic report ${step + 1}`,
    source_type: series.sourceType,
    source_url: series.sourceUrl && `${series.sourceUrl}/report-${step + 1}`,
    licence: null,
    verification: series.verification,
    note: report.note,
    extra,
  }
}

const days: string[] = []
const formatDay = (day: number) => (days[day] ??= new Date(day * DAY).toISOString().slice(0, 10))
