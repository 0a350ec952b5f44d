// Reads what a picture of a query is drawn from. The numbers are those of /series and /sums; a query that they reject is a
// picture with the reason.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { formatDay } from '../../methods/calendar.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { Problem } from '../../platform/problem.ts'
import { formatChoice, titleAnswer } from '../figures/chosen-json.ts'
import type { FigureGroup } from '../figures/figure-groups.ts'
import { byCount, formatFigure, formatSpans, formatTotals } from '../figures/figure-json.ts'
import { type FigureAnswer, readFigures, readWays } from '../figures/read-figures.ts'
import type { AnswerSet } from '../figures/read-sets.ts'
import { serialiseFilters } from '../filters/filters.ts'
import { prepareFigures } from '../requests/prepare-figures.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { readCitation } from '../resources/citation.ts'
import { labelField } from '../resources/descriptions.ts'
import type { Citation } from '../response/citation-formats.ts'
import type { Drawing } from './drawing.ts'
import type { PictureQuery } from './picture-query.ts'

interface PictureOptions {
  readonly dataset: SeriesDataset
  readonly drawing: Drawing | null
}

/** A way of counting with its numbers, as `chosen` and `left_out` have it. */
interface Total {
  readonly values: object
  readonly words: string
  readonly first_day: string | null
  readonly last_day: string | null
  readonly counts: object
  readonly isChosen?: boolean
}

export async function preparePicture(
  routes: ResourceOptions,
  request: FastifyRequest<{ Querystring: PictureQuery }>,
  reply: FastifyReply,
  { dataset, drawing: loaded }: PictureOptions,
) {
  if (loaded === null)
    throw new Problem('not_found', 'This service draws no pictures, because its explorer was not built.')
  const drawing = loaded
  const { interval, kind = 'new', scale = 'linear' } = request.query
  const question = await prepareFigures(routes, request, reply, {
    resource: 'series',
    dataset,
    groupBy: [],
    interval,
    variant: [interval, kind, scale, request.query.counts, drawing.version],
  })
  const { figureRequest: asked, warnings } = question
  const { release, isImmutable, variant } = question.response

  async function readNumbers() {
    const describe = (groups: readonly FigureGroup[], answer: Pick<FigureAnswer, 'choice'>) => ({
      title: titleAnswer(dataset, asked, groups, answer.choice),
      ...formatChoice(dataset, answer.choice, asked.url),
    })
    if (!asked.sideBySide) {
      const { groups, ...answer } = await question.read()
      const { title, ...choice } = describe(groups, answer)
      const [group] = groups
      const ways =
        answer.choice === null ? await readWays(routes.index, { dataset, request: asked, release, interval }) : []
      const totals: Total[] = [...choice.chosen, ...ways.map((way) => describeWay(dataset, way))]
      const how = joinDays(totals)
      const series = {
        interval: answer.interval,
        ...choice,
        ...formatTotals(groups, false),
        points: group?.figures.map((figure) => ({
          period: figure.period.name,
          ...formatFigure(dataset.series, figure),
        })),
        spans: group === undefined ? [] : formatSpans(dataset.series, group),
      }
      if (drawing.isCurve(series, interval !== undefined)) return { title, how, series, totals: [] }
    }
    const whole = { dataset, release, request: asked, interval: null }
    const { groups, ...answer } = await readFigures(routes.index, whole)
    const { title, chosen, left_out: leftOut } = describe(groups, answer)
    const [way] = asked.sideBySide || answer.choice !== null ? [] : await readWays(routes.index, whole)
    const totals: Total[] =
      answer.choice === null
        ? groups.flatMap((group) => describeGroup(dataset, group, way))
        : [...chosen.map((one) => ({ ...one, isChosen: true })), ...leftOut]
    return { title, how: null, series: null, totals }
  }

  return {
    drawing,
    /** The filters with the days, as a query string. */
    filters: serialiseFilters(asked.asked),
    response: { release, isImmutable, variant },
    /** What the drawing program takes. */
    async read(): Promise<object> {
      const citation = await readCitation(routes, { dataset, filters: asked.asked, release })
      const numbers = await readNumbers().catch((error: unknown) => {
        if (!(error instanceof Problem) || error.code !== 'not_comparable') throw error
        return {
          title: titleAnswer(dataset, asked, [], null),
          how: null,
          series: null,
          totals: [],
          refusal: explainMixture(dataset, error),
        }
      })
      return {
        refusal: citation.sources.length === 0 ? ['No record of this release matches.', ...warnings].join(' ') : null,
        ...numbers,
        properties: Object.fromEntries(dataset.fields.map((field) => [field.name, labelField(dataset, field)])),
        release: release.number,
        sources: listSources(numbers.series?.chosen ?? [], citation),
        citation: cite(citation),
        count: asked.count,
        kind,
        isLog: scale === 'log',
      }
    },
  }
}

/** The sentence for people who only look: a picture has no choices to follow. */
function explainMixture({ series: { comparison } }: SeriesDataset, { members }: Problem): string {
  const { mixed, choices_total: ways } = members as {
    readonly mixed: readonly { readonly field: string }[]
    readonly choices_total: number
  }
  const fields = mixed.map(({ field }) => field)
  const subjects = fields.filter((field) => comparison.addable.includes(field) || comparison.parts.includes(field))
  return subjects.length === 0
    ? `These records were counted in ${ways} ways, and none is clearly the best. Adding them up would count people twice.`
    : `These records are about different things: they differ in ${subjects.join(', ')}. One number would say nothing about any of them.`
}

const dayOrNull = (day: number | null) => (day === null ? null : formatDay(day))

const describeWay = (
  { series }: SeriesDataset,
  { how, values, countries, totals, firstDay, lastDay }: AnswerSet,
): Total => ({
  values: Object.fromEntries([...values, ...how]),
  words: series.preference?.describe(how, countries) ?? '',
  first_day: dayOrNull(firstDay),
  last_day: dayOrNull(lastDay),
  counts: Object.fromEntries(totals),
})

const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The figure of one group over all days: of the only way of counting, or of each with `side_by_side`. */
const describeGroup = (dataset: SeriesDataset, { group, figures }: FigureGroup, way: AnswerSet | undefined): Total[] =>
  figures.map(({ total, period }) => ({
    ...(way === undefined
      ? { values: Object.fromEntries(group), words: asText(group.get('words')) }
      : describeWay(dataset, way)),
    first_day: formatDay(period.first),
    last_day: formatDay(period.last),
    counts: byCount(dataset.series, total),
  }))

/** The first way of counting, with the days of all of them. */
function joinDays(totals: readonly Total[]): Total | null {
  const [first] = totals
  const days = (name: 'first_day' | 'last_day') => totals.map((total) => total[name]).filter((day) => day !== null)
  return first === undefined
    ? null
    : { ...first, first_day: days('first_day').sort()[0] ?? null, last_day: days('last_day').sort().at(-1) ?? null }
}

/** Of what is drawn, if one source was chosen; otherwise those with the most records. */
function listSources(chosen: readonly { readonly values: object }[], { sources }: Citation): string[] {
  const names = chosen.flatMap(({ values }) => ('source_name' in values ? [String(values.source_name)] : []))
  return [...new Set(names.length > 0 ? names : sources.map(({ value }) => value))]
}

const cite = ({ title, dataset, release, asOf, licence, url }: Citation): string =>
  `${title}. ${dataset}, release ${release}, data as of ${asOf}. ${licence}. ${url}`
