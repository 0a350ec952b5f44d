// Counts over time of one comparable series, or of an explicit set of them.
import { Type } from 'typebox'
import type { Series } from '../../datasets/define.ts'
import { type Interval, readDay } from '../../methods/calendar.ts'
import { aggregate, type Report, shapePoint } from '../../methods/series.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Problem } from '../../platform/problem.ts'
import { readFilters } from '../filters/filters.ts'
import { mixedHeader, mixedProblem, toFilterQuery } from '../filters/records-request.ts'
import { readColumns } from '../filters/run-filter-queries.ts'
import { createReleaseResolver } from '../paging/release-resolver.ts'
import { createResponder, readyParts } from '../response/responder.ts'
import { errorResponses, okResponse } from '../response/response-schemas.ts'
import { seriesQuery } from './parameters.ts'
import type { ResourceOptions } from './resource-options.ts'

/** So many records are read for one answer; whoever asks for more has not said which series. */
const MOST_RECORDS = 20_000

type Row = Record<string, string | number | boolean | null>

export function registerSeriesRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, database } = routes
  const { series, periods } = dataset
  if (series === undefined) return
  const first = periods.find(({ last }) => last === series.day)?.first ?? series.day
  const columns = [
    'id',
    series.id,
    series.broken,
    ...series.counts,
    ...series.strata,
    first,
    series.day,
    series.reported,
  ]
  const releases = createReleaseResolver(routes)
  const answer = createResponder(routes)

  app.get<{
    Querystring: { interval?: Interval; mixed?: 'refuse' | 'warn'; release?: string; [filter: string]: unknown }
  }>(
    `/v2/${dataset.name}/series`,
    {
      schema: {
        tags: ['Data'],
        summary: 'Read counts over time',
        description:
          'The counts of the records that fit, put into days, weeks or months by the last day they cover. New counts are added up; from cumulative ones, and from those since a period began, they are derived as differences of successive reports, and where those fall or the series breaks, there is no number but a `break`. Counts at a moment are never added up over time. Records that differ in level of place, status, kind of count, host, kind of date, stratum or composite are refused, unless `mixed=warn`. Intervals without a report are left out.',
        querystring: seriesQuery(dataset),
        response: { 200: okResponse(answerSchema(series), 'The counts.'), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { mixed: manner = 'refuse' } = request.query
      const interval = readRequired(request.query.interval)
      const filters = readFilters(dataset, request.query)
      const release = await releases.named('release', request.query.release)
      const question = toFilterQuery(dataset, releases.list(), filters, release)
      const rows = await readColumns<Row>(database, question, [...new Set(columns)], MOST_RECORDS)
      if (rows === null) throw refuseMany(series.id)
      const mixed = series.strata.filter((name) => new Set(rows.map((row) => row[name])).size > 1)
      if (mixed.length > 0 && manner === 'refuse') throw mixedProblem('mixed', mixed)
      const { points, ...told } = aggregate(
        rows.map((row) => toReport(row, series, first)),
        interval,
      )
      const shaped = points.map((point) => shapePoint(point, series.counts))
      const body = { interval, mixed, records: rows.length, ...told, points: shaped }
      reply.headers(mixedHeader(mixed))
      return answer(request, reply, { release, ...readyParts([JSON.stringify(body)]) })
    },
  )
}

function toReport(row: Row, series: Series, first: string): Report {
  const dayOf = (name: string) => {
    const text = row[name]
    return typeof text === 'string' ? readDay(text) : null
  }
  return {
    id: Number(row['id']),
    series: String(row[series.id]),
    first: dayOf(first),
    last: dayOf(series.day),
    reported: (row[series.reported] ?? null) as string | null,
    kind: row[series.kind] as Report['kind'],
    broken: row[series.broken] === true,
    counts: series.counts.map((name) => (row[name] ?? null) as number | null),
  }
}

/** Query strings are read parameter by parameter: that one is missing is seen here. */
function readRequired(interval: Interval | undefined): Interval {
  if (interval !== undefined) return interval
  throw new Problem('invalid_parameter', 'interval is needed: day, isoweek, epiweek or month.', {
    parameter: 'interval',
  })
}

const refuseMany = (parameter: string) =>
  new Problem(
    'invalid_parameter',
    `More than ${MOST_RECORDS} records would have to be read: say which series, or ask for fewer records.`,
    { parameter },
  )

function answerSchema(series: Series) {
  const counts = (schema: typeof known | typeof whole, description: string) =>
    Type.Object(Object.fromEntries(series.counts.map((name) => [name, schema])), { description })
  const whole = Type.Integer({ minimum: 0 })
  const known = Type.Union([Type.Integer(), Type.Null()])
  return Type.Object({
    interval: Type.String(),
    mixed: Type.Array(Type.String(), { description: 'The fields in which the records differ and should not.' }),
    records: Type.Integer({ minimum: 0, description: 'Records that fit.' }),
    series: Type.Integer({ minimum: 0, description: 'Series they belong to.' }),
    undated: Type.Integer({ minimum: 0, description: 'Records without a day; they are not counted.' }),
    superseded: Type.Integer({
      minimum: 0,
      description: 'Records that a later report of their series about the same days replaces; they are not counted.',
    }),
    points: Type.Array(
      Type.Object({
        period: Type.String({ description: '2020-03-02, 2020-W10, 2020-EW10 or 2020-03.' }),
        first_day: Type.String({ format: 'date' }),
        last_day: Type.String({ format: 'date' }),
        reports: Type.Integer({ minimum: 1 }),
        new: counts(known, 'Counted within the interval, as far as it is known; null where a break forbids to say.'),
        cumulative: counts(known, 'At its end: the last cumulative count of each series, added up.'),
        unknown: counts(whole, 'How many of the reports give no number.'),
        derived: Type.Boolean({ description: 'Differences of cumulative counts are among the new counts.' }),
        break: Type.Boolean({ description: 'A cumulative count fell, or a definition changed.' }),
        includes_earlier_days: Type.Boolean({ description: 'Some of the new counts are of days before the interval.' }),
        overlapping: Type.Boolean({ description: 'Reports of one series cover the same days.' }),
      }),
    ),
  })
}
