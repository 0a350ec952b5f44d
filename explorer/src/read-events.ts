// Asks for events, and remembers their titles.
import { useEffect } from 'preact/hooks'
import type { EventSummary } from '../../clients/typescript/src/client.ts'
import { api } from './ask.ts'
import { isKnown, rememberTitles } from './labels.ts'

/** A page of events, whose titles are known from then on. */
export async function readEvents(
  parameters: Parameters<typeof api.events>[0],
  signalToStop: AbortSignal,
): Promise<{ events: readonly EventSummary[]; hasMore: boolean }> {
  const walk = api.events(parameters, { signal: signalToStop })
  const events = (await walk.nextPage()) ?? []
  rememberTitles(events)
  return { events, hasMore: !walk.done }
}

/** Asks for titles that no answer had. */
export function useTitles(events: readonly string[], release: number): void {
  const unknown = events.filter((event) => !isKnown(event))
  useEffect(() => {
    if (unknown.length === 0) return
    const controller = new AbortController()
    readEvents({ event: unknown, release, num: 100 }, controller.signal).catch(() => undefined)
    return () => controller.abort()
  }, [unknown.join()])
}
