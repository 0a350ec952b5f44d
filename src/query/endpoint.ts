// What the data endpoints have in common: what they are made of, which release answers, and what their description says.
import type { KeyObject } from 'node:crypto'
import { type TSchema, Type } from 'typebox'
import type { Dataset } from '../datasets/define.ts'
import type { Database } from '../platform/database.ts'
import { Problem, refused } from '../platform/problem.ts'
import { rateLimitHeaders } from '../platform/rate-limit.ts'
import type { FileStore } from '../records/file-store.ts'
import type { Published, PublishedRelease } from '../records/published.ts'
import type { PageCache } from './page-cache.ts'
import { findRelease, LATEST, mayMean, readReference } from './release-reference.ts'

export interface QueryRoutes {
  dataset: Dataset
  database: Database
  baseUrl: string
  /** Not as bytes: turning those into a key takes six times as long as signing. */
  cursorKey: KeyObject
  cache: PageCache
  /** Left out where this node has none. */
  files?: FileStore | undefined
  published: () => Published
  /** Asks the database once more which releases there are. */
  refresh: () => Promise<void>
}

/** What the caller's access token says of releases. */
interface TokenReleases {
  readonly issuedAt: Date
  /** The newest of each dataset when it was issued; a dataset is missing where the token does not name one. */
  readonly releases: ReadonlyMap<string, number>
}

/**
 * A token that names no release reads one that was published so long before it was issued. `published_at` is set before
 * the publication is committed: commit and replication take time, and clocks differ. A release that became visible after
 * the token was first used would move the offsets of its walk.
 */
const SETTLED_MS = 60_000

type Find = (releases: readonly PublishedRelease[]) => PublishedRelease | undefined

export function createReleaseResolver({ dataset, published, refresh }: QueryRoutes) {
  const list = () => published().get(dataset.name) ?? []

  /** One that another node published a moment ago is looked for before it is refused. */
  async function lookFor(find: Find): Promise<PublishedRelease | undefined> {
    const known = find(list())
    if (known !== undefined) return known
    await refresh()
    return find(list())
  }

  async function newest(): Promise<PublishedRelease> {
    const release = await lookFor((releases) => releases.at(-1))
    if (release !== undefined) return release
    throw new Problem('nothing_published', 'No release of this dataset has been published yet.')
  }

  /** The release a parameter names, the newest where it is left out. */
  async function named(parameter: string, text: string | undefined): Promise<PublishedRelease> {
    if (text === undefined || text === LATEST) return newest()
    const reference = readReference(parameter, text)
    const release = await lookFor((releases) => findRelease(releases, reference))
    if (release !== undefined) return refusePruned(release)
    if ('number' in reference)
      throw new Problem('invalid_parameter', `There is no release ${reference.number}.`, { parameter })
    await newest()
    const first = list()[0]?.publishedAt.toISOString()
    throw new Problem(
      'invalid_parameter',
      `No release had been published by the end of ${reference.date}; the first was published at ${first}.`,
      { parameter },
    )
  }

  /** The release a path names by its number, pruned or not. */
  async function numbered(text: string): Promise<PublishedRelease> {
    const release = /^[1-9][0-9]{0,9}$/.test(text)
      ? await lookFor((known) => findRelease(known, { number: Number(text) }))
      : undefined
    if (release !== undefined) return release
    throw new Problem('not_found', 'There is no release with this number.')
  }

  /** A release whose number we gave out in a cursor or a token: it exists, so this node may only not have it yet. */
  async function issued(number: number): Promise<PublishedRelease> {
    const release = await lookFor((releases) => findRelease(releases, { number }))
    if (release !== undefined) return release
    throw new Problem('unavailable', `Release ${number} has not reached this node yet; try again shortly.`)
  }

  /** The release of a walk: the one its cursor holds, which a parameter may name again but not change. */
  async function walked(parameter: string, text: string | undefined, held: number | undefined) {
    if (held === undefined) return named(parameter, text)
    const release = await issued(held)
    if (text !== undefined && !mayMean(parameter, text, release))
      throw new Problem('invalid_parameter', `The cursor belongs to release ${held}.`, { parameter })
    return refusePruned(release)
  }

  /** For offsets: the release a parameter names, or else the one that the caller's token stays on. */
  async function paged(text: string | undefined, caller: TokenReleases | null | undefined): Promise<PublishedRelease> {
    if (text !== undefined || !caller) return named('release', text)
    const number = caller.releases.get(dataset.name)
    const release = number === undefined ? await settledBefore(caller.issuedAt) : await issued(number)
    return release.prunedAt === null ? release : (oldestKept() ?? refusePruned(release))
  }

  async function settledBefore(moment: Date): Promise<PublishedRelease> {
    const latest = await newest()
    const settled = ({ publishedAt }: PublishedRelease) => publishedAt.getTime() <= moment.getTime() - SETTLED_MS
    return list().findLast(settled) ?? oldestKept() ?? latest
  }

  const oldestKept = () => list().find(({ prunedAt }) => prunedAt === null)

  function refusePruned(release: PublishedRelease): PublishedRelease {
    if (release.prunedAt === null) return release
    throw new Problem(
      'release_pruned',
      `The records of release ${release.number} are kept no longer. The oldest that can be read is ${oldestKept()?.number}: start again from it or from a later one.`,
    )
  }

  return { list, lookFor, named, numbered, issued, walked, paged, refusePruned, oldestKept }
}

const headers = {
  'Outbreaks-Release': { type: 'integer', description: 'The release that was read.' },
  'Outbreaks-Newest-Release': {
    type: 'integer',
    description: 'The newest release, where another one was read.',
  },
  ETag: {
    type: 'string',
    description: 'Names this answer; send it as `If-None-Match` to be told that it still holds.',
  },
  ...rateLimitHeaders,
}

/** The answer of an endpoint in the description: what it is, and that it names its release. */
export const answered = <Schema extends TSchema>(schema: Schema, description: string) => ({
  ...schema,
  description,
  headers,
})

export const envelopeOf = (item: TSchema, items: string) =>
  answered(
    Type.Object({
      data: Type.Array(item, { description: `${items} of the current page.` }),
      has_more: Type.Boolean({ description: 'True when more pages are available.' }),
      next_page: Type.Union([Type.String(), Type.Null()], {
        description: 'Opaque cursor for the next page; null when there are no more pages.',
      }),
    }),
    'One page.',
  )

export const refusals = {
  304: { description: 'What `If-None-Match` names is still the answer.' },
  400: refused('A parameter is unknown, repeated or has a value it cannot take.'),
  401: refused('There is no valid access token.'),
  403: refused('The token does not allow this.'),
  410: refused('The records of this release are kept no longer.'),
  429: refused(
    'The client has used up its requests for the moment, or has too many under way; `Retry-After` says when to come again.',
  ),
  431: refused('The address and the headers together are longer than 8 KiB.'),
  503: refused('The service cannot answer at the moment, or nothing has been published yet.'),
}
export const refusalsWithMissing = { ...refusals, 404: refused('There is no such thing; `detail` says more.') }
