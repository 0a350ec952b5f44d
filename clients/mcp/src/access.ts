// What every tool reads through: the client, and what is known about releases. Over stdio it lives as long as the program, in a
// node as long as one request, which has the credential of its caller.
import type { Outbreaks } from '../../typescript/src/client.ts'

/** What a citation says about a release. It never changes. */
export interface ReleaseFacts {
  readonly number: number
  readonly title: string
  readonly licence: string
  readonly published_at: string
  readonly as_of: string
  readonly digest: string
}

/** The facts that were read, by number. Shared by all requests of a process. */
export type KnownReleases = Map<number, ReleaseFacts>

export interface Access {
  readonly outbreaks: Outbreaks
  readonly known: KnownReleases
  /** Where the service is; the addresses in answers begin with it. */
  readonly baseUrl: string
  readonly dataset: string
  /** Null if there is no explorer. */
  readonly explorerUrl: string | null
  readonly signal?: AbortSignal | undefined
}

const MAX_KNOWN = 1000
const DAY = /^\d{4}-\d{2}-\d{2}$/

/** What was known on a day: only questions take a day. */
async function findRelease(
  day: string,
  { outbreaks, signal }: Pick<Access, 'outbreaks' | 'signal'>,
): Promise<number | string> {
  const { release } = await outbreaks.read('outbreaks', { release: day, num: 1, fields: 'id' }, { signal })
  return release ?? day
}

/** `release` is a number, a day or `latest`. Only a number is known without a request. */
export async function readRelease(
  { outbreaks, known, signal }: Access,
  release: number | string,
): Promise<ReleaseFacts> {
  const found = known.get(Number(release))
  if (found !== undefined) return found
  const named =
    typeof release === 'string' && DAY.test(release) ? await findRelease(release, { outbreaks, signal }) : release
  const { number, title, licence, published_at, as_of, digest } = await outbreaks.release(named, { signal })
  if (known.size >= MAX_KNOWN) known.clear()
  const facts = { number, title, licence, published_at, as_of, digest }
  known.set(number, facts)
  return facts
}
