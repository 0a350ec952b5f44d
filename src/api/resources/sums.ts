// Totals of comparable counts by the values of one or two fields.
import { Type } from 'typebox'
import { INTERVALS, type Interval } from '../../methods/calendar.ts'
import type { Figure } from '../../methods/figures.ts'
import { hasSeries, type SeriesDataset } from '../../methods/record-series.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Problem } from '../../platform/problem.ts'
import {
  choiceSchema,
  describeRows,
  formatChoice,
  formatShortChoice,
  shortChoiceSchema,
  titleAnswer,
} from '../figures/chosen-json.ts'
import type { FigureGroup } from '../figures/figure-groups.ts'
import {
  besideSchema,
  byCount,
  coverSchema,
  figureSchema,
  formatBeside,
  formatCover,
  formatFigure,
  formatGroup,
  formatOtherRows,
  formatShortCovers,
  formatTotals,
  groupSchema,
  labelSchema,
  nameColumns,
  shortRowsSchema,
  spanSchema,
  spansDescription,
  sumSchema,
  totalsSchema,
  undatedSchema,
} from '../figures/figure-json.ts'
import { labelGroup } from '../filters/describe-filters.ts'
import { measureColumnSchema, measuresSchema } from '../measures/measure-rows.ts'
import { sumsQuery } from '../requests/parameters.ts'
import { type FiguresQuery, prepareFigures } from '../requests/prepare-figures.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { understoodSchema, warningsSchema } from '../requests/understand-query.ts'
import { encodeRows, shortenRows } from '../response/figure-rows.ts'
import { errorResponses, okResponse, withFiles } from '../response/response-schemas.ts'
import { TABLE_TYPES } from '../response/table-response.ts'

interface SumRow {
  readonly group: FigureGroup
  readonly figure: Figure
}

const isInterval = (name: string): name is Interval => INTERVALS.some((interval) => interval === name)

export function registerSumRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, respond } = routes
  if (!hasSeries(dataset)) return

  app.get<{ Querystring: FiguresQuery & { sort?: string; num?: number } }>(
    `/v2/${dataset.name}/sums`,
    {
      schema: {
        tags: ['Data'],
        operationId: 'getSums',
        summary: 'Add up counts by group',
        description:
          'The totals of the matching records for each value of one or two fields, over the days from `date_from` to `date_to`. The rules are those of `/series`. As `text/csv`: a line for each row, span and undated total; `columns` chooses the columns. The column `row` says which it is, unless all rows are `figure`, and `flags` has the flags with spaces between them.',
        querystring: sumsQuery(dataset),
        response: {
          200: withFiles(
            okResponse(Type.Union([shortSchema(dataset), sumsSchema(dataset)]), 'A row for each group.'),
            TABLE_TYPES,
          ),
          ...errorResponses,
        },
      },
    },
    async (request, reply) => {
      const { group_by: requested = [], sort, num } = request.query
      const interval = chooseInterval(requested)
      const question = await prepareFigures(routes, request, reply, {
        resource: 'sums',
        dataset,
        groupBy: requested.filter((name) => name !== interval),
        interval: interval ?? null,
        variant: [requested, sort, num],
      })
      const { figureRequest, shown, isFull, isTable, columns, understood, warnings } = question
      const { place, explain, across } = figureRequest
      return respond(request, reply, {
        ...question.response,
        async render() {
          const { groups, beside, choice, measured } = await question.read()
          const { series } = shown
          const rows = groups.flatMap((group) => group.figures.map((figure): SumRow => ({ group, figure })))
          if (requested[0] === interval && interval !== undefined)
            rows.sort((a, b) => a.figure.period.first - b.figure.period.first)
          if (sort !== undefined) rows.sort((a, b) => compareNumbers(dataset, sort, a, b))
          const formatRow = ({ group, figure }: SumRow) => ({
            group: {
              ...formatGroup(group),
              ...(interval === undefined ? {} : { [interval]: figure.period.name }),
            },
            total: byCount(series, figure.total),
            ...formatFigure(series, figure),
            ...measured.columnsOf(figure),
          })
          const formatLabelled = (row: SumRow) => {
            const { group, ...figure } = formatRow(row)
            const hasLabel = isFull || Object.keys(group).length > 0
            return { group, ...(hasLabel ? { label: labelGroup(dataset, group) } : {}), ...figure }
          }
          const selected = rows.slice(0, num)
          if (isTable) {
            const describe = describeRows(dataset, choice)
            const others = formatOtherRows(series, groups, describe)
            const lines = [
              ...selected.map((row) => ({ ...formatRow(row), ...describe('figure', row.group) })),
              ...others.spans,
              ...others.undated_counts,
            ]
            const first = [...requested, 'first_day', 'last_day', 'records']
            return [
              encodeRows(lines, { first, possible: nameColumns(series, ''), groupBy: requested, isFull, columns }),
            ]
          }
          const others = formatOtherRows(series, groups)
          const title = titleAnswer(dataset, figureRequest, groups, choice)
          const data = selected.map(formatLabelled)
          if (!isFull)
            return [
              JSON.stringify({
                title,
                understood,
                warnings,
                ...shortenRows({ data, ...others, beside: formatBeside(series, beside) }, requested),
                groups: rows.length,
                ...formatTotals(groups, explain),
                ...formatShortCovers(place, groups),
                group_by: requested,
                across,
                ...measured.about,
                ...formatShortChoice(shown, choice),
              }),
            ]
          const covers =
            place === null
              ? {}
              : { covers: groups.map((group) => ({ group: formatGroup(group), ...formatCover(place, group) })) }
          return [
            JSON.stringify({
              group_by: requested,
              across,
              understood,
              warnings,
              title,
              ...formatChoice(shown, choice, figureRequest.url),
              ...measured.about,
              ...formatTotals(groups, explain),
              groups: rows.length,
              ...covers,
              data,
              spans: others.spans,
              undated_counts: others.undated_counts.map(({ undated, ...row }) => ({ ...row, counts: undated })),
              beside: formatBeside(series, beside),
            }),
          ]
        },
      })
    },
  )
}

