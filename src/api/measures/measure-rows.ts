// The columns that measures add to the rows of a response, and what the response says about them. Pure.
import { Type } from 'typebox'
import { periodOf } from '../../methods/calendar.ts'
import type { Figure } from '../../methods/figures.ts'
import {
  findInhabitants,
  type Measure,
  type Measured,
  measureAverage,
  measureFatality,
  measureGrowth,
  measureRate,
  REASONS,
  type Reason,
} from '../../methods/measures.ts'
import type { PopulationTable } from '../../methods/population.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import type { FigureGroup } from '../figures/figure-groups.ts'
import type { MeasureRequest } from './measure-request.ts'

type Columns = Record<string, number | string | boolean | null>

interface MeasureOptions {
  readonly request: MeasureRequest
  readonly population: PopulationTable
  /** The number of a row: everything that is known, or the new counts of its period. */
  readonly member: 'total' | 'new'
}

export interface MeasuredRows {
  readonly columnsOf: (figure: Figure) => Columns
  /** What the response says about its measures; nothing without any. */
  readonly about: { readonly measures?: object }
}

export function measureRows(
  { series }: SeriesDataset,
  groups: readonly FigureGroup[],
  { request, population, member }: MeasureOptions,
): MeasuredRows {
  const { measures, interval } = request
  if (measures.length === 0) return { columnsOf: () => ({}), about: {} }
  const figures = groups.flatMap((group) => group.figures)
  // Most counts are nowhere known.
  const counted = series.counts.flatMap((name, i) =>
    request.isShown(name) && figures.some((figure) => (figure[member][i] ?? null) !== null) ? [{ name, i }] : [],
  )
  const nulls = new Map<string, { column: string; reason: Reason; rows: number }>()

  const measureFigure = (group: FigureGroup, figure: Figure, end: number): Columns => {
    const because: string[] = []
    const take = <Value>(column: string, { value, reason }: Measured<Value>): Value | null => {
      if (reason === null) return value
      because.push(`${column}=${reason}`)
      const known = nulls.get(`${column} ${reason}`)
      nulls.set(`${column} ${reason}`, { column, reason, rows: (known?.rows ?? 0) + 1 })
      return null
    }
    const window = (periods: number) => ({ figures: group.figures, end, periods, interval: interval ?? 'day' })
    const parts: Readonly<Record<Measure, () => Columns>> = {
      cfr: () => describeFatality(group, figure),
      per_100000: () => describeRates(group, figure),
      moving_average: () =>
        Object.fromEntries(
          counted.map(({ name, i }) => [
            `${name}_average`,
            take(`${name}_average`, measureAverage(window(request.averaged), i)),
          ]),
        ),
      growth: () =>
        Object.assign(
          {},
          ...counted.map(({ name, i }) => {
            const growth = take(`${name}_growth`, measureGrowth(window(request.fitted), i))
            return {
              [`${name}_growth`]: growth?.perDay ?? null,
              [`${name}_growth_low`]: growth?.low ?? null,
              [`${name}_growth_high`]: growth?.high ?? null,
              [`${name}_doubling_days`]: growth?.doublingDays ?? null,
              [`${name}_halving_days`]: growth?.halvingDays ?? null,
            }
          }),
        ) as Columns,
    }
    const describeFatality = ({ facts }: FigureGroup, { period, interim, ...own }: Figure): Columns => {
      const valueOf = (name: string | undefined) => own[member][series.counts.indexOf(name ?? '')] ?? null
      const cell = interval === null ? 0 : periodOf(interval, period.first).first
      const paired = facts?.paired.get(cell) ?? null
      const fatality = take(
        'cfr',
        measureFatality({
          paired,
          cases: valueOf(series.measured?.cases),
          deaths: valueOf(series.measured?.deaths),
          statuses: facts?.statuses.get(cell) ?? [],
          noCase: series.measured?.noCase ?? null,
        }),
      )
      return {
        cfr: fatality?.ratio ?? null,
        cfr_low: fatality?.low ?? null,
        cfr_high: fatality?.high ?? null,
        cfr_cases: fatality === null ? null : (paired?.cases ?? null),
        cfr_deaths: fatality === null ? null : (paired?.deaths ?? null),
        crude: fatality !== null,
        ongoing: fatality !== null && interim,
      }
    }
    const describeRates = ({ facts }: FigureGroup, own: Figure): Columns => {
      const found = findInhabitants(facts ?? NOBODY, own.period, population.find)
      return {
        ...Object.fromEntries(
          counted.map(({ name, i }) => {
            const completeness = own.completeness[i] ?? { placesKnown: 0, placesReporting: 0 }
            const column = `${name}_per_100000`
            return [column, take(column, measureRate(own[member][i] ?? null, found, completeness))]
          }),
        ),
        inhabitants: found.value?.inhabitants ?? null,
        inhabitants_year: found.value?.year ?? null,
        inhabitants_source: found.value === null ? null : population.source,
      }
    }
    const columns = Object.assign({}, ...measures.map((measure) => parts[measure]())) as Columns
    return { ...columns, null_because: because.length === 0 ? null : because.join(' ') }
  }

  const columns = new Map(
    groups.flatMap((group) => group.figures.map((figure, i) => [figure, measureFigure(group, figure, i)] as const)),
  )
  return {
    columnsOf: (figure) => columns.get(figure) ?? {},
    about: {
      measures: {
        ...Object.fromEntries(measures.map((measure) => [measure, describeMeasure(measure, request, population)])),
        nulls: [...nulls.values()].map((one) => ({ ...one, words: REASONS[one.reason] })),
      },
    },
  }
}

