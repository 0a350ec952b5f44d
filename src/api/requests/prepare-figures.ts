// What the handlers of series and sums do first: understand the query, choose the release, and open the measures.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Interval } from '../../methods/calendar.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { showCounts } from '../figures/figure-json.ts'
import { type FigureQuery, parseFigureRequest } from '../figures/figure-request.ts'
import { readFigures } from '../figures/read-figures.ts'
import type { MeasureQuery } from '../measures/measure-request.ts'
import { openMeasures } from '../measures/open-measures.ts'
import { chooseFormat } from '../response/table-response.ts'
import { warningHeader } from '../search/warnings.ts'
import { prepareQuery } from './prepare-query.ts'
import type { ResourceOptions } from './resource-options.ts'
import { understandQuery } from './understand-query.ts'

export type FiguresQuery = FigureQuery & MeasureQuery & { readonly release?: string }

interface FiguresPlan {
  readonly resource: 'series' | 'sums'
  readonly dataset: SeriesDataset
  readonly groupBy: readonly string[]
  /** Null for one period with all days, undefined if it is found in the records. */
  readonly interval: Interval | null | undefined
  /** What determines the response besides the query itself. */
  readonly variant: readonly unknown[]
}

export async function prepareFigures(
  routes: ResourceOptions,
  request: FastifyRequest<{ Querystring: FiguresQuery }>,
  reply: FastifyReply,
  { resource, dataset, groupBy, interval, variant }: FiguresPlan,
) {
  const { query } = request
  const asked = await understandQuery(routes, query)
  const figureRequest = parseFigureRequest(dataset, { ...asked.query, group_by: groupBy }, request.url)
  const measures = openMeasures(dataset, routes.population, query, resource, interval)
  const prepared = await prepareQuery(routes, query, { filters: figureRequest.filters })
  const { release } = prepared
  const warnings = [...asked.warnings, ...prepared.warnings]
  reply.headers(warningHeader(warnings))
  const { isTable, columns, format } = chooseFormat(request, dataset.name, release, resource)
  return {
    figureRequest,
    /** The dataset with the counts that were asked for. */
    shown: showCounts(dataset, query.counts),
    isFull: query.detail === 'full',
    isTable,
    columns,
    understood: asked.understood,
    warnings,
    /** What `respond` needs besides the body. */
    response: {
      release,
      // A later version may read more in the words of `q`.
      isImmutable: prepared.isImmutable && query.q === undefined && measures.isImmutable,
      ...format,
      variant: [...variant, figureRequest.variant, measures.variant].join(' '),
    },
    async read() {
      const answer = await readFigures(routes.index, {
        dataset,
        release,
        request: figureRequest,
        interval,
        ...measures.question,
      })
      return { ...answer, measured: measures.measure(answer.groups, answer.interval) }
    },
  }
}
