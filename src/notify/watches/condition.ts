// What must happen to a question before a watch says something, and whether a release did it. Pure: two people who judge the same
// release get the same answer.
import { type Cause, findCause, stateOf } from '../../api/feeds/describe-entry.ts'
import type { Threshold } from '../../api/feeds/feed-question.ts'
import type { EntryFacts, Figures } from '../../api/feeds/read-entries.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'

export const EVENT_TYPES = [
  'release.published',
  'question.changed',
  'question.crossed',
  'question.not_comparable',
  'event.appeared',
  'records.corrected',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

export const FIGURE_STATES = ['known', 'unknown', 'refused'] as const
type FigureState = (typeof FIGURE_STATES)[number]

/** A count that became a number, or stopped being one. */
interface Became {
  readonly count: string
  readonly from: FigureState
  readonly to: FigureState
}

export interface Judgement {
  readonly type: EventType
  readonly cause: Cause
  readonly became: readonly Became[]
  /** The names of events that match and did not before. */
  readonly events: readonly string[]
}

/** The kind of a condition is the text before its first colon. */
export interface Condition {
  readonly kind: 'changes' | 'crosses' | 'appears' | 'corrects'
  /** For `crosses` the value; for `changes` the least difference, if there is one. */
  readonly threshold: Threshold | null
}

export const conditionPattern = ({ series }: SeriesDataset): string =>
  `^(changes|appears|corrects|(changes|crosses):(${series.counts.join('|')}):[1-9][0-9]{0,9})$`

/** The pattern was checked. */
export function parseCondition(text: string): Condition {
  const [kind, count, value] = text.split(':')
  return {
    kind: kind as Condition['kind'],
    threshold: count === undefined ? null : { count, value: Number(value) },
  }
}

/** What a watch says about a release; null if nothing. `newEvents` is only read for `appears`. */
export function judge(
  { kind, threshold }: Condition,
  facts: EntryFacts,
  newEvents: readonly string[],
  isAllReleases: boolean,
): Judgement | null {
  const say = (type: EventType, more: Partial<Judgement> = {}): Judgement => ({
    type,
    cause: findCause(facts),
    became: [],
    events: [],
    ...more,
  })
  if (kind === 'appears') return newEvents.length === 0 ? null : say('event.appeared', { events: newEvents })
  if (kind === 'corrects') return facts.changes.some((one) => one.kind !== 'added') ? say('records.corrected') : null
  if (isAllReleases) return say('release.published')
  const became = findBecame(facts, threshold)
  if (became.length > 0) return say('question.not_comparable', { became })
  if (threshold === null) return say('question.changed')
  if (kind === 'crosses')
    return stateOf(facts.before, threshold) === stateOf(facts.after, threshold) ? null : say('question.crossed')
  const [was, now] = [facts.before, facts.after].map((figures) => figures?.values?.[threshold.count] ?? null)
  const isEnough = was != null && now != null && Math.abs(now - was) >= threshold.value
  return isEnough ? say('question.changed') : null
}

const figureState = (figures: Figures | null, count: string): FigureState => {
  if (figures?.values === null) return 'refused'
  return (figures?.values[count] ?? null) === null ? 'unknown' : 'known'
}

/** The counts that are a number in only one of the two releases. Between not known and no single answer there is no number to lose. */
function findBecame({ before, after }: EntryFacts, threshold: Threshold | null): Became[] {
  const counts = threshold === null ? Object.keys(after.values ?? before?.values ?? {}) : [threshold.count]
  return counts
    .map((count) => ({ count, from: figureState(before, count), to: figureState(after, count) }))
    .filter(({ from, to }) => from !== to && (from === 'known' || to === 'known'))
}
