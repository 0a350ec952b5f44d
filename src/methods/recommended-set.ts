// Chooses how something was counted, where there are several ways: the set of comparable counts that answers a query best.
// What was counted (event, disease, host, people) is never chosen here. docs/methods.md, section 11. Pure.
import { type FieldValue, type Preference, SOURCE_FIELD } from '../datasets/define.ts'
import { PLACE } from './comparability.ts'

/** The records that agree in how they were counted. */
export interface CountedSet {
  readonly values: ReadonlyMap<string, FieldValue>
  readonly records: number
  /** The number of different days with a count. */
  readonly days: number
  /** Null if no record has a day. */
  readonly firstDay: number | null
  readonly lastDay: number | null
  /** What is known in all, by count; null if no record has the count. */
  readonly totals: ReadonlyMap<string, number | null>
  /** True if records report the same days, and nothing tells which is right. */
  readonly contradicts: boolean
  readonly sourceTypes: readonly FieldValue[]
  readonly places: ReadonlySet<string>
  /** Countries of ordinary places. */
  readonly countries: ReadonlySet<FieldValue>
}

/** What the publisher of a release prefers, by event: values of the fields that say how it was counted. */
export type PreferredSets = Readonly<Record<string, Readonly<Record<string, FieldValue>>>>

export interface SetQuestion {
  /** The count that was asked for. */
  readonly count: string
  /** True for counts over time: one total is no curve. */
  readonly isCurve: boolean
  /** The fields of groups of people; null is everyone. */
  readonly parts: readonly string[]
  /** What the publisher prefers; undefined if the rule is to choose. */
  readonly preferred?: PreferredSets[string] | undefined
}

export interface LeftOut<Member> {
  readonly set: Member
  /** The step of the rule that left it out: the name of a field, or a word. */
  readonly step: string
}

/** Why nothing is chosen: what the best set would hide. */
export type Doubt = 'people' | 'places' | 'count' | 'status' | 'place' | 'days'

export interface Recommendation<Member> {
  readonly chosen: Member
  readonly leftOut: readonly LeftOut<Member>[]
  /** Null if the chosen set is clearly the best. */
  readonly doubt: Doubt | null
}

/** A set with this many days is a curve. */
const CURVE_DAYS = 3
/** A count with this part of what is known is of the whole. */
const WHOLE = 0.9
/** A total this many times as great is far greater. */
const FAR_GREATER = 2
/** Counts that differ by no more than this part agree. */
const AGREEMENT = 0.15
/** All cases, or another status, with at least this many times the count are a reason for doubt. Tests confirm few suspected cases. */
const FAR_MORE = { all: 10, other: 20 }
/** Two sources with a smaller part of the days in common count different people; the second if their numbers agree. */
const SAME_DAYS = 0.5
const SOME_DAYS = 0.1

/** What the publisher prefers wins, if it has the count. Among several sets that fit, the rule chooses. */
export function recommend<Member extends CountedSet>(
  preference: Preference,
  sets: readonly Member[],
  question: SetQuestion,
): Recommendation<Member> {
  const { count, preferred } = question
  const fits = (set: Member) =>
    preferred !== undefined && isPreferred(set.values, preferred) && (set.totals.get(count) ?? null) !== null
  const fitting = sets.filter(fits)
  if (fitting.length === 0) return recommendByRule(preference, sets, question)
  const best = recommendByRule(preference, fitting, question)
  const others = sets.filter((set) => !fits(set)).map((set) => ({ set, step: 'preferred' }))
  return { ...best, leftOut: [...best.leftOut, ...others] }
}

/** A field without a value was fixed by the query. */
export const isPreferred = (values: ReadonlyMap<string, FieldValue>, preferred: PreferredSets[string]): boolean =>
  Object.entries(preferred).every(([field, value]) => !values.has(field) || values.get(field) === value)

function recommendByRule<Member extends CountedSet>(
  preference: Preference,
  sets: readonly Member[],
  question: SetQuestion,
): Recommendation<Member> {
  const best = applySteps(preference, sets, question)
  if (!question.isCurve) return best
  // A curve of some places is no result where the total of all is known.
  const total = applySteps(preference, sets, { ...question, isCurve: false })
  const known = (set: Member) => set.totals.get(question.count) ?? 0
  return known(best.chosen) < WHOLE * known(total.chosen) ? total : best
}

