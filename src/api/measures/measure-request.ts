// Parses which measures a request wants, and rejects those that would mislead at its interval. Pure.
import { Type } from 'typebox'
import type { Interval } from '../../methods/calendar.ts'
import { MAX_PERIODS, MEASURES, type Measure, MIN_GROWTH_PERIODS } from '../../methods/measures.ts'
import { Problem } from '../../platform/problem.ts'

export interface MeasureQuery {
  readonly measures?: readonly Measure[]
  readonly periods?: number
  /** The counts that the response shows. Default: all. */
  readonly counts?: readonly string[]
}

export interface MeasureRequest {
  readonly measures: readonly Measure[]
  /** The length of the periods; null for one period with all days. */
  readonly interval: Interval | null
  /** The number of periods of a moving average and of a growth rate. */
  readonly averaged: number
  readonly fitted: number
  readonly isShown: (count: string) => boolean
}

/** Whole weeks, so that Sundays do not matter; longer for a fit. */
const AVERAGED: Readonly<Record<Interval, number>> = { day: 7, isoweek: 4, epiweek: 4, month: 3, year: 3 }
const FITTED: Readonly<Record<Interval, number>> = { day: 14, isoweek: 8, epiweek: 8, month: 0, year: 0 }

export const measureParameters = {
  measures: Type.Optional(
    Type.Array(Type.Enum([...MEASURES]), {
      maxItems: MEASURES.length,
      description:
        'Adds columns that are computed from the counts: the case fatality ratio (`cfr`), counts per 100,000 inhabitants of whole countries (`per_100000`) and, of `/series`, a trailing `moving_average` and the exponential `growth`. A measure whose conditions fail is null, and the column `null_because` says why.',
    }),
  ),
  periods: Type.Optional(
    Type.Integer({
      minimum: 2,
      maximum: MAX_PERIODS,
      description:
        'The number of periods of a moving average and of a growth rate. Default: 7 days, 4 weeks, 3 months or 3 years; for growth 14 days or 8 weeks.',
    }),
  ),
}

const reject = (detail: string, parameter = 'measures') => new Problem('invalid_parameter', detail, { parameter })

export function parseMeasures(
  { measures = [], periods, counts }: MeasureQuery,
  interval: Interval | null,
  resource: 'series' | 'sums',
): MeasureRequest {
  const has = (measure: Measure) => measures.includes(measure)
  const trailing = measures.find((measure) => measure === 'moving_average' || measure === 'growth')
  if (trailing !== undefined && resource === 'sums')
    throw reject(`${trailing} needs one period after the other. Use /series with an interval.`)
  if (periods !== undefined && trailing === undefined)
    throw reject(
      'periods belongs to measures=moving_average and measures=growth. Leave it out, or add one of them.',
      'periods',
    )
  if (has('cfr') && interval !== null && interval !== 'year')
    throw reject(
      'cfr by short periods would mislead: deaths follow cases by weeks. Use year, or /sums without a period.',
    )
  if (has('growth') && interval !== null && FITTED[interval] === 0)
    throw reject('growth needs days or weeks. Use interval=day, isoweek or epiweek.')
  if (has('growth') && periods !== undefined && periods < MIN_GROWTH_PERIODS)
    throw reject(`growth needs at least ${MIN_GROWTH_PERIODS} periods.`, 'periods')
  return {
    measures: MEASURES.filter(has),
    interval,
    averaged: periods ?? (interval === null ? 0 : AVERAGED[interval]),
    fitted: periods ?? (interval === null ? 0 : FITTED[interval]),
    isShown: (count) => counts?.includes(count) !== false,
  }
}
