// The JSON of figures, and its schema.
import { type TSchema, Type } from 'typebox'
import type { FieldValue, Series } from '../../datasets/define.ts'
import { formatDay } from '../../methods/calendar.ts'
import type { Figure, Span } from '../../methods/figures.ts'
import type { Counts } from '../../methods/increments.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import type { FigureGroup } from './figure-groups.ts'

/** The counts, and those of them that the response shows. Default: all. */
export type ShownCounts = Pick<Series, 'counts'> & { readonly shown?: ReadonlySet<string> }

export type ShownDataset = Omit<SeriesDataset, 'series'> & { readonly series: Series & ShownCounts }

export const showCounts = (dataset: SeriesDataset, counts: readonly string[] | undefined): ShownDataset =>
  counts === undefined ? dataset : { ...dataset, series: { ...dataset.series, shown: new Set(counts) } }

/** A value for each count that is shown, by its name. */
export const byCount = <Value>({ counts, shown }: ShownCounts, values: readonly Value[]): Record<string, Value> =>
  Object.fromEntries(
    counts.map((name, i) => [name, values[i] as Value] as const).filter(([name]) => shown?.has(name) !== false),
  )

/** The columns of a table that its rows have or not, such as `new_cases`. */
export const nameColumns = (series: ShownCounts, ...prefixes: string[]): string[] =>
  [...prefixes, 'new_', 'cumulative_', 'point_', 'undated_', 'completeness_'].flatMap((prefix) =>
    Object.keys(byCount(series, [])).map((count) => prefix + count),
  )

export function formatFigure(series: ShownCounts, figure: Figure) {
  const { period, explanations } = figure
  return {
    first_day: formatDay(period.first),
    last_day: formatDay(period.last),
    records: figure.records,
    new: byCount(series, figure.new),
    cumulative: byCount(series, figure.cumulative),
    point: byCount(series, figure.point),
    completeness: byCount(
      series,
      figure.completeness.map(({ placesKnown, placesReporting, share }) => ({
        places_known: placesKnown,
        places_reporting: placesReporting,
        share,
      })),
    ),
    derived: figure.derived,
    revision: figure.revision,
    base_unknown: figure.baseUnknown,
    definition_changed: figure.definitionChanged,
    includes_earlier_days: figure.includesEarlierDays,
    overlapping: figure.overlapping,
    inexact: figure.inexact,
    interim: figure.interim,
    in_span: figure.inSpan,
    ...(explanations === null
      ? {}
      : {
          explain: explanations.map(({ id, rules, new: increments }) => ({
            id,
            rules: byCount(
              series,
              rules.map((rule) => rule ?? 'not_reported'),
            ),
            new: byCount(series, increments),
          })),
        }),
  }
}

export const formatGroup = ({ group }: FigureGroup): Record<string, FieldValue> => Object.fromEntries(group)

const formatSpan = (series: ShownCounts, { first, last, records, new: counts }: Span) => ({
  first_day: formatDay(first),
  last_day: formatDay(last),
  records,
  new: byCount(series, counts),
})

export const formatSpans = (series: ShownCounts, { spans }: FigureGroup) =>
  spans.map((span) => formatSpan(series, span))

/** The counts of the undated records of a group; null without any, or if they cannot be added together. */
export const formatUndated = (series: ShownCounts, { undatedCounts }: FigureGroup) =>
  undatedCounts === null ? null : byCount(series, undatedCounts)

/** The places that contain those of the response, each with its figure. */
export const formatBeside = (series: ShownCounts, beside: readonly FigureGroup[] | null) =>
  beside?.flatMap((group) =>
    group.figures.map((figure) => ({ ...formatGroup(group), ...formatFigure(series, figure) })),
  ) ?? null

/** What a line of a table says besides its numbers: what it is, and how it was counted. */
export type DescribeRow = (row: 'figure' | 'span' | 'undated', group: FigureGroup) => object

/** What follows the figures: spans, and counts without a day. */
export const formatOtherRows = (
  series: ShownCounts,
  groups: readonly FigureGroup[],
  describe: DescribeRow = () => ({}),
) => ({
  spans: groups.flatMap((group) =>
    formatSpans(series, group).map((span) => ({ group: formatGroup(group), ...span, ...describe('span', group) })),
  ),
  undated_counts: groups
    .filter(({ undatedCounts }) => undatedCounts !== null)
    .map((group) => ({
      group: formatGroup(group),
      records: group.undated,
      undated: formatUndated(series, group),
      ...describe('undated', group),
    })),
})

