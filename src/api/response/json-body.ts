// What was read put into the shapes of the interface. Records are text and stay text.

import type { ChangeKind, Reason } from '../../storage/change-reasons.ts'
import { SEPARATOR } from '../../storage/chunk.ts'
import type { Part } from '../../storage/gzip-splice.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'

/** v1: a plain array. */
export const shapeArray = (records: readonly Part[]): Part[] => enclose('[', records, ']')

/** v2: the envelope. `next` is the cursor of the next page, null where this is the last. */
export const shapeEnvelope = (records: readonly Part[], next: string | null) => ({
  parts: enclose('{"data":[', records, `],"has_more":${next !== null},"next_page":${JSON.stringify(next)}}`),
  next,
})

/** Texts that meet become one part. */
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

/** The releases from `from` until before `to`; null while no release ended it. */
export interface Span {
  readonly from: number
  readonly to: number | null
}

export interface Version extends Span {
  readonly body: string
}

export interface Change {
  readonly id: string
  readonly before: string | null
  readonly after: string | null
  readonly event: string
  /** The last release in which something happened to the record, and what that was. */
  readonly release: number
  readonly step: ChangeKind
}

/** `home` is the address of the releases. */
export const shapeRelease = (release: PublishedRelease, home: string): string => {
  const { publishedAt, number, title, licence, note, restores, prunedAt, ...more } = release
  const { records, added, corrected, withdrawn, rejected, reasons, warnings, digest } = more
  const published_at = publishedAt.toISOString()
  const pruned_at = prunedAt?.toISOString() ?? null
  const files = release.files.map(({ name, mediaType, ...proof }) => ({
    ...{ name, media_type: mediaType, ...proof },
    href: `${home}/${number}/files/${name}`,
  }))
  return JSON.stringify({
    ...{ number, title, licence, note, published_at, restores, pruned_at },
    ...{ records, added, corrected, withdrawn, rejected, reasons, warnings, digest, files },
  })
}

export const shapeVersion = ({ from, to, body }: Version): string =>
  `{"from_release":${from},"to_release":${to},"record":${body}}`

export function shapeChange({ id, before, after, release }: Change, reason: Reason): string {
  const change: ChangeKind = before === null ? 'added' : after === null ? 'withdrawn' : 'corrected'
  return `{"id":${id},"change":"${change}","release":${release},"reason":"${reason}","before":${before},"after":${after}}`
}

/** In which releases a record was held, in a sentence. Versions that follow each other are one stay. */
export function describeSpans(spans: readonly Span[]): string {
  const stays: Span[] = []
  for (const span of spans) {
    const last = stays.at(-1)
    if (last?.to === span.from) stays[stays.length - 1] = { from: last.from, to: span.to }
    else stays.push(span)
  }
  if (stays.length === 0) return 'No release has ever held it.'
  const words = stays.map(({ from, to }) => {
    if (to === null) return `${from} and later`
    return to === from + 1 ? `${from}` : `${from} to ${to - 1}`
  })
  return `It was held in: ${words.join('; ')}.`
}
