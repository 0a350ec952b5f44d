// The JSON of figures, and its schema.
import { type TSchema, Type } from 'typebox'
import type { FieldValue, Series } from '../../datasets/define.ts'
import { formatDay } from '../../methods/calendar.ts'
import type { Figure, Span } from '../../methods/figures.ts'
import type { Counts } from '../../methods/increments.ts'
import type { FigureGroup } from './figure-groups.ts'

/** A value for each count, by its name. */
export const byCount = <Value>({ counts }: Series, values: readonly Value[]): Record<string, Value> =>
  Object.fromEntries(counts.map((name, i) => [name, values[i] as Value]))

export function formatFigure(series: Series, figure: Figure) {
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

const formatSpan = (series: Series, { first, last, records, new: counts }: Span) => ({
  first_day: formatDay(first),
  last_day: formatDay(last),
  records,
  new: byCount(series, counts),
})

export const formatSpans = (series: Series, { spans }: FigureGroup) => spans.map((span) => formatSpan(series, span))

/** The counts of the undated records of a group; null without any, or if they must not be added up. */
export const formatUndated = (series: Series, { undatedCounts }: FigureGroup) =>
  undatedCounts === null ? null : byCount(series, undatedCounts)

/** The places that contain those of the answer, each with its figure. */
export const formatBeside = (series: Series, beside: readonly FigureGroup[] | null) =>
  beside?.flatMap((group) =>
    group.figures.map((figure) => ({ ...formatGroup(group), ...formatFigure(series, figure) })),
  ) ?? null

/** The lines of a table that follow those of the figures: spans, and counts without a day. */
export const formatOtherRows = (
  series: Series,
  groups: readonly FigureGroup[],
  describe: (group: FigureGroup) => string,
) => [
  ...groups.flatMap((group) =>
    formatSpans(series, group).map((span) => ({
      ...formatGroup(group),
      ...span,
      row: 'span',
      counted: describe(group),
    })),
  ),
  ...groups
    .filter(({ undatedCounts }) => undatedCounts !== null)
    .map((group) => ({
      ...formatGroup(group),
      records: group.undated,
      undated: formatUndated(series, group),
      row: 'undated',
      counted: describe(group),
    })),
]

/** The totals of an answer: over all groups at the top, or of one group. */
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

/** The smallest and the largest known count of several groups. */
export function formatRange(series: Series, figures: readonly Figure[]) {
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
        'With groups by place: the places that contain the groups, such as the country of the states. They are not part of the table. Null if there are several figures of them that must not be compared.',
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
  { description: 'What the figures of the requested place are made of.' },
)

export const groupSchema = Type.Object({}, { additionalProperties: true, description: 'The values of the group.' })
export const labelSchema = Type.String({ description: 'The group in words.' })
export const countOrNullSchema = countOrNull
