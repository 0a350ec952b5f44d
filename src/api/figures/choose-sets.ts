// Chooses how the counts of a response were counted, where the matching rows differ in it and the reader did not say. The rule
// is methods/recommended-set.ts. docs/methods.md, section 11.
import sql from 'sql-template-tag'
import type { IndexSnapshot } from '../../columns/column-index.ts'
import { EVENT, type Preference } from '../../datasets/define.ts'
import { lookUp } from '../../datasets/vocabulary.ts'
import {
  doAgree,
  isOfOtherDays,
  type LeftOut,
  type PreferredSets,
  type Recommendation,
  recommend,
} from '../../methods/recommended-set.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { findContainedSeries } from './cover-series.ts'
import { type FigureRows, isInSeries } from './figure-columns.ts'
import type { FigureRequest } from './figure-request.ts'
import { type AnswerSet, type AnswerSets, readSets, type SetOptions } from './read-sets.ts'

export interface Choice {
  /** The rows of the chosen sets. */
  readonly rows: FigureRows
  readonly chosen: readonly Recommendation<AnswerSet>[]
  /** Sets of events that another event contains. */
  readonly inside: readonly LeftOut<AnswerSet>[]
  /** Groups without a figure, because no set is clearly the best. */
  readonly undecided: readonly Recommendation<AnswerSet>[]
}

interface ChoiceOptions extends SetOptions {
  readonly isCurve: boolean
  readonly maxSeries: number
  /** What the publisher of the release prefers. */
  readonly preferred: PreferredSets
}

export async function chooseSets(
  dataset: SeriesDataset,
  preference: Preference,
  snapshot: IndexSnapshot,
  rows: FigureRows,
  request: FigureRequest,
  { isCurve, maxSeries, preferred, ...options }: ChoiceOptions,
): Promise<Choice | null> {
  const { sets, selectWithUndated } = await readPlain(dataset, preference, snapshot, rows, request, options, maxSeries)
  const { parts } = dataset.series.comparison
  const [onlyEvent, secondEvent] = request.filters.values.get(EVENT) ?? []
  const preferredOf = ({ subject, groupValues }: AnswerSet) => {
    const event = subject.get(EVENT) ?? groupValues.get(EVENT) ?? (secondEvent === undefined ? onlyEvent : null)
    return typeof event === 'string' ? lookUp(preferred, event) : undefined
  }
  const subjects = [...Map.groupBy(sets, ({ group, subject }) => `${group}|${nameSubject(subject)}`).values()]
  const all = subjects.map((own) => {
    const [first] = own
    const ofPublisher = first === undefined ? undefined : preferredOf(first)
    return recommend(preference, own, { count: request.count, isCurve, parts, preferred: ofPublisher })
  })
  const groups = [...Map.groupBy(all, ({ chosen }) => chosen.group).values()].map((members) =>
    addEvents(preference, members, request, parts),
  )
  const decided = groups.filter((group) => group !== null)
  const chosen = decided.flatMap(({ used }) => used)
  // Different things in one group, or nothing but doubt.
  if (decided.length < groups.length || chosen.length === 0) return null
  return {
    rows: selectWithUndated(chosen.map((one) => one.chosen)),
    chosen,
    inside: decided.flatMap(({ inside }) => inside),
    undecided: decided.flatMap(({ undecided }) => undecided),
  }
}

/** The sets without places that a list names, too. */
async function readPlain(
  dataset: SeriesDataset,
  preference: Preference,
  snapshot: IndexSnapshot,
  rows: FigureRows,
  request: FigureRequest,
  options: SetOptions,
  maxSeries: number,
): Promise<AnswerSets> {
  const found = await readSets(dataset, preference, snapshot, rows, request, options)
  const lists = found.sets.filter(({ listsPlaces }) => listsPlaces)
  if (lists.length === 0) return found
  const { from, condition } = options.used
  const ofLists = { from: found.select(lists).from, condition }
  const contained = await findContainedSeries(dataset, snapshot, ofLists, request, maxSeries)
  if (contained.length === 0) return found
  const used = { from, condition: sql`${condition} and not ${isInSeries(dataset, contained)}` }
  return readSets(dataset, preference, snapshot, rows, request, { ...options, used })
}

