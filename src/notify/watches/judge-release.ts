// Judges questions: what a watch says about a release. It reads both releases, which never change, so a preview says exactly what a
// watch would have said. What a release touched is read once for all watches.
import { LRUCache } from 'lru-cache'
import { type FeedRoutes, parseAt, readEntries } from '../../api/feeds/read-entries.ts'
import { identifyRelease } from '../../api/response/responder.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { judge } from './condition.ts'
import { findNewEvents } from './new-events.ts'
import { createWatchParser, type ParseWatch, type Watched } from './parse-watch.ts'
import { mayPrefer, mayTouch, readTouched, type Touched } from './touched.ts'
import { type Notice, writeNotice, writePruned } from './write-notice.ts'

interface ReleasePair {
  readonly previous: PublishedRelease
  readonly release: PublishedRelease
}

type Verdict = { readonly notice: Notice | null; readonly isSkipped: boolean }

export interface Judge {
  readonly parse: ParseWatch
  judge(watched: Watched, pair: ReleasePair): Promise<Verdict>
  /** The releases after one, each with the one before it, in their order. */
  pairsAfter(release: number): ReleasePair[]
}

const PARSED = 2000
const TOUCHED = 24

export function createJudge(routes: FeedRoutes): Judge {
  const { dataset, releases } = routes
  const parseWatch = createWatchParser(dataset)
  const parsed = new LRUCache<string, Watched>({ max: PARSED })
  const touchedBy = new LRUCache<string, Promise<Touched>>({ max: TOUCHED })

  function parse(text: string, condition: string): Watched {
    const key = `${condition} ${text}`
    const known = parsed.get(key)
    if (known !== undefined) return known
    const watched = parseWatch(text, condition)
    parsed.set(key, watched)
    return watched
  }

  function findTouched(release: PublishedRelease): Promise<Touched> {
    const key = identifyRelease(release)
    const known = touchedBy.get(key)
    if (known !== undefined) return known
    const reading = readTouched(routes, release)
    touchedBy.set(key, reading)
    reading.catch(() => touchedBy.delete(key))
    return reading
  }

  /** True if the release cannot have touched the question. */
  async function misses({ question }: Watched, { previous, release }: ReleasePair): Promise<boolean> {
    const { filters } = await parseAt(routes, question, release)
    return !mayTouch(await findTouched(release), filters) && !mayPrefer(previous, release, filters)
  }

  return {
    parse,
    async judge(watched, pair) {
      const { question, condition } = watched
      const { previous, release } = pair
      const isAll = question.canonical === ''
      const needsRecords = !isAll || condition.kind === 'appears'
      if (needsRecords && (release.prunedAt !== null || previous.prunedAt !== null))
        return { notice: writePruned(routes, watched, pair), isSkipped: false }
      if (!isAll && (await misses(watched, pair))) return { notice: null, isSkipped: true }
      const [facts] = await readEntries(routes, question, [release])
      if (facts === undefined) return { notice: null, isSkipped: false }
      const newEvents = condition.kind === 'appears' ? await findNewEvents(routes, question, pair) : []
      const judgement = judge(condition, facts, newEvents, isAll)
      return {
        notice: judgement === null ? null : writeNotice(routes, watched, facts, judgement),
        isSkipped: false,
      }
    },
    pairsAfter(number) {
      const all = releases.list()
      return all.flatMap((release, i) => {
        const previous = all[i - 1]
        return release.number <= number || previous === undefined ? [] : [{ previous, release }]
      })
    },
  }
}