function applySteps<Member extends CountedSet>(
  preference: Preference,
  sets: readonly Member[],
  question: SetQuestion,
): Recommendation<Member> {
  const names = new Map(sets.map((set) => [set, nameOf(set)]))
  let kept = sets.toSorted((a, b) => ((names.get(a) ?? '') < (names.get(b) ?? '') ? -1 : 1))
  const leftOut: LeftOut<Member>[] = []
  const isOneCountry = new Set(sets.flatMap(({ countries }) => [...countries])).size === 1
  for (const { step, rank } of listSteps(preference, question, isOneCountry)) {
    const ranks = kept.map((set) => rank(set, kept))
    const best = Math.min(...ranks)
    leftOut.push(...kept.filter((_, i) => ranks[i] !== best).map((set) => ({ set, step })))
    kept = kept.filter((_, i) => ranks[i] === best)
  }
  const [chosen, ...others] = kept as [Member, ...Member[]]
  leftOut.push(...others.map((set) => ({ set, step: 'name' })))
  return { chosen, leftOut, doubt: findDoubt(preference, chosen, leftOut, question) }
}

interface RuleStep {
  readonly step: string
  /** The sets with the lowest rank stay. */
  readonly rank: (set: CountedSet, kept: readonly CountedSet[]) => number
}

function listSteps(preference: Preference, { count, isCurve, parts }: SetQuestion, isOneCountry: boolean): RuleStep[] {
  const { composite, level, levels, countryLevel, orders, also, kind } = preference
  const totalOf = ({ totals }: CountedSet) => totals.get(count) ?? 0
  const lacks = (set: CountedSet, name: string) => Number((set.totals.get(name) ?? null) === null)
  const inOrder = (field: string, values: readonly FieldValue[]): RuleStep => ({
    step: field,
    rank: (set) => (set.values.has(field) ? positionIn(values, set.values.get(field) ?? null) : 0),
  })
  // New counts lack the reports that never came, and running totals that start again what was before.
  const isPartOfAnotherKind = (set: CountedSet, kept: readonly CountedSet[]) => {
    const isOtherKind = ({ values }: CountedSet) =>
      [...values].every(([field, value]) => field === kind || value === set.values.get(field))
    return Number(kept.some((other) => isOtherKind(other) && totalOf(other) > totalOf(set)))
  }
  const isCurators = ({ values }: CountedSet) => values.get(composite) === true
  const isShort = (set: CountedSet, kept: readonly CountedSet[]) =>
    kept.some((other) => !isCurators(other) && other.days > set.days)
  return [
    { step: 'count', rank: (set) => lacks(set, count) },
    { step: 'everyone', rank: ({ values }) => parts.filter((field) => (values.get(field) ?? null) !== null).length },
    { step: 'exact', rank: ({ contradicts }) => Number(contradicts) },
    ...(isCurve ? [{ step: 'curve', rank: rankCurve }] : []),
    {
      step: composite,
      rank: (set, kept) => Number(!isCurators(set) || (isCurve && isShort(set, kept))),
    },
    inOrder(level, isOneCountry ? [countryLevel, ...levels] : levels),
    { step: PLACE, rank: ({ values }) => Number((values.get(PLACE) ?? null) !== null) },
    {
      step: preference.sourceType,
      rank: ({ sourceTypes }) => Math.min(...sourceTypes.map((type) => positionOfType(preference, type))),
    },
    { step: also, rank: (set) => lacks(set, also) },
    ...orders.flatMap(({ field, values }) => [
      ...(field === kind && !isCurve ? [{ step: kind, rank: isPartOfAnotherKind }] : []),
      inOrder(field, values),
    ]),
    ...(isCurve
      ? []
      : [{ step: 'last_day', rank: ({ lastDay }: CountedSet) => -(lastDay ?? Number.NEGATIVE_INFINITY) }]),
    { step: 'days', rank: ({ days }) => -days },
    { step: 'records', rank: ({ records }) => -records },
  ]
}

/** A curve has at least half as many days as the longest. */
const rankCurve = ({ days }: CountedSet, kept: readonly CountedSet[]) => {
  const longest = Math.max(...kept.map((set) => set.days))
  return Number(longest >= CURVE_DAYS && days < longest / 2)
}

/** A value that is not in the list comes last. */
const positionIn = (values: readonly FieldValue[], value: FieldValue) => lastIfMissing(values.indexOf(value), values)
const positionOfType = ({ sourceTypes }: Preference, type: FieldValue) =>
  lastIfMissing(
    sourceTypes.findIndex((alike) => alike.includes(type)),
    sourceTypes,
  )
const lastIfMissing = (position: number, { length }: readonly unknown[]) => (position < 0 ? length : position)

const nameOf = ({ values }: CountedSet) => JSON.stringify([...values.values()])

