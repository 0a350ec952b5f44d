// What a response says about the ways of counting: which were chosen for the reader, and which were left out.
import { Type } from 'typebox'
import { ADDED_UP, type FieldValue, pluralOf } from '../../datasets/define.ts'
import { formatDay } from '../../methods/calendar.ts'
import { PLACE } from '../../methods/comparability.ts'
import type { Doubt, LeftOut, Recommendation } from '../../methods/recommended-set.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { describeFilters } from '../filters/describe-filters.ts'
import type { Choice } from './choose-sets.ts'
import { describePlace, extendUrl, formatTotals, toQuery } from './comparison-problem.ts'
import type { FigureGroup } from './figure-groups.ts'
import { countOrNullSchema, type DescribeRow, type ShownDataset } from './figure-json.ts'
import type { FigureRequest } from './figure-request.ts'
import type { AnswerSet } from './read-sets.ts'

/** Why a set was left out, by the step of the rule. */
const REASONS: Readonly<Record<string, string>> = {
  preferred: 'The publisher of the release prefers another set.',
  count: 'It does not have the requested count.',
  everyone: 'It counts only some people.',
  exact: 'It has several counts of the same days, and nothing tells which is right.',
  curve: 'It has far fewer days than another.',
  composite: 'A curator made another series from all sources.',
  location_granularity: 'Another set is of the better level of place.',
  source_type: 'Another source is official, or closer to it.',
  deaths: 'Another set has deaths, too.',
  case_status: 'Another set has a better status: all cases come before confirmed ones.',
  count_kind: 'Another set has the better kind of count: new counts come before totals.',
  date_type: 'The days of another set are closer to the illness.',
  location_type: 'The places of another set say more about where people live.',
  last_day: 'Another set goes on longer.',
  days: 'Another set has more days.',
  records: 'Another set has more records.',
  name: 'Another set is as good, and comes first by name.',
  inside: 'A larger event has these people, too.',
  [PLACE]: 'It is a place apart, such as a ship, or contains other places.',
}

/** Why a group has no figure. */
const DOUBTS: Readonly<Record<Doubt, string>> = {
  people: 'Nothing is chosen: each count is of other people, and none is of everyone.',
  places: 'Nothing is chosen: other counts have places that these do not have.',
  count: 'Nothing is chosen: others have a very different count.',
  status: 'Nothing is chosen: another status has ten times this count or more.',
  days: 'Nothing is chosen: other counts are of other days.',
  place: 'Nothing is chosen: there are several places, each of which may contain the others.',
}

/** A longer list helps no one. */
const MAX_LEFT_OUT = 100
const MAX_LEFT_OUT_SHORT = 20

/** `chosen` and `left_out` of a response. */
export function formatChoice(dataset: ShownDataset, choice: Choice | null, url: string) {
  if (choice === null) return { chosen: [], left_out: [], left_out_total: 0 }
  const { chosen, inside, undecided } = choice
  const leftOut = [
    ...undecided.flatMap(({ chosen: best, leftOut: others, doubt }) =>
      [best, ...others.map(({ set }) => set)].map((set) => ({ set, step: doubt ?? 'undecided', doubt })),
    ),
    ...[...inside, ...chosen.flatMap((one) => one.leftOut)].map((one) => ({ ...one, doubt: null })),
  ]
  return {
    chosen: chosen.map((one) => formatChosen(dataset, one, url)),
    left_out: leftOut.slice(0, MAX_LEFT_OUT).map((one) => formatLeftOut(dataset, one, url)),
    left_out_total: leftOut.length,
  }
}

/**
 * The same, with nothing twice: `query` has only the fields in which the sets differ, and chosen sets with the same words and
 * query are one entry. What is undecided is listed once.
 */
