// Reads what releases did to a query: which records they changed and why, and the figures before and after. What is read about
// a release never changes, so it stays among the cached bodies: the feed of the next release, and the other format, need only
// what is new, and a feed that took too long goes on where it stopped.

import type { SeriesDataset } from '../../methods/record-series.ts'
import { Problem } from '../../platform/problem.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { figureColumn } from '../figures/figure-columns.ts'
import { byCount, showCounts } from '../figures/figure-json.ts'
import { parseFigureRequest } from '../figures/figure-request.ts'
import { type FigureQuestion, readFigures, readWays } from '../figures/read-figures.ts'
import { type ChangeCount, countChanges } from '../queries/changes.ts'
import { validateFilters } from '../requests/prepare-query.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { understandQuery } from '../requests/understand-query.ts'
import { identifyRelease } from '../response/responder.ts'
import type { FeedQuestion } from './feed-question.ts'

type Values = Readonly<Record<string, number | null>>

/** The response of a release. */
export interface Figures {
  /** By count, null if it is not known. Null as a whole if there is no single number, which `refusal` explains. */
  readonly values: Values | null
  readonly refusal: string | null
  /** The counts of records without a day, which are no part of `values`. */
  readonly undated: Values | null
  /** What was counted and how, with its words. */
  readonly ways: readonly { readonly subject: string; readonly how: string; readonly words: string }[]
}

export interface EntryFacts {
  readonly release: PublishedRelease
  /** Null for the first release. */
  readonly previous: PublishedRelease | null
  readonly changes: readonly ChangeCount[]
  readonly before: Figures | null
  readonly after: Figures
}

type StoredFacts = Omit<EntryFacts, 'release' | 'previous'>
export type FeedRoutes = ResourceOptions & { readonly dataset: SeriesDataset }

/** What the releases did to a query, the latest first. A release that was pruned, and the one after it, cannot be compared. */
export async function readEntries(
  routes: FeedRoutes,
  question: FeedQuestion,
  releases: readonly PublishedRelease[],
): Promise<EntryFacts[]> {
  const all = routes.releases.list()
  const entries: EntryFacts[] = []
  for (const release of releases.toReversed()) {
    const previous = all.find(({ number }) => number === release.number - 1) ?? null
    if (question.canonical === '') {
      entries.push({ release, previous, ...describeRelease(release, previous) })
    } else if (release.prunedAt === null && (previous?.prunedAt ?? null) === null) {
      const pair = [previous, release].map((one) => (one === null ? '' : identifyRelease(one)))
      const facts = await remember(routes, ['changes', ...pair, question.canonical], () =>
        readFacts(routes, question, release, previous),
      )
      if (facts !== null) entries.push({ release, previous, ...facts })
    }
  }
  return entries
}

/** All records of a release. Its row says enough, even after it was pruned. */
function describeRelease(release: PublishedRelease, previous: PublishedRelease | null): StoredFacts {
  const toFigures = ({ records }: PublishedRelease): Figures => ({
    values: { records },
    refusal: null,
    undated: null,
    ways: [],
  })
  const changes = (['added', 'corrected', 'withdrawn'] as const).map((kind) => ({
    kind,
    reason: release.reasons[kind] ?? 'unspecified',
    records: release[kind],
  }))
  return {
    changes: changes.filter(({ records }) => records > 0),
    before: previous === null ? null : toFigures(previous),
    after: toFigures(release),
  }
}

/** Null if the release did not touch the query. */
async function readFacts(
  routes: FeedRoutes,
  question: FeedQuestion,
  release: PublishedRelease,
  previous: PublishedRelease | null,
): Promise<StoredFacts | null> {
  const { dataset, index } = routes
  const { filters, asked } = await parseAt(routes, question, release)
  const count = (own: typeof filters) =>
    countChanges(index, { dataset, release, filters: own, columnOf: (field) => figureColumn(dataset, field) })
  const ofAllDays = await count(filters)
  const changes = asked.days.size === 0 ? ofAllDays : await count(asked)
  // A report of an earlier day, or another preference of the publisher, may move the figures without touching a matching record.
  const prefersOthers = JSON.stringify(previous?.preferred) !== JSON.stringify(release.preferred)
  if (ofAllDays.length === 0 && (previous === null || !prefersOthers)) return null
  const before = previous === null ? null : await readAt(routes, question, previous)
  const after = await readAt(routes, question, release)
  const isMoved = JSON.stringify([before?.values, before?.undated]) !== JSON.stringify([after.values, after.undated])
  return changes.length > 0 || (previous !== null && isMoved) ? { changes, before, after } : null
}

/** The query as /sums understands it in a release. */
export async function parseAt(routes: FeedRoutes, { query }: FeedQuestion, { number }: PublishedRelease) {
  const understood = await understandQuery(routes, { ...query, release: String(number) })
  return parseFigureRequest(routes.dataset, understood.query)
}

function readAt(routes: FeedRoutes, question: FeedQuestion, release: PublishedRelease): Promise<Figures> {
  return remember(routes, ['figures', identifyRelease(release), question.canonical], async () => {
    const { dataset, releases } = routes
    const request = await parseAt(routes, question, release)
    try {
      validateFilters(dataset, releases.list(), release, request.filters)
      return await readAnswer(routes, { dataset, request, release, interval: null }, question.query.counts)
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 400) throw error
      return { values: null, refusal: error.message, undated: null, ways: [] }
    }
  })
}

async function readAnswer(
  { index }: FeedRoutes,
  question: FigureQuestion,
  counts: readonly string[] | undefined,
): Promise<Figures> {
  const { dataset } = question
  const { groups, choice } = await readFigures(index, question)
  const [group] = groups
  const [figure] = group?.figures ?? []
  const { series } = showCounts(dataset, counts)
  const undated = group?.undatedCounts ?? null
  const sets = choice === null ? await readWays(index, question) : choice.chosen.map(({ chosen }) => chosen)
  return {
    values: byCount(
      series,
      series.counts.map((_, i) => figure?.total[i] ?? figure?.point[i] ?? null),
    ),
    refusal: null,
    undated: undated === null ? null : byCount(series, undated),
    ways: sets.map(({ subject, how, countries }) => ({
      subject: JSON.stringify([...subject]),
      how: JSON.stringify([...how]),
      words: series.preference?.describe(how, countries) ?? '',
    })),
  }
}

/** Keeps a value among the cached bodies. */
async function remember<Value>(
  { cache, dataset }: FeedRoutes,
  key: readonly string[],
  read: () => Promise<Value>,
): Promise<Value> {
  const { bytes } = await cache(['feed', dataset.name, ...key].join(' '), async () => ({
    bytes: Buffer.from(JSON.stringify(await read())),
    encoding: 'identity',
    next: null,
  }))
  return JSON.parse(bytes.toString()) as Value
}