/** Without rows in the window nothing is known about the people. */
const NOBODY = { countries: [], areWholeCountries: false, areHuman: true, areEveryone: true }

function describeMeasure(measure: Measure, { averaged, fitted }: MeasureRequest, population: PopulationTable): object {
  switch (measure) {
    case 'cfr':
      return {
        method: 'Deaths divided by cases, of the series that have both.',
        unit: 'deaths per case, from 0 to 1',
        interval: 'Wilson score, 95%',
        crude: true,
      }
    case 'per_100000':
      return {
        method: 'The count divided by the inhabitants of the same whole countries.',
        unit: 'per 100,000 inhabitants, over the days of the row',
        source: population.source,
        licence: population.licence,
        url: population.url,
      }
    case 'moving_average':
      return {
        method: 'The mean of the new counts of this period and those before it.',
        unit: 'new counts in a period',
        periods: averaged,
      }
    case 'growth':
      return {
        method:
          'The slope of the logarithms of the new counts, by least squares, over this period and those before it.',
        unit: 'exponential rate in a day; doubling and halving time in days',
        interval: "Student's t, 95%",
        periods: fitted,
      }
  }
}

const measureSchema = Type.Optional(
  Type.Object({ method: Type.String(), unit: Type.String() }, { additionalProperties: true }),
)

/** A column of a measure. */
export const measureColumnSchema = Type.Union([Type.Number(), Type.String(), Type.Boolean(), Type.Null()])

/** What a response with measures has besides their columns. */
export const measuresSchema = Type.Optional(
  Type.Object(
    {
      cfr: measureSchema,
      per_100000: measureSchema,
      moving_average: measureSchema,
      growth: measureSchema,
      nulls: Type.Array(
        Type.Object({
          column: Type.String(),
          reason: Type.String(),
          rows: Type.Integer({ minimum: 1 }),
          words: Type.String(),
        }),
        {
          description:
            'Why measures are null, and in how many rows, even those that `num` leaves out. The column `null_because` of a row has the reason.',
        },
      ),
    },
    { description: 'With `measures`: how each was computed, its unit, and the source of the inhabitants.' },
  ),
)
