// All events as a table that can be searched. A click explores the event.
import { useEffect, useState } from 'preact/hooks'
import type { EventSummary } from '../../../clients/typescript/src/client.ts'
import { api, useAnswer } from '../ask.ts'
import { Answered } from '../parts/answered.tsx'
import { Link } from '../parts/link.tsx'
import { Table } from '../parts/table.tsx'
import { formatNumber, texts } from '../texts.ts'

const PAGE_SIZE = 100
const WAIT_MS = 200

export function EventsPage({ release }: { release: number }) {
  const [typed, setTyped] = useState('')
  const [q, setQ] = useState('')
  const [wanted, setWanted] = useState(PAGE_SIZE)
  useEffect(() => {
    const timer = setTimeout(() => setQ(typed.trim()), WAIT_MS)
    return () => clearTimeout(timer)
  }, [typed])
  const answer = useAnswer(`${release} ${wanted} ${q}`, async (signal) => {
    const walk = api.events({ release, num: PAGE_SIZE, ...(q === '' ? {} : { q }) }, { signal })
    const events: EventSummary[] = []
    for await (const page of walk.pages()) {
      events.push(...page)
      if (events.length >= wanted) break
    }
    return { events, hasMore: !walk.done && events.length >= wanted }
  })
  const { events: words } = texts
  return (
    <section class="wide" aria-labelledby="events">
      <h1 id="events">{texts.pages.events}</h1>
      <p>
        <label for="event-search">{words.search}</label>{' '}
        <input id="event-search" type="search" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
      </p>
      <Answered answer={answer}>
        {({ events, hasMore }) => (
          <>
            <Table label={texts.pages.events} columns={Object.values(words.columns)}>
              {events.map((event) => (
                <EventRow key={event.event} event={event} />
              ))}
            </Table>
            {hasMore && (
              <button type="button" onClick={() => setWanted(wanted + PAGE_SIZE)}>
                {texts.more}
              </button>
            )}
          </>
        )}
      </Answered>
    </section>
  )
}

function EventRow({ event }: { event: EventSummary }) {
  const { country_codes: countries } = event
  return (
    <tr>
      <th scope="row">
        <Link page="explore" to={{ question: { event: [event.event] } }}>
          {event.event}
        </Link>
      </th>
      <td>{event.pathogens.join(', ')}</td>
      <td>{countries.length > 6 ? `${countries.slice(0, 6).join(', ')}, …` : countries.join(', ')}</td>
      <td class="day">{event.first_day ?? texts.unknown}</td>
      <td class="day">{event.last_day ?? texts.unknown}</td>
      <td class="number">{formatNumber(event.records)}</td>
      <td class="number">{event.last_release}</td>
    </tr>
  )
}
