// How many records there are by place, or another field, and by period: what the dataset has, and where it has nothing.
import { Type } from 'typebox'
import { encodeTable } from '../../formats/table.ts'
import { formatDay, type Interval, periodOf, remembering } from '../../methods/calendar.ts'
import { hasSeries } from '../../methods/record-series.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Problem } from '../../platform/problem.ts'
import { runInTurn } from '../../platform/thread-turns.ts'
import { type CoverageGroup, parseCells, readCoverage } from '../queries/coverage.ts'
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
      const { isTable, columns, format } = chooseFormat(request, dataset.name, release, 'coverage')
      return respond(request, reply, {
        release,
        isImmutable,
        ...format,
        variant: [by, interval, columns, query.canonicalFilters].join(' '),
        async render() {
          const { day } = dataset.series
          const groups = await readCoverage(routes, query, { field: by, day, interval, maxCells: MAX_CELLS })
          if (groups === null)
            throw new Problem(
              'invalid_parameter',
              `The result would have more than ${MAX_CELLS} periods, which is the limit. Add filters, or choose a longer interval.`,
              { parameter: 'interval' },
            )
          return [await (isTable ? writeTable(groups, interval, columns) : writeJson(groups, by, interval))]
        },
      })
    },
  )
}

const TABLE_COLUMNS = ['value', 'period', 'first_day', 'last_day', 'records', 'changed']

/** Writing so many periods takes a millisecond or two. */
const STEP_CELLS = 1000

/** The text of each value. The steps take turns with those of other clients. */
async function writeGroups(
  groups: readonly CoverageGroup[],
  interval: Interval,
  write: (group: ReturnType<typeof describeGroup>) => string,
): Promise<string[]> {
  const describePeriod = remembering((first: number) => {
    const { name, last } = periodOf(interval, first)
    return { period: name, first_day: formatDay(first), last_day: formatDay(last) }
  })
  const texts: string[] = []
  function writeStep(): void {
    for (let cells = 0; cells < STEP_CELLS && texts.length < groups.length; ) {
      const described = describeGroup(groups[texts.length] as CoverageGroup, describePeriod)
      texts.push(write(described))
      cells += 1 + described.periods.length
    }
  }
  while (texts.length < groups.length) await runInTurn(writeStep)
  return texts
}

interface PeriodDays {
  readonly period: string
  readonly first_day: string
  readonly last_day: string
}

const describeGroup = (group: CoverageGroup, describePeriod: (first: number) => PeriodDays) => ({
  value: group.value,
  records: group.records,
  undated: group.undated,
  periods: parseCells(group).map(([first, ofPeriod, changed]) => ({
    ...describePeriod(first),
    records: ofPeriod,
    changed,
  })),
})

async function writeTable(
  groups: readonly CoverageGroup[],
  interval: Interval,
  columns: readonly string[] | undefined,
): Promise<string> {
  const header = encodeTable([], TABLE_COLUMNS, columns)
  const lines = await writeGroups(groups, interval, ({ value, periods }) => {
    const rows = periods.map((period) => ({ value, ...period }))
    return encodeTable(rows, TABLE_COLUMNS, columns).slice(header.length)
  })
  return header + lines.join('')
}

async function writeJson(groups: readonly CoverageGroup[], by: string, interval: Interval): Promise<string> {
  const sum = (count: (group: CoverageGroup) => number) => groups.reduce((total, group) => total + count(group), 0)
  const head = { by, interval, records: sum(({ records }) => records), undated: sum(({ undated }) => undated) }
  const data = await writeGroups(groups, interval, (group) => JSON.stringify(group))
  return `${JSON.stringify(head).slice(0, -1)},"data":[${data.join()}]}`
}

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
