// All events as a table that can be searched. A click explores the event.
import { useEffect, useState } from 'preact/hooks'
import type { EventSummary } from '../../../clients/typescript/src/client.ts'
import { api, useAnswer } from '../ask.ts'
import { Failure } from '../parts/failure.tsx'
import { goTo, linkTo } from '../state.ts'
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
  const { value, error, isWaiting } = useAnswer(`${release} ${wanted} ${q}`, async (signal) => {
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
    <section class="wide" aria-labelledby="events" aria-busy={isWaiting}>
      <h1 id="events">{texts.pages.events}</h1>
      <p>
        <label for="event-search">{words.search}</label>{' '}
        <input id="event-search" type="search" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
      </p>
      {error !== undefined ? (
        <Failure error={error} />
      ) : value === undefined ? (
        <p class="empty">{texts.waiting}</p>
      ) : (
        <>
          <div class="scroll" tabIndex={0} role="group" aria-label={texts.pages.events}>
            <table>
              <thead>
                <tr>
                  {Object.entries(words.columns).map(([name, text]) => (
                    <th key={name} scope="col">
                      {text}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {value.events.map((event) => (
                  <EventRow key={event.event} event={event} />
                ))}
              </tbody>
            </table>
          </div>
          {value.hasMore && (
            <button type="button" onClick={() => setWanted(wanted + PAGE_SIZE)}>
              {texts.more}
            </button>
          )}
        </>
      )}
    </section>
  )
}

function EventRow({ event }: { event: EventSummary }) {
  const question = { event: [event.event] }
  const { country_codes: countries } = event
  return (
    <tr>
      <th scope="row">
        <a
          href={linkTo('explore', { question })}
          onClick={(click) => {
            click.preventDefault()
            goTo('explore', { question })
          }}
        >
          {event.event}
        </a>
      </th>
      <td>{event.pathogens.join(', ')}</td>
      <td>{countries.length > 6 ? `${countries.slice(0, 6).join(', ')}, …` : countries.join(', ')}</td>
      <td>{event.first_day ?? texts.unknown}</td>
      <td>{event.last_day ?? texts.unknown}</td>
      <td class="number">{formatNumber(event.records)}</td>
      <td class="number">{event.last_release}</td>
    </tr>
  )
}
