// Reads what measures need besides the figures: who the counts of a group are about, and the cases and deaths of series that
// have both. docs/methods.md, section 12.
import sql, { join, type Sql } from 'sql-template-tag'
import type { IndexSnapshot } from '../../columns/column-index.ts'
import { countColumns } from '../../columns/layout.ts'
import { dayNumber } from '../../columns/periods.ts'
import { column } from '../../columns/tables.ts'
import type { Interval } from '../../methods/calendar.ts'
import type { Measure, MeasureFacts, PairedCounts } from '../../methods/measures.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import {
  type FigureRows,
  figureColumn,
  groupKey,
  hasCount,
  isInWindow,
  readTexts,
  toNumber,
  totalColumns,
} from '../figures/figure-columns.ts'
import type { FigureRequest } from '../figures/figure-request.ts'
import { belongsToCell, cellOf } from '../figures/figure-sql.ts'

interface FactsQuestion {
  readonly request: FigureRequest
  /** The length of the periods; null for one period with all days. */
  readonly interval: Interval | null
}

/** By the key of the group. The rows of a group must be comparable. */
export async function readFacts(
  dataset: SeriesDataset,
  measures: readonly Measure[],
  snapshot: IndexSnapshot,
  rows: FigureRows,
  { request, interval }: FactsQuestion,
): Promise<ReadonlyMap<string, MeasureFacts>> {
  const { preference, measured, comparison, counts } = dataset.series
  if (preference === undefined || measured === undefined) return new Map()
  const groups = request.groupBy.map((field) => column(figureColumn(dataset, field)))
  const names = [preference.country, preference.level, preference.status, measured.host].map((field) =>
    figureColumn(dataset, field),
  )
  const isPart = join(
    comparison.parts.map((field) => sql`${column(field)} is not null`),
    ' or ',
  )
  const found = await snapshot.query(sql`
    select distinct ${join([...groups, ...names.map(column)])}, exclusive_place is not null, ${isPart},
      ${dayNumber(cellOf(request.window, interval))}
    from ${rows.from} where ${rows.condition} and ${isInWindow(request.window)} and ${hasCount(counts)}`)
  const decode = await readTexts(
    dataset,
    snapshot,
    names.map((name, i) => ({ name, values: found.map((row) => row[groups.length + i]) })),
  )
  const paired = measures.includes('cfr')
    ? await readPaired(dataset, snapshot, rows, { request, interval, groups, ...measured })
    : new Map<string, never>()
  return new Map(
    [...Map.groupBy(found, (row) => groupKey(row.slice(0, groups.length)))].map(([key, own]) => {
      const people = own.map((row) => {
        const [country = null, level = null, status = null, host = null] = names.map((name, i) =>
          decode(name, row[groups.length + i]),
        )
        const [isContainer, isGroup, cell] = row.slice(groups.length + names.length)
        return { country, level, status, host, isContainer, isGroup, cell: toNumber(cell) ?? 0 }
      })
      return [
        key,
        {
          countries: [...new Set(people.flatMap(({ country }) => (typeof country === 'string' ? [country] : [])))],
          areWholeCountries: people.every(
            ({ level, isContainer }) => level === preference.countryLevel && isContainer !== true,
          ),
          areHuman: people.every(({ host }) => host === measured.human),
          areEveryone: people.every(({ isGroup }) => isGroup !== true),
          statuses: new Map(
            [...Map.groupBy(people, ({ cell }) => cell)].map(([cell, members]) => [
              cell,
              [...new Set(members.map(({ status }) => status))],
            ]),
          ),
          paired: paired.get(key) ?? new Map(),
        },
      ]
    }),
  )
}

/** By group and by the first day of the period: the sums of series whose cases and deaths are of the same days. */
async function readPaired(
  dataset: SeriesDataset,
  snapshot: IndexSnapshot,
  { from, condition }: FigureRows,
  {
    request: { window },
    interval,
    groups,
    cases,
    deaths,
  }: FactsQuestion & { readonly groups: readonly Sql[]; readonly cases: string; readonly deaths: string },
): Promise<Map<string, Map<number, PairedCounts>>> {
  const { series } = dataset
  const isOpen = interval === null && !Number.isFinite(window.from)
  const totalOf = await totalColumns(dataset, snapshot)
  const codes = (await snapshot.codesOf(new Map([[series.kind, ['new']]]))).get(series.kind)
  const sumOf = (count: string) =>
    isOpen
      ? sql`sum(${totalOf(count)})`
      : sql`sum(${column(countColumns(count).increment)}) filter (where ${belongsToCell(count, window, interval)})`
  const lastDay = (count: string) => sql`max(day) filter (where ${column(count)} is not null)`
  const keys = groups.map((group, i) => sql`${group} as ${column(`group_${i}`)}`)
  const names = groups.map((_, i) => column(`group_${i}`))
  // New counts of a day without deaths have no deaths; a total without deaths is of another day than the last with deaths.
  const found = await snapshot.query(sql`
    select ${join([...names, dayNumber(sql`cell`), sql`sum(cases)::DOUBLE`, sql`sum(deaths)::DOUBLE`])}
    from (
      select ${join([...keys, sql`${cellOf(window, interval)} as cell`])}, ${sumOf(cases)} as cases, ${sumOf(deaths)} as deaths,
        ${lastDay(cases)} = ${lastDay(deaths)} or any_value(${column(series.kind)}) = ${codes?.get('new') ?? -1} as is_paired
      from ${from} where ${condition} and ${isInWindow(window)}
      group by ${join([...names, sql`cell`, column(series.id)])})
    where is_paired and cases is not null and deaths is not null
    group by ${join([...names, sql`cell`])}`)
  return new Map(
    [...Map.groupBy(found, (row) => groupKey(row.slice(0, groups.length)))].map(([key, own]) => [
      key,
      new Map(
        own.map((row) => {
          const [cell, paired, died] = row.slice(groups.length).map(toNumber)
          return [cell ?? 0, { cases: paired ?? 0, deaths: died ?? 0 }]
        }),
      ),
    ]),
  )
}
