// Summarises an event from summaries of its series: what it has, and a figure for each set of comparable counts.
// docs/methods.md, section 10. Pure.
import { type FieldValue, type Series, SOURCE_FIELD, titleOf } from '../datasets/define.ts'
import { PLACE } from './comparability.ts'
import { sumKnown } from './figures.ts'
import { type Counts, LEFT_OUT, type Step } from './increments.ts'
import { type CountedSet, type PreferredSets, type Recommendation, recommend } from './recommended-set.ts'
import { describePlace, type RecordSeries, type Row, type SeriesDataset, toSeries } from './record-series.ts'

/** The values of an event that its summary lists, by their name in the summary. */
const LISTED = { pathogens: 'pathogen', diseases: 'disease', country_codes: 'country_code', sources: SOURCE_FIELD }
/** An event with more figures has each report as its own source; its series are better read one by derived. */
const MAX_FIGURES = 200

/** The sums of one series. Stored, so that a release computes only the series that it changes. */
export interface SeriesSummary {
  readonly event: string
  readonly lastRelease: number
  readonly listed: Readonly<Record<string, FieldValue>>
  /** The values of the fields in which comparable counts agree. */
  readonly comparison: Readonly<Record<string, FieldValue>>
  readonly exclusivePlace: string | null
  readonly place: Row
  readonly placeKey: string
  readonly records: number
  /** The first and the last day that a record covers. */
  readonly firstDay: string | null
  readonly lastDay: string | null
  readonly new: Counts
  readonly cumulative: Counts
  /** The greatest of each count of the undated records. */
  readonly undated: Counts
  /** True if the last total was published so early that the outbreak may have gone on. */
  readonly interim: boolean
  /** What the choice of a headline looks at: records with a count, and the days of these counts. */
  readonly counted: number
  readonly days: number
  readonly firstCounted: number | null
  readonly lastCounted: number | null
  readonly contradicts: boolean
  readonly sourceTypes: readonly FieldValue[]
}

/** Summarises the records of one series. Rows also have `last_release`. */
export function summariseSeries(
  dataset: SeriesDataset,
  rows: readonly Row[],
  derived: RecordSeries = toSeries(dataset, rows),
): SeriesSummary {
  const { series } = dataset
  const steps = series.counts.map((_, count) => derived.steps.filter((step) => step.count === count))
  const pick = (fields: readonly string[]) => Object.fromEntries(fields.map((field) => [field, derived.read(field)]))
  const undatedIds = new Set(derived.undated)
  const undated = rows.filter((row) => undatedIds.has(Number(row['id'])))
  const counted = rows.filter((row) => series.counts.some((name) => (row[name] ?? null) !== null))
  const countedDays = derived.counted.map(({ day }) => day)
  const kept = derived.steps.filter(({ rule }) => !LEFT_OUT.has(rule))
  const days = rows.flatMap((row) => [row[series.begins], row[series.day]]).filter((day) => typeof day === 'string')
  return {
    event: derived.read('event') as string,
    lastRelease: rows.reduce((latest, row) => Math.max(latest, Number(row['last_release'])), 0),
    listed: pick(Object.values(LISTED)),
    comparison: pick(comparedFields(series)),
    exclusivePlace: derived.exclusivePlace,
    place: describePlace(dataset, derived),
    placeKey: derived.place,
    records: rows.length,
    firstDay: minimum(days),
    lastDay: maximum(days),
    new: steps.map((ofCount) => sumKnown(ofCount.map(({ increment }) => increment))),
    cumulative: steps.map((ofCount) => (derived.kind === 'cumulative' ? findLastCount(ofCount) : null)),
    undated: series.counts.map((name) => greatest(undated.map((row) => row[name] as number | null))),
    interim: derived.interim !== null,
    counted: counted.length,
    days: new Set(countedDays).size,
    firstCounted: least([...countedDays, ...kept.map(({ firstDay }) => firstDay)]),
    lastCounted: greatest(countedDays),
    contradicts: kept.some(({ isLowerBound }) => isLowerBound),
    sourceTypes: [...new Set(counted.map((row) => row[series.preference?.sourceType ?? ''] ?? null))],
  }
}

