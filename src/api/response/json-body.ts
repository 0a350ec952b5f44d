// Serialises arrays, envelopes, releases, versions and changes. Records are stored as JSON text and are not parsed.

import type { ChangeKind, Reason } from '../../storage/change-reasons.ts'
import { SEPARATOR } from '../../storage/chunk.ts'
import type { Part } from '../../storage/gzip-splice.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'

/** v1: a plain array. */
export const serialiseArray = (records: readonly Part[]): Part[] => enclose('[', records, ']')

/** v2: the envelope. `next` is the cursor of the next page, null on the last page. */
export const serialiseEnvelope = (records: readonly Part[], next: string | null) => ({
  parts: enclose('{"data":[', records, `],"has_more":${next !== null},"next_page":${JSON.stringify(next)}}`),
  next,
})

/** Joins adjacent texts into one part. */
function enclose(head: string, records: readonly Part[], tail: string): Part[] {
  const parts: Part[] = []
  let text = head
  for (const [i, record] of records.entries()) {
    if (i > 0) text += SEPARATOR
    if (typeof record === 'string') text += record
    else {
      parts.push(text, record)
      text = ''
    }
  }
  return [...parts, text + tail]
}

/** The releases from `from` up to but not including `to`. `to` is null while the latest release is included. */
export interface ReleaseRange {
  readonly from: number
  readonly to: number | null
}

export interface Version extends ReleaseRange {
  readonly body: string
}

export interface Change {
  readonly id: string
  /** The kind of change between the two releases. */
  readonly change: ChangeKind
  /** Null if the earlier release does not have the record, or if it was not read. */
  readonly before: string | null
  /** Null if the later release does not have the record. */
  readonly after: string | null
  readonly event: string
  /** The last release that changed the record, and the kind of that change. */
  readonly release: number
  readonly kind: ChangeKind
}

export const serialiseRelease = (release: PublishedRelease, releasesUrl: string): string =>
  JSON.stringify({
    ...formatRelease(release),
    reasons: release.reasons,
    preferred: release.preferred,
    warnings: release.warnings,
    digest: release.digest,
    files: release.files.map(({ name, mediaType, ...content }) => ({
      name,
      media_type: mediaType,
      ...content,
      href: `${releasesUrl}/${release.number}/files/${name}`,
    })),
  })

/** The members of a release that have one value. */
export const formatRelease = ({ publishedAt, prunedAt, ...release }: PublishedRelease) => ({
  number: release.number,
  title: release.title,
  licence: release.licence,
  note: release.note,
  published_at: publishedAt.toISOString(),
  as_of: release.asOf,
  restores: release.restores,
  pruned_at: prunedAt?.toISOString() ?? null,
  records: release.records,
  added: release.added,
  corrected: release.corrected,
  withdrawn: release.withdrawn,
  rejected: release.rejected,
})

export const serialiseVersion = ({ from, to, body }: Version): string =>
  `{"from_release":${from},"to_release":${to},"record":${body}}`

/** What a change contains besides its kind and reason: the names of the changed fields, and the record before and after. */
export interface ChangeDetail {
  readonly fields: readonly string[] | null
  readonly bodies: readonly ('before' | 'after')[]
}

export function serialiseChange(
  change: Change,
  reason: Reason,
  { fields, bodies }: ChangeDetail = { fields: null, bodies: ['before', 'after'] },
): string {
  const names = fields === null ? '' : `,"fields":${JSON.stringify(fields)}`
  const records = bodies.map((side) => `,"${side}":${change[side]}`).join('')
  return `{"id":${change.id},"change":"${change.change}","release":${change.release},"reason":"${reason}"${names}${records}}`
}

/** A sentence that says which releases contain a record. Adjacent versions are merged into one range. */
export function describeRanges(versions: readonly ReleaseRange[]): string {
  const ranges: ReleaseRange[] = []
  for (const version of versions) {
    const last = ranges.at(-1)
    if (last?.to === version.from) ranges[ranges.length - 1] = { from: last.from, to: version.to }
    else ranges.push(version)
  }
  if (ranges.length === 0) return 'No release contains it.'
  const words = ranges.map(({ from, to }) => {
    if (to === null) return `${from} and later`
    return to === from + 1 ? `${from}` : `${from} to ${to - 1}`
  })
  return `These releases do: ${words.join('; ')}.`
}