export function formatShortChoice(dataset: ShownDataset, choice: Choice | null) {
  if (choice === null) return { chosen: [], left_out: [], left_out_total: 0 }
  const { chosen, inside, undecided } = choice
  const all = [...chosen, ...undecided].flatMap((one) => [one.chosen, ...one.leftOut.map(({ set }) => set)])
  const fields = (set: AnswerSet) => new Map([...set.subject, ...set.how])
  const texts = Map.groupBy(
    [...all, ...inside.map(({ set }) => set)].flatMap((set) => [...fields(set)]),
    ([field]) => field,
  )
  const differing = new Set(
    [...texts]
      .filter(([, own]) => new Set(own.map(([, value]) => JSON.stringify(value))).size > 1)
      .map(([field]) => field),
  )
  const format = (set: AnswerSet) => ({
    ...formatValues(dataset, set.groupValues),
    words: dataset.series.preference?.describe(set.how, set.countries) ?? '',
    query: queryOf(dataset, new Map([...fields(set)].filter(([field]) => differing.has(field)))),
    ...formatExtent(dataset, set),
  })
  const leftOut = [
    ...undecided.map(({ chosen: set, doubt }) => ({ set, step: doubt ?? 'undecided', doubt })),
    ...[...inside, ...chosen.flatMap((one) => one.leftOut)].map((one) => ({ ...one, doubt: null })),
  ]
  const entries = chosen.map((one) => ({ ...format(one.chosen), decided_by: decidedBy(one) }))
  return {
    chosen: [...Map.groupBy(entries, ({ words, query }) => `${words} ${query}`).values()].map(mergeEntries),
    left_out: leftOut
      .slice(0, MAX_LEFT_OUT_SHORT)
      .map((one) => ({ ...format(one.set), reason: reasonOf(one.step, one.doubt) })),
    left_out_total: all.length + inside.length - chosen.length,
  }
}

type ShortEntry = { readonly words: string; readonly query: string | null; readonly decided_by: readonly string[] }

/** The numbers of several groups are in their rows. */
function mergeEntries(entries: readonly ShortEntry[]): object {
  const [first, second] = entries
  if (first === undefined || second === undefined) return first ?? {}
  const steps = new Set(entries.flatMap((entry) => entry.decided_by))
  return { words: first.words, query: first.query, sets: entries.length, decided_by: [...steps] }
}

/** Says of each line of a table how it was counted, in words; empty if there is only one way. */
export function describeRows(dataset: SeriesDataset, choice: Choice | null): DescribeRow {
  const words = Map.groupBy(choice?.chosen ?? [], ({ chosen }) => nameGroup(chosen.groupValues))
  const describe = (group: FigureGroup['group']) => {
    const sets = words.get(nameGroup(group)) ?? []
    const [only, second] = sets
    if (only === undefined) return ''
    return second === undefined
      ? (dataset.series.preference?.describe(only.chosen.how, only.chosen.countries) ?? '')
      : `${sets.length} events, each as it was chosen`
  }
  return (row, { group }) => ({ row, counted: describe(group) })
}

/** The title of a response: what was asked, and how many countries were counted, if not the world. */
export function titleAnswer(
  dataset: SeriesDataset,
  { asked, groupBy }: FigureRequest,
  groups: readonly FigureGroup[],
  choice: Choice | null,
): string {
  const { country, level, countryLevel } = dataset.series.preference ?? {}
  const countries = new Set(choice?.chosen.flatMap(({ chosen }) => [...chosen.countries]))
  const levels = asked.values.get(level ?? '') ?? []
  const isOfCountries =
    country !== undefined &&
    (countries.size > 0 || groupBy.includes(country) || (levels.length === 1 && levels[0] === countryLevel))
  const places = groups.flatMap(
    ({ figures }) => figures.at(-1)?.completeness.map(({ placesKnown }) => placesKnown) ?? [],
  )
  const number = countries.size || Math.max(groupBy.includes(country ?? '') ? groups.length : 0, ...places)
  const counted = `${number} ${isOfCountries ? pluralOf(dataset, country) : 'places'}`
  return describeFilters(dataset, asked, number > 1 ? counted : null) ?? 'All events'
}

const nameGroup = (values: ReadonlyMap<string, unknown>) => JSON.stringify([...values])

const formatChosen = (dataset: ShownDataset, { chosen, leftOut }: Recommendation<AnswerSet>, url: string) => ({
  ...formatSet(dataset, chosen, url),
  decided_by: decidedBy({ leftOut }),
})

const decidedBy = ({ leftOut }: Pick<Recommendation<AnswerSet>, 'leftOut'>) => [
  ...new Set(leftOut.map(({ step }) => step)),
]

/** A step and a doubt may have the same name. */
const formatLeftOut = (
  dataset: ShownDataset,
  { set, step, doubt }: LeftOut<AnswerSet> & { doubt: Doubt | null },
  url: string,
) => ({
  ...formatSet(dataset, set, url),
  because: step,
  reason: reasonOf(step, doubt),
})

const reasonOf = (step: string, doubt: Doubt | null) =>
  (doubt === null ? REASONS[step] : DOUBTS[doubt]) ?? 'Another event of the same sum is undecided.'