/** The last count that is not left out; null without derived. */
const findLastCount = (steps: readonly Step[]): number | null =>
  steps
    .filter(({ rule }) => !LEFT_OUT.has(rule))
    .sort((a, b) => a.day - b.day)
    .at(-1)?.value ?? null

/** The summary as it is sent. */
export function summariseEvent(
  dataset: SeriesDataset,
  event: string,
  summaries: readonly SeriesSummary[],
  preferred?: PreferredSets[string],
) {
  const { series } = dataset
  const listValues = (field: string) =>
    [...new Set(summaries.map(({ listed }) => listed[field] ?? null))]
      .filter((value) => typeof value === 'string')
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const figures = [...Map.groupBy(summaries, nameSet).values()]
    .map((members) => toFigure(series, members, extentOf(summaries).last_day))
    .map((figure) => ({ figure, text: JSON.stringify(figure) }))
    .sort((a, b) => b.figure.records - a.figure.records || (a.text < b.text ? -1 : 1))
    .map(({ figure }) => figure)
  return {
    event,
    title: titleOf(dataset, event),
    ...extentOf(summaries),
    ...Object.fromEntries(Object.entries(LISTED).map(([name, field]) => [name, listValues(field)])),
    ...findHeadline(series, summaries, extentOf(summaries).last_day, preferred),
    last_release: Math.max(...summaries.map(({ lastRelease }) => lastRelease)),
    figures: figures.slice(0, MAX_FIGURES),
    more_figures: Math.max(0, figures.length - MAX_FIGURES),
  }
}

/** What the rule for recommended answers chooses for an event; null without any total. `subjects`: several, such as two diseases. */
export function recommendFor(
  series: Series,
  summaries: readonly SeriesSummary[],
  preferred?: PreferredSets[string],
): Recommendation<SummarisedSet> | 'subjects' | null {
  const { preference, comparison, counts } = series
  const [count] = counts
  const sets = [...Map.groupBy(summaries, nameSet).values()]
    .map((members) => toSet(series, members))
    .filter(({ totals }) => [...totals.values()].some((total) => total !== null))
  if (preference === undefined || count === undefined || sets.length === 0) return null
  const subjectOf = ({ members: [first] }: SummarisedSet) =>
    JSON.stringify(pickInOrder(first?.comparison ?? {}, comparison.addable))
  if (new Set(sets.map(subjectOf)).size > 1) return 'subjects'
  return recommend(preference, sets, { count, isCurve: false, parts: comparison.parts, preferred })
}

/** The figure of an event that one would quote. Null if no set is clearly the best; `doubt` says why. */
function findHeadline(
  series: Series,
  summaries: readonly SeriesSummary[],
  lastDay: string | null,
  preferred: PreferredSets[string] | undefined,
) {
  const recommendation = recommendFor(series, summaries, preferred)
  if (recommendation === null || recommendation === 'subjects') return { headline: null, doubt: recommendation }
  const { chosen, leftOut, doubt } = recommendation
  if (doubt !== null) return { headline: null, doubt }
  const { members, values, totals } = chosen
  const { first_day, last_day, records } = extentOf(members)
  return {
    headline: {
      ...Object.fromEntries(totals),
      words: series.preference?.describe(values, chosen.countries) ?? '',
      ...Object.fromEntries(series.comparison.separate.map((field) => [field, values.get(field) ?? null])),
      records,
      first_day,
      last_day,
      interim: isInterim(series, members, last_day, lastDay),
      left_out: leftOut.length,
    },
    doubt: null,
  }
}

const nameSet = ({ comparison, exclusivePlace }: SeriesSummary) => JSON.stringify([comparison, exclusivePlace])

/** A total of which a later one may be greater. `ownDay` is the last day of the figure, `lastDay` of the event. */
const isInterim = (series: Series, members: readonly SeriesSummary[], ownDay: string | null, lastDay: string | null) =>
  members[0]?.comparison[series.kind] === 'cumulative' &&
  (members.some(({ interim }) => interim) || (ownDay ?? '') < (lastDay ?? ''))

export interface SummarisedSet extends CountedSet {
  readonly members: readonly SeriesSummary[]
}

