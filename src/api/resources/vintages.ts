// One series in every release: how its numbers were revised. A long table for reporting triangles.
import { Type } from 'typebox'
import type { ColumnIndex } from '../../columns/column-index.ts'
import { formatDay, type Interval, periodOf } from '../../methods/calendar.ts'
import type { Figure } from '../../methods/figures.ts'
import { hasSeries, type SeriesDataset } from '../../methods/record-series.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Problem } from '../../platform/problem.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import type { Choice } from '../figures/choose-sets.ts'
import {
  choiceSchema,
  formatChoice,
  formatShortChoice,
  shortChoiceSchema,
  titleAnswer,
} from '../figures/chosen-json.ts'
import { countOrNullSchema, intervalFromSchema } from '../figures/figure-json.ts'
import { type FigureQuery, parseFigureRequest } from '../figures/figure-request.ts'
import { type FigureQuestion, readFigures, readWays } from '../figures/read-figures.ts'
import { isReleaseNumber, requireOrder } from '../paging/release-reference.ts'
import { vintagesQuery } from '../requests/parameters.ts'
import { validateFilters } from '../requests/prepare-query.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { understandQuery, understoodSchema, warningsSchema } from '../requests/understand-query.ts'
import { encodeRows, shortenRows } from '../response/figure-rows.ts'
import { identifyRelease } from '../response/responder.ts'
import { errorResponses, okResponse, withFiles } from '../response/response-schemas.ts'
import { chooseFormat, TABLE_TYPES } from '../response/table-response.ts'
import { warningHeader } from '../search/warnings.ts'

/** Each release is its own query. */
export const MAX_RELEASES = 50

export function registerVintageRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, index, checkValues, releases, respond } = routes
  if (!hasSeries(dataset)) return
  const { series } = dataset

  app.get<{
    Querystring: FigureQuery & { interval?: Interval; from?: string; to?: string }
  }>(
    `/v2/${dataset.name}/vintages`,
    {
      schema: {
        tags: ['Data'],
        operationId: 'getVintages',
        summary: 'See how a number was revised',
        description: `One count of a series by interval and release: a row for each interval in each release, at most ${MAX_RELEASES} releases. The numbers are those of \`/series\` in that release. \`Outbreaks-Release\` is the release of \`to\`. As \`text/csv\`: a line for each row.`,
        querystring: vintagesQuery(dataset),
        response: {
          200: withFiles(
            okResponse(Type.Union([shortSchema(dataset), vintagesSchema]), 'The rows, by release and day.'),
            TABLE_TYPES,
          ),
          ...errorResponses,
        },
      },
    },
    async (request, reply) => {
      const { interval: asked, count = series.counts[0] ?? '', detail } = request.query
      const isFull = detail === 'full'
      const to = await releases.resolveParameter('to', request.query.to)
      const {
        query,
        understood,
        warnings: guesses,
      } = await understandQuery(routes, {
        ...request.query,
        release: String(to.number),
      })
      const figureRequest = parseFigureRequest(dataset, query, request.url)
      const from =
        request.query.from === undefined
          ? (releases.oldestUnpruned() ?? to)
          : await releases.resolveParameter('from', request.query.from)
      const vintages = selectReleases(releases.list(), from, to)
      const { filters } = figureRequest
      for (const release of vintages) validateFilters(dataset, releases.list(), release, filters)
      const countIndex = series.counts.findIndex((name) => name === count)
      const warnings = [...guesses, ...(await checkValues(vintages, filters, figureRequest.strict))]
      reply.headers(warningHeader(warnings))
      const { isTable, columns, format } = chooseFormat(request, dataset.name, to, 'vintages')
      return respond(request, reply, {
        release: to,
        // A later version may read more in the words of `q`.
        isImmutable:
          request.query.q === undefined && isReleaseNumber(request.query.from) && isReleaseNumber(request.query.to),
        ...format,
        variant: [asked, count, identifyRelease(from), figureRequest.variant].join(' '),
        async render() {
          const { choice, figures, interval } = await followFigures(
            index,
            { dataset, release: to, request: figureRequest, interval: asked },
            vintages,
          )
          const rows = figures.map(({ release: { number, asOf }, figure }) => ({
            release: number,
            report_date: asOf,
            period: figure.period.name,
            // The whole interval, even if the last day of the query cuts it.
            reference_date: formatDay(periodOf(interval, figure.period.first).last),
            records: figure.records,
            ...Object.fromEntries(
              (['new', 'cumulative', 'point'] as const).map((member) => [
                isFull ? member : `${member}_${count}`,
                figure[member][countIndex] ?? null,
              ]),
            ),
            revision: figure.revision,
          }))
          const first = ['release', 'report_date', 'period', 'reference_date', 'records']
          if (isTable) return [encodeRows(rows, { first, possible: [], groupBy: [], isFull, columns })]
          const title = titleAnswer(dataset, figureRequest, [], choice)
          if (!isFull)
            return [
              JSON.stringify({
                title,
                understood,
                warnings,
                interval,
                interval_from: asked === undefined ? 'records' : 'request',
                count,
                ...shortenRows({ data: rows }),
                across: figureRequest.across,
                ...formatShortChoice(dataset, choice),
              }),
            ]
          return [
            JSON.stringify({
              interval,
              count,
              across: figureRequest.across,
              understood,
              title,
              ...formatChoice(dataset, choice, figureRequest.url),
              data: rows,
            }),
          ]
        },
      })
    },
  )
}

