// Reads the values of a release for its search index from the column index: how many records have each value, and which
// values the records of each event have.
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { ColumnIndex, IndexSnapshot } from '../../columns/column-index.ts'
import { runColumns } from '../../columns/layout.ts'
import { column } from '../../columns/tables.ts'
import type { Dataset } from '../../datasets/define.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { rankValues } from '../filters/facets.ts'
import { filterFields, NO_FILTERS } from '../filters/filters.ts'
import { readFacets } from '../filters/run-filter-queries.ts'
import type { EventFacts, ReleaseValues } from './search-index.ts'

/** The index has at most this many values of a field: those with the most records. Building it takes up to 0.2 ms for each. */
const MAX_VALUES = 5000

export async function readReleaseValues(
  index: ColumnIndex,
  dataset: Dataset,
  release: PublishedRelease,
  maxValues = MAX_VALUES,
): Promise<ReleaseValues> {
  // The id of a series is a digest. A digest that looks similar belongs to an unrelated series.
  const fields = filterFields(dataset)
    .map(({ name }) => name)
    .filter((name) => name !== dataset.series?.id)
  const found = await readFacets({ index }, { dataset, filters: NO_FILTERS, release }, fields)
  const ranked = fields.map((field) => ({ field, values: rankValues(found.get(field) ?? []) }))
  const events = ranked.find(({ field }) => field === 'event')?.values.slice(0, maxValues) ?? []
  return {
    counts: ranked.flatMap(({ field, values }) => values.slice(0, maxValues).map((value) => ({ field, ...value }))),
    events: await readEventFacts(index, dataset, release, new Set(events.map(({ value }) => value))),
    incomplete: ranked.filter(({ values }) => values.length > maxValues).map(({ field }) => field),
  }
}

/** The days of each event, and the values of the fields that people search for. */
function readEventFacts(
  index: ColumnIndex,
  dataset: Dataset,
  release: PublishedRelease,
  events: ReadonlySet<string>,
): Promise<EventFacts[]> {
  const searched = Object.values(dataset.search?.kinds ?? {}).flat()
  const fields = searched.filter((name) => name !== 'event' && runColumns(dataset).includes(name))
  if (!runColumns(dataset).includes('event')) return Promise.resolve([])
  return index.read(release, async (snapshot) => {
    const days = await snapshot.query(selectDays(dataset, snapshot))
    const values = new Map<string, Map<string, string[]>>()
    for (const field of fields) {
      for (const [event, value] of await snapshot.query(selectValuesByEvent(snapshot, field))) {
        if (!events.has(String(event))) continue
        const ofEvent = values.get(String(event)) ?? new Map<string, string[]>()
        values.set(String(event), ofEvent.set(field, [...(ofEvent.get(field) ?? []), String(value)]))
      }
    }
    return days
      .filter(([event]) => events.has(String(event)))
      .map(([event, firstDay, lastDay]) => ({
        event: String(event),
        firstDay: firstDay as string | null,
        lastDay: lastDay as string | null,
        values: values.get(String(event)) ?? new Map<string, string[]>(),
      }))
  })
}

const textOf = (field: string, code: Sql) =>
  sql`(select value from dictionary where field = ${field} and dictionary.code = ${code})`

function selectDays({ periods }: Dataset, { rows }: IndexSnapshot): Sql {
  const [period] = periods
  const days = period === undefined ? [] : [column(period.first), column(period.last)]
  const pick = (name: 'min' | 'max') =>
    days.length === 0
      ? sql`null`
      : sql`${raw(name)}(${raw(name === 'min' ? 'least' : 'greatest')}(${join(days)}))::VARCHAR`
  return sql`
    select ${textOf('event', sql`event`)}, first_day, last_day from (
      select event, ${pick('min')} as first_day, ${pick('max')} as last_day from ${rows} group by event
    )`
}

const selectValuesByEvent = ({ rows, hasRuns }: IndexSnapshot, field: string): Sql => sql`
  select event_text.value, value_text.value from (
    select distinct event, ${column(field)} as value from ${hasRuns ? sql`id_run` : rows}
    where ${column(field)} is not null
  ) as pair
  join dictionary as event_text on event_text.field = 'event' and event_text.code = pair.event
  join dictionary as value_text on value_text.field = ${field} and value_text.code = pair.value`