function toSet({ comparison, counts, place, preference }: Series, all: readonly SeriesSummary[]): SummarisedSet {
  const contained = place?.findContained(all.map((member) => (field: string) => member.place[field])) ?? new Set()
  const members = all.filter((_, i) => !contained.has(i))
  const counted = members.filter((member) => member.counted > 0)
  const first = members[0] as SeriesSummary
  const fields = [...comparison.separate, ...comparison.parts]
  const sum = (pick: (summary: SeriesSummary) => Counts, i: number) =>
    sumKnown(members.map((member) => pick(member)[i] ?? null))
  return {
    members,
    values: new Map([
      ...fields.map((field) => [field, first.comparison[field] ?? null] as const),
      [PLACE, first.exclusivePlace],
    ]),
    records: counted.reduce((total, member) => total + member.counted, 0),
    days: Math.max(...members.map(({ days }) => days)),
    firstDay: least(counted.map(({ firstCounted }) => firstCounted)),
    lastDay: greatest(counted.map(({ lastCounted }) => lastCounted)),
    totals: new Map(
      counts.map((count, i) => [
        count,
        sum(({ cumulative }) => cumulative, i) ?? sum((summary) => summary.new, i) ?? sum(({ undated }) => undated, i),
      ]),
    ),
    contradicts: members.some(({ contradicts }) => contradicts),
    sourceTypes: [...new Set(counted.flatMap(({ sourceTypes }) => sourceTypes))],
    places: new Set(counted.map(({ placeKey }) => placeKey)),
    countries: new Set(
      first.exclusivePlace === null ? counted.map((member) => member.place[preference?.country ?? ''] ?? null) : [],
    ),
  }
}

/** `lastDay` is the last day of the event. */
function toFigure(series: Series, all: readonly SeriesSummary[], lastDay: string | null) {
  const { counts, place } = series
  const contained = place?.findContained(all.map((member) => (field: string) => member.place[field])) ?? new Set()
  const members = all.filter((_, i) => !contained.has(i))
  const first = members[0] as SeriesSummary
  const places = new Set(members.map(({ placeKey }) => placeKey))
  const sum = (pick: (summary: SeriesSummary) => Counts) =>
    Object.fromEntries(counts.map((name, i) => [name, sumKnown(members.map((member) => pick(member)[i] ?? null))]))
  const extent = extentOf(all)
  return {
    // The database does not keep the order of members.
    ...pickInOrder(first.comparison, comparedFields(series)),
    places: places.size,
    place:
      places.size === 1 ? pickInOrder(first.place, place === undefined ? [] : [place.level, ...place.fields]) : null,
    ...extent,
    new: sum((summary) => summary.new),
    cumulative: sum((summary) => summary.cumulative),
    undated: sum((summary) => summary.undated),
    interim: isInterim(series, members, extent.last_day, lastDay),
  }
}

const greatest = (numbers: readonly (number | null)[]): number | null =>
  numbers.reduce((a, b) => (a === null || (b !== null && b > a) ? b : a), null)
const least = (numbers: readonly (number | null)[]): number | null =>
  numbers.reduce((a, b) => (a === null || (b !== null && b < a) ? b : a), null)

const comparedFields = ({ comparison: { separate, addable, parts } }: Series) =>
  [...separate, ...addable, ...parts].filter((field) => field !== 'event')

const pickInOrder = (values: Readonly<Record<string, FieldValue>>, fields: readonly string[]) =>
  Object.fromEntries(fields.map((field) => [field, values[field] ?? null]))

const extentOf = (members: readonly SeriesSummary[]) => ({
  records: members.reduce((total, { records }) => total + records, 0),
  first_day: minimum(members.map(({ firstDay }) => firstDay).filter((day) => day !== null)),
  last_day: maximum(members.map(({ lastDay }) => lastDay).filter((day) => day !== null)),
})

const minimum = (days: readonly string[]) => days.reduce<string | null>((a, b) => (a === null || b < a ? b : a), null)
const maximum = (days: readonly string[]) => days.reduce<string | null>((a, b) => (a === null || b > a ? b : a), null)
