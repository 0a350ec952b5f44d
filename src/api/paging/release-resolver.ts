// Which release a request reads: the one that a parameter, a cursor or the access token names, or the newest.
import type { Dataset } from '../../datasets/define.ts'
import { Problem } from '../../platform/problem.ts'
import type { PublishedRelease, PublishedReleases } from '../../storage/published-releases.ts'
import { canReferTo, findRelease, LATEST, readReference } from './release-reference.ts'

interface ResolverOptions {
  dataset: Dataset
  published: () => PublishedReleases
  /** Reads the list of releases from the database again. */
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

export function createReleaseResolver({ dataset, published, refresh }: ResolverOptions) {
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
    if (text !== undefined && !canReferTo(parameter, text, release))
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
