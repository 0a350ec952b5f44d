// Assembles a feed from what releases did to a query: ids, words and links. Pure.
import { EVENT } from '../../datasets/define.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { uuidOf } from '../../storage/uuid-of.ts'
import { citeRelease } from '../response/citation-formats.ts'
import { describeEntry, isCountedOtherwise, titleEntry } from './describe-entry.ts'
import { extendAddress, type FeedQuestion } from './feed-question.ts'
import type { EntryFacts } from './read-entries.ts'
import type { Feed, Link } from './write-feed.ts'

/** The releases of one document. */
export const PAGE = 10

export interface FeedPlace {
  readonly dataset: SeriesDataset
  readonly baseUrl: string
  readonly explorerUrl?: string | undefined
}

interface FeedDocument {
  readonly page: readonly PublishedRelease[]
  readonly archive: number | undefined
  readonly isJson: boolean
  readonly facts: readonly EntryFacts[]
}

export function assembleFeed(
  place: FeedPlace,
  question: FeedQuestion,
  { page, archive, isJson, facts }: FeedDocument,
): Feed {
  const { dataset, baseUrl, explorerUrl } = place
  const { canonical, when, threshold } = question
  const last = page.at(-1) as PublishedRelease
  const home = `${baseUrl}/v2/${dataset.name}`
  const addressOf = (number?: number) =>
    extendAddress(`${home}/feed`, canonical, { when, archive: number, format: isJson ? 'json' : undefined })
  // All releases before those of this document are in this archive and in those before it.
  const older = archive === undefined ? Math.floor((last.number - 1) / PAGE) : archive - 1
  const about = threshold === null ? '' : `, ${threshold.count} crossing ${threshold.value.toLocaleString('en')}`
  return {
    id: identify(['feed', dataset.name, canonical, when]),
    title: question.title === null ? `${dataset.title}: releases` : `${question.title}${about}: changes by release`,
    description: `${dataset.title}. ${question.title === null ? 'Every release' : 'Each release that touched the query'}, with what it changed and why, and the numbers before and after.`,
    author: dataset.title,
    updated: (facts[0]?.release ?? last).publishedAt,
    home:
      explorerUrl === undefined
        ? { href: `${home}/releases`, type: 'application/json' }
        : { href: `${explorerUrl}/releases`, type: 'text/html' },
    self: addressOf(archive),
    current: addressOf(),
    older: older < 1 ? null : addressOf(older),
    isArchive: archive !== undefined,
    entries: facts.map((one) => toEntry(place, question, one)),
  }
}

export function toEntry(place: FeedPlace, question: FeedQuestion, facts: EntryFacts) {
  const { dataset, baseUrl } = place
  const { release, previous, before, after, changes } = facts
  const { canonical, filters, when, threshold } = question
  const home = `${baseUrl}/v2/${dataset.name}`
  const own = `${home}/releases/${release.number}`
  const title = question.title ?? release.title
  const numbers = question.title === null ? own : extendAddress(`${home}/sums`, canonical, { release: release.number })
  const list =
    previous === null ? own : extendAddress(`${home}/changes`, filters, { from: previous.number, to: release.number })
  const page = findPage(place, question, facts)
  const citation = citeRelease({ ...release, url: numbers, title, dataset: dataset.title, release: release.number })
  return {
    // Of what it is about and not of where it is: another host, order or format makes no new entry.
    id: identify([dataset.name, release.number, release.digest, previous?.digest, canonical, when]),
    title: titleEntry(dataset, facts, threshold),
    published: release.publishedAt,
    page: page ?? { href: numbers, type: 'application/json' },
    changes: { href: list, type: 'application/json' },
    figures: numbers,
    citation,
    html: describeEntry(dataset, facts, {
      title,
      citation,
      links: [
        ...(page === null ? [] : [{ words: 'Compare the releases', href: page.href }]),
        { words: 'The changed records', href: list },
        { words: 'The numbers', href: numbers },
      ],
    }),
    rights: release.licence,
    data: {
      release: release.number,
      previous: previous?.number ?? null,
      as_of: release.asOf,
      restores: release.restores,
      changes,
      before: before?.values ?? null,
      after: after.values,
      refused_before: before?.refusal ?? null,
      refused_after: after.refusal,
      counted_another_way: isCountedOtherwise(facts),
    },
  }
}

/** The explorer's comparison with the release before; null without an explorer. */
function findPage({ explorerUrl }: FeedPlace, { canonical }: FeedQuestion, facts: EntryFacts): Link | null {
  if (explorerUrl === undefined) return null
  const { release, previous } = facts
  const parameters = new URLSearchParams(canonical)
  parameters.delete('counts')
  const [event, second] = parameters.getAll(EVENT)
  const isEvent = event !== undefined && second === undefined
  if (isEvent) parameters.delete(EVENT)
  const path = isEvent ? `events/${encodeURIComponent(event)}/changes` : `releases/${release.number}`
  const href = extendAddress(`${explorerUrl}/${path}`, parameters.toString(), {
    release: isEvent ? release.number : undefined,
    compare: previous?.number,
  })
  return { href, type: 'text/html' }
}

const identify = (values: readonly unknown[]) => `urn:uuid:${uuidOf(values)}`