/** The length of period among the groups. Two would split the days twice. */
function chooseInterval(groupBy: readonly string[]): Interval | undefined {
  const [interval, second] = groupBy.filter(isInterval)
  if (second === undefined) return interval
  throw new Problem('invalid_parameter', `group_by has two intervals, ${interval} and ${second}. Keep one.`, {
    parameter: 'group_by',
  })
}

/** A number that is unknown is last in both directions. */
function compareNumbers({ series }: SeriesDataset, sort: string, a: SumRow, b: SumRow): number {
  const direction = sort.startsWith('-') ? -1 : 1
  const [member = '', count = ''] = sort.replace('-', '').split('_')
  const valueOf = ({ figure }: SumRow) =>
    figure[member as 'new' | 'total' | 'cumulative' | 'point'][series.counts.indexOf(count)] ?? null
  const left = valueOf(a)
  const right = valueOf(b)
  if (left === null || right === null) return Number(left === null) - Number(right === null)
  return direction * (left - right)
}

const shortSchema = ({ series }: SeriesDataset) =>
  Type.Object({
    understood: understoodSchema,
    warnings: warningsSchema,
    ...shortRowsSchema(series),
    measures: measuresSchema,
    groups: Type.Integer({ minimum: 0, description: 'The number of rows, including those that `num` leaves out.' }),
    ...shortChoiceSchema,
  })

const sumsSchema = ({ series }: SeriesDataset) =>
  Type.Object({
    group_by: Type.Array(Type.String()),
    across: Type.Array(Type.String(), { description: 'The fields over which counts were added up on request.' }),
    understood: understoodSchema,
    warnings: warningsSchema,
    ...choiceSchema,
    measures: measuresSchema,
    ...totalsSchema,
    groups: Type.Integer({ minimum: 0, description: 'The number of rows, including those that `num` leaves out.' }),
    covers: Type.Optional(
      Type.Array(Type.Intersect([Type.Object({ group: groupSchema }), coverSchema]), {
        description: 'With `place`: what each group is calculated from.',
      }),
    ),
    data: Type.Array(
      Type.Object(
        { group: groupSchema, label: labelSchema, ...sumSchema(series), ...figureSchema(series) },
        { additionalProperties: measureColumnSchema },
      ),
    ),
    spans: Type.Array(Type.Object({ group: groupSchema, ...spanSchema(series) }), { description: spansDescription }),
    undated_counts: Type.Array(
      Type.Object({ group: groupSchema, records: Type.Integer({ minimum: 1 }), counts: undatedSchema(series) }),
      { description: 'The counts of undated records by group, without groups in which they cannot be added together.' },
    ),
    beside: besideSchema(series),
  })
