// Chooses the release that a request reads: the release of a parameter, a cursor or the access token, or the latest one.
import type { Dataset } from '../../datasets/define.ts'
import { Problem } from '../../platform/problem.ts'
import type { PublishedRelease, PublishedReleases } from '../../storage/published-releases.ts'
import { canReferTo, findRelease, LATEST, parseReference } from './release-reference.ts'

interface ResolverOptions {
  dataset: Dataset
  published: () => PublishedReleases
  /** Reads the list of releases from the database again. */
  refresh: () => Promise<void>
}

/** The releases in the caller's access token. */
interface TokenReleases {
  readonly issuedAt: Date
  /** By dataset, the latest release when the token was issued. A dataset may be missing. */
  readonly releases: ReadonlyMap<string, number>
}

/**
 * A token without a release reads a release that was published at least this long before the token was issued.
 * `published_at` is set before the transaction commits; commit and replication take time, and clocks differ. A release
 * that becomes visible after the first request with the token would shift the offsets of later pages.
 */
const VISIBILITY_MARGIN_MS = 60_000

type FindRelease = (releases: readonly PublishedRelease[]) => PublishedRelease | undefined

export type ReleaseResolver = ReturnType<typeof createReleaseResolver>

export function createReleaseResolver({ dataset, published, refresh }: ResolverOptions) {
  const list = () => published().get(dataset.name) ?? []

  /** Refreshes the list before giving up: another node may just have published the release. */
  async function findOrRefresh(find: FindRelease): Promise<PublishedRelease | undefined> {
    const known = find(list())
    if (known !== undefined) return known
    await refresh()
    return find(list())
  }

  async function resolveLatest(): Promise<PublishedRelease> {
    const release = await findOrRefresh((releases) => releases.at(-1))
    if (release !== undefined) return release
    throw new Problem('nothing_published', 'This dataset has no release yet.')
  }

  /** The release that a parameter refers to. Without a parameter, the latest. */
  async function resolveParameter(parameter: string, text: string | undefined): Promise<PublishedRelease> {
    if (text === undefined || text === LATEST) return resolveLatest()
    const reference = parseReference(parameter, text)
    const release = await findOrRefresh((releases) => findRelease(releases, reference))
    if (release !== undefined) return requireUnpruned(release)
    if ('number' in reference)
      throw new Problem(
        'invalid_parameter',
        `Release ${reference.number} does not exist. The latest is ${list().at(-1)?.number ?? 'none'}.`,
        { parameter },
      )
    await resolveLatest()
    const first = list()[0]?.asOf
    throw new Problem(
      'invalid_parameter',
      `No release is as of ${reference.date} or earlier. The first release is as of ${first}.`,
      { parameter },
    )
  }

  /** The release whose number is in the path, pruned or not. */
  async function resolveNumber(text: string): Promise<PublishedRelease> {
    const release = /^[1-9][0-9]{0,9}$/.test(text)
      ? await findOrRefresh((known) => findRelease(known, { number: Number(text) }))
      : undefined
    if (release !== undefined) return release
    throw new Problem('not_found', 'There is no release with this number. GET /v2/{dataset}/releases lists them.')
  }

  /** A release from a cursor or token that the service issued. It exists, but it may not have reached this node yet. */
  async function resolveIssued(number: number): Promise<PublishedRelease> {
    const release = await findOrRefresh((releases) => findRelease(releases, { number }))
    if (release !== undefined) return release
    throw new Problem('unavailable', `Release ${number} has not reached this node yet. Try again in 1 s.`)
  }

  /** The release of the cursor, which a parameter can repeat but not change. Without a cursor, that of the parameter. */
  async function resolveForCursor(parameter: string, text: string | undefined, cursorRelease: number | undefined) {
    if (cursorRelease === undefined) return resolveParameter(parameter, text)
    const release = await resolveIssued(cursorRelease)
    if (text !== undefined && !canReferTo(parameter, text, release))
      throw new Problem(
        'invalid_parameter',
        `The cursor in page belongs to release ${cursorRelease}. Send release=${cursorRelease}, or leave release out.`,
        { parameter },
      )
    return requireUnpruned(release)
  }

  /** For offset paging: the release of the parameter, or else the release of the caller's token. */
  async function resolveForOffset(
    text: string | undefined,
    caller: TokenReleases | null | undefined,
  ): Promise<PublishedRelease> {
    if (text !== undefined || !caller) return resolveParameter('release', text)
    const number = caller.releases.get(dataset.name)
    const release = number === undefined ? await resolveByIssueTime(caller.issuedAt) : await resolveIssued(number)
    return release.prunedAt === null ? release : (oldestUnpruned() ?? requireUnpruned(release))
  }

  async function resolveByIssueTime(issuedAt: Date): Promise<PublishedRelease> {
    const latest = await resolveLatest()
    const latestPublication = issuedAt.getTime() - VISIBILITY_MARGIN_MS
    const release = list().findLast(({ publishedAt }) => publishedAt.getTime() <= latestPublication)
    return release ?? oldestUnpruned() ?? latest
  }

  const oldestUnpruned = () => list().find(({ prunedAt }) => prunedAt === null)

  function requireUnpruned(release: PublishedRelease): PublishedRelease {
    if (release.prunedAt === null) return release
    // The SQL function `require_kept` raises the same message.
    throw new Problem(
      'release_pruned',
      `The records of release ${release.number} have been deleted. The oldest release you can read is ${oldestUnpruned()?.number}: start again from it or a later one.`,
    )
  }

  return {
    list,
    findOrRefresh,
    resolveParameter,
    resolveNumber,
    resolveIssued,
    resolveForCursor,
    resolveForOffset,
    requireUnpruned,
    oldestUnpruned,
  }
}
