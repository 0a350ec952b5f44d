// What the newest release changed: the events whose count moved most, and how many reports.
import type { EventSummary, Release } from '../../../clients/typescript/src/client.ts'
import { useAnswer } from '../ask.ts'
import { formatDay, formatNumber, formatSigned } from '../format.ts'
import { eventTitle } from '../labels.ts'
import { EventLink, Link } from '../parts/link.tsx'
import { readEvents } from '../read-events.ts'

interface NewsProps {
  readonly releases: readonly Release[]
  readonly current: Release
  readonly events: readonly EventSummary[]
  readonly isWaiting: boolean
}

/** The most events that are compared with the release before. */
const COMPARED = 20

export function News({ releases, current, events, isWaiting }: NewsProps) {
  const before = releases[releases.findIndex(({ number }) => number === current.number) - 1]
  const changed = events.filter(
    ({ last_release: last, headline }) => last === current.number && headline?.cases != null,
  )
  const names = changed
    .toSorted((a, b) => b.records - a.records)
    .slice(0, COMPARED)
    .map(({ event }) => event)
  const key = before === undefined || isWaiting || names.length === 0 ? '' : `news ${before.number} ${names.join()}`
  const { value: earlier } = useAnswer(key, async (signal) => {
    const { events: found } = await readEvents({ release: before?.number ?? 1, event: names, num: COMPARED }, signal)
    return new Map(found.map(({ event, headline }) => [event, headline?.cases ?? null]))
  })
  const moves = changed
    .filter(({ event }) => names.includes(event))
    .flatMap(({ event, headline }) => {
      const now = headline?.cases ?? 0
      const was = earlier?.get(event) ?? null
      return earlier === undefined ? [] : [{ event, now, was, by: now - (was ?? 0) }]
    })
    .filter(({ by }) => by !== 0)
    .toSorted((a, b) => Math.abs(b.by) - Math.abs(a.by))
    .slice(0, 3)
  return (
    <section class="news" aria-labelledby="news">
      <h2 id="news">New in release {current.number}</h2>
      <p class="small quiet">
        {current.title}. Published {formatDay(current.published_at.slice(0, 10))}.
      </p>
      {moves.map(({ event, now, was, by }) => (
        <div key={event} class="move">
          <EventLink event={event}>{eventTitle(event)}</EventLink>
          <span class={`d ${by > 0 ? 'up' : 'gone'}`}>{was === null ? 'new' : formatSigned(by)}</span>
          <small>
            {was === null
              ? formatNumber(now)
              : `${formatNumber(was)} in release ${before?.number}, now ${formatNumber(now)}`}
          </small>
          <small class="r">cases</small>
        </div>
      ))}
      <p class="tally">
        <span>
          <b class="up">+{formatNumber(current.added)}</b> added
        </span>
        <span>
          <b class="fix">{formatNumber(current.corrected)}</b> corrected
        </span>
        <span>
          <b class="gone">−{formatNumber(current.withdrawn)}</b> withdrawn
        </span>
      </p>
      <p class="see small">
        <Link page="releases" to={{ item: current.number, question: {} }}>
          See what changed, and why
        </Link>
      </p>
    </section>
  )
}
