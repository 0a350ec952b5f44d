// What a release touched: the values that its changed records have, or had, in the fields that say what a record is about. A watch
// that none of them meets costs nothing more. Days, counts and coordinates never decide: a difference may come from a report of an
// earlier day.
import sql, { raw, type Sql } from 'sql-template-tag'
import type { FeedRoutes } from '../../api/feeds/read-entries.ts'
import { figureColumn } from '../../api/figures/figure-columns.ts'
import { type Filters, filterFields } from '../../api/filters/filters.ts'
import { changedRows, column } from '../../columns/tables.ts'
import { EVENT, type Field } from '../../datasets/define.ts'
import { commonFields, type SeriesDataset } from '../../methods/record-series.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'

/** By field: each value as it is, and in lower case. A field that is missing decides nothing. */
export type Touched = ReadonlyMap<string, ReadonlySet<string>>

/** A release that touches more values of a field is not told apart by this field. */
const MAX_VALUES = 20_000

/** The fields of texts in which all records of a series agree. */
const identityFields = (dataset: SeriesDataset): Field[] =>
  filterFields(dataset).filter(
    ({ name, kind }) => kind !== 'boolean' && commonFields(dataset).includes(name) && name !== dataset.series.id,
  )

export function readTouched(
  { dataset, index }: Pick<FeedRoutes, 'dataset' | 'index'>,
  release: PublishedRelease,
): Promise<Touched> {
  return index.read(release, async ({ query }) => {
    const touched = new Map<string, Set<string>>()
    for (const { name } of identityFields(dataset)) {
      const values = await query(selectValues(release, name, figureColumn(dataset, name)))
      if (values.length <= MAX_VALUES) touched.set(name, new Set(values.flat().map(String)))
    }
    return touched
  })
}

/** The fields are names of the program. */
const selectValues = (release: PublishedRelease, field: string, columnName: string): Sql => sql`
  select value, lower(value) from dictionary
  where field = ${raw(`'${field}'`)} and code in (select distinct ${column(columnName)} from ${changedRows(release.number)})
  limit ${raw(String(MAX_VALUES + 1))}`

/** False if no changed record can match the filters. */
export function mayTouch(touched: Touched, { values }: Filters): boolean {
  return [...values].every(([field, accepted]) => {
    const known = touched.get(field)
    // A filter matches without regard to case.
    return (
      known === undefined || accepted.map(String).some((value) => known.has(value) || known.has(value.toLowerCase()))
    )
  })
}

/** False if the publisher prefers the same as before for all events that the filters name. */
export function mayPrefer(
  previous: Pick<PublishedRelease, 'preferred'>,
  release: Pick<PublishedRelease, 'preferred'>,
  { values }: Filters,
): boolean {
  const events = values.get(EVENT) ?? [
    ...new Set([...Object.keys(previous.preferred), ...Object.keys(release.preferred)]),
  ]
  return events.some((event) => {
    const name = String(event)
    return JSON.stringify(previous.preferred[name]) !== JSON.stringify(release.preferred[name])
  })
}