/** Looks for what the best set would hide: other places, far more people, or another place of the same kind. */
function findDoubt(
  { composite, level, levels, partLevels, status, allStatuses }: Preference,
  chosen: CountedSet,
  leftOut: readonly LeftOut<CountedSet>[],
  { count, isCurve, parts }: SetQuestion,
): Doubt | null {
  const isAlike = (field: string) => (set: CountedSet) => set.values.get(field) === chosen.values.get(field)
  const totalOf = ({ totals }: CountedSet) => totals.get(count) ?? 0
  const total = totalOf(chosen)
  // Where no one counted everyone, one group of people is no result.
  const isOfOtherPeople = ({ set, step }: LeftOut<CountedSet>) =>
    step !== 'count' && step !== 'everyone' && parts.some((field) => !isAlike(field)(set))
  if (leftOut.some(isOfOtherPeople)) return 'people'
  const others = leftOut.filter(({ step }) => step !== 'count' && step !== 'everyone' && step !== composite)
  const rivals = others.map(({ set }) => set).filter(isAlike(level))
  // Nothing says which of two regions was asked for.
  const place = chosen.values.get(PLACE) ?? null
  if (place !== null && rivals.some(({ values }) => values.get(PLACE) !== place)) return 'place'
  const hasOtherPlace = ({ places }: CountedSet) => [...places].some((one) => !chosen.places.has(one))
  const agrees = (set: CountedSet) => doAgree(totalOf(set), total)
  // A source that agrees in the number means the same people, regardless of the name of the place; and a status is part of all of them.
  const agreeing = rivals.filter((set) => isAlike(status)(set) && agrees(set))
  const isAnotherNameOf = (set: CountedSet) => (other: CountedSet) =>
    other.values.get(SOURCE_FIELD) === set.values.get(SOURCE_FIELD) &&
    [...set.places].every((one) => other.places.has(one))
  const isPartOfChosen = (set: CountedSet) =>
    agreeing.some(isAnotherNameOf(set)) ||
    (chosen.values.get(status) === allStatuses && !isAlike(status)(set) && totalOf(set) <= total)
  const isPart = partLevels.includes(chosen.values.get(level) ?? null)
  if (isPart && rivals.some((set) => hasOtherPlace(set) && !isPartOfChosen(set))) return 'places'
  const sameStatus = others.map(({ set }) => set).filter(isAlike(status))
  const levelOf = ({ values }: CountedSet) => positionIn(levels, values.get(level) ?? null)
  // The parts of a place cannot have more than the place.
  const isTooGreat = (set: CountedSet) =>
    levelOf(set) > levelOf(chosen) ? totalOf(set) > total && !agrees(set) : totalOf(set) > FAR_GREATER * total
  if (sameStatus.some(isTooGreat)) return 'count'
  // Two that agree with each other are more than one.
  const farSmaller = rivals.filter((set) => isAlike(status)(set) && total > FAR_GREATER * totalOf(set))
  const agreeWithAnother = (set: CountedSet, i: number) =>
    farSmaller.slice(i + 1).some((other) => doAgree(totalOf(set), totalOf(other)))
  if (!isCurve && farSmaller.some(agreeWithAnother)) return 'count'
  const isFarMore = (set: CountedSet) =>
    totalOf(set) > 0 && totalOf(set) >= total * (set.values.get(status) === allStatuses ? FAR_MORE.all : FAR_MORE.other)
  if (others.some(({ set }) => !isAlike(status)(set) && isFarMore(set))) return 'status'
  const hasOtherDays = (set: CountedSet) => isOfOtherDays(chosen, set, agrees(set) ? SOME_DAYS : SAME_DAYS)
  const missed = rivals.filter((set) => isAlike(status)(set) && hasOtherDays(set)).map(totalOf)
  const isWhole = total >= WHOLE * missed.reduce((sum, each) => sum + each, total)
  return isCurve || isWhole ? null : 'days'
}

export const doAgree = (a: number, b: number): boolean => Math.abs(a - b) <= AGREEMENT * Math.max(a, b)

/** True if less than a part of the days of a set are those of the chosen one. Nothing tells the days of an undated set. */
export function isOfOtherDays(chosen: CountedSet, { firstDay, lastDay }: CountedSet, part = SAME_DAYS): boolean {
  if (chosen.firstDay === null || chosen.lastDay === null || firstDay === null || lastDay === null) return false
  const common = Math.min(chosen.lastDay, lastDay) - Math.max(chosen.firstDay, firstDay) + 1
  return common < (lastDay - firstDay + 1) * part
}
