// What the handlers of series and sums need for the measures of a request: what to read, and what to add to their rows.
import type { Interval } from '../../methods/calendar.ts'
import type { PopulationTable } from '../../methods/population.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import type { FigureGroup } from '../figures/figure-groups.ts'
import type { FigureQuestion } from '../figures/read-figures.ts'
import { type MeasureQuery, parseMeasures } from './measure-request.ts'
import { type MeasuredRows, measureRows } from './measure-rows.ts'
import { readFacts } from './read-facts.ts'

export interface Measures {
  /** False if the same URL can have another response: the operator can replace the population table. */
  readonly isImmutable: boolean
  /** What determines the response besides the request. */
  readonly variant: string
  readonly question: Pick<FigureQuestion, 'readFacts'>
  /** `interval` is null for one period with all days. */
  readonly measure: (groups: readonly FigureGroup[], interval: Interval | null) => MeasuredRows
}

/** `interval` is undefined if it is found in the records. */
export function openMeasures(
  dataset: SeriesDataset,
  population: PopulationTable,
  query: MeasureQuery,
  resource: 'series' | 'sums',
  interval: Interval | null | undefined,
): Measures {
  const { measures = [] } = query
  if (interval !== undefined) parseMeasures(query, interval, resource)
  const needsPopulation = measures.includes('per_100000')
  return {
    isImmutable: !needsPopulation,
    variant: needsPopulation ? population.digest : '',
    question:
      needsPopulation || measures.includes('cfr')
        ? { readFacts: (snapshot, rows, question) => readFacts(dataset, measures, snapshot, rows, question) }
        : {},
    measure: (groups, found) =>
      measureRows(dataset, groups, {
        request: parseMeasures(query, found, resource),
        population,
        member: resource === 'sums' ? 'total' : 'new',
      }),
  }
}