/** The totals of a response: over all groups at the top, or of one group. */
export const formatTotals = (groups: readonly FigureGroup[], explain: boolean) => {
  return {
    records: groups.reduce((sum, { records }) => sum + records, 0),
    series: groups.reduce((sum, { series }) => sum + series, 0),
    undated: groups.reduce((sum, { undated }) => sum + undated, 0),
    ...(explain ? { undated_records: groups.flatMap(({ undatedIds }) => undatedIds ?? []) } : {}),
  }
}

export const formatCover = (place: string, { cover }: FigureGroup) => ({
  place,
  made_of: cover?.madeOf.map(({ place: covered, records }) => ({ ...covered, records })) ?? [],
  left_out: cover?.leftOut ?? 0,
})

/** What each group of a place is calculated from, without what is unknown of the parts. */
export const formatShortCovers = (place: string | null, groups: readonly FigureGroup[]) =>
  place === null
    ? {}
    : {
        covers: groups.map((group) => {
          const { made_of: parts, ...cover } = formatCover(place, group)
          const known = (part: object) => Object.fromEntries(Object.entries(part).filter(([, value]) => value !== null))
          return { ...formatGroup(group), ...cover, made_of: parts.map(known) }
        }),
      }

/** The smallest and the largest known count of several groups. */
export function formatRange(series: ShownCounts, figures: readonly Figure[]) {
  const range = (pick: (figure: Figure) => Counts) =>
    series.counts.map((_, count) => {
      const known = figures.map((figure) => pick(figure)[count] ?? null).filter((value) => value !== null)
      return known.length === 0 ? null : { min: Math.min(...known), max: Math.max(...known) }
    })
  return {
    new: byCount(
      series,
      range((figure) => figure.new),
    ),
    cumulative: byCount(
      series,
      range((figure) => figure.cumulative),
    ),
  }
}

const countOrNull = Type.Union([Type.Integer(), Type.Null()])
const flag = (description: string) => Type.Boolean({ description })

const schemaByCount = ({ counts }: Series, schema: TSchema, description: string) =>
  Type.Object(Object.fromEntries(counts.map((name) => [name, schema])), { description })

export const figureSchema = (series: Series) => ({
  first_day: Type.String({ format: 'date' }),
  last_day: Type.String({ format: 'date' }),
  records: Type.Integer({ minimum: 0, description: 'The matching records of these days.' }),
  new: schemaByCount(series, countOrNull, 'New counts of these days; null if none is known.'),
  cumulative: schemaByCount(series, countOrNull, 'The last known cumulative count of each series, added up.'),
  point: schemaByCount(series, countOrNull, 'The last count at a moment of each series, added up.'),
  completeness: schemaByCount(
    series,
    Type.Object({
      places_known: Type.Integer({ minimum: 0, description: 'Places with a count on the last day or earlier.' }),
      places_reporting: Type.Integer({ minimum: 0, description: 'Places with a count within these days.' }),
      share: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
        description: 'The part of the last known total that the reporting places have.',
      }),
    }),
    'How complete each count is.',
  ),
  derived: flag('Some new counts are differences of counts, or counts since a start.'),
  revision: flag('An earlier count was revised: a dip, a rebound, a correction or a negative new count.'),
  base_unknown: flag('The first report of a series is not part of `new`, because it is unknown when counting began.'),
  definition_changed: flag('The case definition changed.'),
  includes_earlier_days: flag('A new count may contain earlier days.'),
  overlapping: flag('A report was left out because other reports cover its days.'),
  inexact: flag('Some counts are "at least", "at most" or approximate.'),
  interim: flag('The last total was published within 42 days of its last day: the outbreak may have gone on.'),
  in_span: flag('Days of this interval are part of a span, so `new` does not have all of them.'),
  explain: Type.Optional(
    Type.Array(
      Type.Object({
        id: Type.Integer({ minimum: 1 }),
        rules: schemaByCount(series, Type.String(), 'The rule that took or left each count.'),
        new: schemaByCount(series, countOrNull, 'What the record adds to `new`.'),
      }),
      { description: 'The records of these days, if `explain` is true.' },
    ),
  ),
})

/** The number to quote. */
export const sumSchema = (series: Series) => ({
  total: schemaByCount(
    series,
    countOrNull,
    'Everything that is known up to the last day: the last total, or the sum of new counts. With `date_from`, the same as `new`.',
  ),
})

/** New counts whose days do not lie in one interval. */
export const spanSchema = (series: Series) => ({
  first_day: Type.String({ format: 'date' }),
  last_day: Type.String({ format: 'date' }),
  records: Type.Integer({ minimum: 1 }),
  new: schemaByCount(series, countOrNull, 'The new counts of all these days together.'),
})

