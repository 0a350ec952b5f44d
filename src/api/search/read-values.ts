// Reads the values of a release for its search index: from the counted values and the summaries of events, and the
// fields that have neither with a scan that has a limit. Does not read all records of a large release.
import sql, { join, type Sql } from 'sql-template-tag'
import type { Dataset } from '../../datasets/define.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { identifier, tablesOf } from '../../storage/tables.ts'
import { assertKept, isInKeptRelease, isInRelease } from '../../storage/versions.ts'
import type { EventFacts, ReleaseValues } from './search-index.ts'

/** The index has at most this many values of a field: those with the most records. Building it takes up to 0.2 ms for each. */
const MAX_VALUES = 5000
/** A release with more records, or with more versions in its table, is not scanned. */
const MAX_RECORDS = 20_000
const MAX_VERSIONS = 200_000

/** The lists in the summary of an event, by field. Summaries of earlier releases do not list diseases. */
const SUMMARY_LISTS: Readonly<Record<string, string>> = {
  pathogen: 'pathogens',
  disease: 'diseases',
  country_code: 'country_codes',
  source_name: 'sources',
}

interface CountRow {
  field: string
  value: string
  records: string
}

export async function readReleaseValues(
  database: Database,
  dataset: Dataset,
  release: PublishedRelease,
  maxValues = MAX_VALUES,
): Promise<ReleaseValues> {
  const counted = await database.query<CountRow>(selectFrequentValues(dataset, release.number, maxValues + 1))
  const scanned = await scanValues(database, dataset, release)
  const byField = Map.groupBy([...counted, ...scanned.counts], ({ field }) => field)
  const counts = [...byField.values()].flatMap((rows) => rows.slice(0, maxValues))
  const events = dataset.summarisesEvents
    ? await database.query<SummaryRow>(
        selectSummaries(
          dataset,
          release.number,
          counts.filter(({ field }) => field === 'event').map(({ value }) => value),
        ),
      )
    : []
  const overfull = [...byField].filter(([, rows]) => rows.length > maxValues).map(([field]) => field)
  return {
    counts: counts.map(({ field, value, records }) => ({ field, value, records: Number(records) })),
    events: events.map((row) => toEventFacts(dataset, row, scanned.valuesByEvent.get(row.event))),
    incomplete: [...overfull, ...scanned.incomplete],
  }
}

export const selectFrequentValues = (dataset: Dataset, release: number, limit: number): Sql => sql`
  select facet.* from unnest(${dataset.facets}::text[]) as requested (field) cross join lateral (
    select field, value, records from ${tablesOf(dataset).facet} as counted
    where counted.field = requested.field and ${isInRelease(release)}
    order by records desc, value limit ${limit}
  ) as facet where ${assertKept(dataset, release)}`

interface SummaryRow {
  event: string
  first_day: string | null
  last_day: string | null
  [list: string]: unknown
}

export const selectSummaries = (dataset: Dataset, release: number, events: readonly string[]): Sql => sql`
  select event, summary.* from ${identifier(`${dataset.table}_event`)} cross join lateral json_to_record(body::json)
    as summary (first_day text, last_day text, ${join(Object.values(SUMMARY_LISTS).map((list) => sql`${identifier(list)} json`))})
  where event = any(${events}) and ${isInKeptRelease(dataset, release)}`

type ValuesByField = ReadonlyMap<string, readonly string[]>

/** A field that is derived from one listed field, such as the region of a country, follows from the list. */
function toEventFacts(dataset: Dataset, row: SummaryRow, scanned: ValuesByField = new Map()): EventFacts {
  const listed = new Map(Object.entries(SUMMARY_LISTS).map(([field, list]) => [field, row[list] ?? []]))
  const values = new Map([...(listed as Map<string, string[]>), ...scanned])
  for (const { name, derive } of dataset.content) {
    const sources = derive?.from.length === 1 ? listed.get(derive.from[0] ?? '') : undefined
    if (derive === undefined || sources === undefined) continue
    const derivedValues = (sources as string[])
      .map((value) => derive.compute([value]))
      .filter((value) => value !== null)
    values.set(name, [...new Set(derivedValues.map(String))])
  }
  return { event: row.event, firstDay: row.first_day, lastDay: row.last_day, values }
}

interface ScannedValues {
  readonly counts: readonly CountRow[]
  readonly valuesByEvent: ReadonlyMap<string, ValuesByField>
  readonly incomplete: readonly string[]
}

interface ScanRow extends CountRow {
  event: string
  budget_exhausted: boolean
}

/** The fields that are filtered by a scan, and those whose values no summary lists. All of their values, or none. */
async function scanValues(
  database: Database,
  dataset: Dataset,
  { number, records }: PublishedRelease,
): Promise<ScannedValues> {
  const uncounted = dataset.fields.filter((field) => field.filterCardinality === 'scanned').map(({ name }) => name)
  const unlisted = Object.values(dataset.search?.kinds ?? {})
    .flat()
    .filter((name) => dataset.facets.includes(name) && !isInSummary(dataset, name))
  const fields = [...uncounted, ...(dataset.summarisesEvents ? unlisted : [])]
  if (fields.length === 0) return { counts: [], valuesByEvent: new Map(), incomplete: [] }
  const rows = records > MAX_RECORDS ? null : await database.query<ScanRow>(selectScanned(dataset, number, fields))
  if (rows === null || rows.some((row) => row.budget_exhausted))
    return { counts: [], valuesByEvent: new Map(), incomplete: uncounted }
  const found = rows.filter((row) => row.field !== null)
  const byValue = Map.groupBy(found, ({ field, value }) => `${field}\0${value}`)
  const counts = [...byValue.values()].map(([first, ...others]) => ({
    ...(first as ScanRow),
    records: String([first as ScanRow, ...others].reduce((sum, row) => sum + Number(row.records), 0)),
  }))
  return {
    counts: counts
      .filter(({ field }) => uncounted.includes(field))
      .toSorted((a, b) => Number(b.records) - Number(a.records)),
    valuesByEvent: new Map(
      [...Map.groupBy(found, ({ event }) => event)].map(([event, ofEvent]) => [event, groupValues(ofEvent)]),
    ),
    incomplete: [],
  }
}

const isInSummary = (dataset: Dataset, name: string): boolean => {
  const derivation = dataset.content.find((field) => field.name === name)?.derive
  const listed = name === 'event' || (name !== 'disease' && name in SUMMARY_LISTS)
  return listed || derivation?.from.every((source) => source in SUMMARY_LISTS) === true
}

const groupValues = (rows: readonly ScanRow[]): ValuesByField =>
  new Map([...Map.groupBy(rows, ({ field }) => field)].map(([field, found]) => [field, found.map((row) => row.value)]))

export function selectScanned(dataset: Dataset, release: number, fields: readonly string[]): Sql {
  const columns = join(fields.map(identifier))
  const values = join(fields.map((field) => sql`(${field}, ${identifier(field)}::text)`))
  return sql`
  with scanned as materialized (
    select ${isInRelease(release)} as matches, event, ${columns} from ${tablesOf(dataset).version}
    where ${assertKept(dataset, release)} limit ${MAX_VERSIONS + 1}
  ), combination as (
    select event, ${columns}, count(*) as records from scanned where matches group by event, ${columns}
  )
  select null as field, null as value, null as event, 0 as records, count(*) > ${MAX_VERSIONS} as budget_exhausted from scanned
  union all
  select field, value, event, sum(records), false
  from combination cross join lateral (values ${values}) as facet (field, value)
  where value is not null group by field, value, event`
}
