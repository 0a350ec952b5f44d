// What watches say: the types that are not in the interface, and reading notices until there is one.

import { damaged } from './errors.ts'
import type { PreviewedNotice, ReleaseNotice, WatchNotice } from './generated/answers.ts'
import { type CallOptions, sleep } from './transport.ts'

/** What can be changed of a watch. What is left out stays as it is. */
export interface WatchChange {
  readonly state?: 'active' | 'paused' | undefined
  readonly name?: string | undefined
  /** The id of an endpoint; null ends the delivery. */
  readonly endpoint?: string | null | undefined
}

/** Notices, the oldest first. `next_after` is the `after` of the next request. */
export interface Notices<Notice extends ReleaseNotice | WatchNotice> {
  readonly data: readonly Notice[]
  readonly next_after: number
}

/** What a watch would have said, the releases that were judged, and what the service warns of. */
export interface WatchPreview {
  readonly data: readonly PreviewedNotice[]
  readonly judged: readonly number[]
  readonly warnings: readonly string[]
}

export interface NoticeOptions extends CallOptions {
  /** The id of a watch. Without it, the notices are about the dataset. */
  readonly watch?: string | undefined
  /** The last release (of a watch) or notice (of the dataset) that is known; 0 by default. */
  readonly after?: number | undefined
  /** How long to wait for a notice if there is none yet; 0 by default. */
  readonly waitMs?: number | undefined
}

interface Page<Notice> {
  readonly data: Notice[]
  readonly has_more: boolean
  readonly next_after: number
}

const POLL_MS = 5000

export const watchPath = (id: string): string => `/watches/${encodeURIComponent(id)}`

export async function waitForNotices<Notice extends ReleaseNotice | WatchNotice>(
  readPage: (after: number) => Promise<Page<Notice>>,
  { after = 0, waitMs = 0, signal }: NoticeOptions,
): Promise<Notices<Notice>> {
  const deadline = Date.now() + waitMs
  const data: Notice[] = []
  for (let last = after; ; ) {
    const page = await readPage(last)
    data.push(...page.data)
    if (page.has_more && page.next_after <= last) throw damaged('No page is next')
    last = page.next_after
    const remaining = deadline - Date.now()
    if (page.has_more) continue
    if (data.length > 0 || remaining <= 0) return { data, next_after: last }
    await sleep(Math.min(POLL_MS, remaining), signal)
  }
}