interface Vintage {
  readonly release: PublishedRelease
  readonly figure: Figure
}

/** The figures of each release. If one of them has several ways of counting, all use the one of the last release. */
async function followFigures(
  index: ColumnIndex,
  question: FigureQuestion,
  releases: readonly PublishedRelease[],
): Promise<{ choice: Choice | null; interval: Interval; figures: readonly Vintage[] }> {
  const { request, release: last } = question
  const { choice, interval: found } = await readFigures(index, question)
  const interval = found as Interval
  const isNotComparable = (error: unknown) => error instanceof Problem && error.code === 'not_comparable'
  const readAll = async (own: Partial<FigureQuestion>) => {
    const figures: Vintage[] = []
    let rejection: unknown = null
    for (const release of releases) {
      try {
        const { groups } = await readFigures(index, { ...question, interval, ...own, release })
        figures.push(...groups.flatMap((group) => group.figures.map((figure) => ({ release, figure }))))
      } catch (error) {
        if (!isNotComparable(error)) throw error
        rejection = error
      }
    }
    // It is about the last release that is rejected.
    if (rejection !== null) throw rejection
    return figures
  }
  if (choice !== null)
    return { choice, interval, figures: await readAll({ followed: choice.chosen.map(({ chosen }) => chosen) }) }
  try {
    return { choice, interval, figures: await readAll({ request: { ...request, strict: true } }) }
  } catch (error) {
    if (request.strict || !isNotComparable(error)) throw error
    const followed = await readWays(index, { ...question, release: last })
    return { choice, interval, figures: await readAll({ followed }) }
  }
}

function selectReleases(
  all: readonly PublishedRelease[],
  from: PublishedRelease,
  to: PublishedRelease,
): PublishedRelease[] {
  requireOrder(from, to)
  const selected = all.filter(
    ({ number, prunedAt }) => number >= from.number && number <= to.number && prunedAt === null,
  )
  if (selected.length <= MAX_RELEASES) return selected
  throw new Problem(
    'invalid_parameter',
    `One request covers at most ${MAX_RELEASES} releases, and there are ${selected.length} from ${from.number} to ${to.number}. Set from and to.`,
    { parameter: 'from' },
  )
}

const shortSchema = ({ series }: SeriesDataset) =>
  Type.Object({
    understood: understoodSchema,
    warnings: warningsSchema,
    interval: Type.String(),
    interval_from: intervalFromSchema,
    count: Type.String(),
    data: Type.Array(
      Type.Object({
        ...vintageSchema,
        ...Object.fromEntries(
          ['new', 'cumulative', 'point'].flatMap((member) =>
            series.counts.map((count) => [`${member}_${count}`, Type.Optional(countOrNullSchema)]),
          ),
        ),
        flags: Type.Array(Type.Enum(['revision'])),
      }),
    ),
    across: Type.Array(Type.String()),
    ...shortChoiceSchema,
  })

const vintageSchema = {
  release: Type.Integer({ minimum: 1 }),
  report_date: Type.String({
    format: 'date',
    description: '`as_of` of the release: the day on which this was known.',
  }),
  period: Type.String(),
  reference_date: Type.String({ format: 'date', description: 'The last day of the interval.' }),
  records: Type.Integer({ minimum: 1 }),
}

const vintagesSchema = Type.Object({
  interval: Type.String(),
  count: Type.String(),
  across: Type.Array(Type.String()),
  understood: understoodSchema,
  ...choiceSchema,
  data: Type.Array(
    Type.Object({
      ...vintageSchema,
      new: countOrNullSchema,
      cumulative: countOrNullSchema,
      point: countOrNullSchema,
      revision: Type.Boolean(),
    }),
  ),
})
