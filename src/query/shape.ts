// What was read put into the shapes of the interface. Records are text and stay text.
import type { PublishedRelease } from '../records/published.ts'

/** v1: a plain array. */
export const shapeArray = (bodies: readonly string[]): string => `[${bodies.join(',')}]`

/** v2: the envelope. `next` is the cursor of the next page, null where this is the last. */
export const shapeEnvelope = (bodies: readonly string[], next: string | null): string =>
  `{"data":[${bodies.join(',')}],"has_more":${next !== null},"next_page":${JSON.stringify(next)}}`

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
}

export const shapeRelease = ({ publishedAt, number, title, licence, note, ...counts }: PublishedRelease): string => {
  const { records, added, corrected, withdrawn } = counts
  const published_at = publishedAt.toISOString()
  return JSON.stringify({ number, title, licence, note, published_at, records, added, corrected, withdrawn })
}

export const shapeVersion = ({ from, to, body }: Version): string =>
  `{"from_release":${from},"to_release":${to},"record":${body}}`

export const CHANGES = ['added', 'corrected', 'withdrawn'] as const

export function shapeChange({ id, before, after }: Change): string {
  const change: (typeof CHANGES)[number] = before === null ? 'added' : after === null ? 'withdrawn' : 'corrected'
  return `{"id":${id},"change":"${change}","before":${before},"after":${after}}`
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