/** The rows of sets that were chosen in another release; null if this one has none of them. */
export async function followSets(
  dataset: SeriesDataset,
  preference: Preference,
  snapshot: IndexSnapshot,
  rows: FigureRows,
  request: FigureRequest,
  followed: readonly AnswerSet[],
): Promise<FigureRows | null> {
  const options = { used: rows, withUndated: false, withoutCounts: true }
  const { sets, select } = await readSets(dataset, preference, snapshot, rows, request, options)
  const nameOf = ({ subject, how }: AnswerSet) => JSON.stringify([...subject, ...how])
  const names = new Set(followed.map(nameOf))
  const same = sets.filter((set) => names.has(nameOf(set)))
  return same.length === 0 ? null : select(same)
}

const nameSubject = (subject: AnswerSet['subject']) => JSON.stringify([...subject.values()])

interface GroupChoice {
  readonly used: readonly Recommendation<AnswerSet>[]
  readonly inside: readonly LeftOut<AnswerSet>[]
  readonly undecided: readonly Recommendation<AnswerSet>[]
}

/**
 * The events of a group that can be added up: without those that are part of another one. Null if the group has different
 * things, such as two diseases.
 */
function addEvents(
  preference: Preference,
  members: readonly Recommendation<AnswerSet>[],
  { across, place, count }: FigureRequest,
  parts: readonly string[],
): GroupChoice | null {
  const { subject, within } = preference
  const fields = [...(members[0]?.chosen.subject.keys() ?? [])]
  const differing = fields.filter((field) => new Set(members.map(({ chosen }) => chosen.subject.get(field))).size > 1)
  const isAsked = differing.every((field) => across.includes(field))
  // The cover of a place does not know which event is part of another.
  const mayAdd = place === null && differing.every((field) => within.includes(field) || across.includes(field))
  // Events without a disease may be of two.
  const isOneSubject = !differing.includes(subject) && members[0]?.chosen.subject.get(subject) !== null
  if (!isAsked && !(mayAdd && isOneSubject)) return null
  const inside = isAsked
    ? []
    : members.filter((member) =>
        members.some((other) => other.doubt === null && contains(preference, other, member, count)),
      )
  const outside = members.filter((member) => !inside.includes(member))
  const used = outside.filter(({ doubt }) => doubt === null)
  // The men of one event are not added to everyone of another.
  if (parts.some((field) => new Set(used.map(({ chosen }) => chosen.values.get(field) ?? null)).size > 1)) return null
  return {
    used,
    inside: inside.map(({ chosen }) => ({ set: chosen, step: 'inside' })),
    undecided: outside.filter(({ doubt }) => doubt !== null),
  }
}

/**
 * True if an event has the people of another one, too. A worldwide count stands for all events. Any other count has those of
 * finer levels in its countries and of the same place, if most of their days are its own. If nothing says which countries it
 * is about, it has those of all.
 */
function contains(
  preference: Preference,
  { chosen: outer, leftOut }: Recommendation<AnswerSet>,
  { chosen: inner }: Recommendation<AnswerSet>,
  count: string,
): boolean {
  const { level, levels } = preference
  const rank = (set: AnswerSet) => levels.indexOf(set.values.get(level) ?? null)
  if (outer === inner || rank(outer) > rank(inner)) return false
  if (rank(outer) === rank(inner))
    return isSameOutbreak(preference, outer, inner, count) && isGreater(outer, inner, count)
  if (rank(outer) === 0) return true
  const countries = new Set([outer, ...leftOut.map(({ set }) => set)].flatMap((set) => [...set.countries]))
  const isThere = countries.size === 0 || [...inner.countries].every((code) => countries.has(code))
  return isThere && !isOfOtherDays(outer, inner)
}

/** Events of the same days and place, under two names. Two parts of one country with about the same count may be one place with two names. */
function isSameOutbreak({ level, partLevels }: Preference, a: AnswerSet, b: AnswerSet, count: string): boolean {
  const isPart = partLevels.includes(a.values.get(level) ?? null)
  const hasTwoNames = () =>
    doAgree(a.totals.get(count) ?? 0, b.totals.get(count) ?? 0) && [...a.countries].some((one) => b.countries.has(one))
  const isSame = [...a.places].some((one) => b.places.has(one)) || (isPart && hasTwoNames())
  return isSame && (!isOfOtherDays(a, b) || !isOfOtherDays(b, a))
}

function isGreater(a: AnswerSet, b: AnswerSet, count: string): boolean {
  const difference = (a.totals.get(count) ?? 0) - (b.totals.get(count) ?? 0)
  return difference === 0 ? nameSubject(a.subject) < nameSubject(b.subject) : difference > 0
}