export const spansDescription =
  'New counts over days that do not lie in one interval: a total of several months is not the count of its last month.'

export const undatedSchema = (series: Series) =>
  schemaByCount(series, countOrNull, 'The counts of the undated records.')

export const besideSchema = (series: Series) =>
  Type.Union(
    [
      Type.Array(Type.Object({ place: Type.Object({}, { additionalProperties: true }), ...figureSchema(series) })),
      Type.Null(),
    ],
    {
      description:
        'With groups by place: the places that contain the groups, such as the country of the states. They are not part of the table. Null if there are several values of them that cannot be compared.',
    },
  )

export const totalsSchema = {
  records: Type.Integer({ minimum: 0, description: 'The matching records with a day in the requested range.' }),
  series: Type.Integer({ minimum: 0, description: 'The number of their series.' }),
  undated: Type.Integer({ minimum: 0, description: 'Matching records without a day; they are in no interval.' }),
  undated_records: Type.Optional(Type.Array(Type.Integer({ minimum: 1 }))),
}

export const coverSchema = Type.Object(
  {
    place: Type.String(),
    made_of: Type.Array(Type.Object({ records: Type.Integer({ minimum: 0 }) }, { additionalProperties: true }), {
      description: 'The places that are added up, with the number of their records; 0 if only earlier counts are used.',
    }),
    left_out: Type.Integer({ minimum: 0, description: 'Series that another place covers, or that have no position.' }),
  },
  { description: 'What the numbers of the requested place are calculated from.' },
)

export const intervalFromSchema = Type.Enum(['request', 'records'], {
  description: '`records` if the request has no `interval`: the finest that fits how often the records report.',
})

/** The rows of the short form. Every column but those of days, records and flags exists if some row has a value. */
export function shortRowsSchema(series: Series) {
  const columns = (schema: TSchema, ...prefixes: string[]) =>
    Object.fromEntries(
      prefixes.flatMap((prefix) => series.counts.map((count) => [prefix + count, Type.Optional(schema)])),
    )
  const { explain, ...figure } = figureSchema(series)
  const flags = Object.entries(figure).flatMap(([name, schema]) =>
    'type' in schema && schema.type === 'boolean' ? [name] : [],
  )
  const share = Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()])
  const others = {
    additionalProperties: true,
  }
  const days = { first_day: figure.first_day, last_day: figure.last_day, records: figure.records }
  const row = {
    period: Type.Optional(Type.String({ description: '2020-03-02, 2020-W10, 2020-EW10, 2020-03 or 2020.' })),
    label: Type.Optional(labelSchema),
    ...days,
    ...columns(countOrNull, '', 'new_', 'cumulative_', 'point_'),
    ...columns(share, 'completeness_'),
    explain,
    flags: Type.Array(Type.String(), {
      description: `What a reader has to know about the numbers: ${flags.join(', ')}; of measures, crude and ongoing too. docs/methods.md explains them.`,
    }),
  }
  return {
    data: Type.Array(Type.Object(row, others), {
      description:
        'Flat rows, with the fields of the group. A count without a value in any row has no column. In `/sums`, `cases` and the other names without a prefix are the total.',
    }),
    spans: Type.Array(Type.Object({ ...days, ...columns(countOrNull, 'new_') }, others), {
      description: spansDescription,
    }),
    undated_counts: Type.Array(
      Type.Object({ records: Type.Integer({ minimum: 1 }), ...columns(countOrNull, 'undated_') }, others),
      { description: 'The counts of the undated records, unless they cannot be added together.' },
    ),
    range: Type.Optional(
      Type.Array(Type.Object({ period: Type.String() }, others), {
        description: 'With `group_by=source_name`: the smallest and the largest count of the sources in each interval.',
      }),
    ),
    beside: Type.Union([Type.Array(Type.Object(days, others)), Type.Null()], {
      description:
        'The places that contain the groups; null if there are several values of them that cannot be compared.',
    }),
    ...totalsSchema,
    covers: Type.Optional(
      Type.Array(coverSchema, { description: 'With `place`: what each group is calculated from.' }),
    ),
    group_by: Type.Array(Type.String()),
    across: Type.Array(Type.String(), { description: 'The fields over which counts were added up on request.' }),
  }
}

export const groupSchema = Type.Object({}, { additionalProperties: true, description: 'The values of the group.' })
export const labelSchema = Type.String({ description: 'The group in words.' })
export const countOrNullSchema = countOrNull
