// Counts over time of one series, or of a set of comparable series.
import { Type } from 'typebox'
import type { Series } from '../../datasets/define.ts'
import { type Interval, parseDay } from '../../methods/calendar.ts'
import { aggregate, formatPoint, type Report } from '../../methods/series.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Problem } from '../../platform/problem.ts'
import { parseFilters } from '../filters/filters.ts'
import { mixedHeader, mixedProblem, toFilterQuery } from '../filters/records-request.ts'
import { readColumns } from '../filters/run-filter-queries.ts'
import { createReleaseResolver } from '../paging/release-resolver.ts'
import { createResponder, prerendered } from '../response/responder.ts'
import { errorResponses, okResponse } from '../response/response-schemas.ts'
import { seriesQuery } from './parameters.ts'
import type { ResourceOptions } from './resource-options.ts'

/** The maximum number of records of one response. A query for one series has fewer. */
const MAX_RECORDS = 20_000

type Row = Record<string, string | number | boolean | null>

export function registerSeriesRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, database } = routes
  const { series, periods } = dataset
  if (series === undefined) return
  const first = periods.find(({ last }) => last === series.day)?.first ?? series.day
  const columns = [
    'id',
    series.id,
    series.breakFlag,
    ...series.counts,
    ...series.strata,
    first,
    series.day,
    series.reported,
  ]
  const releases = createReleaseResolver(routes)
  const respond = createResponder(routes)

  app.get<{
    Querystring: { interval?: Interval; mixed?: 'refuse' | 'warn'; release?: string; [filter: string]: unknown }
  }>(
    `/v2/${dataset.name}/series`,
    {
      schema: {
        tags: ['Data'],
        summary: 'Read counts over time',
        description:
          'The counts of the matching records by day, week or month of the last day they cover. New counts are added up. From cumulative and period-to-date counts, new counts are derived as differences of successive reports; where such a count decreases or the series breaks, `new` is null and `break` is true. Point-in-time counts are never added up over time. Records that differ in level of place, status, kind of count, host, kind of date, stratum or composite are rejected, unless `mixed=warn`. Intervals without a report are left out.',
        querystring: seriesQuery(dataset),
        response: { 200: okResponse(seriesSchema(series), 'The counts.'), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { mixed: mixedPolicy = 'refuse' } = request.query
      const interval = requireInterval(request.query.interval)
      const filters = parseFilters(dataset, request.query)
      const release = await releases.resolveParameter('release', request.query.release)
      const filterQuery = toFilterQuery(dataset, releases.list(), filters, release)
      const rows = await readColumns<Row>(database, filterQuery, [...new Set(columns)], MAX_RECORDS)
      if (rows === null) throw tooManyRecords(series.id)
      const mixed = series.strata.filter((name) => new Set(rows.map((row) => row[name])).size > 1)
      if (mixed.length > 0 && mixedPolicy === 'refuse') throw mixedProblem('mixed', mixed)
      const { points, ...totals } = aggregate(
        rows.map((row) => toReport(row, series, first)),
        interval,
      )
      const formatted = points.map((point) => formatPoint(point, series.counts))
      const body = { interval, mixed, records: rows.length, ...totals, points: formatted }
      reply.headers(mixedHeader(mixed))
      return respond(request, reply, { release, ...prerendered([JSON.stringify(body)]) })
    },
  )
}

function toReport(row: Row, series: Series, first: string): Report {
  const dayOf = (name: string) => {
    const text = row[name]
    return typeof text === 'string' ? parseDay(text) : null
  }
  return {
    id: Number(row['id']),
    series: String(row[series.id]),
    first: dayOf(first),
    last: dayOf(series.day),
    reported: (row[series.reported] ?? null) as string | null,
    kind: row[series.kind] as Report['kind'],
    broken: row[series.breakFlag] === true,
    counts: series.counts.map((name) => (row[name] ?? null) as number | null),
  }
}

/** The query string parser validates each parameter that is present, so a missing one is detected here. */
function requireInterval(interval: Interval | undefined): Interval {
  if (interval !== undefined) return interval
  throw new Problem('invalid_parameter', 'interval is required: day, isoweek, epiweek or month.', {
    parameter: 'interval',
  })
}

const tooManyRecords = (parameter: string) =>
  new Problem(
    'invalid_parameter',
    `More than ${MAX_RECORDS} records match. Filter by series_id, or add filters that match fewer records.`,
    { parameter },
  )

function seriesSchema(series: Series) {
  const counts = (schema: typeof countOrNull | typeof count, description: string) =>
    Type.Object(Object.fromEntries(series.counts.map((name) => [name, schema])), { description })
  const count = Type.Integer({ minimum: 0 })
  const countOrNull = Type.Union([Type.Integer(), Type.Null()])
  return Type.Object({
    interval: Type.String(),
    mixed: Type.Array(Type.String(), { description: 'The fields in which the records differ but should not.' }),
    records: Type.Integer({ minimum: 0, description: 'The number of matching records.' }),
    series: Type.Integer({ minimum: 0, description: 'The number of series of these records.' }),
    undated: Type.Integer({ minimum: 0, description: 'Records without a date; they are not counted.' }),
    superseded: Type.Integer({
      minimum: 0,
      description: 'Records that a later report of the same series for the same days replaces; they are not counted.',
    }),
    points: Type.Array(
      Type.Object({
        period: Type.String({ description: '2020-03-02, 2020-W10, 2020-EW10 or 2020-03.' }),
        first_day: Type.String({ format: 'date' }),
        last_day: Type.String({ format: 'date' }),
        reports: Type.Integer({ minimum: 1 }),
        new: counts(countOrNull, 'New counts within the interval, as far as known; null if unknown or at a break.'),
        cumulative: counts(
          countOrNull,
          'The last cumulative count of each series at the end of the interval, added up.',
        ),
        unknown: counts(count, 'The number of reports without this count.'),
        derived: Type.Boolean({ description: 'Some new counts are differences of cumulative counts.' }),
        break: Type.Boolean({ description: 'A cumulative count decreased, or the case definition changed.' }),
        includes_earlier_days: Type.Boolean({ description: 'Some new counts include days before the interval.' }),
        overlapping: Type.Boolean({ description: 'Reports of one series cover the same days.' }),
      }),
    ),
  })
}
