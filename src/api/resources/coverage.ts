// How many records there are by place, or another field, and by period: what the dataset has, and where it has nothing.
import { Type } from 'typebox'
import { encodeTable } from '../../formats/table.ts'
import { formatDay, type Interval, periodOf, remembering } from '../../methods/calendar.ts'
import { hasSeries } from '../../methods/record-series.ts'
import { yieldToEventLoop } from '../../platform/cancellation.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Problem } from '../../platform/problem.ts'
import { type CoverageCell, readCoverage } from '../queries/coverage.ts'
import { coverageQuery } from '../requests/parameters.ts'
import { prepareQuery, type QueryParameters } from '../requests/prepare-query.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { errorResponses, okResponse, withFiles } from '../response/response-schemas.ts'
import { chooseFormat, TABLE_TYPES } from '../response/table-response.ts'
import { warningHeader } from '../search/warnings.ts'

/** 250 countries with all weeks of four years. */
export const MAX_CELLS = 50_000

export function registerCoverageRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, respond } = routes
  if (!hasSeries(dataset)) return

  app.get<{ Querystring: QueryParameters & { by: string; interval: Interval } }>(
    `/v2/${dataset.name}/coverage`,
    {
      schema: {
        tags: ['Data'],
        operationId: 'getCoverage',
        summary: 'Count records by place and period',
        description:
          'The number of matching records for each value of a field and each period. A record counts on the last day that it covers. A period that is not listed has no record, which says nothing about cases. As `text/csv`: a line for each value and period.',
        querystring: coverageQuery(dataset),
        response: {
          200: withFiles(okResponse(coverageSchema, 'The values with the most records first.'), TABLE_TYPES),
          ...errorResponses,
        },
      },
    },
    async (request, reply) => {
      const { by, interval } = request.query
      const query = await prepareQuery(routes, request.query, { fields: [[by, 'by']] })
      const { release, isImmutable } = query
      reply.headers(warningHeader(query.warnings))
      const { isTable, format } = chooseFormat(request, dataset.name, release, 'coverage')
      return respond(request, reply, {
        release,
        isImmutable,
        ...format,
        variant: `${by} ${interval} ${query.canonicalFilters}`,
        async render() {
          const { day } = dataset.series
          const cells = await readCoverage(routes, query, { field: by, day, interval, limit: MAX_CELLS + 1 })
          if (cells.length > MAX_CELLS)
            throw new Problem(
              'invalid_parameter',
              `The answer would have more than ${MAX_CELLS} periods. Filter further, or choose longer periods.`,
              { parameter: 'interval' },
            )
          await yieldToEventLoop()
          const data = groupCells(cells, interval)
          await yieldToEventLoop()
          if (isTable)
            return [
              encodeTable(
                data.flatMap(({ value, periods }) => periods.map((period) => ({ value, ...period }))),
                TABLE_COLUMNS,
              ),
            ]
          return [JSON.stringify({ by, interval, ...addUp(data), data })]
        },
      })
    },
  )
}

const TABLE_COLUMNS = ['value', 'period', 'first_day', 'last_day', 'records', 'changed']

/** The value with the most records first. */
function groupCells(cells: readonly CoverageCell[], interval: Interval) {
  const describePeriod = remembering((first: number) => {
    const { name, last } = periodOf(interval, first)
    return { period: name, first_day: formatDay(first), last_day: formatDay(last) }
  })
  const groups = [...Map.groupBy(cells, ({ value }) => value)].map(([value, ofValue]) => ({
    value,
    records: sum(ofValue),
    undated: sum(ofValue.filter(({ first }) => first === null)),
    periods: ofValue.flatMap(({ first, records, changed }) =>
      first === null ? [] : [{ ...describePeriod(first), records, changed }],
    ),
  }))
  return groups.toSorted((a, b) => b.records - a.records)
}

const sum = (cells: readonly { records: number }[]) => cells.reduce((total, { records }) => total + records, 0)
const addUp = (groups: readonly { records: number; undated: number }[]) => ({
  records: sum(groups),
  undated: groups.reduce((total, { undated }) => total + undated, 0),
})

const records = Type.Integer({ minimum: 0, description: 'The number of matching records.' })
const undated = Type.Integer({ minimum: 0, description: 'How many of them have no day. They are in no period.' })
const coverageSchema = Type.Object({
  by: Type.String(),
  interval: Type.String(),
  records,
  undated,
  data: Type.Array(
    Type.Object({
      value: Type.Union([Type.String(), Type.Null()], { description: 'Null: the records have no value.' }),
      records,
      undated,
      periods: Type.Array(
        Type.Object({
          period: Type.String({ description: '2020-03-02, 2020-W10, 2020-EW10, 2020-03 or 2020.' }),
          first_day: Type.String({ format: 'date' }),
          last_day: Type.String({ format: 'date' }),
          records: Type.Integer({ minimum: 1 }),
          changed: Type.Integer({ minimum: 0, description: 'How many of them this release added or changed.' }),
        }),
      ),
    }),
  ),
})