const formatValues = (dataset: SeriesDataset, values: ReadonlyMap<string, FieldValue>) =>
  Object.fromEntries(
    [...values].map(([field, value]) => [field, field === PLACE ? describePlace(dataset, value) : value]),
  )

function formatSet(dataset: ShownDataset, set: AnswerSet, url: string) {
  const { preference } = dataset.series
  const query = queryOf(dataset, new Map([...set.subject, ...set.how]))
  return {
    ...formatValues(dataset, set.groupValues),
    ...Object.fromEntries(set.subject),
    words: preference?.describe(set.how, set.countries) ?? '',
    values: formatValues(dataset, set.how),
    query,
    url: query === null ? null : extendUrl(url, query),
    ...formatExtent(dataset, set),
  }
}

const formatDayOrNull = (day: number | null) => (day === null ? null : formatDay(day))

const formatExtent = ({ series }: ShownDataset, { records, firstDay, lastDay, totals }: AnswerSet) => ({
  records,
  first_day: formatDayOrNull(firstDay),
  last_day: formatDayOrNull(lastDay),
  counts: formatTotals(new Map([...totals].filter(([count]) => series.shown?.has(count) !== false))),
})

/** The filters that choose a set; null if none do. No filter leaves out everyone. */
const queryOf = (dataset: ShownDataset, values: ReadonlyMap<string, FieldValue>) =>
  [...values.values()].includes(ADDED_UP) ? null : toQuery(dataset, values, false)

const dayOrNull = Type.Union([Type.String({ format: 'date' }), Type.Null()], {
  description: 'Null if no record has a day.',
})
const setSchema = {
  words: Type.String({ description: 'How it was counted, in words.' }),
  values: Type.Object({}, { additionalProperties: true, description: 'How it was counted, by field.' }),
  query: Type.Union([Type.String(), Type.Null()], {
    description: 'The filters that choose this set; null if none do.',
  }),
  url: Type.Union([Type.String(), Type.Null()], { description: 'The same query for this set only.' }),
  records: Type.Integer({ minimum: 1 }),
  first_day: dayOrNull,
  last_day: dayOrNull,
  counts: Type.Object({}, { additionalProperties: countOrNullSchema, description: 'What is known in all.' }),
}

const shortSetSchema = {
  words: setSchema.words,
  query: Type.Union([Type.String(), Type.Null()], {
    description: 'The filters that choose it, of those in which the ways of counting differ. Add it to the request.',
  }),
}
const extentSchema = {
  records: setSchema.records,
  first_day: setSchema.first_day,
  last_day: setSchema.last_day,
  counts: setSchema.counts,
}

const title = Type.String({
  description: 'The query in words, for a picture or a table: "COVID-19, Italy, 2019".',
})

export const shortChoiceSchema = {
  title,
  chosen: Type.Array(
    Type.Object(
      {
        ...shortSetSchema,
        ...Type.Partial(Type.Object(extentSchema)).properties,
        sets: Type.Optional(
          Type.Integer({
            minimum: 2,
            description: 'The number of groups that were counted so; their numbers are in the rows.',
          }),
        ),
        decided_by: Type.Array(Type.String(), { description: 'The steps of the rule that left out other sets.' }),
      },
      { additionalProperties: true },
    ),
    {
      description:
        'How the counts were counted, if there are several ways: docs/methods.md. Empty if there is only one.',
    },
  ),
  left_out: Type.Array(
    Type.Object({ ...shortSetSchema, ...extentSchema, reason: Type.String() }, { additionalProperties: true }),
    {
      description: `Other ways of counting, each with its numbers and the reason; at most ${MAX_LEFT_OUT_SHORT}, what is undecided first. \`detail=full\` has ${MAX_LEFT_OUT}.`,
    },
  ),
  left_out_total: Type.Integer({ minimum: 0 }),
}

export const choiceSchema = {
  title,
  chosen: Type.Array(
    Type.Object(
      {
        ...setSchema,
        decided_by: Type.Array(Type.String(), { description: 'The steps of the rule that left out other sets.' }),
      },
      { additionalProperties: true },
    ),
    {
      description:
        'How the counts were counted, if there are several ways: the rule of docs/methods.md chooses one for each group and event. Empty if there is only one way. `strict=true` rejects the query instead.',
    },
  ),
  left_out: Type.Array(
    Type.Object({ ...setSchema, because: Type.String(), reason: Type.String() }, { additionalProperties: true }),
    { description: `Other ways of counting, each with its numbers and the reason; at most ${MAX_LEFT_OUT}.` },
  ),
  left_out_total: Type.Integer({ minimum: 0 }),
}
