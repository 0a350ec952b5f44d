// The notice of a watch as a CloudEvent (CloudEvents 1.0): what a release did to its question, in words and for programs. Pure.
import { type FeedPlace, toEntry } from '../../api/feeds/assemble-feed.ts'
import type { FeedQuestion } from '../../api/feeds/feed-question.ts'
import type { EntryFacts } from '../../api/feeds/read-entries.ts'
import { labelOf } from '../../datasets/define.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { uuidOf } from '../../storage/uuid-of.ts'
import type { Condition, EventType, Judgement } from './condition.ts'

/** What a watch says about a release. The same in a preview and when it is delivered. */
export interface Notice {
  readonly type: EventType
  readonly data: Readonly<Record<string, unknown>>
}

/** More events are only counted. */
const MAX_EVENTS = 20
const MAX_NOTE = 500

export function writeNotice(
  place: FeedPlace,
  { question, condition }: { readonly question: FeedQuestion; readonly condition: Condition },
  facts: EntryFacts,
  { type, cause, became, events }: Judgement,
): Notice {
  const isCrossing = condition.kind === 'crosses'
  const entry = toEntry(place, { ...question, threshold: isCrossing ? question.threshold : null }, facts)
  const subject = question.title ?? place.dataset.title
  const known = became.map(
    ({ count, from, to }) => `${labelOf(place.dataset, count).toLowerCase()} ${STATES[from]}, now ${STATES[to]}`,
  )
  const details = [...(events.length === 0 ? [] : [`new: ${joinSome(events)}`]), ...(isCrossing ? [] : known)]
  const title = [entry.title, ...details].join('; ')
  return {
    type,
    data: {
      ...entry.data,
      question: question.canonical,
      when: writeCondition(condition),
      title,
      text: [`${subject}.`, `${title}.`, ...noteOf(facts.release), entry.citation, entry.page.href].join('\n'),
      cause,
      became,
      events: events.slice(0, MAX_EVENTS),
      more_events: Math.max(0, events.length - MAX_EVENTS),
      reason: null,
      citation: entry.citation,
      links: { page: entry.page.href, changes: entry.changes.href, figures: entry.figures },
    },
  }
}

const STATES = { known: 'a number', unknown: 'not known', refused: 'without a single answer' }

const joinSome = (names: readonly string[]) =>
  names.length > MAX_EVENTS
    ? `${names.slice(0, MAX_EVENTS).join(', ')} and ${names.length - MAX_EVENTS} more`
    : names.join(', ')

const noteOf = ({ note }: PublishedRelease) =>
  note === null ? [] : [`Note by the publisher: ${note.slice(0, MAX_NOTE)}`]

const writeCondition = ({ kind, threshold }: Condition) =>
  threshold === null ? kind : `${kind}:${threshold.count}:${threshold.value}`

/** For a release that was pruned, or whose predecessor was, before the watch was judged. */
export function writePruned(
  place: FeedPlace,
  { question, condition }: { readonly question: FeedQuestion; readonly condition: Condition },
  { previous, release }: { readonly previous: PublishedRelease; readonly release: PublishedRelease },
): Notice {
  const home = `${place.baseUrl}/v2/${place.dataset.name}`
  const subject = question.title ?? place.dataset.title
  const title = `Release ${release.number} cannot be compared with release ${previous.number}: the records of ${release.prunedAt === null ? `release ${previous.number}` : `release ${release.number}`} were deleted before this watch was judged`
  return {
    type: 'question.not_comparable',
    data: {
      release: release.number,
      previous: previous.number,
      as_of: release.asOf,
      restores: release.restores,
      changes: [],
      before: null,
      after: null,
      refused_before: null,
      refused_after: null,
      counted_another_way: false,
      question: question.canonical,
      when: writeCondition(condition),
      title,
      text: [`${subject}.`, `${title}.`, ...noteOf(release)].join('\n'),
      cause: null,
      became: [],
      events: [],
      more_events: 0,
      reason: 'pruned',
      citation: null,
      links: { page: null, changes: null, figures: `${home}/releases/${release.number}` },
    },
  }
}

interface WatchIdentity {
  readonly id: string
  readonly name: string
}

/** One notice for a watch and a release, whatever it says: judging again gives the same id. */
const identifyNotice = ({ id }: Pick<WatchIdentity, 'id'>, { number, digest }: PublishedRelease): string =>
  uuidOf([id, number, digest])

export function toCloudEvent(
  { dataset, baseUrl }: FeedPlace,
  watch: WatchIdentity,
  release: PublishedRelease,
  { type, data }: Notice,
) {
  return {
    specversion: '1.0',
    id: identifyNotice(watch, release),
    source: `${baseUrl}/v2/${dataset.name}/watches/${watch.id}`,
    type,
    time: release.publishedAt.toISOString(),
    datacontenttype: 'application/json',
    data: { watch: watch.id, name: watch.name, ...data },
  }
}
