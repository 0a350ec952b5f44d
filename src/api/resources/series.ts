// Counts over time of comparable series, as one curve or as one curve for each value of a field.
import { Type } from 'typebox'
import { formatDay, type Interval } from '../../methods/calendar.ts'
import type { Figure } from '../../methods/figures.ts'
import { hasSeries, type SeriesDataset } from '../../methods/record-series.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
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
  coverSchema,
  type DescribeRow,
  figureSchema,
  formatBeside,
  formatCover,
  formatFigure,
  formatGroup,
  formatOtherRows,
  formatRange,
  formatShortCovers,
  formatSpans,
  formatTotals,
  formatUndated,
  groupSchema,
  intervalFromSchema,
  labelSchema,
  nameColumns,
  type ShownDataset,
  shortRowsSchema,
  spanSchema,
  spansDescription,
  totalsSchema,
  undatedSchema,
} from '../figures/figure-json.ts'
import { labelGroup } from '../filters/describe-filters.ts'
import { measureColumnSchema, measuresSchema } from '../measures/measure-rows.ts'
import { seriesQuery } from '../requests/parameters.ts'
import { type FiguresQuery, prepareFigures } from '../requests/prepare-figures.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { understoodSchema, warningsSchema } from '../requests/understand-query.ts'
import { encodeRows, shortenRows } from '../response/figure-rows.ts'
import { errorResponses, okResponse, withFiles } from '../response/response-schemas.ts'
import { TABLE_TYPES } from '../response/table-response.ts'

export function registerSeriesRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, respond } = routes
  if (!hasSeries(dataset)) return

  app.get<{ Querystring: FiguresQuery & { interval?: Interval } }>(
    `/v2/${dataset.name}/series`,
    {
      schema: {
        tags: ['Data'],
        operationId: 'getSeries',
        summary: 'Read counts over time',
        description:
          'The counts of the matching records by day, week, month or year. New counts are added up, and derived from cumulative and period-to-date counts. Records that cannot be added together are rejected with the comparable choices. Intervals without a report are left out. Counts over several intervals are in `spans`. docs/methods.md has every rule. As `text/csv`: a line for each interval, span and undated total; `columns` chooses the columns. The column `row` says which it is, unless all rows are `figure`, and `flags` has the flags with spaces between them.',
        querystring: seriesQuery(dataset),
        response: {
          200: withFiles(
            okResponse(Type.Union([shortSchema(dataset), seriesSchema(dataset)]), 'The counts.'),
            TABLE_TYPES,
          ),
          ...errorResponses,
        },
      },
    },
    async (request, reply) => {
      const { interval, group_by: groupBy = [] } = request.query
      const question = await prepareFigures(routes, request, reply, {
        resource: 'series',
        dataset,
        groupBy,
        interval,
        variant: [interval],
      })
      const { figureRequest, shown, isFull, isTable, columns, understood, warnings } = question
      const { across, place, explain, sideBySide } = figureRequest
      return respond(request, reply, {
        ...question.response,
        async render() {
          const { groups, beside, choice, measured, ...answer } = await question.read()
          const { series } = shown
          const formatPoint = (figure: Figure) => ({
            period: figure.period.name,
            ...formatFigure(series, figure),
            ...measured.columnsOf(figure),
          })
          const formatRows = (describe?: DescribeRow) => ({
            data: groups.flatMap((group) =>
              group.figures.map((figure) => ({
                group: formatGroup(group),
                ...(describe !== undefined || group.group.size === 0
                  ? {}
                  : { label: labelGroup(dataset, formatGroup(group)) }),
                ...formatPoint(figure),
                ...describe?.('figure', group),
              })),
            ),
            ...formatOtherRows(series, groups, describe),
          })
          const range = groupBy[0] === series.source ? { range: formatRanges(shown, groups) } : {}
          if (isTable) {
            const rows = Object.values(formatRows(describeRows(dataset, choice))).flat()
            const first = [...groupBy, 'period', 'first_day', 'last_day', 'records']
            return [encodeRows(rows, { first, possible: nameColumns(series), groupBy, isFull, columns })]
          }
          const title = titleAnswer(dataset, figureRequest, groups, choice)
          if (!isFull)
            return [
              JSON.stringify({
                title,
                understood,
                warnings,
                interval: answer.interval,
                interval_from: interval === undefined ? 'records' : 'request',
                ...shortenRows({ ...formatRows(), ...range, beside: formatBeside(series, beside) }, groupBy),
                ...formatTotals(groups, explain),
                ...formatShortCovers(place, groups),
                group_by: groupBy,
                across,
                ...measured.about,
                ...formatShortChoice(shown, choice),
              }),
            ]
          const formatBody = (group: FigureGroup) => ({
            ...formatTotals([group], explain),
            ...(place === null ? {} : { cover: formatCover(place, group) }),
            undated_counts: formatUndated(series, group),
            points: group.figures.map(formatPoint),
            spans: formatSpans(series, group),
          })
          const [only = EMPTY_GROUP] = groups
          const body =
            groupBy.length === 0 && !sideBySide
              ? formatBody(only)
              : {
                  ...formatTotals(groups, explain),
                  groups: groups.map((group) => ({
                    group: formatGroup(group),
                    label: labelGroup(dataset, formatGroup(group)),
                    ...formatBody(group),
                  })),
                  beside: formatBeside(series, beside),
                  ...range,
                }
          return [
            JSON.stringify({
              interval: answer.interval,
              group_by: groupBy,
              across,
              understood,
              warnings,
              title,
              ...formatChoice(shown, choice, figureRequest.url),
              ...measured.about,
              ...body,
            }),
          ]
        },
      })
    },
  )
}

