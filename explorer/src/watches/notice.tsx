// What a watch said about a release: the figures before and after, what changed the release, and a way to compare the two.
import { formatDay } from '../format.ts'
import { eventTitle } from '../labels.ts'
import { Badge } from '../parts/figure.tsx'
import { EventLink } from '../parts/link.tsx'
import { useTitles } from '../read-events.ts'
import type { Notice } from './watch-requests.ts'
import { CAUSES, describeChanges, describeCrossing, describeFigures, describeNoFigures } from './watch-words.ts'

export function NoticeItem({ notice }: { notice: Notice }) {
  const { release, cause, events, more_events: more, links } = notice.data
  useTitles(events, release)
  const figures = describeFigures(notice)
  const crossing = describeCrossing(notice)
  const [badge, words] = CAUSES[cause ?? ''] ?? []
  return (
    <li class="notice">
      <p class="group">
        <b>{links.page === null ? `Release ${release}` : <a href={pathOf(links.page)}>Release {release}</a>}</b>
        <small class="quiet">{`published ${formatDay(notice.time.slice(0, 10))}`}</small>
        {badge !== undefined && <Badge change={badge}>{words}</Badge>}
        {crossing !== '' && <Badge change="is-shown">{crossing}</Badge>}
      </p>
      {events.length > 0 && (
        <p>
          New:{' '}
          {events.map((event, i) => (
            <span key={event}>
              {i > 0 && '; '}
              <EventLink event={event}>{eventTitle(event)}</EventLink>
            </span>
          ))}
          {more > 0 && ` and ${more} more`}
        </p>
      )}
      {figures.length === 0 ? (
        <p>{describeNoFigures(notice)}</p>
      ) : (
        <p class="moved">
          {figures.map(({ name, figures: moved, by }) => (
            <span key={name}>
              {name} <b class="num">{moved}</b> {by !== '' && <span class="quiet">({by})</span>}
            </span>
          ))}
        </p>
      )}
      <p class="quiet small">{describeChanges(notice)}</p>
    </li>
  )
}

/** The service writes whole addresses. */
const pathOf = (address: string): string => {
  const { pathname, search } = new URL(address)
  return pathname + search
}