const EMPTY_GROUP: FigureGroup = {
  group: new Map(),
  records: 0,
  series: 0,
  undated: 0,
  undatedCounts: null,
  undatedIds: [],
  figures: [],
  spans: [],
  cover: null,
  facts: null,
}

/** The range of the groups in each interval. */
function formatRanges({ series }: ShownDataset, groups: readonly FigureGroup[]) {
  const figures = groups.flatMap((group) => group.figures)
  const periods = [...Map.groupBy(figures, ({ period }) => period.first).values()]
  return periods
    .map((members) => ({ period: (members[0] as (typeof members)[number]).period, members }))
    .sort((a, b) => a.period.first - b.period.first)
    .map(({ period, members }) => ({
      period: period.name,
      first_day: formatDay(period.first),
      last_day: formatDay(period.last),
      ...formatRange(series, members),
    }))
}

const shortSchema = ({ series }: SeriesDataset) =>
  Type.Object({
    understood: understoodSchema,
    warnings: warningsSchema,
    interval: Type.String(),
    interval_from: intervalFromSchema,
    ...shortRowsSchema(series),
    measures: measuresSchema,
    ...shortChoiceSchema,
  })

function seriesSchema({ series }: SeriesDataset) {
  const points = Type.Array(
    Type.Object(
      {
        period: Type.String({ description: '2020-03-02, 2020-W10, 2020-EW10, 2020-03 or 2020.' }),
        ...figureSchema(series),
      },
      { additionalProperties: measureColumnSchema },
    ),
  )
  const spans = Type.Array(Type.Object(spanSchema(series)), { description: spansDescription })
  const undated = Type.Union([undatedSchema(series), Type.Null()], {
    description: 'The counts of the undated records; null without any, or if they cannot be added together.',
  })
  return Type.Object({
    interval: Type.String(),
    group_by: Type.Array(Type.String()),
    across: Type.Array(Type.String(), { description: 'The fields over which counts were added up on request.' }),
    understood: understoodSchema,
    warnings: warningsSchema,
    ...choiceSchema,
    measures: measuresSchema,
    ...totalsSchema,
    cover: Type.Optional(coverSchema),
    undated_counts: Type.Optional(undated),
    points: Type.Optional(points),
    spans: Type.Optional(spans),
    groups: Type.Optional(
      Type.Array(
        Type.Object({
          group: groupSchema,
          label: labelSchema,
          ...totalsSchema,
          cover: Type.Optional(coverSchema),
          undated_counts: undated,
          points,
          spans,
        }),
      ),
    ),
    beside: Type.Optional(besideSchema(series)),
    range: Type.Optional(
      Type.Array(Type.Object({ period: Type.String() }, { additionalProperties: true }), {
        description: 'With `group_by=source_name`: the smallest and the largest count of the sources in each interval.',
      }),
    ),
  })
}
